// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "tests/support/aicb_support.h"
#include "tests/support/error_of.h"
#include "workloads/aicb/aicb_generate.h"
#include "workloads/aicb/aicb_layout.h"
#include "workloads/aicb/aicb_pipeline.h"
#include "workloads/model/model_file.h"

using namespace sluice;

namespace {

ModelShape preset(const std::string& name) {
    return find_model(name, {std::string(SLUICE_SOURCE_DIR) + "/workloads/data/models"});
}

AicbJob gpt_7b() {
    AicbJob job;
    job.model = preset("gpt-7b");
    job.world = 16;
    job.tp = 4;
    job.global_batch = 8;
    return job;
}

std::string sample(const std::string& part) {
    for (const std::string& file : aicb::samples()) {
        if (file.find(part) == std::string::npos) continue;
        std::ifstream stream(file, std::ios::binary);
        std::stringstream text;
        text << stream.rdbuf();
        return text.str();
    }
    return "";
}

}  // namespace

TEST_CASE("unit.aicb.generated_parameters") {
    // GPT-7B, tp 4, as AICB counts: 36 (4 + 8) 4096^2 / 4 of layers, 4 x 50688 / 4 x 4096 of
    // embeddings (vocabulary padded to 512) and 2048 x 4096 of positions.
    CHECK(aicb_parameters(gpt_7b()).dense == 2'027'945'984);
    // The formula: 7.46 B / 4 and what is not divided.
    const AicbWorkload ours = generate_aicb(gpt_7b(), std::nullopt);
    const double parameters = static_cast<double>(ours.layers[0].work[kWeightGradient].bytes) / 2;
    CHECK(parameters == doctest::Approx(1.87e9).epsilon(0.005));
}

TEST_CASE("unit.aicb.generates_aicb_files_bit_for_bit") {
    if (aicb::samples().empty()) {
        MESSAGE("skipped: no reference files (set SLUICE_REFERENCE)");
        return;
    }
    CHECK(format_aicb(generate_aicb_compatible(gpt_7b(), std::nullopt)) == sample("gpt_7B"));
    AicbJob job;
    job.model = preset("gpt-13b");
    job.world = 32;
    job.tp = 8;
    job.pp = 2;
    job.global_batch = 16;
    job.sequence_parallel = true;
    job.swiglu = true;
    const AiobProfile profile = AiobProfile::read(aicb::reference() + "/samples/aicb/Example.txt");
    CHECK(format_aicb(generate_aicb_compatible(job, profile)) == sample("gpt_13B_sp"));
}

TEST_CASE("unit.aicb.generated_files_read_back") {
    AicbJob job;
    job.model = preset("mixtral-8x7b");
    job.world = 64;
    job.tp = 2;
    job.ep = 8;
    job.global_batch = 64;
    job.sequence = 4096;
    job.sequence_parallel = true;
    const AicbWorkload ours = generate_aicb(job, std::nullopt);
    const AicbWorkload again = aicb::parse(format_aicb(ours));
    CHECK(again.layers.size() == ours.layers.size());
    CHECK(again.header_tokens == ours.header_tokens);
    ImportReport report;
    const AicbLayout layout(again, 64, 8, 0, report);
    CHECK(layout.size(AicbGroup::dp_ep) == 4);
    // 2 micro-batches of 32 layers of 2 + 5 lines, the embedding, the head and its 3 reductions.
    const AicbBlocks blocks = find_micro_batches(again);
    CHECK(blocks.count == 2);
    CHECK(blocks.length == 32 * 7 + 5);
    // Dispatch: 2 b s h k / tp = 2 x 4096 x 4096 x 2 / 2 bytes.
    const auto& dispatch = again.layers[blocks.first + 4].work[kForward];
    CHECK(dispatch == AicbWork{1, 33'554'432, AicbComm::all_to_all, AicbSuffix::ep});
    // Experts' gradients: 32 layers x 1 expert x 3 x 4096 x 14336 / 2, 4 bytes each.
    bool found = false;
    for (const AicbLayer& layer : again.layers) {
        if (again.name(layer) != "moe_grad_norm2") continue;
        found = true;
        CHECK(layer.work[kWeightGradient].bytes == 4 * 32 * (3LL * 4096 * 14336 / 2));
    }
    CHECK(found);
}

TEST_CASE("unit.aicb.generator_refuses_what_does_not_divide") {
    const auto refusal = [](const std::function<void(AicbJob&)>& change) {
        return error_of([&] {
            AicbJob job = gpt_7b();
            change(job);
            generate_aicb(job, std::nullopt);
        });
    };
    CHECK(refusal([](AicbJob& job) { job.tp = 3; }).find("tp 3 x pp 1 does not divide 16 GPUs") !=
          std::string::npos);
    CHECK(refusal([](AicbJob& job) { job.ep = 3; }).find("ep 3 does not divide dp 4") !=
          std::string::npos);
    CHECK(refusal([](AicbJob& job) {
              job.world = 20;
              job.pp = 5;
          }).find("pp 5 does not divide 36 layers") != std::string::npos);
    CHECK(refusal([](AicbJob& job) {
              job.global_batch = 6;
          }).find("micro-batch 1 x dp 4 does not divide the global batch 6") != std::string::npos);
    CHECK(refusal([](AicbJob& job) { job.global_batch = 400'000'000; }).find("more than") !=
          std::string::npos);
}
