// SPDX-License-Identifier: Apache-2.0
#include "restore/training.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "core/error.h"
#include "core/random.h"
#include "restore/encoder.h"
#include "restore/linear.h"

namespace sluice::restore {

namespace {

constexpr std::uint64_t kOrderDraws = 0x6f72646572;
constexpr double kLastLearningRate = 0.02;  ///< of the first
/// Where queues hardly move: no division by nothing.
constexpr double kLeastError = 1e-3;
constexpr double kPi = 3.14159265358979323846;

/// A set of cases as the encoder sees them.
struct Prepared {
    std::vector<Features> features;
    std::vector<WeighedCase> cases;
};

double depth_in_units(const Case& one) {
    return static_cast<double>(one.depth) / static_cast<double>(depth_unit(one.query.context));
}

/// Those that there is something to learn of.
std::vector<std::string> laws_of(const std::vector<Case>& cases) {
    std::vector<std::string> laws;
    for (const std::string& law : law_names()) {
        if (std::any_of(cases.begin(), cases.end(), [&](const Case& one) {
                return law == congestion::law_name(one.query.context.law);
            })) {
            laws.push_back(law);
        }
    }
    return laws;
}

/// The cases of laws that the model learns.
std::vector<Case> known_to(const QueueModel& model, const std::vector<Case>& cases) {
    std::vector<Case> known;
    for (const Case& one : cases) {
        if (model.place_of(one.query.context.law) >= 0) known.push_back(one);
    }
    if (known.empty()) {
        throw ConfigError("train: the scenarios for validation have none of the laws of training");
    }
    return known;
}

/// What hold is off on average, over all and by some number of a case.
class HoldErrors {
  public:
    template <typename NumberOf>
    HoldErrors(const std::vector<Case>& cases, const NumberOf& number_of) {
        for (const Case& one : cases) {
            const double last = static_cast<double>(one.query.depths.back()) /
                                static_cast<double>(depth_unit(one.query.context));
            Mean& mean = means_[number_of(one)];
            mean.sum += std::abs(depth_in_units(one) - last);
            ++mean.count;
        }
    }
    double of(std::uint64_t number) const {
        const Mean& mean = means_.at(number);
        return std::max(mean.sum / mean.count, kLeastError);
    }

  private:
    struct Mean {
        double sum = 0;
        double count = 0;
    };
    std::map<std::uint64_t, Mean> means_;
};

std::uint64_t law_number(const Case& one) {
    return static_cast<std::uint64_t>(one.query.context.law);
}

/// What the loss of each case counts for (Epoch).
std::vector<double> weights_of(const std::vector<Case>& cases) {
    const HoldErrors by_law(cases, law_number);
    const HoldErrors by_scenario(cases, [](const Case& one) { return one.scenario; });
    std::vector<double> weights;
    for (const Case& one : cases) {
        weights.push_back(1 / std::sqrt(by_law.of(law_number(one)) * by_scenario.of(one.scenario)));
    }
    return weights;
}

Prepared prepare(const QueueModel& model, const std::vector<Case>& cases) {
    const std::vector<double> weights = weights_of(cases);
    Prepared prepared;
    prepared.features.reserve(cases.size());
    for (std::size_t i = 0; i < cases.size(); ++i) {
        prepared.features.push_back(features_of(model, cases[i].query));
        prepared.cases.push_back({&prepared.features.back(), depth_in_units(cases[i]), weights[i]});
    }
    return prepared;
}

void fit_linear(QueueModel& model, const std::vector<Case>& cases, const Prepared& prepared) {
    std::vector<LinearFit> fits(model.laws.size(), LinearFit(model));
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto place = static_cast<std::size_t>(model.place_of(cases[i].query.context.law));
        fits[place].add(prepared.features[i], prepared.cases[i].depth);
    }
    for (const LinearFit& fit : fits) model.linear.weights.push_back(fit.solve());
}

double validation_loss(const TorchModel& torch, const Prepared& set) {
    std::vector<const Features*> batch;
    for (const Features& features : set.features) batch.push_back(&features);
    const std::vector<float> raw = torch.forward(batch);
    double sum = 0;
    for (std::size_t i = 0; i < set.cases.size(); ++i) {
        const Features& features = set.features[i];
        for (std::size_t q = 0; q < kQuantiles.size(); ++q) {
            const double said =
                features.offset +
                features.scale * static_cast<double>(raw[i * kQuantiles.size() + q]);
            const double above = set.cases[i].depth - said;
            sum +=
                set.cases[i].weight * std::max(kQuantiles[q] * above, (kQuantiles[q] - 1) * above);
        }
    }
    return sum / static_cast<double>(set.cases.size() * kQuantiles.size());
}

/// Case numbers in the order of an epoch.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed, int epoch) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    const std::uint64_t stream = random_stream(kOrderDraws, static_cast<std::uint64_t>(epoch));
    for (std::size_t i = count; i > 1; --i) {
        std::swap(order[i - 1],
                  order[uniform_below(seed, stream, i, static_cast<std::uint32_t>(i))]);
    }
    return order;
}

class Trainer {
  public:
    Trainer(const TrainingConfig& config, const TrainingWatch& watch, TrainedModel& result)
        : config_(config),
          watch_(watch),
          result_(result),
          best_weights_(result.model.weights),
          torch_(result.model, config.device) {}

    void run(const Prepared& training, const Prepared& validation) {
        double best = std::numeric_limits<double>::infinity();
        for (int number = 1; number <= config_.epochs; ++number) {
            Epoch epoch;
            epoch.number = number;
            if (!one_epoch(training, epoch)) break;
            epoch.validation = validation_loss(torch_, validation);
            if (!std::isfinite(epoch.training) || !std::isfinite(epoch.validation)) {
                throw ConfigError("train: the loss is not a number any more; try another --seed");
            }
            epoch.best = epoch.validation < best;
            if (epoch.best) {
                best = epoch.validation;
                best_weights_ = torch_.weights();
                result_.best_epoch = number;
            }
            result_.epochs.push_back(epoch);
            if (number - result_.best_epoch >= config_.patience) break;
        }
        result_.model.weights = best_weights_;
    }

  private:
    /// False if it was interrupted.
    bool one_epoch(const Prepared& training, Epoch& epoch) {
        const std::vector<std::size_t> order =
            shuffled(training.cases.size(), config_.seed, epoch.number);
        const auto batch_size = static_cast<std::size_t>(config_.batch);
        double sum = 0;
        for (std::size_t begin = 0; begin < order.size(); begin += batch_size) {
            std::vector<WeighedCase> batch;
            for (std::size_t i = begin; i < order.size() && i < begin + batch_size; ++i) {
                batch.push_back(training.cases[order[i]]);
            }
            const double done = (epoch.number - 1 +
                                 static_cast<double>(begin) / static_cast<double>(order.size())) /
                                config_.epochs;
            const double cosine = (1 + std::cos(kPi * done)) / 2;
            const double rate =
                config_.learning_rate * (kLastLearningRate + (1 - kLastLearningRate) * cosine);
            sum += torch_.train(batch, rate) * static_cast<double>(batch.size());
            if (watch_ && !watch_(done, result_.epochs)) {
                result_.interrupted = true;
                return false;
            }
        }
        epoch.training = sum / static_cast<double>(order.size());
        return true;
    }

    const TrainingConfig& config_;
    const TrainingWatch& watch_;
    TrainedModel& result_;
    std::vector<float> best_weights_;
    TorchModel torch_;
};

}  // namespace

TrainedModel train(const std::vector<Case>& training, const std::vector<Case>& validation,
                   const TrainingConfig& config, const TrainingWatch& watch) {
    if (training.empty() || validation.empty()) {
        throw ConfigError(std::string("train: the scenarios for ") +
                          (training.empty() ? "training" : "validation") +
                          " have no case: no port keeps its flows for 5 base RTTs with a queue");
    }
    TrainedModel result;
    result.model.shape = config.shape;
    result.model.laws = laws_of(training);
    const int context = context_size(result.model);
    result.model.weights = initial_weights(config.shape, context, config.seed);
    const Prepared learned = prepare(result.model, training);
    const Prepared judged = prepare(result.model, known_to(result.model, validation));
    Trainer(config, watch, result).run(learned, judged);
    fit_linear(result.model, training, learned);
    return result;
}

}  // namespace sluice::restore
