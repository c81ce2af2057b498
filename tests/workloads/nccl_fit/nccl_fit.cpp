// SPDX-License-Identifier: Apache-2.0
/// NCCL's choice by a table, the fit of one, and the files that it is fitted to.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/error.h"
#include "workloads/model/gpu.h"
#include "workloads/model/nccl_table_file.h"
#include "workloads/nccl_fit/nccl_fit.h"
#include "workloads/nccl_fit/nccl_tests_file.h"

using namespace sluice;

namespace {

using Kind = CollectiveKind;

NcclChoice ring(NcclProtocol protocol, double base, double step, double rate) {
    NcclChoice choice;
    choice.protocol = protocol;
    choice.base_us = base;
    choice.step_us = step;
    choice.bandwidth = {{2, rate}, {8, 2 * rate}};
    for (const Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter}) {
        choice.factor[static_cast<std::size_t>(kind)] = 1;
    }
    return choice;
}

NcclTable two_rings() {
    return {{ring(NcclProtocol::ll, 5, 1, 1e9), ring(NcclProtocol::simple, 20, 4, 100e9)}};
}

/// What a machine with two_rings() would measure.
std::vector<NcclSample> measured_by(const NcclTable& table) {
    std::vector<NcclSample> samples;
    for (const Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter}) {
        for (const std::uint32_t members : {2U, 4U, 8U}) {
            for (std::int64_t bytes = 1024; bytes <= 1 << 28; bytes *= 4) {
                const auto size = static_cast<double>(bytes);
                const NcclChoice* choice = table.choose(kind, members, size);
                samples.push_back({kind, members, bytes, time_us(*choice, kind, members, size)});
            }
        }
    }
    return samples;
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

TEST_CASE("unit.nccl_table.overlap_hides_the_smaller_part_of_a_step") {
    NcclChoice choice = ring(NcclProtocol::simple, 0, 3, 1e6);
    choice.overlap = 2;
    // Blocks of 4 bytes take 4 us: the step lasts (3^2 + 4^2)^(1/2) = 5 us.
    CHECK(time_us(choice, Kind::all_gather, 2, 8) == doctest::Approx(5));
    CHECK(time_us(choice, Kind::all_gather, 2, 0) == doctest::Approx(3));
    choice.step_us = 0;
    CHECK(time_us(choice, Kind::all_gather, 2, 0) == 0);
}

TEST_CASE("unit.nccl_table.what_is_written_is_read") {
    const NcclTable table = two_rings();
    const std::string text =
        "peak_flops = 1e15\nmemory = \"80GB\"\nmemory_bandwidth = \"2000GB/s\"\n"
        "[interconnect.x]\nbandwidth = \"100GB/s\"\nlatency = \"10us\"\n" +
        format_nccl_table(table, "interconnect.x.nccl", "two\nlines");
    const IntraNode link = parse_gpu(text, "mine.toml").intra_node("x");
    CHECK(link.time(Kind::all_reduce, 8, 8'000'000) == 146 * kMicrosecond);
    CHECK(link.time(Kind::all_gather, 2, 36'000) == 24 * kMicrosecond);
    // Without a choice the linear model holds: 10 us + 7/8 x 8 MB / 100 GB/s.
    CHECK(link.time(Kind::all_to_all, 8, 8'000'000) == 80 * kMicrosecond);
    CHECK(link.exchange_time(8, 7'000'000) == 80 * kMicrosecond);
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
        {head + choice + rates + "overlap = 0.5\nall-reduce = 1\n", {"overlap"}},
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
    const std::vector<NcclSample> samples = measured_by(two_rings());
    const auto errors = errors_of(held_out_errors(samples), samples);
    CHECK(errors.back().rows == samples.size());
    CHECK(errors.back().median < 0.04);
    const NcclTable table = fit_nccl_table(samples);
    CHECK(errors_of(relative_errors(table, samples), samples).back().p95 < 0.05);
    CHECK(parameter_count(table) == 3 * (3 + 3 + 2));
}

TEST_CASE("unit.nccl_fit.half_of_what_was_measured_predicts_the_other_half") {
    const char* folder = std::getenv("SLUICE_REFERENCE");
    const std::string path = std::string(folder != nullptr ? folder : "") + "/silicon/nccl.csv";
    if (!std::filesystem::exists(path)) {
        MESSAGE("skipped: no measured times in the folder that SLUICE_REFERENCE names");
        return;
    }
    // Halves of every second size: neighbours are 16 times apart.
    for (const char* system : {"b200_sxm", "gb200"}) {
        CAPTURE(system);
        const auto samples = read_nccl_tests(path, system, "").samples;
        CHECK(errors_of(held_out_errors(samples), samples).back().median < 0.04);
    }
}

TEST_CASE("unit.nccl_fit.the_order_of_rows_does_not_matter") {
    std::vector<NcclSample> samples = measured_by(two_rings());
    samples.resize(30);  // one operation is enough here
    const NcclTable forward = fit_nccl_table(samples);
    std::reverse(samples.begin(), samples.end());
    const NcclTable backward = fit_nccl_table(samples);
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
    CHECK_THROWS_AS(fit_nccl_table({}), ConfigError);
    CHECK_THROWS_AS(fit_nccl_table({{Kind::all_reduce, 2, 1024, 5}}), ConfigError);
    CHECK_THROWS_AS(fit_nccl_table({3, {Kind::broadcast, 2, 1024, 5}}), ConfigError);
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
