// SPDX-License-Identifier: Apache-2.0
/// What needs libtorch: its evaluation beside the plain one, and training. Skipped where the build has none.
#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"
#include "restore/evaluation.h"
#include "restore/loss_curve.h"
#include "restore/torch_engine.h"
#include "restore/training.h"
#include "tests/support/error_of.h"
#include "tests/support/restore_support.h"

using namespace sluice;
using namespace sluice::restore;

namespace {

bool skipped() {
    std::string why;
    if (torch_available(why)) return false;
    MESSAGE("skipped: ", why);
    return true;
}

/// What docs/restoration.md promises of one answer, in scales from the offset.
constexpr float kTolerance = 2e-5F;

TrainingConfig quick(std::uint64_t seed) {
    TrainingConfig config;
    config.shape = small_shape();
    config.shape.steps = 32;
    config.epochs = 6;
    config.batch = 64;
    config.seed = seed;
    return config;
}

}  // namespace

TEST_CASE("unit.restore.libtorch.answers_as_the_plain_evaluation_does") {
    if (skipped()) return;
    CHECK(torch_version().rfind("libtorch ", 0) == 0);
    ModelShape three = small_shape();
    three.layers = 3;
    for (const ModelShape& shape : {ModelShape{}, small_shape(), three}) {
        const QueueModel model = random_model(shape, 5);
        const Encoder plain(model);
        std::vector<Features> features;
        std::vector<const Features*> batch;
        for (std::uint64_t i = 0; i < 300; ++i) {  // more than one call takes
            features.push_back(features_of(model, random_query(i, 70, 3000.0 * double(i + 1))));
        }
        for (const Features& one : features) batch.push_back(&one);
        const std::vector<float> torch = TorchModel(model, Device::cpu).forward(batch);
        REQUIRE(torch.size() == features.size() * kQuantiles.size());
        for (std::size_t i = 0; i < features.size(); ++i) {
            const std::vector<float> own = plain(features[i]);
            for (std::size_t q = 0; q < own.size(); ++q) {
                CHECK(std::abs(own[q] - torch[i * own.size() + q]) < kTolerance);
            }
        }
    }
}

TEST_CASE("unit.restore.libtorch.keeps_the_weights_it_was_given") {
    if (skipped()) return;
    const QueueModel model = random_model(small_shape(), 8);
    CHECK(TorchModel(model, Device::cpu).weights() == model.weights);
}

TEST_CASE("unit.restore.training.finds_how_queues_move_and_does_so_again") {
    if (skipped()) return;
    const std::vector<Case> learned = returning_cases(1500, 1);
    const std::vector<Case> judged = returning_cases(300, 100'000);
    int calls = 0;
    const auto watch = [&](double done, const std::vector<Epoch>&) {
        ++calls;
        return done < 1;
    };
    const TrainedModel trained = train(learned, judged, quick(3), watch);
    CHECK(calls == 6 * 24);
    REQUIRE(trained.epochs.size() == 6);
    CHECK(trained.epochs.back().validation < 0.5 * trained.epochs.front().validation);
    const std::vector<ErrorRow> rows = evaluate(trained.model, judged);
    REQUIRE(rows.size() == predictor_words().size());
    for (const ErrorRow& row : rows) {
        CAPTURE(row.predictor);
        // hold, empty and last_mean see no movement.
        if (row.predictor != "linear" && row.predictor != "transformer") {
            CHECK(rows.back().absolute < 0.5 * row.absolute);
        }
    }
    CHECK(train(learned, judged, quick(3), watch).model.weights == trained.model.weights);
    CHECK(train(learned, judged, quick(4), watch).model.weights != trained.model.weights);
}

TEST_CASE("unit.restore.training.ends_when_it_is_told_to_or_gets_no_better") {
    if (skipped()) return;
    const std::vector<Case> learned = returning_cases(200, 1);
    TrainingConfig config = quick(1);
    const TrainedModel none =
        train(learned, learned, config, [](double, const auto&) { return false; });
    CHECK(none.interrupted);
    CHECK(none.best_epoch == 0);
    config.learning_rate = 0;  // then nothing gets better
    config.epochs = 50;
    config.patience = 3;
    const TrainedModel stuck = train(learned, learned, config, {});
    CHECK(stuck.best_epoch == 1);
    CHECK(stuck.epochs.size() == 4);
    CHECK(error_of([&] { train({}, learned, config, {}); }).find("for training have no case") !=
          std::string::npos);
}

TEST_CASE("unit.restore.loss_curve.has_every_epoch") {
    const std::vector<Epoch> epochs{{1, 0.5, 0.75, true}, {2, 0.25, 0.8, false}};
    CHECK(loss_csv(epochs) == "epoch,training,validation,best\n1,0.5,0.75,1\n2,0.25,0.8,0\n");
    const std::string svg = loss_svg(epochs, "a < b");
    CHECK(svg.rfind("<svg ", 0) == 0);
    CHECK(svg.find("a &lt; b") != std::string::npos);
    std::size_t curves = 0;
    for (std::size_t at = 0; (at = svg.find("<polyline", at)) != std::string::npos; ++at) ++curves;
    CHECK(curves == 2);
    CHECK(loss_svg({}, "none").find("</svg>") != std::string::npos);
}
