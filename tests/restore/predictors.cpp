// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "core/error.h"
#include "restore/evaluation.h"
#include "restore/linear.h"
#include "restore/predicted_queues.h"
#include "restore/predictors.h"
#include "tests/support/restore_support.h"

using namespace sluice;
using namespace sluice::restore;

namespace {

std::int64_t median(PredictorKind kind, const QueueModel* model, const PortQuery& query) {
    return make_predictor(kind, model)->predict({query})[0][kMedian];
}

}  // namespace

TEST_CASE("unit.restore.predictors.the_simple_ones_say_what_their_names_say") {
    PortQuery query = random_query(1);
    query.depths = {100, 200, 600};
    CHECK(median(PredictorKind::hold, nullptr, query) == 600);
    CHECK(median(PredictorKind::empty, nullptr, query) == 0);
    CHECK(median(PredictorKind::last_mean, nullptr, query) == 300);
    CHECK_THROWS_AS(make_predictor(PredictorKind::transformer, nullptr), InternalError);
    CHECK_THROWS_AS(make_predictor(PredictorKind::linear, nullptr), InternalError);
    QueueModel model = random_model(small_shape(), 1);
    query.depths.assign(40, 0);
    query.depths.insert(query.depths.end(), 16, 1000);
    CHECK(median(PredictorKind::last_mean, &model, query) == 1000);  // of the model's 16 steps
}

TEST_CASE("unit.restore.predictors.an_answer_does_not_depend_on_its_batch") {
    const QueueModel model = random_model(ModelShape{}, 2);
    const auto predictor = make_predictor(PredictorKind::transformer, &model);
    std::vector<PortQuery> all;
    for (std::uint64_t i = 0; i < 9; ++i) all.push_back(random_query(i));
    const std::vector<DepthQuantiles> together = predictor->predict(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
        CHECK(predictor->predict({all[i]})[0] == together[i]);
    }
}

TEST_CASE("unit.restore.predictors.the_linear_model_finds_what_is_linear") {
    QueueModel model = random_model(small_shape(), 1);
    LinearFit fit(model);
    const auto depth_after = [](const Features& features) {
        return 0.5 * static_cast<double>(features.depths.back()) +
               0.25 * static_cast<double>(features.depths.front()) + 0.1;
    };
    for (std::uint64_t i = 0; i < 400; ++i) {
        const Features features = features_of(model, random_query(i, 16, 4000.0 * double(i)));
        fit.add(features, depth_after(features));
    }
    const int place = model.place_of(congestion::Law::dcqcn);
    model.linear.weights[static_cast<std::size_t>(place)] = fit.solve();
    const Features unseen = features_of(model, random_query(999));
    CHECK(linear_depth(model, unseen, place) == doctest::Approx(depth_after(unseen)).epsilon(0.01));
    // A law without a fit: as it was.
    CHECK(linear_depth(model, unseen, model.place_of(congestion::Law::hpcc)) ==
          static_cast<double>(unseen.depths.back()));
    CHECK(LinearFit(model).solve().empty());
}

TEST_CASE("unit.restore.predictors.the_deepest_answer_is_a_number_of_bytes") {
    // The limits of a record: a unit of 1.25e17 bytes.
    QueueModel model = random_model(small_shape(), 1);
    PortQuery query = random_query(1);
    query.context.line_rate = 1'000'000'000'000'000;
    query.context.base_rtt = 1000 * kSecond;
    query.context.mark_bytes = 0;
    const auto inputs = static_cast<std::size_t>(model.shape.steps + context_size(model) + 1);
    for (auto& weights : model.linear.weights) weights.assign(inputs, 1e5);
    CHECK(median(PredictorKind::linear, &model, query) == 1'000'000'000'000'000'000);
}

TEST_CASE("unit.restore.predicted_queues.an_answer_is_given_again_to_its_own_question_only") {
    PhaseConfig config;
    const auto fresh = [&] {
        return PredictedQueues(PredictorKind::linear, config, congestion::Law::dcqcn);
    };
    PredictedQueues restorer = fresh();
    hybrid::PortPast past;
    past.depth.assign(20, 300'000);
    past.step = 2 * kMicrosecond;
    past.skipped = 100 * kMicrosecond;
    past.base_rtt = 8 * kMicrosecond;
    past.rate = 100'000'000'000;
    past.load = 0.9;
    past.flows = 3;
    past.mark_bytes = 400'000;
    std::vector<hybrid::PortPast> ports(8, past);
    ports[1].port = 7;  // who asks does not matter
    ports[2].depth.back() = 310'000;
    ports[3].skipped += 100 * kMicrosecond;
    ports[4].load = 0.5;
    ports[5].flows = 9;
    ports[6].mark_bytes = 200'000;
    ports[7].to_host = true;
    const std::vector<double> first = restorer.depths(ports);
    CHECK(first[1] == first[0]);
    for (std::size_t i = 0; i < ports.size(); ++i) {
        CHECK(fresh().depths({ports[i]})[0] == first[i]);
        if (i > 1) CHECK(first[i] != first[0]);
    }
    // Less than a 64th of the marking threshold throughout: as it was, whatever the model says.
    hybrid::PortPast shallow = past;
    shallow.depth.assign(20, 6'000);
    CHECK(restorer.depths({shallow})[0] == 6'000);
    shallow.depth.front() = 6'300;
    CHECK(restorer.depths({shallow})[0] != 6'000);
    // Beyond what is kept, and again.
    for (int depth = 0; depth < 10'000; ++depth) {
        past.depth.front() = depth;
        restorer.depths({past});
    }
    CHECK(restorer.depths(ports) == first);
}

TEST_CASE("unit.restore.evaluation.errors_are_counted_in_units_by_law") {
    // By hand: unit 400 kB. The queue stood at 400 kB and came to 600 kB: hold is off by 0.5 unit.
    // Pinball, mean over quantiles whose levels average 0.5: 0.25.
    Case one;
    one.query = random_query(1);
    one.query.depths.assign(64, 400'000);
    one.depth = 600'000;
    Case other = one;
    other.query.context.law = congestion::Law::timely;
    other.depth = 400'000;
    const QueueModel model = random_model(ModelShape{}, 1);
    const std::vector<ErrorRow> rows = evaluate(model, {one, one, other});
    REQUIRE(rows.size() == 2 * predictor_words().size());
    CHECK(rows[0].law == "dcqcn");
    CHECK(rows[0].predictor == "hold");
    CHECK(rows[0].cases == 2);
    CHECK(rows[0].absolute == doctest::Approx(0.5));
    CHECK(rows[0].pinball == doctest::Approx(0.25));
    CHECK(rows[0].moved == 1.0);
    CHECK(rows[1].predictor == "empty");
    CHECK(rows[1].absolute == doctest::Approx(1.5));
    const ErrorRow& held = rows[predictor_words().size()];
    CHECK(held.law == "timely");
    CHECK(held.absolute == 0.0);
    CHECK(held.within == 1.0);
    CHECK(error_csv(rows).rfind("law,predictor,cases,mae,pinball,within,moved\ndcqcn,hold,2,0.5000",
                                0) == 0);
}
