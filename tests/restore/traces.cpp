// SPDX-License-Identifier: Apache-2.0
/// Recorded queues: what the output writes is what training reads; what is drawn from it.
#include <doctest/doctest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "core/checksum.h"
#include "core/error.h"
#include "core/results/run_writer.h"
#include "restore/bytes.h"
#include "restore/dataset.h"
#include "restore/queue_trace.h"
#include "tests/support/error_of.h"
#include "tests/support/sealed.h"

using namespace sluice;
using namespace sluice::restore;

namespace {

namespace fs = std::filesystem;

/// Two hosts on one switch; ports 0 and 1 are the hosts', 2 and 3 the switch's.
struct Recording {
    fs::path folder = fs::temp_directory_path() / ("sluice-restore-" + std::to_string(::getpid()));
    Topology topology;
    std::vector<FlowSpec> flows;
    RunInfo info;

    Recording() {
        topology.add_node(NodeKind::host);
        topology.add_node(NodeKind::host);
        topology.add_node(NodeKind::ethernet);
        topology.add_link({0, 2, gigabits_per_second(100), kMicrosecond, 0});
        topology.add_link({1, 2, gigabits_per_second(100), kMicrosecond, 0});
        topology.finish();
        info.scenario = "two";
        auto facts = std::make_shared<QueueFacts>();
        facts->step = kMicrosecond;
        facts->base_rtt = 4 * kMicrosecond;
        facts->law = "dcqcn";
        facts->mark_bytes.assign(topology.port_count(), 400'000);
        facts->path = [this](const FlowRecord& flow) {
            return std::vector<PortId>{topology.first_port(flow.spec.src), to_host(flow.spec.dst)};
        };
        info.queues = facts;
    }
    ~Recording() {
        std::error_code error;
        fs::remove_all(folder, error);
    }
    /// The switch's port to a host.
    PortId to_host(NodeId host) const { return topology.peer_of(topology.first_port(host)); }
    static FlowRecord flow(NodeId src, NodeId dst, Tick start, Tick finish) {
        FlowRecord record;
        record.spec.src = src;
        record.spec.dst = dst;
        record.result.start = start;
        record.result.finish = finish;
        return record;
    }
    /// A flow to host 1 from 2 us on, one more from 5.5 to 8 us; queues grow by 1000 bytes a step.
    std::string written() {
        RunWriter writer(folder.string(), info, topology, flows, {"record_queues"});
        REQUIRE(writer.wants_samples());
        std::vector<std::int64_t> depths(topology.port_count());
        std::vector<std::int64_t> sent(topology.port_count());
        for (Tick step = 1; step <= 40; ++step) {
            const bool at_work = step > 2 && step != 20;  // at rest for a step
            depths[to_host(1)] = at_work ? 1000 * step : 0;
            sent[to_host(1)] += at_work ? 12'000 : 0;
            writer.sample({step * kMicrosecond, depths, sent});
        }
        writer.flow_finished(flow(0, 1, 11 * kMicrosecond / 2, 8 * kMicrosecond), 0, "");
        writer.flow_open(flow(0, 1, 2 * kMicrosecond, kNever));
        RunOutcome outcome;
        outcome.ports.resize(topology.port_count());
        writer.finish(outcome);
        return read_file((folder / "queues.bin").string(), 1 << 20);
    }
};

std::string refusal(const std::string& bytes) {
    return error_of([&] { parse_queue_trace(bytes, "queues.bin"); });
}

/// A port of `stays` stays of `length` samples with two flows each, its queue as deep as its time.
QueueTrace long_trace(int stays, int length) {
    QueueTrace trace;
    trace.scenario = "long";
    trace.law = congestion::Law::timely;
    trace.base_rtt = 4 * kMicrosecond;
    trace.step = kMicrosecond;
    PortTrace port;
    port.line_rate = 100'000'000'000;
    for (int i = 0; i < stays * length; ++i) {
        trace.steps.push_back(static_cast<std::uint32_t>(i));
        port.depth.push_back(static_cast<std::uint32_t>(1000 + i));
        port.sent.push_back(12'500);
        port.flows.push_back(2);
        port.changes.push_back(static_cast<std::uint16_t>(i / length));
    }
    trace.ports.push_back(port);
    return trace;
}

}  // namespace

TEST_CASE("unit.restore.trace.holds_what_the_run_recorded") {
    Recording recording;
    const QueueTrace trace = parse_queue_trace(recording.written(), "queues.bin");
    CHECK(trace.scenario == "two");
    CHECK(trace.law == congestion::Law::dcqcn);
    CHECK(trace.base_rtt == 4 * kMicrosecond);
    CHECK(trace.step == kMicrosecond);
    CHECK(trace.complete);
    // Steps 3 to 40 but for 20; the port to host 0 was never used.
    REQUIRE(trace.steps.size() == 37);
    CHECK(trace.steps.front() == 3);
    CHECK(trace.steps[16] == 19);
    CHECK(trace.steps[17] == 21);
    REQUIRE(trace.ports.size() == 1);
    const PortTrace& port = trace.ports[0];
    CHECK(port.port == recording.to_host(1));
    CHECK(port.mark_bytes == 400'000);
    CHECK(port.to_host);
    CHECK(port.depth[0] == 3000);
    CHECK(port.depth.back() == 40'000);
    CHECK(
        std::all_of(port.sent.begin(), port.sent.end(), [](auto sent) { return sent == 12'000; }));
    // A sample is of everything before it: flows count from the step after their start.
    CHECK(port.flows[0] == 1);
    CHECK(port.flows[2] == 1);  // step 5
    CHECK(port.flows[3] == 2);  // step 6
    CHECK(port.flows[5] == 2);  // step 8: finishes then
    CHECK(port.flows[6] == 1);
    CHECK(port.changes[0] == 1);
    CHECK(port.changes.back() == 3);
}

TEST_CASE("unit.restore.trace.every_cut_and_every_flipped_byte_is_refused") {
    Recording recording;
    const std::string bytes = recording.written();
    for (std::size_t length = 0; length < bytes.size(); length += 3) {
        CHECK(refusal(bytes.substr(0, length)).rfind("queues.bin: ", 0) == 0);
    }
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        std::string flipped = bytes;
        flipped[at] = static_cast<char>(flipped[at] ^ 0x40);
        CHECK(refusal(flipped).rfind("queues.bin: ", 0) == 0);
    }
}

TEST_CASE("unit.restore.trace.a_header_that_lies_is_refused") {
    Recording recording;
    const std::string bytes = recording.written();
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string changed = bytes;
        const std::size_t at = changed.find(from);
        REQUIRE(at != std::string::npos);
        changed.replace(at, from.size(), to);
        changed.resize(changed.size() - 8);
        append_word(changed, checksum(changed));
        return refusal(changed);
    };
    CHECK(with("\"samples\":37", "\"samples\":38").find("does not hold") != std::string::npos);
    CHECK(with("\"samples\":37", "\"samples\":-1").find("samples must be") != std::string::npos);
    CHECK(with("\"dcqcn\"", "\"dcxyz\"").find("law that this build") != std::string::npos);
    CHECK(with("\"step_ps\":1000000", "\"step_ps\":0000000").find("JSON") != std::string::npos);
    CHECK(with("rate_bps", "rate_xyz").find("rate_bps") != std::string::npos);
    CHECK(with("true,\"ports\"", "null,\"ports\"").find("complete") != std::string::npos);
}

TEST_CASE("unit.restore.trace.whatever_has_its_checksum_is_a_record_or_one_line") {
    Recording recording;
    const std::string bytes = recording.written();
    int records = 0;
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        try {
            const QueueTrace trace = parse_queue_trace(
                mutated(bytes, seed % 2 == 0 ? 500 : bytes.size(), seed), "queues.bin");
            ++records;
            for (const Case& one : draw_cases(trace, ModelShape{}, 4, seed)) {
                CHECK(one.query.context.skip > 0);
                CHECK(one.depth >= 0);
            }
        } catch (const ConfigError& error) {
            CHECK(std::string(error.what()).find('\n') == std::string::npos);
        }
    }
    CHECK(records > 300);
    CHECK(records < 1700);
}

TEST_CASE("unit.restore.trace.no_more_is_recorded_than_a_file_may_hold") {
    Recording recording;
    Topology star;
    star.add_node(NodeKind::ethernet);
    for (NodeId host = 1; host <= 16'385; ++host) {
        star.add_node(NodeKind::host);
        star.add_link({host, 0, gigabits_per_second(100), kMicrosecond, 0});
    }
    star.finish();
    const std::string line = error_of(
        [&] { RunWriter(recording.folder.string(), recording.info, star, {}, {"record_queues"}); });
    CHECK(
        line ==
        "output.record_queues: the network has 16385 switch ports; at most 16384 can be recorded");
    CHECK(!fs::exists(recording.folder));
}

TEST_CASE("unit.restore.dataset.a_case_lies_within_a_stay_of_the_ports_flows") {
    const QueueTrace trace = long_trace(10, 300);
    ModelShape shape;
    const std::vector<Case> cases = draw_cases(trace, shape, 2000, 1);
    REQUIRE(cases.size() == 2000);
    std::size_t longest = 0;
    std::size_t short_skips = 0;
    for (const Case& one : cases) {
        const std::vector<std::int64_t>& depths = one.query.depths;
        longest = std::max(longest, depths.size());
        CHECK(depths.size() >= kShortestSequence);
        // Depths tell the time: first sample and resumption are in one stay.
        CHECK((depths.front() - 1000) / 300 == (one.depth - 1000) / 300);
        const Tick skip = (one.depth - depths.back()) * kMicrosecond;
        CHECK(one.query.context.skip == skip);
        CHECK(skip >= trace.base_rtt);
        short_skips += skip < 2 * trace.base_rtt ? 1 : 0;
        CHECK(one.query.context.flows == 2);
        CHECK(one.query.context.utilization == doctest::Approx(1.0));
    }
    CHECK(longest == 64);
    // Log-uniform: of 1 to at most 70 base RTTs (6.1 octaves) an octave is a sixth, more where less is left.
    CHECK(short_skips > 300);
    CHECK(short_skips < 700);
}

TEST_CASE("unit.restore.dataset.is_a_function_of_the_seed_and_the_scenario") {
    QueueTrace trace = long_trace(4, 300);
    const auto depths = [&](std::uint64_t seed) {
        std::vector<std::int64_t> all;
        for (const Case& one : draw_cases(trace, {}, 50, seed)) all.push_back(one.depth);
        return all;
    };
    const std::vector<std::int64_t> first = depths(1);
    CHECK(first == depths(1));
    CHECK(first != depths(2));
    trace.scenario = "other";
    CHECK(first != depths(1));
    // A case is told by its number: more of them begin with the same ones.
    CHECK(draw_cases(trace, {}, 10, 1)[9].depth == depths(1)[9]);
}

TEST_CASE("unit.restore.dataset.no_case_where_there_is_nothing_to_learn") {
    CHECK(draw_cases(long_trace(50, kShortestSequence), {}, 100, 1).empty());
    QueueTrace idle = long_trace(1, 300);
    std::fill(idle.ports[0].depth.begin(), idle.ports[0].depth.end(), 0U);
    CHECK(draw_cases(idle, {}, 100, 1).empty());
    QueueTrace gaps = long_trace(1, 300);
    for (std::size_t i = 0; i < gaps.steps.size(); ++i) gaps.steps[i] *= 2;
    CHECK(draw_cases(gaps, {}, 100, 1).empty());
    QueueTrace unused = long_trace(1, 300);
    std::fill(unused.ports[0].flows.begin(), unused.ports[0].flows.end(), std::uint16_t{0});
    CHECK(draw_cases(unused, {}, 100, 1).empty());
}

TEST_CASE("unit.restore.dataset.scenarios_are_never_on_both_sides") {
    std::vector<std::string> names;
    for (int i = 0; i < 40; ++i) names.push_back("scenario" + std::to_string(i / 2));
    const std::vector<bool> judges = choose_validation(names, 0.25, 1);
    CHECK(std::count(judges.begin(), judges.end(), true) == 10);  // 5 of 20 scenarios
    for (std::size_t i = 0; i < names.size(); i += 2) CHECK(judges[i] == judges[i + 1]);
    CHECK(judges != choose_validation(names, 0.25, 2));
    const std::vector<bool> few = choose_validation({"a", "b"}, 0.0, 1);
    CHECK(few[0] != few[1]);
    CHECK(error_of([] {
              choose_validation({"a", "a"}, 0.5, 1);
          }).find("at least 2 scenarios") != std::string::npos);
}
