// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/model_support.h"
#include "workloads/model/messages.h"

using namespace sluice;

namespace {

constexpr double kMiB = 1024 * 1024;
constexpr double kNone = -1;

/// A row of the field's table of message sizes: one micro-batch of one sequence, MiB; gradients
/// and parameters of a rank in GB. kNone: the table has no figure there.
struct Row {
    const char* model;
    std::int64_t tp, pp, ep;
    double tensor_parallel, pipeline, dispatch;
    double reduce_scatter, all_gather, experts;
};

const std::vector<Row>& rows() {
    static const std::vector<Row> kRows = {
        {"gpt-7b", 4, 1, 1, 16, kNone, kNone, 7.46, 3.73, kNone},
        {"gpt-6.7b", 1, 1, 1, 16, kNone, kNone, kNone, kNone, kNone},
        {"gpt-13b", 8, 1, 1, 20, kNone, kNone, 6.43, 3.21, kNone},
        {"gpt-22b", 8, 1, 1, 24, kNone, kNone, 11.03, 5.52, kNone},
        {"gpt-175b", 8, 8, 1, 48, 6, kNone, 10.91, 5.46, kNone},
        {"llama-7b", 1, 1, 1, 16, kNone, kNone, kNone, kNone, kNone},
        {"llama-65b", 8, 4, 1, 32, 4, kNone, 8.16, 4.08, kNone},
        {"llama3-405b", 8, 16, 1, 256, 32, kNone, 12.68, 6.34, kNone},
        {"qwen2.5-72b", 8, 4, 1, 64, 8, kNone, 9.09, 4.54, kNone},
        {"mixtral-8x7b", 4, 1, 8, 32, kNone, 16, 1.61, 0.80, 5.64},
        {"mixtral-8x22b", 8, 4, 8, 48, 6, 12, 0.67, 0.33, 2.11},
        {"moe-8x13b", 8, 2, 8, 20, 2.5, 5, 1.12, 0.56, 2.10},
        {"moe-8x22b", 8, 4, 8, 24, 3, 6, 0.95, 0.47, 1.81},
        {"moe-32x22b", 8, 8, 32, 24, 3, 6, 0.47, 0.24, 0.91},
        {"deepseek-v3", 1, 16, 64, 56, 56, 448, 4.28, 2.14, 2.55},
    };
    return kRows;
}

MessageShape shape_of(const ModelShape& model, std::int64_t tp, std::int64_t ep) {
    MessageShape shape;
    shape.tokens = model.sequence;
    shape.tp = tp;
    shape.ep = ep;
    return shape;
}

/// Printed with two digits after the point.
void check_gigabytes(std::int64_t bytes, double printed) {
    if (printed == kNone) return;
    CHECK(std::abs(static_cast<double>(bytes) / 1e9 - printed) <= 0.005 + 1e-9);
}

void check_mebibytes(std::int64_t bytes, double printed) {
    if (printed == kNone) return;
    CHECK(static_cast<double>(bytes) == printed * kMiB);
}

}  // namespace

TEST_CASE("unit.messages.equal_the_table_row_by_row") {
    CHECK(rows().size() == model_names(model_folders()).size());
    for (const Row& row : rows()) {
        CAPTURE(row.model);
        const ModelShape model = preset(row.model);
        const MessageShape shape = shape_of(model, row.tp, row.ep);
        check_mebibytes(tensor_parallel_bytes(model, shape), row.tensor_parallel);
        check_mebibytes(pipeline_bytes(model, shape), row.pipeline);
        check_mebibytes(dispatch_bytes(model, shape), row.dispatch);
        CHECK(combine_bytes(model, shape) == dispatch_bytes(model, shape));
        const GradientBytes gradients =
            gradient_bytes(even_parameters(model, row.tp, row.pp, row.ep), shape);
        check_gigabytes(gradients.dense_reduce_scatter, row.reduce_scatter);
        check_gigabytes(gradients.dense_all_gather, row.all_gather);
        check_gigabytes(gradients.expert_reduce_scatter, row.experts);
        CHECK(gradients.expert_reduce_scatter == 2 * gradients.expert_all_gather);
    }
}

TEST_CASE("unit.messages.other_sizes_by_hand") {
    // GPT-175B, b 2, s 2048, h 12288, tp 8.
    const ModelShape gpt = preset("gpt-175b");
    MessageShape shape = shape_of(gpt, 8, 1);
    shape.sequences = 2;
    CHECK(tensor_parallel_bytes(gpt, shape) == 2 * 2 * 2048 * 12288);
    CHECK(pipeline_bytes(gpt, shape) == 2 * 2 * 2048 * 12288 / 8);
    shape.sequence_parallel = false;
    CHECK(pipeline_bytes(gpt, shape) == 2 * 2 * 2048 * 12288);
    CHECK(cross_entropy_bytes(shape) == 4 * 2 * 2048);
    CHECK(tied_embedding_bytes(gpt, shape) == std::int64_t{4} * 50257 * 12288 / 8);
    // Context parallelism: half of the tokens; keys and values of 12 of 96 heads, 128 wide.
    shape.cp = 2;
    CHECK(tensor_parallel_bytes(gpt, shape) == 2 * 2048 * 12288);
    CHECK(context_block_bytes(gpt, shape) == 2 * 2 * 2048 * 12 * 128);
    CHECK(cross_entropy_bytes(shape) == 4 * 2048);
    CHECK(combine_bytes(gpt, shape) == 0);
    // Llama 3's head is its own; 8 key and value heads cannot be cut in 16.
    const ModelShape llama = preset("llama3-405b");
    shape = shape_of(llama, 16, 1);
    CHECK(tied_embedding_bytes(llama, shape) == 0);
    CHECK(context_block_bytes(llama, shape) == 2 * 2 * 8192 * 1 * 128);
}

TEST_CASE("unit.messages.mixtures") {
    const ModelShape mixtral = preset("mixtral-8x7b");
    MessageShape shape = shape_of(mixtral, 4, 8);
    CHECK(router_count_bytes(mixtral, shape) == 2 * 8 * 8 * 4);
    // DeepSeek-V3's dispatch in 8 bits: 33 / 64 of 448 MiB.
    const ModelShape deepseek = preset("deepseek-v3");
    shape = shape_of(deepseek, 1, 64);
    shape.dispatch_factor = kEightBitDispatch;
    CHECK(dispatch_bytes(deepseek, shape) == 448 * 1024 * 1024 / 64 * 33);
    CHECK(combine_bytes(deepseek, shape) == 448 * 1024 * 1024);
    // Latent attention: 512 + 64 values a token, for all heads.
    CHECK(context_block_bytes(deepseek, shape) == 2 * 4096 * (512 + 64));
}

TEST_CASE("unit.messages.refuse_what_overflows") {
    const ModelShape gpt = preset("gpt-13b");
    MessageShape shape;
    shape.sequences = 1'000'000;
    shape.tokens = 100'000'000;
    CHECK_THROWS_WITH_AS(tensor_parallel_bytes(gpt, shape), doctest::Contains("1000000000"),
                         ConfigError);
    shape.tokens = 0;
    CHECK_THROWS_AS(cross_entropy_bytes(shape), ConfigError);
}
