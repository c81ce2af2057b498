// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/results/fct_line.h"
#include "core/results/percentile.h"
#include "core/results/resources.h"
#include "core/results/trace_writer.h"

using namespace sluice;
using nlohmann::json;

namespace {

std::string trace_path() {
    return (std::filesystem::temp_directory_path() /
            ("sluice-trace-" + std::to_string(::getpid()) + ".json"))
        .string();
}

json read_back(const std::string& path) {
    std::ifstream in(path);
    const json parsed = json::parse(in);
    std::filesystem::remove(path);
    return parsed;
}

}  // namespace

TEST_CASE("unit.results.percentile_is_nearest_rank") {
    // Of 1..200 the p-th percentile is value ceil(2 p).
    std::vector<int> values;
    for (int i = 1; i <= 200; ++i) {
        values.push_back(i);
    }
    CHECK(percentile(values, 0) == 1);
    CHECK(percentile(values, 1) == 2);
    CHECK(percentile(values, 50) == 100);
    CHECK(percentile(values, 99) == 198);
    CHECK(percentile(values, 100) == 200);
    // Of three: ceil(1.5) = 2nd, ceil(2.97) = 3rd, ceil(0.99) = 1st.
    const std::vector<int> three{10, 20, 30};
    CHECK(percentile(three, 50) == 20);
    CHECK(percentile(three, 99) == 30);
    CHECK(percentile(three, 33) == 10);
    CHECK(percentile(std::vector<int>{5}, 99) == 5);
    CHECK_THROWS_AS(percentile(std::vector<int>{}, 50), InternalError);
}

TEST_CASE("unit.results.fct_line_has_the_hpcc_columns") {
    // Host 259 = 1 x 256 + 3 has the address 11.1.3.1; times are cut to nanoseconds, the ideal one
    // is rounded up.
    FlowSpec flow{0, 259, 5'000'000'000, 0, 10001, 200, 3};
    FlowResult result;
    result.start = 2'000'999'999'999;
    result.finish = 2'001'000'006'998;
    CHECK(host_address(259) == 0x0b010301U);
    CHECK(fct_line(flow, result, 4'001) ==
          "0b000001 0b010301 10001 200 5000000000 2000999999 6 5\n");
}

TEST_CASE("unit.results.trace_is_json_with_exact_microseconds") {
    const std::string path = trace_path();
    {
        TraceWriter trace(path);
        trace.name_process(4, "host \"4\"\n\xff");
        trace.span(4, 5, "flows", "a", 1'234'567'890, 2'000'000'001, 77);
        trace.finish();
        trace.file().commit();
    }
    const json events = read_back(path);
    REQUIRE(events.is_array());
    std::size_t spans = 0;
    for (const json& event : events) {
        if (event["ph"] == "X") {
            ++spans;
            CHECK(event["pid"] == 4);
            CHECK(event["ts"] == 1234.567890);
            CHECK(event["dur"] == 765.432111);
            CHECK(event["args"]["bytes"] == 77);
        }
    }
    CHECK(spans == 1);
    CHECK(trace_microseconds(1) == "0.000001");
    CHECK(trace_microseconds(0) == "0.000000");
}

TEST_CASE("unit.results.empty_trace_is_json") {
    const std::string path = trace_path();
    {
        TraceWriter trace(path);
        trace.finish();
        trace.file().commit();
    }
    CHECK(read_back(path).empty());
}

TEST_CASE("unit.results.overlapping_spans_get_threads_of_their_own") {
    const std::string path = trace_path();
    {
        TraceWriter trace(path);
        // In order of their ends; [5, 10) fits behind [0, 5), [3, 12) overlaps both.
        trace.span(0, 0, "flows", "a", 0, 5, -1);
        trace.span(0, 0, "flows", "b", 5, 10, -1);
        trace.span(0, 0, "flows", "c", 3, 12, -1);
        trace.span(0, 1, "compute", "d", 0, 20, -1);
        trace.finish();
        trace.file().commit();
    }
    std::map<std::string, int> thread;
    std::set<std::string> names;
    for (const json& event : read_back(path)) {
        if (event["ph"] == "X") {
            thread[event["name"]] = event["tid"];
        } else if (event["name"] == "thread_name") {
            names.insert(event["args"]["name"].get<std::string>());
        }
    }
    CHECK(thread["a"] == thread["b"]);
    CHECK(thread["a"] != thread["c"]);
    CHECK(thread["d"] != thread["a"]);
    CHECK(names == std::set<std::string>{"flows", "flows 2", "compute"});
}

TEST_CASE("unit.results.resource_usage_grows") {
    const ResourceUsage before = resource_usage();
    std::vector<char> memory(8 << 20, 1);
    volatile double sum = 0;
    for (int i = 0; i < 2'000'000; ++i) {
        sum = sum + memory[static_cast<std::size_t>(i)];
    }
    const ResourceUsage after = resource_usage();
    CHECK(after.user_s >= before.user_s);
    CHECK(after.wall_s > before.wall_s);
    CHECK(after.peak_rss_bytes >= static_cast<std::int64_t>(memory.size()));
}
