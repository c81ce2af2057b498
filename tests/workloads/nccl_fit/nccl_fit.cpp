// SPDX-License-Identifier: Apache-2.0
/// NCCL's choice by a table, the fit of one, and the files that it is fitted to.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "tests/workloads/nccl_fit/nccl_data.h"
#include "workloads/model/gpu.h"
#include "workloads/model/nccl_table_file.h"
#include "workloads/nccl_fit/nccl_fit.h"
#include "workloads/nccl_fit/nccl_tests_file.h"

using namespace sluice;
using namespace sluice::nccl_data;

namespace {

using Kind = CollectiveKind;

NcclTable two_rings() {
    return {{ring(NcclProtocol::ll, 5, 1, 1e9), ring(NcclProtocol::simple, 20, 4, 100e9)}};
}

/// An H100 whose NCCL chooses as its own rule says.
NcclTable three_rings() {
    NcclTable table = {{ring(NcclProtocol::ll, 6, 1, 60e9), ring(NcclProtocol::ll128, 10, 2, 200e9),
                        ring(NcclProtocol::simple, 16, 4, 300e9)}};
    for (NcclChoice& choice : table.choices) {
        choice.cost_model = nccl_cost_model({}, choice.algorithm, choice.protocol);
    }
    return table;
}

std::string complaint(const std::string& text, const std::string& system = "",
                      const std::string& op = "") {
    try {
        parse_nccl_tests(text, "t.txt", system, op);
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "";
}

const std::string kRun =
    "# Collective test starting: all_reduce_perf\n"
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 32 step: 2(factor)\n"
    "#  Rank  0 Group  0 Pid  77 on   host device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid  77 on   host device  1 [0000:43:00] NVIDIA H100 80GB HBM3\n"
    "#       size         count      type   redop    root     time   algbw   busbw  wrong\n"
    "           0             0     float     sum      -1     3.10    0.00    0.00      0\n"
    "        1024           256     float     sum      -1     6.40    0.16    0.16      0\n"
    "# Out of bounds values : 0 OK\n";

}  // namespace

TEST_CASE("unit.nccl_table.the_least_time_is_chosen") {
    const NcclTable table = two_rings();
    // All-gather of 2, 3 steps of 4: LL 5 + 1 + S / 2 / 1e9, Simple 20 + 4 + S / 2 / 100e9: they
    // meet at S / 2 (1e-3 - 1e-5) us = 18 us, 36364 bytes.
    CHECK(table.choose(Kind::all_gather, 2, 36000)->protocol == NcclProtocol::ll);
    CHECK(table.choose(Kind::all_gather, 2, 37000)->protocol == NcclProtocol::simple);
    CHECK(time_us(table.choices[0], Kind::all_gather, 2, 36000) == doctest::Approx(6 + 18));
    // An all-reduce has twice the steps; from 8 members on the bandwidth is twice as large.
    CHECK(time_us(table.choices[1], Kind::all_reduce, 8, 8e6) ==
          doctest::Approx(20 + 14 * (4 + 5)));
    CHECK(time_us(table.choices[1], Kind::all_reduce, 7, 7e6) ==
          doctest::Approx(20 + 12 * (4 + 10)));
    CHECK(table.choose(Kind::all_to_all, 8, 1e6) == nullptr);
}

TEST_CASE("unit.nccl_table.the_cost_model_decides") {
    NcclTable table = two_rings();
    // By the cost model: LL 1 us, Simple 2 + 1 us (all-gather of 2, no bytes), so LL up to a block of 2e3 bytes at 1e9 B/s.
    table.choices[0].cost_model = {0.0, 1.0, {{2, 1e9}}};
    table.choices[1].cost_model = {2.0, 1.0, {{2, 1e13}}};
    CHECK(table.choose(Kind::all_gather, 2, 3900)->protocol == NcclProtocol::ll);
    CHECK(table.choose(Kind::all_gather, 2, 4100)->protocol == NcclProtocol::simple);
    // Of equals the faster one is taken; one with too few members only if there is no other.
    table.choices[1].cost_model = table.choices[0].cost_model;
    CHECK(table.choose(Kind::all_gather, 2, 36000)->protocol == NcclProtocol::ll);
    CHECK(table.choose(Kind::all_gather, 2, 37000)->protocol == NcclProtocol::simple);
    table.choices[0].fewest_members = 3;
    CHECK(table.choose(Kind::all_gather, 2, 36000)->protocol == NcclProtocol::simple);
    table.choices[1].fewest_members = 3;
    CHECK(table.choose(Kind::all_gather, 2, 36000)->protocol == NcclProtocol::ll);
}

TEST_CASE("unit.nccl_table.blocks_decide_where_nccl_goes_by_them") {
    // Up to blocks of 1000 bytes the first one is taken though the other is faster, beyond them never.
    NcclTable table = two_rings();
    std::swap(table.choices[0], table.choices[1]);
    table.choices[0].most_block = 1000;
    CHECK(table.choose(Kind::all_gather, 4, 4000)->protocol == NcclProtocol::simple);
    CHECK(table.choose(Kind::all_gather, 4, 4100)->protocol == NcclProtocol::ll);
    CHECK(table.choose(Kind::all_gather, 4, 4e9)->protocol == NcclProtocol::ll);
}

TEST_CASE("unit.nccl_cost_model.protocols_change_where_nccls_model_says") {
    // All-gather of 8 H100, x = 7/8 S: LL 6.6 + 7 x 0.6 us + x / 141 GB/s, LL128 14 + 7 x 1.9 + x / (0.92 x 370.8):
    // equal at x = 16.5 us / (1 / 141 - 1 / 341.1) ns per B = 3.966 MB, S = 4.532 MB.
    const NcclTable table = three_rings();
    CHECK(table.choose(Kind::all_gather, 8, 4.5e6)->protocol == NcclProtocol::ll);
    CHECK(table.choose(Kind::all_gather, 8, 4.6e6)->protocol == NcclProtocol::ll128);
    // Of 2, Simple has less latency than LL128, which is never taken.
    for (double bytes = 1024; bytes < 1e9; bytes *= 2) {
        CHECK(table.choose(Kind::all_gather, 2, bytes)->protocol != NcclProtocol::ll128);
    }
    // NVLS: 8 heads of 40 GB/s (8 x 50 is more than a link), 4 of 60, x 0.85; none on A100 or PCIe, where LL128 is not, too.
    const auto nvls = nccl_cost_model({}, NcclAlgorithm::nvls, NcclProtocol::simple);
    REQUIRE(nvls.has_value());
    CHECK(nvls->bandwidth[0].bytes_per_second == doctest::Approx(204e9));
    CHECK(nvls->bandwidth[1].bytes_per_second == doctest::Approx(272e9));
    CHECK(!nccl_cost_model({true, 240e9}, NcclAlgorithm::nvls, NcclProtocol::simple));
    CHECK(!nccl_cost_model({false, 25.6e9}, NcclAlgorithm::nvls, NcclProtocol::simple));
    CHECK(!nccl_cost_model({false, 25.6e9}, NcclAlgorithm::ring, NcclProtocol::ll128));
    CHECK(nccl_cost_model({false, 25.6e9}, NcclAlgorithm::ring, NcclProtocol::simple)->step_us ==
          5.7);
}

TEST_CASE("unit.nccl_table.overlap_hides_the_smaller_part_of_a_step") {
    NcclChoice choice = ring(NcclProtocol::simple, 0, 3, 1e6);
    choice.overlap = 2;
    // Blocks of 4 bytes take 4 us: the step lasts (3^2 + 4^2)^(1/2) = 5 us.
    CHECK(time_us(choice, Kind::all_gather, 2, 8) == doctest::Approx(5));
    CHECK(time_us(choice, Kind::all_gather, 2, 0) == doctest::Approx(3));
    // (3^(1/2) + 12^(1/2))^2 = 27: each delays the other.
    choice.overlap = 0.5;
    CHECK(time_us(choice, Kind::all_gather, 2, 24) == doctest::Approx(27));
    choice.step_us = 0;
    CHECK(time_us(choice, Kind::all_gather, 2, 0) == 0);
}

TEST_CASE("unit.nccl_table.what_is_written_is_read") {
    const auto written_and_read = [](const NcclTable& table) {
        const std::string text =
            "peak_flops = 1e15\nmemory = \"80GB\"\nmemory_bandwidth = \"2000GB/s\"\n"
            "[interconnect.x]\nbandwidth = \"100GB/s\"\nlatency = \"10us\"\n" +
            format_nccl_table(table, "interconnect.x.nccl", "two\nlines");
        return parse_gpu(text, "mine.toml").intra_node("x");
    };
    NcclTable table = two_rings();
    const IntraNode link = written_and_read(table);
    CHECK(link.time(Kind::all_reduce, 8, 8'000'000) == 146 * kMicrosecond);
    CHECK(link.time(Kind::all_gather, 2, 36'000) == 24 * kMicrosecond);
    // Without a choice the linear model holds: 10 us + 7/8 x 8 MB / 100 GB/s.
    CHECK(link.time(Kind::all_to_all, 8, 8'000'000) == 80 * kMicrosecond);
    CHECK(link.exchange_time(8, 7'000'000) == 80 * kMicrosecond);
    // By the cost model LL is faster below 1,000 B a block: 1 us + block / 1 GB/s against 2 us. It is 5 + 1 us + 900 ns.
    table.choices[0].cost_model = {0.0, 1.0, {{2, 1e9}}};
    table.choices[1].cost_model = {1.0, 1.0, {{2, 1e13}}};
    CHECK(written_and_read(table).time(Kind::all_gather, 2, 1'800) == 6'900'000);
    CHECK(written_and_read(table).time(Kind::all_gather, 2, 200'000) == 25 * kMicrosecond);
    table.choices[1].fewest_members = 3;
    CHECK(written_and_read(table).time(Kind::all_gather, 2, 200'000) == 106 * kMicrosecond);
    // LL for blocks of 1,000 B and less only; Simple on shared links: 20 + 7 x 20 us, of which the own latency is hidden.
    table = two_rings();
    table.choices[0].most_block = 1000;
    table.choices[1].bandwidth = {{2, 100e9}, {8, 50e9}};
    table.choices[1].shared_links = true;
    CHECK(written_and_read(table).time(Kind::all_gather, 8, 8'000) == 15'500'000);
    // 4 + 10 us of its own, 20 us of shared links: 20 + 7 x (14^2 + 20^2)^(1/2). With twice their share: 20 + 7 x (14^2 + 10^2)^(1/2).
    const auto near = [](Tick time, double us) {
        return static_cast<double>(time) / kMicrosecond == doctest::Approx(us).epsilon(1e-6);
    };
    CHECK(near(written_and_read(table).time(Kind::all_gather, 8, 8'000'000),
               20 + 7 * std::sqrt(596)));
    const auto at = static_cast<std::size_t>(Kind::all_gather);
    table.choices[1].shared_factor[at] = 2;
    CHECK(near(written_and_read(table).time(Kind::all_gather, 8, 8'000'000),
               20 + 7 * std::sqrt(296)));
    // 1 MB in 8 slots is cached: 4 + 1.25 us of its own, 2.5 / 5 us of shared links.
    table.choices[1].cached_factor[at] = 5;
    CHECK(near(written_and_read(table).time(Kind::all_gather, 8, 1'000'000),
               20 + 7 * std::hypot(5.25, 0.5)));
}

TEST_CASE("unit.nccl_table.mistakes_are_placed") {
    const std::string head =
        "peak_flops = 1e15\nmemory = \"80GB\"\nmemory_bandwidth = \"2000GB/s\"\n"
        "[interconnect.x]\nbandwidth = \"100GB/s\"\nlatency = \"10us\"\n[interconnect.x.nccl]\n";
    const std::string choice =
        "[[interconnect.x.nccl.choice]]\nalgorithm = \"ring\"\nprotocol = \"LL\"\nbase = \"1us\"\n"
        "step = \"1us\"\n";
    const std::string rates = "bandwidth = [{ members = 2, rate = \"1GB/s\" }]\n";
    const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
        {head, {"choice", "at least one"}},
        {head + choice + "all-reduce = 1\n", {"bandwidth"}},
        {head + choice + rates, {"offered for no operation"}},
        {head + choice + rates + "all-to-all = 1\n", {"all-to-all"}},
        {head + choice + rates + "all-reduce = 0\n", {"m.toml:14", "all-reduce"}},
        {head + choice +
             "bandwidth = [{ members = 4, rate = \"1GB/s\" }, { members = 4, rate = "
             "\"1GB/s\" }]\nall-reduce = 1\n",
         {"bandwidth", "growing"}},
        {head + choice + rates + "fewest_members = 1\nall-reduce = 1\n", {"fewest_members"}},
        {head + choice + rates +
             "model_base = \"1us\"\nmodel_step = \"1us\"\nmodel_bandwidth = "
             "[]\nall-reduce = 1\n",
         {"model_bandwidth"}},
        {head + choice + rates +
             "model_bandwidth = [{ members = 2, rate = \"1GB/s\" }]\nall-reduce = 1\n",
         {"model_base"}},
        {head + choice + rates + "model_base = \"1us\"\nall-reduce = 1\n", {"model_step"}},
        {head + choice + rates + "overlap = 0.4\nall-reduce = 1\n", {"overlap"}},
        {head + choice + rates + "cached = { all-reduce = 2 }\nall-reduce = 1\n", {"cached"}},
        {head + choice + rates +
             "shared_links = true\ncached = { all-reduce = 0 }\nall-reduce = 1\n",
         {"all-reduce"}},
        {head + choice + rates +
             "shared_links = true\nshared = { all-to-all = 1 }\nall-reduce = 1\n",
         {"all-to-all"}},
    };
    for (const auto& [text, parts] : cases) {
        CAPTURE(text);
        std::string message;
        try {
            parse_gpu(text, "m.toml");
        } catch (const ConfigError& error) {
            message = error.what();
        }
        REQUIRE(!message.empty());
        for (const std::string& part : parts) {
            CAPTURE(message);
            CHECK(message.find(part) != std::string::npos);
        }
    }
}

TEST_CASE("unit.nccl_fit.half_of_the_rows_predicts_the_other_half") {
    const std::vector<NcclSample> samples = measured_by(three_rings());
    const auto errors = errors_of(held_out_errors(samples, {}), samples);
    CHECK(errors.back().rows == samples.size());
    CHECK(errors.back().median < 0.04);
    const NcclTable table = fit_nccl_table(samples, {});
    CHECK(errors_of(relative_errors(table, samples), samples).back().p95 < 0.05);
    CHECK(parameter_count(table) == 4 * (3 + 3 + 2) + (3 + 3));
}

TEST_CASE("unit.nccl_fit.half_of_what_was_measured_predicts_the_other_half") {
    const char* folder = std::getenv("SLUICE_REFERENCE");
    const std::string path = std::string(folder != nullptr ? folder : "") + "/silicon/nccl.csv";
    if (!std::filesystem::exists(path)) {
        MESSAGE("skipped: no measured times in the folder that SLUICE_REFERENCE names");
        return;
    }
    // Halves of every second size: neighbours are 16 times apart.
    const std::vector<std::pair<const char*, NcclLink>> systems = {{"a100_sxm", {true, 240e9}},
                                                                   {"h100_sxm", {true, 370.8e9}},
                                                                   {"b200_sxm", {true, 721.8e9}},
                                                                   {"gb200", {true, 721.8e9}},
                                                                   {"l40s", {false, 25.6e9}}};
    for (const auto& [system, link] : systems) {
        CAPTURE(system);
        const auto samples = read_nccl_tests(path, system, "").samples;
        CHECK(errors_of(held_out_errors(samples, link), samples).back().median < 0.04);
    }
}

TEST_CASE("unit.nccl_fit.the_order_of_rows_does_not_matter") {
    std::vector<NcclSample> samples = measured_by(three_rings());
    samples.resize(30);  // one operation is enough here
    const NcclTable forward = fit_nccl_table(samples, {});
    std::reverse(samples.begin(), samples.end());
    const NcclTable backward = fit_nccl_table(samples, {});
    CHECK(forward.choices[0].base_us == backward.choices[0].base_us);
    CHECK(forward.choices[2].bandwidth[1].bytes_per_second ==
          backward.choices[2].bandwidth[1].bytes_per_second);
}

TEST_CASE("unit.nccl_fit.percentiles_by_band") {
    const std::vector<NcclSample> samples = {{Kind::all_reduce, 2, 1 << 16, 1},
                                             {Kind::all_reduce, 2, (1 << 16) + 1, 1},
                                             {Kind::all_reduce, 2, 1 << 27, 1}};
    const auto errors = errors_of({0.1, -0.3, 0.2}, samples);
    CHECK(errors[0].rows == 1);
    CHECK(errors[0].median == doctest::Approx(0.1));
    CHECK(errors[1].p95 == doctest::Approx(0.3));
    CHECK(errors[2].rows == 0);
    CHECK(errors[3].median == doctest::Approx(0.2));
    CHECK(errors[4].median == doctest::Approx(0.2));
    CHECK(errors[4].p95 == doctest::Approx(0.3));
}

TEST_CASE("unit.nccl_fit.too_few_rows_are_refused") {
    CHECK_THROWS_AS(fit_nccl_table({}, {}), ConfigError);
    CHECK_THROWS_AS(fit_nccl_table({{Kind::all_reduce, 2, 1024, 5}}, {}), ConfigError);
    CHECK_THROWS_AS(fit_nccl_table({3, {Kind::broadcast, 2, 1024, 5}}, {}), ConfigError);
}

TEST_CASE("unit.nccl_tests.printed_tables_are_read") {
    const NcclMeasurements measured = parse_nccl_tests(kRun, "t.txt", "", "");
    CHECK(measured.system == "H100 80GB HBM3");
    REQUIRE(measured.samples.size() == 1);  // a size of 0 is left out
    CHECK(measured.samples[0].kind == Kind::all_reduce);
    CHECK(measured.samples[0].members == 2);
    CHECK(measured.samples[0].bytes == 1024);
    CHECK(measured.samples[0].us == 6.4);
    // Each run of several has its own operation and GPUs; one without a table is left out.
    std::string second = kRun;
    second.replace(second.find("all_reduce"), 10, "all_gather");
    std::string third = kRun;
    third.replace(third.find("all_reduce"), 10, "broadcast");
    const auto all = parse_nccl_tests(kRun + second + third, "t.txt", "", "").samples;
    REQUIRE(all.size() == 2);
    CHECK(all[1].kind == Kind::all_gather);
    // Older versions do not name the operation.
    const std::string unnamed = kRun.substr(kRun.find('\n') + 1);
    CHECK(parse_nccl_tests(unnamed, "t.txt", "", "alltoall").samples[0].kind == Kind::all_to_all);
}

TEST_CASE("unit.nccl_tests.csv_is_read") {
    const std::string csv =
        "system,op,gpus,bytes,us_median\na,alltoall,2,1024,5\r\nb,all-gather,4,2048,6.5\n\n"
        "a,broadcast,2,1024,5\n";
    const auto a = parse_nccl_tests(csv, "t.csv", "a", "").samples;
    REQUIRE(a.size() == 1);
    CHECK(a[0].kind == Kind::all_to_all);
    const auto b = parse_nccl_tests(csv, "t.csv", "b", "").samples;
    REQUIRE(b.size() == 1);
    CHECK(b[0].us == 6.5);
}

TEST_CASE("unit.nccl_tests.mistakes_are_placed_and_answered") {
    const std::string head = "op,gpus,bytes,us\n";
    const std::string unnamed = kRun.substr(kRun.find('\n') + 1);
    struct Case {
        std::string text;
        std::string system;
        std::vector<std::string> parts;
    };
    const std::vector<Case> cases = {
        {"", "", {"t.txt", "no rows", "us_median"}},
        {std::string("\0\xff\x01", 3), "", {"no rows"}},
        {"op,gpus,bytes\n", "", {"t.txt:1", "us_median"}},
        {head + "all_reduce,2,1024\n", "", {"t.txt:2", "3 fields", "4"}},
        {head + "all_reduse,2,1024,5\n", "", {"t.txt:2", "all_reduse", "reduce_scatter"}},
        {head + "all_reduce,1,1024,5\n", "", {"t.txt:2", "gpus"}},
        {head + "all_reduce,2,-4,5\n", "", {"t.txt:2", "bytes"}},
        {head + "all_reduce,2,1024,nan\n", "", {"t.txt:2", "us"}},
        {head + "all_reduce,2,1024,0\n", "", {"t.txt:2", "us"}},
        {head, "", {"no rows"}},
        {"system," + head + "a,all_reduce,2,8,5\nb,all_reduce,2,8,5\n", "", {"--system", "a, b"}},
        {"system," + head + "a,all_reduce,2,8,5\n", "c", {"no rows", "c", "it has: a"}},
        {unnamed, "", {"t.txt:5", "--op"}},
        {"# Collective test starting: all_reduce_perf\n 8 2 float sum -1 6.4 0 0 0\n",
         "",
         {"t.txt:2", "0 GPUs"}},
        {kRun + " 8 2 float\n", "", {"t.txt:9", "columns"}},
        {kRun + " 8 2 float sum -1 x 0 0 0\n", "", {"t.txt:9", "time"}},
    };
    for (const Case& bad : cases) {
        CAPTURE(bad.text);
        const std::string message = complaint(bad.text, bad.system);
        CAPTURE(message);
        CHECK(message.find('\n') == std::string::npos);
        for (const std::string& part : bad.parts) {
            CHECK(message.find(part) != std::string::npos);
        }
    }
}
