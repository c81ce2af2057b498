// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/aicb_support.h"
#include "tests/support/error_of.h"
#include "workloads/aicb/aicb_layout.h"
#include "workloads/aicb/aicb_physical.h"
#include "workloads/aicb/aicb_pipeline.h"

using namespace sluice;

namespace {

const std::string kHeader =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 vpp: 1 ga: 1 "
    "all_gpus: 4 checkpoints: 0 checkpoint_initiates: 0 pp_comm: 0\n";
const std::string kLayer = "mlp\t-1\t10\tALLREDUCE\t100\t20\tNONE\t0\t30\tALLREDUCE_DP_EP\t50\t7\n";

std::vector<std::string> tokens(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> result;
    for (std::string token; stream >> token;) result.push_back(token);
    return result;
}

std::string error(const std::string& text) {
    return error_of([&] { aicb::parse(text); });
}

}  // namespace

TEST_CASE("unit.aicb.reads_a_layer") {
    ImportReport report;
    const AicbWorkload workload = aicb::parse(kHeader + "1\n" + kLayer, &report);
    CHECK(workload.header.tp == 2);
    CHECK(workload.header.all_gpus == 4);
    REQUIRE(workload.layers.size() == 1);
    const AicbLayer& layer = workload.layers[0];
    CHECK(workload.name(layer) == "mlp");
    CHECK(layer.line == 3);
    CHECK(layer.work[kForward] == AicbWork{10, 100, AicbComm::all_reduce, AicbSuffix::plain});
    CHECK(layer.work[kInputGradient] == AicbWork{20, 0, AicbComm::none, AicbSuffix::plain});
    CHECK(layer.work[kWeightGradient] == AicbWork{30, 50, AicbComm::all_reduce, AicbSuffix::dp_ep});
    CHECK(layer.update == 7);
    CHECK(report.count(ImportNote::Kind::misfit) == 0);
    CHECK(report.count(ImportNote::Kind::skipped) == 0);
}

TEST_CASE("unit.aicb.header_in_any_form") {
    const AicbWorkload workload = aicb::parse(
        "\r\n HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group:4 EP: 2 pp 2 vpp:3 ga: 8.0 "
        "all_gpus : 16 checkpoints: 2 3 1 checkpoint_initiates: 1 4 pp_comm 2621440.0\r\n\r\n"
        "5\r\n" +
        kLayer + kLayer + "\r\n" + kLayer + kLayer + kLayer);
    const AicbHeader& header = workload.header;
    CHECK(header.tp == 4);
    CHECK(header.ep == 2);
    CHECK(header.pp == 2);
    CHECK(header.vpp == 3);
    CHECK(header.ga == 8);
    CHECK(header.all_gpus == 16);
    CHECK(header.pp_comm == 2'621'440);
    CHECK(header.checkpoints == std::vector<std::int64_t>{1, 3});
    CHECK(header.checkpoint_initiates == std::vector<std::int64_t>{4});
}

TEST_CASE("unit.aicb.old_headers_and_other_policies") {
    CHECK(aicb::parse("MICRO\n1\n" + kLayer).header.all_gpus == 0);
    CHECK(aicb::parse("HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 0\n1\n" + kLayer)
              .header.dlrm_last_bottom_layer == 0);
    CHECK(aicb::parse("HYBRID_TRANSFORMER expert_parallel_npu_group: 3\n1\n" + kLayer).header.ep ==
          3);
    std::string custom = kLayer;
    custom.insert(custom.size() - 1, " HYBRID_DATA_MODEL");
    CHECK(aicb::parse("HYBRID_CUSTOMIZED\n1\n" + custom).layers[0].policy ==
          AicbPolicy::data_model);
    for (const char* policy : {"HYBRID_TRANSFORMER_FWD_IN_BCKWD", "HYBRID_TRANSFORMER", "DATA",
                               "MODEL", "HYBRID_DATA_MODEL", "HYBRID_MODEL_DATA", "HYBRID_DLRM",
                               "HYBRID_DLRM_ENHANCED", "MICRO", "DISTRIBUTED_INFERENCE"}) {
        CHECK(to_string(aicb::parse(std::string(policy) + "\n1\n" + kLayer).header.policy) ==
              std::string(policy));
    }
}

TEST_CASE("unit.aicb.suffixes_and_types") {
    ImportReport report;
    const AicbWorkload workload =
        aicb::parse(kHeader +
                        "3\n"
                        "a -1 1 ALLTOALL_EP 8 1 ALLGATHER_TP 8 1 REDUCESCATTER_DP_EP 8 1\n"
                        "b -1 1 BROADCAST 8 1 ALLREDUCEALLTOALL 8 1 ALLGATHER 8 1\n"
                        "c -1 1 ALLTOALL 0 1 NONE 0 1 REDUCESCATTER_EP 8 1\n",
                    &report);
    CHECK(group_of(workload, 0, kForward) == AicbGroup::ep);
    CHECK(group_of(workload, 0, kInputGradient) == AicbGroup::none);
    CHECK(group_of(workload, 0, kWeightGradient) == AicbGroup::dp_ep);
    CHECK(group_of(workload, 1, kForward) == AicbGroup::none);
    CHECK(group_of(workload, 1, kInputGradient) == AicbGroup::tp);
    CHECK(collective_kind(workload.layers[1].work[kInputGradient].comm) ==
          CollectiveKind::all_reduce);
    CHECK(group_of(workload, 1, kWeightGradient) == AicbGroup::dp);
    CHECK(group_of(workload, 2, kForward) == AicbGroup::none);
    CHECK(group_of(workload, 2, kWeightGradient) == AicbGroup::ep);
    CHECK(report.count(ImportNote::Kind::doubtful) == 1);
    CHECK(report.text().find("input:3: doubtful: input-gradient communication "
                             "\"ALLGATHER_TP\": unknown suffix \"_TP\"") != std::string::npos);
}

TEST_CASE("unit.aicb.errors_name_the_line") {
    CHECK(error("") != "no error");
    CHECK(error("\n\n").find("is empty") != std::string::npos);
    CHECK(error("FOO\n1\n" + kLayer).find("input:1: unknown policy \"FOO\"") == 0);
    CHECK(error(" : :\n").find("input:1: unknown policy \":\"") == 0);
    CHECK(error(kHeader).find("ends before the number of layers") != std::string::npos);
    CHECK(error(kHeader + "x\n").find("input:2: number of layers \"x\"") == 0);
    CHECK(error(kHeader + "0\n").find("input:2: number of layers \"0\"") == 0);
    CHECK(error(kHeader + "2\n" + kLayer).find("the file ends after 1 of 2 layers") !=
          std::string::npos);
    CHECK(error(kHeader + "1\n" + kLayer + kLayer)
              .find("input:4: a layer beyond the 1 that line 2 announces") == 0);
    CHECK(error(kHeader + "1\nmlp -1 10 NONE 0 20 NONE 0 30 NONE 0\n")
              .find("input:3: layer 1 of 1 has 11 fields instead of 12; update time is missing") ==
          0);
    CHECK(error(kHeader + "1\nmlp -1 10 FOO 0 20 NONE 0 30 NONE 0 1\n")
              .find("input:3: forward communication \"FOO\" is unknown") == 0);
    CHECK(error(kHeader + "1\nmlp -1 1.5 NONE 0 20 NONE 0 30 NONE 0 1\n").find("input:3: ") == 0);
    CHECK(error(kHeader + "1\nmlp -1 -1 NONE 0 20 NONE 0 30 NONE 0 1\n").find("input:3: ") == 0);
    // A float is fine where it is whole (pp_comm 2621440.0), and nowhere else.
    CHECK(error("HYBRID_TRANSFORMER pp: 2 pp_comm: 123.5\n1\n" + kLayer) ==
          "input:1: pp_comm \"123.5\": not a whole number (allowed: 0 to 1125899906842624)");
    CHECK(error("HYBRID_TRANSFORMER ep:\n1\n" + kLayer).find("ep lacks its value") !=
          std::string::npos);
    CHECK(error("HYBRID_TRANSFORMER checkpoints: 3 1\n1\n" + kLayer)
              .find("checkpoints announces 3 layers and lists 1") != std::string::npos);
    CHECK(error("HYBRID_TRANSFORMER checkpoints: 1 9\n1\n" + kLayer)
              .find("checkpoints names layer 9; there are layers 0 to 0") != std::string::npos);
    // An absurd number of layers is refused for what is missing, at no cost in memory.
    CHECK(error(kHeader + "2000000000\n" + kLayer).find("ends after 1 of 2000000000 layers") !=
          std::string::npos);
    CHECK(error_of([] {
              ImportReport report;
              read_aicb("/nonexistent/workload.txt", report);
          }).find("/nonexistent/workload.txt") != std::string::npos);
}

TEST_CASE("unit.aicb.round_trip_of_odd_tokens") {
    const std::string text =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD\tmodel_parallel_NPU_group:4  Pp_Comm 12.0 other x\r\n002\n"
        "a -1 007 ALLTOALL_EP 8.0 1 ALLGATHER_TP 8 1 ALLREDUCEALLTOALL_DP_EP 8 1\n"
        "b 3 1 BROADCAST 8 1 NONE 0 1 ALLGATHER 8 1\n";
    const AicbWorkload first = aicb::parse(text);
    CHECK(tokens(format_aicb(first)) == tokens(text));
    CHECK(format_aicb(aicb::parse(format_aicb(first))) == format_aicb(first));
}

TEST_CASE("unit.aicb.samples_round_trip") {
    const std::vector<std::string> files = aicb::samples();
    if (files.empty()) {
        MESSAGE("skipped: no reference files (set SLUICE_REFERENCE)");
        return;
    }
    CHECK(files.size() == 7);
    for (const std::string& file : files) {
        CAPTURE(file);
        std::ifstream stream(file, std::ios::binary);
        std::stringstream text;
        text << stream.rdbuf();
        ImportReport report;
        const AicbWorkload workload = read_aicb(file, report);
        CHECK(tokens(format_aicb(workload)) == tokens(text.str()));
        CHECK(report.count(ImportNote::Kind::misfit) == 0);
    }
}

TEST_CASE("unit.aicb.groups") {
    // 16 GPUs, tp 2, ep 2, pp 2: dp = 4; stage 1 begins at rank 8.
    ImportReport report;
    const AicbWorkload workload = aicb::parse(
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2 pp: 2 all_gpus: 16 pp_comm: 4\n1\n" +
        kLayer);
    const AicbLayout layout(workload, 16, 8, 0, report);
    using Ranks = std::vector<RankId>;
    CHECK(layout.dp() == 4);
    CHECK(layout.members(AicbGroup::tp, 0, 1) == Ranks{2, 3});
    CHECK(layout.members(AicbGroup::tp, 1, 0) == Ranks{8, 9});
    CHECK(layout.members(AicbGroup::dp, 0, 1) == Ranks{1, 3, 5, 7});
    CHECK(layout.members(AicbGroup::ep, 0, 0) == Ranks{0, 2});
    CHECK(layout.members(AicbGroup::ep, 0, 2) == Ranks{4, 6});
    CHECK(layout.members(AicbGroup::dp_ep, 0, 0) == Ranks{0, 4});
    CHECK(layout.members(AicbGroup::dp_ep, 0, 3) == Ranks{3, 7});
    CHECK(layout.members(AicbGroup::all, 1, 0) == Ranks{8, 9, 10, 11, 12, 13, 14, 15});
    // Every kind's groups cover a stage once.
    for (const AicbGroup group : {AicbGroup::tp, AicbGroup::dp, AicbGroup::ep, AicbGroup::dp_ep}) {
        Ranks seen;
        for (RankId i = 0; i < layout.count(group); ++i) {
            const Ranks ranks = layout.members(group, 0, i);
            seen.insert(seen.end(), ranks.begin(), ranks.end());
        }
        std::sort(seen.begin(), seen.end());
        CHECK(seen == layout.members(AicbGroup::all, 0, 0));
    }
}

TEST_CASE("unit.aicb.layouts_of_other_policies") {
    ImportReport report;
    const auto layout = [&](const std::string& policy) {
        return AicbLayout(aicb::parse(policy + "\n1\n" + kLayer), 8, 4, 0, report);
    };
    CHECK(layout("DATA").size(AicbGroup::all) == 8);
    CHECK(layout("MODEL").size(AicbGroup::tp) == 8);
    // Model over the server's 4 GPUs, data over the 2 servers; and the other way round.
    CHECK(layout("HYBRID_DATA_MODEL").members(AicbGroup::tp, 0, 1) ==
          std::vector<RankId>{4, 5, 6, 7});
    CHECK(layout("HYBRID_MODEL_DATA").members(AicbGroup::tp, 0, 1) == std::vector<RankId>{1, 5});
    CHECK(layout("HYBRID_MODEL_DATA").members(AicbGroup::dp, 0, 1) ==
          std::vector<RankId>{4, 5, 6, 7});
}

TEST_CASE("unit.aicb.degrees_that_do_not_fit") {
    const auto refusal = [](const std::string& header, RankId hosts) {
        return error_of([&] {
            ImportReport report;
            const AicbWorkload workload = aicb::parse(header + "\n1\n" + kLayer);
            AicbLayout(workload, hosts, 8, 0, report);
        });
    };
    CHECK(refusal("HYBRID_TRANSFORMER model_parallel_NPU_group: 3", 8) ==
          "input:1: tp 3 x pp 1 = 3 does not divide the 8 GPUs");
    CHECK(refusal("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 3", 8) ==
          "input:1: ep 3 does not divide dp 4 (= 8 GPUs / tp 2 / pp 1)");
    CHECK(refusal("HYBRID_TRANSFORMER all_gpus: 16", 8) ==
          "input:1: the workload is of 16 GPUs, the topology has 8");
    CHECK(refusal("DATA pp: 2", 8).find("policy DATA has no pipeline") != std::string::npos);
}

TEST_CASE("unit.aicb.micro_batches_are_found") {
    // head, (e m)(e m)(e m), tail; compute times differ, as AICB's do.
    const auto layer = [](const std::string& name, int compute) {
        return name + " -1 " + std::to_string(compute) + " NONE 0 1 NONE 0 1 NONE 0 1\n";
    };
    std::string layers = layer("head", 1);
    for (int k = 0; k < 3; ++k) layers += layer("embedding_layer", k) + layer("mlp", 1);
    layers += layer("optimizer1", 1);
    const AicbWorkload workload = aicb::parse("HYBRID_TRANSFORMER ga: 3\n8\n" + layers);
    const AicbBlocks blocks = find_micro_batches(workload);
    CHECK(blocks.first == 1);
    CHECK(blocks.length == 2);
    CHECK(blocks.count == 3);
    // ga 1: from the embedding to the optimizer. ga that is not there: the same, and said so.
    const AicbBlocks one = find_micro_batches(aicb::parse("HYBRID_TRANSFORMER\n8\n" + layers));
    CHECK(one.first == 1);
    CHECK(one.length == 6);
    const AicbBlocks none =
        find_micro_batches(aicb::parse("HYBRID_TRANSFORMER ga: 5\n8\n" + layers));
    CHECK(none.count == 1);
    CHECK(none.how.find("no run of layers comes 5 times") != std::string::npos);
    // Layers that are all alike.
    std::string alike;
    for (int i = 0; i < 12; ++i) alike += layer("mlp", 1);
    const AicbBlocks same =
        find_micro_batches(aicb::parse("HYBRID_TRANSFORMER ga: 4\n12\n" + alike));
    CHECK(same.length == 3);
    CHECK(same.count == 4);
    CHECK_FALSE(blocks.contradicted);
    CHECK_FALSE(one.contradicted);
    CHECK(none.contradicted);
    CHECK_FALSE(same.contradicted);
    // One micro-batch of a model whose own layers are alike.
    const AicbBlocks model = find_micro_batches(
        aicb::parse("HYBRID_TRANSFORMER ga: 4\n13\n" + layer("embedding_layer", 1) + alike));
    CHECK(model.count == 1);
    CHECK(model.length == 13);
    CHECK(model.contradicted);
}

TEST_CASE("unit.aicb.micro_batches_of_samples") {
    if (aicb::samples().empty()) return;
    const auto blocks = [](const char* part) {
        for (const std::string& file : aicb::samples()) {
            if (file.find(part) == std::string::npos) continue;
            ImportReport report;
            return find_micro_batches(read_aicb(file, report));
        }
        return AicbBlocks();
    };
    // GPT-13B: 20 layers of 4 lines, the embedding and final_column; 6 lines before.
    CHECK(blocks("gpt_13B").first == 6);
    CHECK(blocks("gpt_13B").length == 82);
    CHECK(blocks("gpt_13B").count == 8);
    CHECK(blocks("gpt_7B").first == 4);
    CHECK(blocks("gpt_7B").count == 2);
    CHECK(blocks("gpt_7B").length == 74);
    CHECK(blocks("gpt_7B").count == 2);
    // 8 layers of 9 lines, the embedding and final_column.
    CHECK(blocks("workload_analytical").length == 74);
    CHECK(blocks("workload_analytical").count == 24);
}

TEST_CASE("unit.aicb.physical_files") {
    const auto parse = [](const std::string& text, ImportReport& report) {
        TokenReader reader("input", text);
        return parse_aicb_physical(reader, report);
    };
    const std::string head =
        "[rank0 ~ rank7]\r\ncomm_type,comm_group,comm_group_size,msg_size,stage,dst,src,count\r\n";
    const std::string rows =
        "CommType.all_reduce,CommGroup.tp_group,2,800,forward,None,None,2\r\n"
        "CommType.computation,None,None,\"((4, 5), (5, 6))\",forward,None,None,1\r\n"
        "CommType.broadcast,CommGroup.tp_group,2,24,init,None,0,1\r\n"
        "CommType.reduce_scatter,CommGroup.dp_group,4,400,step,None,None,1\r\n"
        "CommType.all_reduce,CommGroup.tp_group,2,0,step,None,None,1\r\n"
        "CommType.epoch_end,None,None,0,,None,None,1\r\n";
    ImportReport report;
    const AicbPhysical physical = parse(head + rows, report);
    REQUIRE(physical.rows.size() == 3);
    CHECK(physical.workload.header.all_gpus == 8);
    CHECK(physical.workload.header.tp == 2);
    CHECK(report.count(ImportNote::Kind::skipped) == 3);
    const AicbLayout layout(physical.workload, 8, 8, 0, report);
    CHECK(layout.dp() == 4);
    CollectiveOptions options;
    options.computed_in_server = false;
    JobGraph graph = build_aicb_physical(physical, layout, options);
    graph.finish();
    // Two all-reduces of 2 x 2 messages in 4 groups, a broadcast of 1 in 4, and a reduce-scatter of
    // 3 x 4 in 2.
    CHECK(graph.messages().size() == 2 * 4 * 4 + 4 + 2 * 12);
    const auto error = [&](const std::string& text) {
        return error_of([&] {
            ImportReport ignored;
            parse(text, ignored);
        });
    };
    CHECK(error("").find("is empty") != std::string::npos);
    CHECK(error("[rank0 ~ rank7]\na,b\n").find("input:2: has no column comm_type") == 0);
    CHECK(error(head).find("has no row with a collective") != std::string::npos);
    CHECK(error(head + "CommType.foo,CommGroup.tp_group,2,8,,,,1\n")
              .find("input:3: unknown comm_type \"foo\"") == 0);
    CHECK(error(head + rows + "CommType.all_reduce,CommGroup.tp_group,4,8,,,,1\n")
              .find("input:9: comm_group_size 4; the rows above have 2") == 0);
    CHECK(error("[\n").find("input:1: ") == 0);
    ImportReport pipeline;
    parse(head + rows + "CommType.isend,CommGroup.pp_group,1,8,,4,0,1\n", pipeline);
    CHECK(pipeline.count(ImportNote::Kind::doubtful) == 1);
    if (!aicb::reference().empty()) {
        ImportReport own;
        TokenReader reader = TokenReader::open(
            aicb::reference() + "/samples/aicb/L7B-M1-C04_Llama7B_megatron_tp2_pp1_mbs1.csv");
        const AicbPhysical sample = parse_aicb_physical(reader, own);
        // 149 rows: two ends of epochs and one all-reduce of no bytes are not run.
        CHECK(sample.rows.size() == 146);
        CHECK(sample.workload.header.all_gpus == 128);
        CHECK(own.count(ImportNote::Kind::misfit) == 0);
    }
}
