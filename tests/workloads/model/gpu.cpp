// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "tests/support/error_of.h"
#include "tests/support/model_support.h"
#include "workloads/model/roofline.h"

using namespace sluice;

namespace {

const std::string kGpu = "peak_flops = 1e15\nmemory = \"80GB\"\nmemory_bandwidth = \"2000GB/s\"\n";
const std::string kLink = "[interconnect.x]\nbandwidth = \"100GB/s\"\nlatency = \"10us\"\n";

/// Efficiency by message size in the column of one node, from a file of the reference; empty
/// without it.
std::vector<std::pair<std::int64_t, double>> efficiencies(const std::string& name) {
    std::vector<std::pair<std::int64_t, double>> rows;
    const char* folder = std::getenv("SLUICE_REFERENCE");
    std::ifstream file(std::string(folder != nullptr ? folder : "") + "/samples/simai/" + name);
    std::string line;
    std::getline(file, line);
    while (std::getline(file, line)) {
        std::istringstream cells(line);
        std::int64_t size = 0;
        char comma = 0;
        double efficiency = 0;
        if (cells >> size >> comma >> efficiency) rows.emplace_back(size, efficiency);
    }
    return rows;
}

}  // namespace

TEST_CASE("unit.gpu.every_file_loads_with_its_constants") {
    struct Row {
        const char* name;
        double teraflops;
        std::int64_t gigabytes;
        double memory_gigabytes_per_second;
        double nvlink_gigabytes_per_second;  ///< links x 20, 20.6 or 40.1
        double nvls_gigabytes_per_second;    ///< 0: none
        double pcie_gigabytes_per_second;
    };
    const std::vector<Row> rows = {
        {"A100", 312, 40, 1555, 12 * 20, 0, 25.6},
        {"A100-80GB", 312, 80, 2039, 12 * 20, 0, 25.6},
        {"A800", 312, 80, 2039, 8 * 20, 0, 25.6},
        {"H100", 989, 80, 3350, 18 * 20.6, 475, 51.2},
        {"H800", 989, 80, 3350, 8 * 20.6, 215, 51.2},
        {"H20", 148, 96, 4000, 18 * 20.6, 475, 51.2},
        {"H200", 989, 141, 4800, 18 * 20.6, 475, 51.2},
        {"B200", 2250, 192, 8000, 18 * 40.1, 811, 51.2},
        {"B300", 2250, 270, 8000, 18 * 40.1, 811, 51.2},
        {"GB200", 2500, 186, 8000, 18 * 40.1, 811, 51.2},
        {"GB300", 2500, 277, 8000, 18 * 40.1, 811, 51.2},
        {"L40S", 362, 48, 864, 0, 0, 25.6},
        {"RTX-PRO-6000", 500, 96, 1792, 0, 0, 51.2},
        {"V100", 125, 32, 900, 6 * 20, 0, 12.8},
    };
    CHECK(gpu_names(gpu_folders()).size() == rows.size());
    for (const Row& row : rows) {
        CAPTURE(row.name);
        const Gpu type = gpu(row.name);
        CHECK(type.name == row.name);
        CHECK(type.peak_flops == doctest::Approx(row.teraflops * 1e12));
        CHECK(type.memory_bytes == row.gigabytes * 1'000'000'000);
        CHECK(type.memory_bytes_per_second ==
              doctest::Approx(row.memory_gigabytes_per_second * 1e9));
        CHECK(static_cast<double>(type.nvlink_bytes_per_second) ==
              doctest::Approx(row.nvlink_gigabytes_per_second * 1e9));
        const bool linked = row.nvlink_gigabytes_per_second > 0;
        CHECK(type.nvlink_latency == (linked ? 11'800 * kNanosecond : 0));
        CHECK(type.intra_node("pcie").cost(CollectiveKind::all_reduce, 8).bytes_per_second ==
              doctest::Approx(row.pcie_gigabytes_per_second * 1e9));
        CHECK((type.find_interconnect("nvls") != nullptr) == (row.nvls_gigabytes_per_second > 0));
        if (row.nvls_gigabytes_per_second == 0) continue;
        const IntraNode& nvls = type.intra_node("nvls");
        CHECK(nvls.cost(CollectiveKind::all_reduce, 8).latency == 25 * kMicrosecond);
        CHECK(nvls.cost(CollectiveKind::all_reduce, 8).bytes_per_second ==
              doctest::Approx(row.nvls_gigabytes_per_second * 1e9));
        CHECK(nvls.cost(CollectiveKind::all_gather, 8).bytes_per_second ==
              doctest::Approx(row.nvlink_gigabytes_per_second * 1e9));
    }
}

TEST_CASE("unit.gpu.the_default_interconnect_is_what_training_assumes") {
    // 20 MiB over 8 A800: 11.8 us + 7/8 x 20,971,520 B / 160 GB/s = 126.49 us.
    const Gpu type = gpu("A800");  // has no table of NCCL's choices
    const IntraNode& nvlink = type.intra_node("nvlink");
    const std::int64_t bytes = 20'971'520;
    const auto wire = static_cast<Tick>(std::ceil(static_cast<double>(bytes) * 7 / 8 / 0.16));
    CHECK(nvlink.time(CollectiveKind::all_gather, 8, bytes) == 11'800 * kNanosecond + wire);
    CHECK(nvlink.time(CollectiveKind::all_reduce, 8, bytes) ==
          doctest::Approx(static_cast<double>(11'800 * kNanosecond + 2 * wire)));
}

TEST_CASE("unit.gpu.nccl_latencies_follow_its_cost_model") {
    for (const std::string& name : gpu_names(gpu_folders())) {
        const Gpu type = gpu(name);
        if (type.find_interconnect("nvlink") == nullptr) continue;
        const IntraNode& ring = type.intra_node("nvlink-nccl");
        for (const std::uint32_t n : {2U, 4U, 8U}) {
            const Tick all_reduce = (8400 + Tick{2} * (n - 1) * 3400) * kNanosecond;
            const Tick half = (8400 + Tick{n - 1} * 3400) * kNanosecond;
            CHECK(ring.cost(CollectiveKind::all_reduce, n).latency == all_reduce);
            CHECK(ring.cost(CollectiveKind::reduce_scatter, n).latency == half);
            CHECK(ring.cost(CollectiveKind::all_gather, n).latency == half);
            CHECK(ring.cost(CollectiveKind::broadcast, n).latency == 11'800 * kNanosecond);
        }
    }
}

TEST_CASE("unit.gpu.simai_lines_are_within_their_error_of_the_efficiencies") {
    const auto ring = efficiencies("nvlink_ratio.csv");
    const auto all_to_all = efficiencies("ata_ratio.csv");
    if (ring.empty() || all_to_all.empty()) {
        MESSAGE("skipped: no samples in the folder that SLUICE_REFERENCE names");
        return;
    }
    constexpr std::int64_t kLargest = std::int64_t{1} << 31;
    for (const char* name : {"A100", "A100-80GB", "A800", "H100", "H800", "H20"}) {
        CAPTURE(name);
        const Gpu type = gpu(name);
        const IntraNode& fitted = type.intra_node("nvlink-simai");
        const auto check = [&](CollectiveKind kind, std::int64_t size, double efficiency,
                               double error) {
            const double seconds = static_cast<double>(size) * wire_factor(kind, 8) /
                                   (static_cast<double>(type.nvlink_bytes_per_second) * efficiency);
            CHECK(static_cast<double>(fitted.time(kind, 8, size)) ==
                  doctest::Approx(seconds * static_cast<double>(kSecond)).epsilon(error));
        };
        for (const auto& [size, efficiency] : ring) {
            if (size > kLargest) continue;
            check(CollectiveKind::all_reduce, size, efficiency, 0.025);
            check(CollectiveKind::reduce_scatter, size, efficiency, 0.025);
            check(CollectiveKind::all_gather, size, efficiency, 0.025);
        }
        for (const auto& [size, efficiency] : all_to_all) {
            if (size <= kLargest) check(CollectiveKind::all_to_all, size, efficiency, 0.05);
        }
    }
}

TEST_CASE("unit.gpu.calibrations_by_operation_and_members") {
    const Gpu type = parse_gpu(kGpu + kLink +
                                   "all-reduce = [{ members = 4, latency = \"20us\" }, "
                                   "{ members = 8, bandwidth = \"50GB/s\" }]\n"
                                   "send = { latency = \"1us\" }\n",
                               "mine.toml");
    CHECK(type.name == "mine");
    CHECK(type.nvlink_bytes_per_second == 0);
    const IntraNode& link = type.intra_node("x");
    CHECK(link.cost(CollectiveKind::all_reduce, 2).latency == 20 * kMicrosecond);
    CHECK(link.cost(CollectiveKind::all_reduce, 7).latency == 20 * kMicrosecond);
    CHECK(link.cost(CollectiveKind::all_reduce, 7).bytes_per_second == 100e9);
    CHECK(link.cost(CollectiveKind::all_reduce, 9).latency == 10 * kMicrosecond);
    CHECK(link.cost(CollectiveKind::all_reduce, 9).bytes_per_second == 50e9);
    CHECK(link.cost(CollectiveKind::send, 2).latency == 1 * kMicrosecond);
    CHECK(link.cost(CollectiveKind::all_gather, 2).latency == 10 * kMicrosecond);
}

TEST_CASE("unit.gpu.overlap_is_known_of_those_with_a_source") {
    // Processors that communication takes, of all.
    REQUIRE(gpu("H800").overlap.has_value());
    CHECK(gpu("H800").overlap->matrices == doctest::Approx(20.0 / 112).epsilon(0.005));
    CHECK(gpu("H100").overlap->attention == doctest::Approx(24.0 / 108).epsilon(0.005));
    CHECK(gpu("A100").overlap->matrices == doctest::Approx(24.0 / 84).epsilon(0.005));
    CHECK(gpu("H100").overlap->memory < gpu("A100").overlap->memory);
    CHECK(!gpu("V100").overlap.has_value());
}

TEST_CASE("unit.gpu.mistakes_are_placed_and_answered") {
    struct Case {
        std::string text;
        std::vector<const char*> says;
    };
    const std::vector<Case> cases = {
        {"", {"bad.toml", "peak_flops", "missing"}},
        {"peak_flops = 1\n", {"bad.toml:1:14", "peak_flops"}},
        {"peak_flops = nan\n", {"bad.toml:1:14", "peak_flops"}},
        {"peak_flops = 1e15\nmemory = \"80\"\n", {"bad.toml:2:10", "memory"}},
        {kGpu + "memry_efficiency = 1\n", {"bad.toml:4:1", "memory_efficiency"}},
        {kGpu + "efficiency = 2\n", {"bad.toml:4", "efficiency"}},
        {kGpu + "overlap = 0.2\n", {"bad.toml:4", "overlap", "table"}},
        {kGpu + "[overlap]\nmatrices = 0.2\nattention = 0.2\n",
         {"'memory'", "missing from [overlap]"}},
        {kGpu + "[overlap]\nmatrices = -1\n", {"bad.toml:5:12", "matrices", "0 to 100"}},
        {kGpu + "interconnect = 3\n", {"bad.toml:4", "interconnect", "table"}},
        {kGpu + "[interconnect]\nx = 3\n", {"bad.toml:5", "interconnect.x", "table"}},
        {kGpu + "[interconnect.x]\nlatency = \"1us\"\n", {"bandwidth", "missing"}},
        {kGpu + "[interconnect.\"a~b/c\"]\n", {"a~b/c", "letters"}},
        {kGpu + kLink + "allreduce = {}\n", {"bad.toml:7:1", "did you mean \"all-reduce\""}},
        {kGpu + kLink + "all-reduce = 3\n", {"bad.toml:7", "all-reduce", "table"}},
        {kGpu + kLink + "all-reduce = []\n", {"bad.toml:7", "empty"}},
        {kGpu + kLink + "all-reduce = [3]\n", {"bad.toml:7", "table"}},
        {kGpu + kLink + "all-reduce = [{ members = 4 }, { members = 4 }]\n", {"growing"}},
        {kGpu + kLink + "all-reduce = { members = 1 }\n", {"members", "2 to"}},
        {kGpu + kLink + "all-reduce = { latency = \"2s\" }\n", {"latency", "1s"}},
        {kGpu + kLink + "all-reduce = { speed = 1 }\n", {"bad.toml:7", "speed"}},
    };
    for (const Case& bad : cases) {
        CAPTURE(bad.text);
        const std::string message = error_of([&] { parse_gpu(bad.text, "bad.toml"); });
        CAPTURE(message);
        for (const char* part : bad.says) CHECK(message.find(part) != std::string::npos);
    }
    CHECK_THROWS_WITH_AS(gpu("H110"), doctest::Contains("nearest: H100"), ConfigError);
    CHECK_THROWS_WITH_AS(gpu("A100").intra_node("nvls"), doctest::Contains("nvlink, nvlink-nccl"),
                         ConfigError);
}

TEST_CASE("unit.roofline.by_hand") {
    Gpu type;
    type.peak_flops = 100e12;
    type.efficiency = 0.5;
    type.memory_bytes_per_second = 1e12;
    type.memory_efficiency = 0.8;
    const Roofline roof = roofline(type);
    // 50 TFLOP/s and 800 GB/s: balanced at 62.5 FLOPs a byte.
    CHECK(roofline_time(roof, {50e9, 0}) == 1 * kMillisecond);
    CHECK(roofline_time(roof, {0, 800e6}) == 1 * kMillisecond);
    CHECK(roofline_time(roof, {50e9, 801e6}) > 1 * kMillisecond);
    CHECK(roofline_time(roof, {50e9, 799e6}) == 1 * kMillisecond);
    CHECK(roofline_time(roof, {}) == 0);
    // Rounded up: 1 FLOP lasts 0.02 ps.
    CHECK(roofline_time(roof, {1, 0}) == 1);
    CHECK(roofline_time({50e12, 0}, {50e9, 1e30}) == 1 * kMillisecond);
    CHECK_THROWS_WITH_AS(roofline_time(roof, {1e30, 0}), doctest::Contains("a day"), ConfigError);
    CHECK_THROWS_AS(roofline_time(roof, {0, std::numeric_limits<double>::infinity()}), ConfigError);
    CHECK_THROWS_AS(roofline_time({0, 0}, {1, 0}), ConfigError);
}

TEST_CASE("unit.roofline.bound_by_what_one_expects") {
    // On an A100 the big matrix products are bound by arithmetic, norms by memory.
    const Roofline roof = roofline(gpu("A100-80GB"));
    const LayerWork work = forward_work(preset("gpt-13b"), 0, {});
    const auto arithmetic = [&](const Work& part) { return roofline_time(roof, {part.flops, 0}); };
    CHECK(roofline_time(roof, work.mlp) == arithmetic(work.mlp));
    CHECK(roofline_time(roof, work.projections) == arithmetic(work.projections));
    CHECK(roofline_time(roof, work.norms) > arithmetic(work.norms));
}
