// SPDX-License-Identifier: Apache-2.0
#include "restore/predicted_queues.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/random.h"
#include "restore/model_file.h"
#include "restore/shipped_model.h"
#include "restore/torch_engine.h"

namespace sluice::restore {

namespace {

/// A few MiB. What is forgotten is asked again.
constexpr std::size_t kMostAnswers = 4096;
/// Of a unit of depth: the least spread that features are scaled by (restore/features.cpp).
constexpr std::int64_t kShallow = 64;

QueueModel model_for(const PhaseConfig& config, congestion::Law law) {
    const std::string path =
        config.restore_model.empty() ? shipped_model_path() : config.restore_model;
    QueueModel model = load_model(path);
    if (model.place_of(law) < 0) {
        std::string laws;
        for (const std::string& name : model.laws) {
            laws += (laws.empty() ? "" : ", ") + name;
        }
        throw ConfigError(path + ": the model was not made for the law " +
                          congestion::law_name(law) + "; allowed: " + laws);
    }
    return model;
}

/// Less was queued throughout than tells a predictor anything: some packets, which come and go between looks.
bool is_shallow(const PortQuery& query) {
    const std::int64_t most = *std::max_element(query.depths.begin(), query.depths.end());
    return most * kShallow < depth_unit(query.context);
}

/// All that a query of this law says.
std::vector<std::int64_t> key_of(const PortQuery& query) {
    const PortContext& port = query.context;
    std::int64_t utilization = 0;
    std::memcpy(&utilization, &port.utilization, sizeof utilization);
    std::vector<std::int64_t> key = query.depths;
    key.insert(key.end(), {port.line_rate, port.mark_bytes, port.base_rtt, port.step, port.skip,
                           port.flows, utilization, port.to_host ? 1 : 0});
    return key;
}

}  // namespace

std::size_t PredictedQueues::KeyHash::operator()(const std::vector<std::int64_t>& key) const {
    std::uint64_t hash = key.size();
    for (const std::int64_t word : key) {
        hash = mix_bits(hash ^ static_cast<std::uint64_t>(word));
    }
    return hash;
}

PredictedQueues::PredictedQueues(PredictorKind kind, const PhaseConfig& config, congestion::Law law)
    : law_(law),
      reacts_to_marks_(congestion::traits(law).reacts_to_marks),
      model_(model_for(config, law)),
      predictor_(make_predictor(kind, &model_,
                                config.restore_engine == RestoreEngine::libtorch
                                    ? torch_engine(model_, Device::cpu)
                                    : nullptr)) {}

PredictedQueues::~PredictedQueues() = default;

std::size_t PredictedQueues::looks() const { return static_cast<std::size_t>(model_.shape.steps); }

PortQuery PredictedQueues::query_of(const hybrid::PortPast& past) const {
    PortQuery query;
    for (const double depth : past.depth) {
        query.depths.push_back(std::llround(depth));
    }
    query.context.law = law_;
    query.context.line_rate = past.rate;
    query.context.mark_bytes = reacts_to_marks_ ? past.mark_bytes : 0;
    query.context.base_rtt = past.base_rtt;
    query.context.step = past.step;
    query.context.skip = past.skipped;
    query.context.flows = past.flows;
    query.context.utilization = past.load;
    query.context.to_host = past.to_host;
    return query;
}

std::vector<double> PredictedQueues::depths(const std::vector<hybrid::PortPast>& ports) {
    if (answers_.size() > kMostAnswers) {
        answers_.clear();
    }
    std::vector<PortQuery> queries;
    std::vector<double*> asked;
    std::vector<const double*> answers;
    for (const hybrid::PortPast& past : ports) {
        PortQuery query = query_of(past);
        if (is_shallow(query)) {
            answers.push_back(&past.depth.back());
            continue;
        }
        const auto [answer, is_new] = answers_.try_emplace(key_of(query), 0);
        answers.push_back(&answer->second);
        if (is_new) {
            asked.push_back(&answer->second);
            queries.push_back(std::move(query));
        }
    }
    const std::vector<DepthQuantiles> said = predictor_->predict(queries);
    for (std::size_t i = 0; i < said.size(); ++i) {
        *asked[i] = static_cast<double>(said[i][kMedian]);
    }
    std::vector<double> wanted;
    for (const double* answer : answers) {
        wanted.push_back(*answer);
    }
    return wanted;
}

}  // namespace sluice::restore
