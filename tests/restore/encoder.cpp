// SPDX-License-Identifier: Apache-2.0
/// The plain evaluation: against the whole encoder written out, and to the bit on every machine.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "restore/fixed_math.h"
#include "tests/support/restore_support.h"

using namespace sluice;
using namespace sluice::restore;

namespace {

using Row = std::vector<double>;
using Matrix = std::vector<Row>;

/// The encoder as its header writes it, every row asking in every layer, in doubles and with libm.
class WholeEncoder {
  public:
    explicit WholeEncoder(const QueueModel& model) : model_(model) {}

    Row operator()(const Features& features) {
        at_ = model_.weights.data();
        blocks_ = weight_blocks(model_.shape, context_size(model_));
        next_ = 0;
        const Matrix token = matrix();
        const Row token_bias = matrix()[0];
        const Matrix position = matrix();
        const Matrix context_weights = matrix();
        const Row context_bias = matrix()[0];
        const Row context(features.context.begin(), features.context.end());
        Matrix x;
        for (int t = 0; t < model_.shape.steps; ++t) {
            const auto place = static_cast<std::size_t>(t);
            const Row tokens{features.tokens[2 * place], features.tokens[2 * place + 1]};
            x.push_back(sum(sum(product(tokens, token, token_bias), position[place]),
                            product(context, context_weights, context_bias)));
        }
        for (int i = 0; i < model_.shape.layers; ++i) x = layer(x);
        Row read = norm({x.back()})[0];
        read.insert(read.end(), context.begin(), context.end());
        const Row hidden = rectified(linear({read}))[0];
        return linear({hidden})[0];
    }

  private:
    Matrix matrix() {
        const WeightBlock& block = blocks_[next_++];
        Matrix values;
        for (std::size_t i = 0; i < block.rows; ++i) {
            values.emplace_back(at_, at_ + block.columns);
            at_ += block.columns;
        }
        return values;
    }
    static Row product(const Row& in, const Matrix& weights, const Row& bias) {
        Row out = bias;
        for (std::size_t k = 0; k < in.size(); ++k) {
            for (std::size_t j = 0; j < out.size(); ++j) out[j] += in[k] * weights[k][j];
        }
        return out;
    }
    static Row sum(Row a, const Row& b) {
        for (std::size_t j = 0; j < a.size(); ++j) a[j] += b[j];
        return a;
    }
    Matrix linear(const Matrix& in) {
        const Matrix weights = matrix();
        const Row bias = matrix()[0];
        Matrix out;
        for (const Row& row : in) out.push_back(product(row, weights, bias));
        return out;
    }
    static Matrix rectified(Matrix rows) {
        for (Row& row : rows) {
            for (double& value : row) value = std::max(value, 0.0);
        }
        return rows;
    }
    Matrix norm(const Matrix& rows) {
        const Row gain = matrix()[0];
        const Row bias = matrix()[0];
        Matrix out = rows;
        for (Row& row : out) {
            double mean = 0;
            for (const double value : row) mean += value / static_cast<double>(row.size());
            double variance = 0;
            for (const double value : row) {
                variance += (value - mean) * (value - mean) / static_cast<double>(row.size());
            }
            for (std::size_t j = 0; j < row.size(); ++j) {
                row[j] = (row[j] - mean) / std::sqrt(variance + 1e-5) * gain[j] + bias[j];
            }
        }
        return out;
    }
    Matrix layer(Matrix x) {
        const Matrix normed = norm(x);
        const Matrix query = linear(normed);
        const Matrix key = linear(normed);
        const Matrix value = linear(normed);
        const auto part = static_cast<std::size_t>(model_.shape.width / model_.shape.heads);
        Matrix mixed(x.size(), Row(x[0].size()));
        for (std::size_t t = 0; t < x.size(); ++t) {
            for (std::size_t head = 0; head < x[0].size(); head += part) {
                Row share(x.size());
                double total = 0;
                for (std::size_t s = 0; s < x.size(); ++s) {
                    double score = 0;
                    for (std::size_t j = head; j < head + part; ++j)
                        score += query[t][j] * key[s][j];
                    share[s] = std::exp(score / std::sqrt(static_cast<double>(part)));
                    total += share[s];
                }
                for (std::size_t s = 0; s < x.size(); ++s) {
                    for (std::size_t j = head; j < head + part; ++j) {
                        mixed[t][j] += share[s] / total * value[s][j];
                    }
                }
            }
        }
        const Matrix out = linear(mixed);
        for (std::size_t t = 0; t < x.size(); ++t) x[t] = sum(x[t], out[t]);
        const Matrix down = linear(rectified(linear(norm(x))));
        for (std::size_t t = 0; t < x.size(); ++t) x[t] = sum(x[t], down[t]);
        return x;
    }

    const QueueModel& model_;
    const float* at_ = nullptr;
    std::vector<WeightBlock> blocks_;
    std::size_t next_ = 0;
};

std::uint64_t bits_of(const std::vector<float>& values) {
    std::uint64_t sum = 0;
    for (const float value : values) {
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        sum = mix_bits(sum ^ bits);
    }
    return sum;
}

}  // namespace

TEST_CASE("unit.restore.fixed_math.agrees_with_the_library") {
    for (int i = 0; i <= 8000; ++i) {
        const auto x = static_cast<float>(-i) * 0.01F;
        const double exact = std::exp(static_cast<double>(x));
        CHECK(std::abs(static_cast<double>(fixed_exp(x)) - exact) <= 3e-7 * exact);
    }
    CHECK(fixed_exp(0) == 1.0F);
    CHECK(fixed_exp(-1e30F) == fixed_exp(-80));
    CHECK(fixed_exp(std::numeric_limits<float>::quiet_NaN()) == fixed_exp(-80));
    for (int i = 1; i < 4000; ++i) {
        const double x = std::exp2(i * 0.02 - 40);
        CHECK(std::abs(fixed_log2(x) - std::log2(x)) <= 1e-9);
    }
    CHECK(fixed_log2(8) == 3.0);
    CHECK(fixed_log2(1) == 0.0);
}

TEST_CASE("unit.restore.encoder.is_the_encoder_of_its_header") {
    ModelShape three = small_shape();
    three.layers = 3;
    three.heads = 4;
    for (const ModelShape& shape : {ModelShape{}, small_shape(), three}) {
        const QueueModel model = random_model(shape, 5);
        const Encoder encoder(model);
        for (std::uint64_t seed = 0; seed < 10; ++seed) {
            const Features features = features_of(model, random_query(seed));
            const std::vector<float> fast = encoder(features);
            const Row whole = WholeEncoder(model)(features);
            REQUIRE(fast.size() == kQuantiles.size());
            for (std::size_t q = 0; q < fast.size(); ++q) {
                CHECK(std::abs(static_cast<double>(fast[q]) - whole[q]) < 2e-5);
            }
        }
    }
}

TEST_CASE("unit.restore.encoder.gives_these_bits_on_every_machine") {
    const QueueModel model = random_model(ModelShape{}, 5);
    const Encoder encoder(model);
    std::uint64_t sum = 0;
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        const PortQuery query = random_query(seed, 5 + 2 * static_cast<int>(seed));
        sum = mix_bits(sum ^ bits_of(encoder(features_of(model, query))));
    }
    CHECK(sum == 0xa4a7acb34aeeb147ULL);
}

TEST_CASE("unit.restore.encoder.begins_training_at_the_mean") {
    QueueModel model;
    model.laws = law_names();
    model.weights = initial_weights(model.shape, context_size(model), 1);
    const std::vector<float> raw = Encoder(model)(features_of(model, random_query(3)));
    for (const float one : raw) CHECK(one == 0.0F);
    CHECK(model.weights != initial_weights(model.shape, context_size(model), 2));
}

TEST_CASE("unit.restore.features.depths_are_measured_by_what_the_law_reacts_to") {
    PortQuery query = random_query(1);
    CHECK(depth_unit(query.context) == 400'000);
    query.context.mark_bytes = 0;
    CHECK(depth_unit(query.context) == 100'000);  // 100 Gb/s x 8 us
}

TEST_CASE("unit.restore.features.a_short_sequence_stood_at_its_first_depth") {
    const QueueModel model = random_model(small_shape(), 1);
    PortQuery query = random_query(1, 3);
    const Features brief = features_of(model, query);
    query.depths.insert(query.depths.begin(), 13, query.depths.front());
    const Features full = features_of(model, query);
    CHECK(brief.tokens == full.tokens);
    // What else is known is the same, but for how much of the sequence is.
    REQUIRE(brief.context.size() == full.context.size());
    for (std::size_t i = 0; i < full.context.size(); ++i) {
        CHECK((brief.context[i] == full.context[i]) == (i != kContextFacts - 1));
    }
    CHECK(brief.context[kContextFacts - 1] == 3.0F / 16.0F);
    query.depths.insert(query.depths.begin(), 5, 1);  // older than the model looks
    CHECK(features_of(model, query).tokens == full.tokens);
    query.depths.clear();
    CHECK_THROWS_AS(features_of(model, query), InternalError);
}

TEST_CASE("unit.restore.features.answers_are_sorted_whole_and_not_negative") {
    const QueueModel model = random_model(ModelShape{}, 1);
    const PortQuery query = random_query(1);
    const Features features = features_of(model, query);
    const float raw[] = {3.0F, -1e30F, 0.0F, 1e30F, 0.5F};
    const DepthQuantiles depths = depths_of(features, raw, query.context);
    CHECK(depths[0] == 0);
    for (std::size_t i = 1; i < depths.size(); ++i) CHECK(depths[i - 1] <= depths[i]);
    CHECK(depths.back() == 400'000'000'000);  // a million units
    // In steps of 1/4096 unit: what differs by less is the same.
    const float close[] = {0.3F, 0.3000001F, 0.3F, 0.3F, 0.3F};
    const DepthQuantiles same = depths_of(features, close, query.context);
    CHECK(same[0] == same[4]);
    const float broken[] = {0.0F, 0.0F, std::nanf(""), 0.0F, 0.0F};
    CHECK_THROWS_AS(depths_of(features, broken, query.context), ConfigError);
}
