// SPDX-License-Identifier: Apache-2.0
#include "restore/predictors.h"

#include <algorithm>

#include "core/error.h"
#include "restore/encoder.h"
#include "restore/features.h"
#include "restore/linear.h"

namespace sluice::restore {

namespace {

/// A predictor of one depth per port.
class OneDepth : public QueuePredictor {
  public:
    std::vector<DepthQuantiles> predict(const std::vector<PortQuery>& ports) const override {
        std::vector<DepthQuantiles> all;
        for (const PortQuery& port : ports) {
            DepthQuantiles depths;
            depths.fill(depth(port));
            all.push_back(depths);
        }
        return all;
    }

  private:
    virtual std::int64_t depth(const PortQuery& port) const = 0;
};

class Hold : public OneDepth {
  public:
    Hold(const QueueModel*, std::unique_ptr<EncoderEngine>) {}

  private:
    std::int64_t depth(const PortQuery& port) const override { return port.depths.back(); }
};

class Empty : public OneDepth {
  public:
    Empty(const QueueModel*, std::unique_ptr<EncoderEngine>) {}

  private:
    std::int64_t depth(const PortQuery&) const override { return 0; }
};

class LastMean : public OneDepth {
  public:
    LastMean(const QueueModel* model, std::unique_ptr<EncoderEngine>)
        : steps_(static_cast<std::size_t>(model != nullptr ? model->shape.steps
                                                           : ModelShape{}.steps)) {}

  private:
    std::int64_t depth(const PortQuery& port) const override {
        const std::size_t count = std::min(steps_, port.depths.size());
        std::int64_t sum = 0;
        for (auto at = port.depths.end() - static_cast<std::ptrdiff_t>(count);
             at != port.depths.end(); ++at) {
            sum += *at;
        }
        return sum / static_cast<std::int64_t>(count);
    }

    std::size_t steps_;
};

const QueueModel& required(const QueueModel* model) {
    if (model == nullptr) throw InternalError("a predictor without its model");
    return *model;
}

class Linear : public QueuePredictor {
  public:
    Linear(const QueueModel* model, std::unique_ptr<EncoderEngine>) : model_(required(model)) {}

    std::vector<DepthQuantiles> predict(const std::vector<PortQuery>& ports) const override {
        std::vector<DepthQuantiles> all;
        for (const PortQuery& port : ports) {
            Features features = features_of(model_, port);
            const double depth = linear_depth(model_, features, model_.place_of(port.context.law));
            const auto raw = static_cast<float>((depth - features.offset) / features.scale);
            const std::vector<float> same(kQuantiles.size(), raw);
            all.push_back(depths_of(features, same.data(), port.context));
        }
        return all;
    }

  private:
    const QueueModel& model_;
};

class PlainEngine : public EncoderEngine {
  public:
    explicit PlainEngine(const QueueModel& model) : encoder_(model) {}

    std::vector<float> raw(const std::vector<const Features*>& batch) const override {
        std::vector<float> all;
        for (const Features* features : batch) {
            const std::vector<float> one = encoder_(*features);
            all.insert(all.end(), one.begin(), one.end());
        }
        return all;
    }

  private:
    Encoder encoder_;
};

class Transformer : public QueuePredictor {
  public:
    Transformer(const QueueModel* model, std::unique_ptr<EncoderEngine> engine)
        : model_(required(model)), engine_(std::move(engine)) {
        if (engine_ == nullptr) engine_ = std::make_unique<PlainEngine>(model_);
    }

    std::vector<DepthQuantiles> predict(const std::vector<PortQuery>& ports) const override {
        std::vector<Features> features;
        std::vector<const Features*> batch;
        for (const PortQuery& port : ports) features.push_back(features_of(model_, port));
        for (const Features& one : features) batch.push_back(&one);
        const std::vector<float> raw = engine_->raw(batch);
        std::vector<DepthQuantiles> all;
        for (std::size_t i = 0; i < ports.size(); ++i) {
            all.push_back(
                depths_of(features[i], raw.data() + i * kQuantiles.size(), ports[i].context));
        }
        return all;
    }

  private:
    const QueueModel& model_;
    std::unique_ptr<EncoderEngine> engine_;
};

}  // namespace

std::vector<std::pair<const char*, PredictorKind>> predictor_words() {
#define SLUICE_PREDICTOR(name, Class) {#name, PredictorKind::name},
    return {SLUICE_QUEUE_PREDICTORS(SLUICE_PREDICTOR)};
#undef SLUICE_PREDICTOR
}

std::unique_ptr<QueuePredictor> make_predictor(PredictorKind kind, const QueueModel* model,
                                               std::unique_ptr<EncoderEngine> engine) {
    switch (kind) {
#define SLUICE_PREDICTOR(name, Class) \
    case PredictorKind::name: return std::make_unique<Class>(model, std::move(engine));
        SLUICE_QUEUE_PREDICTORS(SLUICE_PREDICTOR)
#undef SLUICE_PREDICTOR
    }
    throw InternalError("a predictor that is not in the list");
}

}  // namespace sluice::restore
