// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "core/job/workload.h"
#include "tests/support/aicb_support.h"
#include "tests/support/error_of.h"
#include "tests/support/fake_engine.h"
#include "workloads/aicb/aicb_graph.h"
#include "workloads/aicb/end_to_end.h"
#include "workloads/aicb/simai_workload.h"

using namespace sluice;

namespace {

/// Times of the fake network: a flow of n bytes takes 80 n ps and 1 us.
constexpr Tick kLatency = kMicrosecond;

/// A send completes with its last acknowledgement: where communication comes last, this is added.
constexpr Tick kAck = kLatency;

Tick flow_time(std::int64_t bytes) { return bytes * fake::kTicksPerByte + kLatency; }
/// An all-reduce of n ranks by a ring.
Tick all_reduce(std::int64_t n, std::int64_t bytes) { return 2 * (n - 1) * flow_time(bytes / n); }

AicbGraphConfig ring_config() {
    AicbGraphConfig config;
    config.collectives.computed_in_server = false;
    config.collectives.server = [](RankId rank) { return rank / 8; };
    config.collectives.rail = [](RankId rank) { return rank % 8; };
    return config;
}

struct Run {
    Tick end = 0;
    AicbEndToEnd times;
    std::size_t messages = 0;
};

Run run(const std::string& text, RankId hosts, const AicbGraphConfig& config = ring_config(),
        AicbAccount account = AicbAccount::whole, std::int64_t stages = 1) {
    ImportReport report;
    const AicbWorkload workload = aicb::parse(text);
    const AicbLayout layout(workload, hosts, 8, 0, report);
    AicbGraph built = build_aicb_graph(workload, layout, config, report);
    built.graph.finish();
    Workload made = make_workload(std::move(built.graph), fake::hosts(layout.world()));
    fake::Engine(*made.application, made.flows, layout.world(), kLatency).run();
    REQUIRE(made.application->complete());
    Run result;
    result.end = made.application->last_end();
    AicbHeader header = workload.header;
    header.pp = stages;
    header.ga = 2;
    header.vpp = 4;
    result.times = measure_aicb(workload, built.records, *made.application, account, header);
    result.messages = made.flows.size();
    return result;
}

/// name, forward, input and weight gradient: compute in ns and a communication.
std::string layer(const std::string& name, int forward, const std::string& forward_comm, int input,
                  const std::string& input_comm, int weight, const std::string& weight_comm,
                  int update = 0) {
    return name + " -1 " + std::to_string(forward) + " " + forward_comm + " " +
           std::to_string(input) + " " + input_comm + " " + std::to_string(weight) + " " +
           weight_comm + " " + std::to_string(update) + "\n";
}

Tick ns(std::int64_t n) { return n * kNanosecond; }

}  // namespace

TEST_CASE("unit.aicb.transformer_blocks_on_tensor_traffic") {
    // One layer, two GPUs, tp 2: everything one after the other, 100 ns behind each communication.
    const std::string text =
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n1\n" +
        layer("mlp", 1000, "ALLREDUCE 4000", 2000, "ALLREDUCE 8000", 3000, "NONE 0", 100);
    const Run result = run(text, 2);
    const Tick forward = all_reduce(2, 4000) + ns(100);
    const Tick input = all_reduce(2, 8000) + ns(100);
    CHECK(result.end == ns(6000) + forward + input);
    const auto& times = result.times.layers[0];
    CHECK(times[kForward].compute == doctest::Approx(1000));
    CHECK(times[kForward].exposed == doctest::Approx(static_cast<double>(forward) / 1000));
    CHECK(times[kInputGradient].communication ==
          doctest::Approx(static_cast<double>(input) / 1000));
    CHECK(result.times.totals.tp == doctest::Approx(static_cast<double>(forward + input) / 1000));
    CHECK(result.times.totals.compute == doctest::Approx(6000));
    CHECK(result.times.totals.exposed == doctest::Approx(result.times.totals.tp));
}

TEST_CASE("unit.aicb.weight_gradients_do_not_block") {
    // Two layers, tp 1, dp 2. Backward: layer 1's gradients travel while layer 0 computes for 50 us;
    // layer 0's follow, with nothing to hide them.
    const std::string text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1\n2\n" +
                             layer("a", 10, "NONE 0", 25'000, "NONE 0", 25'000, "ALLREDUCE 1000") +
                             layer("b", 10, "NONE 0", 10, "NONE 0", 10, "ALLREDUCE 100000");
    const Run result = run(text, 2);
    const Tick hidden = all_reduce(2, 100'000);  // 10 us: less than 50
    REQUIRE(hidden < ns(50'000));
    const Tick exposed = all_reduce(2, 1000);
    CHECK(result.end == ns(20 + 20 + 50'000) + exposed + kAck);
    CHECK(result.times.layers[1][kWeightGradient].exposed == doctest::Approx(0));
    CHECK(result.times.layers[1][kWeightGradient].communication ==
          doctest::Approx(static_cast<double>(hidden) / 1000));
    CHECK(result.times.totals.dp == doctest::Approx(static_cast<double>(exposed) / 1000));
}

TEST_CASE("unit.aicb.weight_gradients_of_one_communicator_take_turns") {
    // Both are issued within nanoseconds; the second starts when the first is done.
    const std::string text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1\n2\n" +
                             layer("a", 0, "NONE 0", 0, "NONE 0", 1, "ALLGATHER 100000") +
                             layer("b", 0, "NONE 0", 0, "NONE 0", 1, "REDUCESCATTER 100000");
    CHECK(run(text, 2).end == ns(1) + 2 * flow_time(50'000) + kAck);
}

TEST_CASE("unit.aicb.checkpoints_repeat_the_forward_pass") {
    // Layers 0 to 3; layer 3 repeats the forward pass of layers 1 and 2.
    std::string text =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 checkpoints: 1 1 "
        "checkpoint_initiates: 1 3\n4\n";
    for (int i = 0; i < 4; ++i) text += layer("l", 1 << i, "NONE 0", 100, "NONE 0", 0, "NONE 0");
    CHECK(run(text, 2).end == ns(1 + 2 + 4 + 8 + 400 + 2 + 4));
}

TEST_CASE("unit.aicb.other_policies") {
    const auto two = [](const std::string& policy, const std::string& last = "") {
        std::string a =
            layer("a", 10, "ALLREDUCE 2000", 20, "ALLREDUCE 2000", 40, "ALLREDUCE 2000");
        std::string b = a;
        if (!last.empty()) {
            a.insert(a.size() - 1, " " + last);
            b.insert(b.size() - 1, " " + last);
        }
        return policy + "\n2\n" + a + b;
    };
    const Tick ring = all_reduce(2, 2000);
    // DATA: only weight gradients travel; layer 0 has no input gradient to compute.
    // The last one is issued when the first (2.16 us) is still on its way, and follows it.
    const Run data = run(two("DATA"), 2);
    CHECK(data.end == ns(20 + 40) + 2 * ring + kAck);
    // MODEL: no weight gradients travel, layer 1's input gradient does beside the compute.
    const Run model = run(two("MODEL"), 2);
    // The 60 ns of layer 0's compute are over before the acknowledgement is there.
    CHECK(model.end == ns(20) + 2 * ring + ns(20) + ring + kAck);
    // MICRO: the two, and nothing else.
    CHECK(run(two("MICRO"), 2).end == 2 * ring + kAck);
    // Inference: forward only.
    CHECK(run(two("DISTRIBUTED_INFERENCE"), 2).end == ns(20) + 2 * ring + kAck);
    // Hybrids run as such; one server of two GPUs: model over it, no data parallelism.
    CHECK(run(two("HYBRID_DATA_MODEL"), 2).end == model.end);
    CHECK(run(two("HYBRID_CUSTOMIZED", "MODEL"), 2).messages == 0);
    CHECK(run(two("HYBRID_CUSTOMIZED", "DATA"), 2).messages == 2 * 4);
}

TEST_CASE("unit.aicb.dlrm_hides_its_exchange") {
    // Layer 0's all-to-all runs beside layer 1; layer 1 is the last bottom layer, so layer 2 waits.
    const std::string layers =
        layer("emb", 10, "ALLTOALL 40000", 0, "ALLTOALL 40000", 10, "NONE 0") +
        layer("bottom", 100, "NONE 0", 0, "NONE 0", 100, "NONE 0") +
        layer("top", 1000, "NONE 0", 0, "NONE 0", 1000, "NONE 0");
    const Tick exchange = flow_time(20'000);
    // Forward: 10, then the exchange (2.6 us) over the 100 of layer 1, then 1000. Backward: 1000,
    // layer 0's gradients leave when layer 2 is done, 100, 10, and HYBRID_DLRM waits for them.
    const Tick forward = ns(10) + exchange + ns(1000);
    const Run plain = run("HYBRID_DLRM DLRM_LAST_BOTTOM_LAYER: 1\n3\n" + layers, 2);
    CHECK(plain.end == forward + ns(1000) + exchange + kAck);
    CHECK(plain.messages == 4);
}

TEST_CASE("unit.aicb.pipeline_is_traffic") {
    // pp 2, ga 4, one layer of 100 ns forward and 200 backward, boundaries of 1 byte:
    // (m + p - 1) (tF + tB), and on the critical path p - 1 activations and p - 1 gradients
    // at the ends of the schedule; in between 1F1B's alternation waits for both of them each time.
    std::string layers;
    for (int k = 0; k < 4; ++k)
        layers += layer("mlp", 100'000, "NONE 0", 200'000, "NONE 0", 0, "NONE 0");
    const std::string header =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 pp: 2 ga: 4 pp_comm: 1\n4\n";
    AicbGraphConfig gpipe = ring_config();
    gpipe.schedule = PipelineSchedule::gpipe;
    const Tick boundary = flow_time(1);
    // GPipe: stage 1 is a boundary behind, forward and backward.
    const Run result = run(header + layers, 2, gpipe);
    CHECK(result.end == 5 * ns(300'000) + 2 * boundary);
    CHECK(result.messages == 8);
    CHECK(result.times.totals.compute == doctest::Approx(4 * 300'000));
    CHECK(result.times.totals.bubble + result.times.totals.pp ==
          doctest::Approx(300'000 + static_cast<double>(2 * boundary) / 1000));
    // 1F1B takes as long but for the boundaries that its alternation crosses.
    const Run alternating = run(header + layers, 2);
    CHECK(alternating.end >= 5 * ns(300'000) + 2 * boundary);
    CHECK(alternating.end <= 5 * ns(300'000) + 8 * boundary);
    // Weight gradients apart: ZB-H1 fills the bubble with them.
    std::string split;
    for (int k = 0; k < 4; ++k) {
        split += layer("mlp", 100'000, "NONE 0", 100'000, "NONE 0", 100'000, "NONE 0");
    }
    AicbGraphConfig zero = ring_config();
    zero.schedule = PipelineSchedule::zb_h1;
    CHECK(run(header + split, 2, zero).end < run(header + split, 2).end - ns(90'000));
    AicbGraphConfig dual = ring_config();
    dual.schedule = PipelineSchedule::dualpipe;
    CHECK(error_of([&] {
              run(header + layers, 2, dual);
          }).find("allowed are gpipe, 1f1b and zb-h1") != std::string::npos);
}

TEST_CASE("unit.aicb.fewer_micro_batches") {
    std::string layers;
    for (int k = 0; k < 4; ++k) layers += layer("mlp", 100, "NONE 0", 200, "NONE 0", 0, "NONE 0");
    const std::string text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1 ga: 4\n4\n" + layers;
    AicbGraphConfig config = ring_config();
    config.micro_batches = 2;
    CHECK(run(text, 2, config).end == ns(600));
    config.micro_batches = 5;
    CHECK(error_of([&] { run(text, 2, config); }) ==
          "input:1: 5 micro-batches are asked for, the file has 4");
}

TEST_CASE("unit.aicb.sub_groups_run_side_by_side") {
    // 8 GPUs, tp 2, ep 2: the four EP groups of two exchange at the same time.
    const std::string text =
        "HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 2\n1\n" +
        layer("moe", 0, "ALLTOALL_EP 8000", 0, "NONE 0", 0, "REDUCESCATTER_DP_EP 8000");
    const Run result = run(text, 8);
    CHECK(result.end == flow_time(4000) + flow_time(4000) + kAck);
    CHECK(result.messages == 8 + 8);
    CHECK(result.times.totals.ep == doctest::Approx(static_cast<double>(flow_time(4000)) / 1000));
    CHECK(result.times.totals.dp_ep ==
          doctest::Approx(static_cast<double>(flow_time(4000)) / 1000));
}

TEST_CASE("unit.aicb.too_large_a_graph_is_refused") {
    AicbGraphConfig config = ring_config();
    config.most_operations = 100;
    const std::string text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 8\n1\n" +
                             layer("mlp", 1, "ALLREDUCE 800", 1, "NONE 0", 1, "NONE 0");
    // 8 x 14 messages of two operations, 8 ends and 3 x 8 computations.
    CHECK(error_of([&] {
              run(text, 8, config);
          }).find("are about 256 operations, some 0.0 GB of memory; at most 100 are built") !=
          std::string::npos);
}

TEST_CASE("unit.aicb.nvls_as_simai_chooses_it") {
    // Only all-reduces, of tensor-parallel groups of at least 8 in one server of 8.
    AicbGraphConfig config = ring_config();
    const std::vector<RankId> server = {8, 9, 10, 11, 12, 13, 14, 15};
    const std::vector<RankId> half = {0, 1, 2, 3};
    const std::vector<RankId> across = {4, 5, 6, 7, 8, 9, 10, 11};
    using A = CollectiveAlgorithm;
    using G = AicbGroup;
    CHECK(aicb_algorithm(config, G::tp, CollectiveKind::all_reduce, server) == A::automatic);
    config.nvls = true;
    CHECK(aicb_algorithm(config, G::tp, CollectiveKind::all_reduce, server) == A::nvls);
    CHECK(aicb_algorithm(config, G::dp, CollectiveKind::all_reduce, server) == A::automatic);
    CHECK(aicb_algorithm(config, G::tp, CollectiveKind::all_gather, server) == A::automatic);
    CHECK(aicb_algorithm(config, G::tp, CollectiveKind::all_reduce, half) == A::automatic);
    CHECK(aicb_algorithm(config, G::tp, CollectiveKind::all_reduce, across) == A::automatic);
}

TEST_CASE("unit.aicb.what_was_issued_last_goes_first") {
    // Three layers' gradients are issued within nanoseconds, c's first. SimAI runs c, then a, which
    // was issued last, then b; one communicator runs c, b, a.
    const std::string text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 1\n3\n" +
                             layer("a", 0, "NONE 0", 0, "NONE 0", 1, "ALLGATHER 100000") +
                             layer("b", 0, "NONE 0", 0, "NONE 0", 1, "ALLGATHER 200000") +
                             layer("c", 0, "NONE 0", 0, "NONE 0", 1, "ALLGATHER 300000");
    const double a = static_cast<double>(flow_time(50'000)) / 1000;
    const double b = static_cast<double>(flow_time(100'000)) / 1000;
    const double c = static_cast<double>(flow_time(150'000)) / 1000;
    const auto time = [](const Run& run, std::size_t layer) {
        return run.times.layers[layer][kWeightGradient].communication;
    };
    AicbGraphConfig config = ring_config();
    config.queue = AicbQueue::last_issued;
    const Run simai = run(text, 2, config);
    // Times count from the issue, 1 ns later each.
    CHECK(time(simai, 2) == doctest::Approx(c));
    CHECK(time(simai, 0) == doctest::Approx(c + a - 2));
    CHECK(time(simai, 1) == doctest::Approx(c + a + b - 1));
    const Run nccl = run(text, 2);
    CHECK(nccl.end == simai.end);
}

TEST_CASE("unit.aicb.account_as_simai") {
    // Layer b's gradients take longer than all that follows, and than layer a's.
    const std::string text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n2\n" +
                             layer("a", 10, "NONE 0", 10, "NONE 0", 10, "ALLGATHER 1000") +
                             layer("b", 10, "ALLREDUCE 4000", 10, "NONE 0", 10, "NONE 0");
    const Run whole = run(text, 4);
    const Run simai = run(text, 4, ring_config(), AicbAccount::simai, 3);
    // Two steps of 160 + 1000 ns, waited for; gradients of 40 + 1000 ns, for which rank 0 waits.
    CHECK(simai.times.layers[1][kForward].exposed == doctest::Approx(2320));
    CHECK(simai.times.layers[0][kWeightGradient].exposed == doctest::Approx(1040));
    // Its own last acknowledgement does not count.
    CHECK(simai.times.totals.total == doctest::Approx(60 + 2320 + 1040));
    CHECK(whole.times.totals.total == doctest::Approx(60 + 2320 + 1040 + 1000));
    CHECK(simai.times.totals.exposed == doctest::Approx(2320 + 1040));
    CHECK(whole.times.totals.bubble == doctest::Approx(0));
    // pp 3, ga 2, vpp 4: (3 - 1) / 8 of what computes and is waited for, gradients left out.
    CHECK(simai.times.totals.bubble == doctest::Approx((60 + 2320) / 4.0));
}

TEST_CASE("unit.aicb.files_as_simai_reads_them") {
    ImportReport report;
    AicbWorkload workload = aicb::parse(
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 2 vpp: 1 ga: 1 "
        "all_gpus: 4 checkpoints: 0 checkpoint_initiates: 0\n2\n" +
        layer("a", 1, "ALLREDUCE 4", 1, "ALLREDUCE 4", 1, "NONE 0") +
        layer("b", 1, "NONE 0", 1, "NONE 0", 1, "NONE 0"));
    read_as_simai(workload, {8, false}, report);
    CHECK(workload.layers[0].work[kForward].bytes == 4096);
    CHECK(workload.layers[0].work[kInputGradient].bytes == 4);
    CHECK(workload.layers[1].work[kForward].bytes == 0);
    // Stages are replicas: DP groups of 8 / 2, on every GPU of the topology.
    const AicbLayout layout(workload, 8, 8, 0, report);
    CHECK(layout.members(AicbGroup::dp, 0, 1) == std::vector<RankId>{1, 3, 5, 7});
}

TEST_CASE("unit.aicb.end_to_end_table") {
    const std::string text = "HYBRID_TRANSFORMER model_parallel_NPU_group: 2\n1\n" +
                             layer("mlp", 1000, "ALLREDUCE 4000", 2000, "NONE 0", 3000, "NONE 0");
    ImportReport report;
    const AicbWorkload workload = aicb::parse(text);
    const AicbLayout layout(workload, 2, 8, 0, report);
    const Run result = run(text, 2);
    const std::string table =
        format_end_to_end(workload, layout, result.times, EndToEndStyle::simulated, "r", "f");
    // Two steps of 1.16 us: 2.32 us; 4000 B / 2.32 us = 1.724138 GB/s = 1.605729 GiB/s; the
    // bus bandwidth is 2 (n - 1) / n = 1 times that.
    CHECK(table ==
          "layer_name,r,fwd compute,wg compute,ig compute,fwd exposed comm,wg exposed comm,ig "
          "exposed comm,fwd total comm,algbw,busbw,wg total comm,algbw,busbw,ig total "
          "comm,algbw,busbw,workload finished at\n"
          "mlp,r,1.000000,3.000000,2.000000,2.320000,0.000000,0.000000,2.320000,1.605729,1.605729,"
          "0.000000,0.000000,0.000000,0.000000,0.000000,0.000000,8.320000\n"
          "SUM,r,1.000000,3.000000,2.000000,2.320000,0.000000,0.000000,2.320000,NONE,NONE,0.000000,"
          "NONE,NONE,0.000000,NONE,NONE\n"
          "total exposed comm,2.320000,total comp,6.000000,total time,8.320000\n"
          "File name, Expose DP comm, Expose DP_EP comm, Expose TP comm, Expose_EP_comm, "
          "Expose_PP_comm, bubble time, total comp, total exposed comm, Total time\n"
          "f, 0 (0.00%), 0 (0.00%), 2 (27.88%), 0 (0.00%), 0 (0.00%), 0 (0.00%), 6 (72.12%), 2 "
          "(27.88%), 8\n");
}
