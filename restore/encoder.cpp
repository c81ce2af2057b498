// SPDX-License-Identifier: Apache-2.0
#include "restore/encoder.h"

#include <cmath>
#include <cstring>

#include "core/error.h"
#include "core/random.h"

// The same operations in the same order, in vectors of what the machine has: chosen as the program starts.
// Not under sanitizers, whose own start comes later.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define SLUICE_VECTOR_CLONES __attribute__((target_clones("avx2", "default")))
#define SLUICE_IN_CLONES inline __attribute__((always_inline))
#else
#define SLUICE_VECTOR_CLONES
#define SLUICE_IN_CLONES inline
#endif

namespace sluice::restore {

namespace {

constexpr float kNormEpsilon = 1e-5F;
constexpr std::uint64_t kWeightDraws = 0x5155455545;

void add_norm(std::vector<WeightBlock>& blocks, const std::string& name, std::size_t width) {
    blocks.push_back({name + ".gain", 1, width});
    blocks.push_back({name + ".bias", 1, width});
}

void add_linear(std::vector<WeightBlock>& blocks, const std::string& name, std::size_t in,
                std::size_t out) {
    blocks.push_back({name, in, out});
    blocks.push_back({name + ".bias", 1, out});
}

/// Numbers that are computed side by side. What each one is does not depend on its neighbours, nor on how
/// many of them the machine takes at once.
constexpr std::size_t kLanes = 8;
using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));
using IntLanes = std::int32_t __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

SLUICE_IN_CLONES void load(const float* from, Lanes& to) { std::memcpy(&to, from, sizeof to); }
SLUICE_IN_CLONES void store(const Lanes& from, float* to) { std::memcpy(to, &from, sizeof from); }

/// out[j] = start[j] + sum over k of in[k] rows[k * stride + j], summed in the order of k, for Groups x kLanes
/// outputs. `start` may be null: zeros.
template <std::size_t Groups>
SLUICE_IN_CLONES void sum_groups(const float* in, std::size_t count, const float* rows,
                                 std::size_t stride, const float* start, float* out) {
    Lanes sums[Groups] = {};
    for (std::size_t g = 0; start != nullptr && g < Groups; ++g) load(start + g * kLanes, sums[g]);
    for (std::size_t k = 0; k < count; ++k) {
        const float* row = rows + k * stride;
        for (std::size_t g = 0; g < Groups; ++g) {
            Lanes weights;
            load(row + g * kLanes, weights);
            sums[g] += in[k] * weights;
        }
    }
    for (std::size_t g = 0; g < Groups; ++g) store(sums[g], out + g * kLanes);
}

/// The same for any number of outputs.
SLUICE_VECTOR_CLONES
void sum_rows(const float* in, std::size_t count, const float* rows, std::size_t stride,
              const float* start, std::size_t outputs, float* out) {
    constexpr std::size_t kGroups = 4;
    std::size_t j = 0;
    for (; j + kGroups * kLanes <= outputs; j += kGroups * kLanes) {
        sum_groups<kGroups>(in, count, rows + j, stride, start == nullptr ? nullptr : start + j,
                            out + j);
    }
    for (; j + kLanes <= outputs; j += kLanes) {
        sum_groups<1>(in, count, rows + j, stride, start == nullptr ? nullptr : start + j, out + j);
    }
    for (; j < outputs; ++j) {
        float sum = start == nullptr ? 0.0F : start[j];
        for (std::size_t k = 0; k < count; ++k) sum += in[k] * rows[k * stride + j];
        out[j] = sum;
    }
}

/// out = in W + bias.
void linear(const float* in, std::size_t inputs, const float* weights, const float* bias,
            std::size_t outputs, float* out) {
    sum_rows(in, inputs, weights, outputs, bias, outputs, out);
}

void norm(const float* in, std::size_t width, const float* gain, const float* bias, float* out) {
    float sum = 0;
    for (std::size_t j = 0; j < width; ++j) sum += in[j];
    const float mean = sum / static_cast<float>(width);
    float squares = 0;
    for (std::size_t j = 0; j < width; ++j) squares += (in[j] - mean) * (in[j] - mean);
    const float scale = 1.0F / std::sqrt(squares / static_cast<float>(width) + kNormEpsilon);
    for (std::size_t j = 0; j < width; ++j) out[j] = (in[j] - mean) * scale * gain[j] + bias[j];
}

void rectify(std::vector<float>& values) {
    for (float& value : values) value = value > 0 ? value : 0;
}

/// fixed_exp() of each, x <= 0.
SLUICE_IN_CLONES void exp_of(Lanes& x) {
    const Lanes lowest = Lanes{} - 80.0F;
    x = x >= lowest ? x : lowest;
    const IntLanes n = __builtin_convertvector(x * 1.44269504F - 0.5F, IntLanes);
    const Lanes whole = __builtin_convertvector(n, Lanes);
    const Lanes r = (x - whole * 0.693359375F) + whole * 2.12194440e-4F;
    Lanes p = Lanes{} + 1.3981999e-3F;
    p = p * r + 8.3334519e-3F;
    p = p * r + 4.1665795e-2F;
    p = p * r + 1.6666665e-1F;
    p = p * r + 5.0000001e-1F;
    p = p * r * r + r + 1.0F;
    const IntLanes bits = (n + 127) * (1 << 23);
    Lanes scale;
    std::memcpy(&scale, &bits, sizeof scale);
    x = p * scale;
}

/// Scores become shares that sum up to one. `count` is a multiple of kLanes; sums run in lanes, which are
/// joined in the end.
SLUICE_VECTOR_CLONES
void soften(float* scores, std::size_t count) {
    Lanes most;
    load(scores, most);
    for (std::size_t i = kLanes; i < count; i += kLanes) {
        Lanes x;
        load(scores + i, x);
        most = x > most ? x : most;
    }
    float highest = most[0];
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
        highest = most[lane] > highest ? most[lane] : highest;
    }
    Lanes sums = {};
    for (std::size_t i = 0; i < count; i += kLanes) {
        Lanes x;
        load(scores + i, x);
        x -= highest;
        exp_of(x);
        store(x, scores + i);
        sums += x;
    }
    float sum = 0;
    for (std::size_t lane = 0; lane < kLanes; ++lane) sum += sums[lane];
    const float factor = 1.0F / sum;
    for (std::size_t i = 0; i < count; ++i) scores[i] *= factor;
}

std::size_t size(int count) { return static_cast<std::size_t>(count); }

}  // namespace

std::vector<WeightBlock> weight_blocks(const ModelShape& shape, int context) {
    const std::size_t width = size(shape.width);
    const std::size_t hidden = size(shape.hidden);
    std::vector<WeightBlock> blocks;
    add_linear(blocks, "token", kTokenSize, width);
    blocks.push_back({"position", size(shape.steps), width});
    add_linear(blocks, "context", size(context), width);
    for (int i = 0; i < shape.layers; ++i) {
        const std::string name = "layer" + std::to_string(i) + ".";
        add_norm(blocks, name + "norm1", width);
        for (const char* part : {"query", "key", "value", "out"}) {
            add_linear(blocks, name + part, width, width);
        }
        add_norm(blocks, name + "norm2", width);
        add_linear(blocks, name + "up", width, hidden);
        add_linear(blocks, name + "down", hidden, width);
    }
    add_norm(blocks, "norm", width);
    add_linear(blocks, "head.up", width + size(context), hidden);
    add_linear(blocks, "head.down", hidden, kQuantiles.size());
    return blocks;
}

std::size_t weight_count(const ModelShape& shape, int context) {
    std::size_t count = 0;
    for (const WeightBlock& block : weight_blocks(shape, context)) {
        count += block.rows * block.columns;
    }
    return count;
}

std::vector<float> initial_weights(const ModelShape& shape, int context, std::uint64_t seed) {
    std::vector<float> weights;
    for (const WeightBlock& block : weight_blocks(shape, context)) {
        const bool gain =
            block.name.size() > 5 && block.name.rfind(".gain") == block.name.size() - 5;
        const bool drawn = block.rows > 1 && block.name != "head.down";
        // Uniform, of variance 1 / inputs; positions as if of one token.
        const double inputs = block.name == "position" ? 100.0 : static_cast<double>(block.rows);
        const double bound = std::sqrt(3.0 / inputs);
        for (std::size_t i = 0; i < block.rows * block.columns; ++i) {
            const double u = uniform(seed, kWeightDraws, weights.size());
            weights.push_back(gain ? 1.0F : drawn ? static_cast<float>((2 * u - 1) * bound) : 0.0F);
        }
    }
    return weights;
}

/// The rows of a sequence inside the encoder, and room for what is computed of them.
struct Encoder::Rows {
    std::vector<float> x;  ///< steps x width
    std::vector<float> normed, query, key, value, mixed, added, hidden, scores;
};

Encoder::Encoder(const QueueModel& model) : model_(model), context_(size(context_size(model))) {
    if (model.weights.size() != weight_count(model.shape, context_size(model))) {
        throw InternalError("a model whose weights are not those of its shape");
    }
    const float* at = model.weights.data();
    for (const WeightBlock& block : weight_blocks(model.shape, context_size(model))) {
        blocks_.push_back(at);
        at += block.rows * block.columns;
    }
}

void Encoder::embed(const Features& features, Rows& rows) const {
    const std::size_t width = size(model_.shape.width);
    rows.x.resize(size(model_.shape.steps) * width);
    rows.added.resize(width);
    linear(features.context.data(), context_, first(kContext), first(kContextBias), width,
           rows.added.data());
    for (std::size_t t = 0; t < size(model_.shape.steps); ++t) {
        float* row = rows.x.data() + t * width;
        linear(features.tokens.data() + t * kTokenSize, kTokenSize, first(kToken),
               first(kTokenBias), width, row);
        const float* position = first(kPosition) + t * width;
        for (std::size_t j = 0; j < width; ++j) row[j] += position[j] + rows.added[j];
    }
}

/// Rows from `from` on ask all rows.
void Encoder::attend(int index, std::size_t from, Rows& rows) const {
    const std::size_t width = size(model_.shape.width);
    const std::size_t steps = size(model_.shape.steps);
    const std::size_t part = width / size(model_.shape.heads);
    const float factor = 1.0F / std::sqrt(static_cast<float>(part));
    rows.normed.resize(steps * width);
    rows.key.resize(steps * width);  // by channel, then row: scores are summed over channels
    rows.value.resize(steps * width);
    rows.query.resize(width);
    rows.mixed.resize(width);
    rows.added.resize(width);
    rows.scores.resize(steps);
    for (std::size_t t = 0; t < steps; ++t) {
        float* normed = rows.normed.data() + t * width;
        norm(rows.x.data() + t * width, width, layer(index, kNorm1Gain), layer(index, kNorm1Bias),
             normed);
        linear(normed, width, layer(index, kKey), layer(index, kKeyBias), width, rows.added.data());
        for (std::size_t j = 0; j < width; ++j) rows.key[j * steps + t] = rows.added[j];
        linear(normed, width, layer(index, kValue), layer(index, kValueBias), width,
               rows.value.data() + t * width);
    }
    for (std::size_t t = from; t < steps; ++t) {
        linear(rows.normed.data() + t * width, width, layer(index, kQuery),
               layer(index, kQueryBias), width, rows.query.data());
        for (float& asked : rows.query) asked *= factor;
        for (std::size_t head = 0; head < width; head += part) {
            sum_rows(rows.query.data() + head, part, rows.key.data() + head * steps, steps, nullptr,
                     steps, rows.scores.data());
            soften(rows.scores.data(), steps);
            sum_rows(rows.scores.data(), steps, rows.value.data() + head, width, nullptr, part,
                     rows.mixed.data() + head);
        }
        linear(rows.mixed.data(), width, layer(index, kOut), layer(index, kOutBias), width,
               rows.added.data());
        float* row = rows.x.data() + t * width;
        for (std::size_t j = 0; j < width; ++j) row[j] += rows.added[j];
    }
}

void Encoder::feed_forward(int index, std::size_t from, Rows& rows) const {
    const std::size_t width = size(model_.shape.width);
    const std::size_t hidden = size(model_.shape.hidden);
    rows.hidden.resize(hidden);
    for (std::size_t t = from; t < size(model_.shape.steps); ++t) {
        float* row = rows.x.data() + t * width;
        norm(row, width, layer(index, kNorm2Gain), layer(index, kNorm2Bias), rows.mixed.data());
        linear(rows.mixed.data(), width, layer(index, kUp), layer(index, kUpBias), hidden,
               rows.hidden.data());
        rectify(rows.hidden);
        linear(rows.hidden.data(), hidden, layer(index, kDown), layer(index, kDownBias), width,
               rows.added.data());
        for (std::size_t j = 0; j < width; ++j) row[j] += rows.added[j];
    }
}

std::vector<float> Encoder::operator()(const Features& features) const {
    const std::size_t width = size(model_.shape.width);
    const std::size_t newest = size(model_.shape.steps) - 1;
    Rows rows;
    embed(features, rows);
    for (int i = 0; i < model_.shape.layers; ++i) {
        const std::size_t from = i + 1 == model_.shape.layers ? newest : 0;
        attend(i, from, rows);
        feed_forward(i, from, rows);
    }
    std::vector<float> read(width);
    norm(rows.x.data() + newest * width, width, last(kNormGain), last(kNormBias), read.data());
    read.insert(read.end(), features.context.begin(), features.context.end());
    rows.hidden.resize(size(model_.shape.hidden));
    linear(read.data(), read.size(), last(kHeadUp), last(kHeadUpBias), rows.hidden.size(),
           rows.hidden.data());
    rectify(rows.hidden);
    std::vector<float> out(kQuantiles.size());
    linear(rows.hidden.data(), rows.hidden.size(), last(kHeadDown), last(kHeadDownBias), out.size(),
           out.data());
    return out;
}

}  // namespace sluice::restore
