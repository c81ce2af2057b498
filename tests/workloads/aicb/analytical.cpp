// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "tests/support/aicb_support.h"
#include "tests/support/error_of.h"
#include "workloads/aicb/simai_analytical.h"

using namespace sluice;

namespace {

struct Case {
    AicbWorkload workload;
    AicbLayout layout;
};

Case layout_of(const std::string& degrees, RankId gpus) {
    ImportReport report;
    AicbWorkload workload = aicb::parse("HYBRID_TRANSFORMER_FWD_IN_BCKWD " + degrees +
                                        "\n1\nmlp -1 0 NONE 0 0 NONE 0 0 NONE 0 0\n");
    AicbLayout layout(workload, gpus, 8, 0, report);
    return {std::move(workload), layout};
}

SimaiAnalytical parameters() {
    SimaiAnalytical parameters;
    parameters.nvlink = 360;
    parameters.nic = 48.5;
    parameters.nics_per_server = 8;
    return parameters;
}

double time(const SimaiAnalytical& with, const Case& where, AicbGroup group, CollectiveKind kind,
            std::int64_t bytes) {
    return simai_communication_time(with, where.layout, group, kind, bytes);
}

RatioTable table(const std::string& text) {
    TokenReader reader("ratio.csv", text);
    return RatioTable::parse(reader);
}

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

}  // namespace

TEST_CASE("unit.simai.bus_bandwidths_by_place") {
    const SimaiAnalytical with = parameters();
    const Case where = layout_of("model_parallel_NPU_group: 8 ep: 1", 64);
    // Inside a server NVLink's: 1 GiB x 2 x 7 / 8 / 360 GiB/s.
    CHECK(time(with, where, AicbGroup::tp, CollectiveKind::all_reduce, kGiB) ==
          std::floor(1e9 * 1.75 / 360));
    // DP of tp 8: one GPU and one NIC per server.
    CHECK(time(with, where, AicbGroup::dp, CollectiveKind::all_gather, kGiB) ==
          std::floor(1e9 * 7 / 8 / 48.5));
    // DP of tp 2: 4 GPUs and 4 NICs per server, 194 GB/s below NVLink's 360.
    CHECK(time(with, layout_of("model_parallel_NPU_group: 2", 64), AicbGroup::dp,
               CollectiveKind::reduce_scatter, kGiB) == std::floor(1e9 * 31 / 32 / 194));
    // TP over two servers: 8 NICs are 388 GB/s, above NVLink's 360: rings cross rails, which lifts
    // NVLink's to 360 x 8 / 7 = 411, and the NICs bound.
    CHECK(time(with, layout_of("model_parallel_NPU_group: 16", 64), AicbGroup::tp,
               CollectiveKind::all_gather, kGiB) == std::floor(1e9 * 15 / 16 / 388));
    // EP all-to-all over 4 servers of tp 2, ep 16: nic x 4 / 4 x 15 / 12.
    CHECK(time(with, layout_of("model_parallel_NPU_group: 2 ep: 16", 64), AicbGroup::ep,
               CollectiveKind::all_to_all, kGiB) == std::floor(1e9 * 15 / 16 / (48.5 * 15 / 12)));
    CHECK(simai_nvlink_bandwidth("h100") == doctest::Approx(370.8));
    CHECK(simai_nvlink_bandwidth("A800") == doctest::Approx(160));
    CHECK(simai_nic_bandwidth("CX6") == doctest::Approx(23.5));
    CHECK(error_of([] { simai_nvlink_bandwidth("V100"); }).find("allowed are A100") !=
          std::string::npos);
}

TEST_CASE("unit.simai.small_messages") {
    const SimaiAnalytical with = parameters();
    const auto small = [&](RankId members) {
        return time(with,
                    layout_of("model_parallel_NPU_group: " + std::to_string(members), members),
                    AicbGroup::tp, CollectiveKind::all_reduce, 4096);
    };
    CHECK(small(2) == 10'000);
    CHECK(small(8) == 15'000);
    CHECK(small(128) == 320'000);
    // Between entries: 3 ranks halfway from 10 to 12 us, 12 halfway from 15 to 66, beyond in
    // proportion.
    CHECK(small(3) == doctest::Approx(11'000));
    CHECK(small(12) == doctest::Approx(40'500));
    CHECK(small(256) == doctest::Approx(640'000));
    CHECK(time(with, layout_of("model_parallel_NPU_group: 8", 8), AicbGroup::tp,
               CollectiveKind::all_reduce, 0) == 0);
}

TEST_CASE("unit.simai.ratio_tables") {
    const RatioTable ratios = table(
        "Size,1,2,4,8,16,32,64,128,M,M,M,M\r\n100,0.4,0.3,0.2,,0.05,1,1,1,0.6,1,1,\n"
        "200,0.8,0.6,0.5,,0.1,1,1,1,0.9,1,1,\n");
    // Relative to the last row, linear between rows, the first below and 1 above the table.
    CHECK(ratios.ratio(50, 1) == doctest::Approx(0.5));
    CHECK(ratios.ratio(150, 1) == doctest::Approx(0.75));
    CHECK(ratios.ratio(200, 2) == doctest::Approx(1));
    CHECK(ratios.ratio(1e9, 2) == doctest::Approx(1));
    CHECK(ratios.ratio(100, 8) == doctest::Approx(1));    // empty is 1
    CHECK(ratios.ratio(100, 3) == doctest::Approx(0.5));  // unknown: 16 servers'
    CHECK(ratios.ratio(100, RatioTable::kMulti) == doctest::Approx(0.6 / 0.9));
    CHECK(error_of([] { table("Size\n"); }) == "ratio.csv:1: has no row of ratios");
    CHECK(error_of([] { table("Size\n1,2\n"); }).find("ratio.csv:2: has 2 columns") == 0);
    CHECK(error_of([] { table("Size\nx,1,1,1,1,1,1,1,1,1\n"); }).find("ratio.csv:2: size \"x\"") ==
          0);
    SimaiAnalytical with = parameters();
    with.nic_ratio = ratios;
    const Case where = layout_of("model_parallel_NPU_group: 8", 8);
    // Inside a server a gather's ratio is nic_ratio's first column (1 beyond the table).
    CHECK(time(with, where, AicbGroup::tp, CollectiveKind::all_gather, kGiB) ==
          std::floor(1e9 * 7 / 8 / 360));
}

TEST_CASE("unit.simai.busbw_yaml") {
    ImportReport report;
    TokenReader reader(
        "busbw.yaml",
        "test\nTP:\nallreduce,: 300\r\nallgather,: 280\n# note\nDP:\nallgather,: 380\n"
        "allreduce,: null\nother,: 3\nPP:\nbusbw: 47.5\n");
    const BusBandwidths bus = parse_bus_bandwidths(reader, report);
    CHECK(*bus.tp.all_reduce == 300);
    CHECK(!bus.dp.all_reduce);
    CHECK(*bus.pp == 47.5);
    CHECK(report.count(ImportNote::Kind::skipped) == 1);
    SimaiAnalytical with = parameters();
    with.bus = bus;
    const Case where = layout_of("model_parallel_NPU_group: 8", 64);
    CHECK(time(with, where, AicbGroup::tp, CollectiveKind::all_reduce, 4096) ==
          std::floor(4096 / kGibi * 1e9 * 1.75 / 300));
    // A reduce-scatter without an entry is an all-gather.
    CHECK(time(with, where, AicbGroup::dp, CollectiveKind::reduce_scatter, kGiB) ==
          std::floor(1e9 * 7 / 8 / 380));
    CHECK(error_of([&] { time(with, where, AicbGroup::dp, CollectiveKind::all_reduce, kGiB); }) ==
          "busbw.yaml: section DP has no bandwidth for the workload's all-reduce");
    CHECK(error_of([] {
              ImportReport ignored;
              TokenReader bad("busbw.yaml", "test\nTP:\nallreduce,: fast\n");
              parse_bus_bandwidths(bad, ignored);
          }).find("busbw.yaml:3: allreduce \"fast\"") == 0);
}

TEST_CASE("unit.simai.bubble_and_pipeline") {
    // pp 2, ga 2, vpp 2, 16 GPUs of tp 8: layers of 100 us forward, 200 and 300 us backward; the
    // embedding does not count in a bubble.
    const std::string text =
        "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 1 pp: 2 vpp: 2 ga: 2 "
        "all_gpus: 32 pp_comm: 1073741824\n2\n"
        "embedding_layer -1 50000 NONE 0 0 NONE 0 0 NONE 0 100\n"
        "mlp -1 100000 ALLREDUCE 1073741824 200000 NONE 0 300000 ALLGATHER 1073741824 100\n";
    ImportReport report;
    const AicbWorkload workload = aicb::parse(text);
    const AicbLayout layout(workload, 32, 8, 0, report);
    SimaiAnalytical with = parameters();
    with.pp_overlap = 0;
    with.dp_overlap = 0.5;
    const AicbTotals totals = simai_end_to_end(with, workload, layout).totals;
    const double reduce = std::floor(1e9 * 1.75 / 360);
    const double gather = std::floor(1e9 / 2 / 48.5);
    CHECK(totals.compute == 650'000);
    CHECK(totals.tp == reduce);
    CHECK(totals.dp == std::floor(gather / 2));
    CHECK(totals.exposed == totals.tp + totals.dp);
    CHECK(totals.bubble == doctest::Approx((600'000 + reduce) / 4));
    CHECK(totals.pp == doctest::Approx(2 * 4 * 1e9 / 48.5));
    CHECK(totals.total ==
          doctest::Approx(totals.compute + totals.exposed + totals.bubble + totals.pp));
}
