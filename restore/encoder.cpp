// SPDX-License-Identifier: Apache-2.0
#include "restore/encoder.h"

#include <cmath>

#include "core/error.h"
#include "core/random.h"
#include "restore/fixed_math.h"

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

/// out = in W + bias. Each output is summed in the order of the inputs; the inner loop runs over outputs,
/// so that vectors change no sum.
void linear(const float* in, std::size_t inputs, const float* weights, const float* bias,
            std::size_t outputs, float* __restrict out) {
    for (std::size_t j = 0; j < outputs; ++j) out[j] = bias[j];
    for (std::size_t k = 0; k < inputs; ++k) {
        const float factor = in[k];
        const float* __restrict row = weights + k * outputs;
        for (std::size_t j = 0; j < outputs; ++j) out[j] += factor * row[j];
    }
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

/// Scores become shares that sum up to one.
void soften(std::vector<float>& scores) {
    float most = scores[0];
    for (const float score : scores) most = score > most ? score : most;
    for (float& score : scores) score = fixed_exp(score - most);
    float sum = 0;
    for (const float score : scores) sum += score;
    for (float& score : scores) score /= sum;
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
        for (std::size_t head = 0; head < width; head += part) {
            float* __restrict scores = rows.scores.data();
            for (std::size_t s = 0; s < steps; ++s) scores[s] = 0;
            for (std::size_t j = head; j < head + part; ++j) {
                const float asked = rows.query[j] * factor;
                const float* __restrict channel = rows.key.data() + j * steps;
                for (std::size_t s = 0; s < steps; ++s) scores[s] += asked * channel[s];
            }
            soften(rows.scores);
            float* __restrict mixed = rows.mixed.data() + head;
            for (std::size_t j = 0; j < part; ++j) mixed[j] = 0;
            for (std::size_t s = 0; s < steps; ++s) {
                const float* __restrict value = rows.value.data() + s * width + head;
                for (std::size_t j = 0; j < part; ++j) mixed[j] += scores[s] * value[j];
            }
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
