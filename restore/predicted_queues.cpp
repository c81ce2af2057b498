// SPDX-License-Identifier: Apache-2.0
#include "restore/predicted_queues.h"

#include <cmath>

#include "core/error.h"
#include "restore/model_file.h"
#include "restore/shipped_model.h"
#include "restore/torch_engine.h"

namespace sluice::restore {

namespace {

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

}  // namespace

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

std::vector<double> PredictedQueues::depths(const std::vector<hybrid::PortPast>& ports) {
    std::vector<PortQuery> queries;
    for (const hybrid::PortPast& past : ports) {
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
        queries.push_back(std::move(query));
    }
    std::vector<double> wanted;
    for (const DepthQuantiles& answer : predictor_->predict(queries)) {
        wanted.push_back(static_cast<double>(answer[kMedian]));
    }
    return wanted;
}

}  // namespace sluice::restore
