// SPDX-License-Identifier: Apache-2.0
/// Experiments of a batch on a device: what it declines the host does where that is allowed, and what goes wrong on it
/// has failed. The device is the block executor, or one that only fails.
#include <doctest/doctest.h>

#include <memory>
#include <new>
#include <stdexcept>
#include <string>

#include "core/error.h"
#include "experiment/batch/batch_lane.h"
#include "gpu/blocks/block_executor.h"
#include "gpu/lane_run.h"
#include "tests/support/test_folder.h"

using namespace sluice;
using namespace sluice::test;

namespace {

constexpr const char* kBase = R"(
mode = "packet"
[topology]
type = "star"
hosts = 4
[workload]
type = "permutation"
size = "20KB"
)";

Batch batch_of(const std::string& keys) {
    return parse_batch("base = \"base.toml\"\nset = { " + keys + " }\n", "batch.toml",
                       [](const std::string& path) { return parse_config(kBase, path); });
}

/// One experiment with these keys set.
BatchRow row_of(const std::string& keys, const LaneRequest& asked) {
    LaneRequest request = asked;
    request.go_on = [](const LanePosition&) { return true; };
    bool whole = false;
    BatchRow row = run_lane(batch_of(keys), 0, request, whole);
    CHECK(whole);
    return row;
}

LaneRequest on_blocks(gpu::BlockExecutor& executor, bool fall_back) {
    LaneRequest request;
    request.maker = [&](const Experiment& experiment) {
        return std::make_unique<gpu::LaneRun>(experiment, executor, gpu::LaneMemory{});
    };
    request.fall_back = fall_back;
    return request;
}

/// A device that is out of order.
template <typename Error>
LaneRequest failing(const Error& error, bool fall_back) {
    LaneRequest request;
    request.maker = [=](const Experiment&) -> std::unique_ptr<ModeRun> { throw error; };
    request.fall_back = fall_back;
    return request;
}

struct Declined {
    const char* keys;
    const char* reason;
};

constexpr Declined kDeclined[] = {
    {"mode = \"flow\"", "mode = \"flow\": a device executes mode packet only"},
    {"mode = \"hybrid\"", "mode = \"hybrid\": a device executes mode packet only"},
    {"network.arithmetic = \"ns3\"",
     "network.arithmetic = \"ns3\": no device keeps ns-3's order of events"},
    {"output.series = true", "no device records queues or PFC frames; --device cpu"},
    {"workload = { type = \"stream\", operations = 40, bytes = \"1KB\" }",
     "a stream of operations is not executed by a device; --device cpu"},
};

}  // namespace

TEST_CASE("unit.batch_devices.what_a_device_declines_the_host_does") {
    gpu::BlockExecutor executor({});
    const TestFolder folder;
    for (const Declined& declined : kDeclined) {
        const std::string keys = declined.keys;
        INFO(keys);
        LaneRequest host;
        host.directory = folder.file("host");
        LaneRequest device = on_blocks(executor, true);
        device.directory = folder.file("device");
        const BatchRow expected = row_of(keys, host);
        const BatchRow made = row_of(keys, device);
        CHECK(expected.status == BatchStatus::done);
        CHECK(made.status == BatchStatus::done);
        CHECK(made.declined == declined.reason);
        CHECK(figure_of(made, "jct_s") == figure_of(expected, "jct_s"));
        CHECK(read_bytes(folder.file("device/flows.csv")) ==
              read_bytes(folder.file("host/flows.csv")));
    }
    const BatchRow done = row_of("seed = 2", on_blocks(executor, true));
    CHECK(done.status == BatchStatus::done);
    CHECK(done.declined.empty());
}

TEST_CASE("unit.batch_devices.a_device_that_was_named_refuses") {
    gpu::BlockExecutor executor({});
    const TestFolder folder;
    for (const Declined& declined : kDeclined) {
        const std::string keys = declined.keys;
        INFO(keys);
        LaneRequest device = on_blocks(executor, false);
        device.directory = folder.file("device");
        const BatchRow row = row_of(keys, device);
        CHECK(row.status == BatchStatus::refused);
        CHECK(row.reason == declined.reason);
    }
}

TEST_CASE("unit.batch_devices.what_is_wrong_is_wrong_on_the_host_too") {
    gpu::BlockExecutor executor({});
    const BatchRow row = row_of("topology.hosts = 0", on_blocks(executor, true));
    CHECK(row.status == BatchStatus::refused);
    CHECK(row.reason.find("hosts") != std::string::npos);
}

TEST_CASE("unit.batch_devices.a_device_out_of_order_fails_its_experiment") {
    for (const bool fall_back : {false, true}) {
        const BatchRow row =
            row_of("seed = 2", failing(std::runtime_error("lane is full"), fall_back));
        CHECK(row.status == BatchStatus::failed);
        CHECK(row.reason == "lane is full");
        const BatchRow memory = row_of("seed = 2", failing(std::bad_alloc(), fall_back));
        CHECK(memory.status == BatchStatus::failed);
        CHECK(memory.reason == "not enough memory on this machine");
        const BatchRow thrown = row_of("seed = 2", failing(3, fall_back));
        CHECK(thrown.status == BatchStatus::failed);
        CHECK(thrown.reason == "of an unknown cause");
    }
}
