// SPDX-License-Identifier: Apache-2.0
/// Experiments of a batch on a device: what it declines the host does where that is allowed, and what goes wrong on it
/// has failed. The device is the block executor, or one that only fails.
#include <doctest/doctest.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "experiment/batch/batch_lane.h"
#include "gpu/lane/device_error.h"
#include "gpu/lane_run.h"
#include "tests/support/lane_support.h"
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

LaneRequest on_blocks(gpu::LaneDevices& devices, bool fall_back) {
    LaneRequest request;
    request.maker = [&](const Experiment& experiment) {
        return std::make_unique<gpu::LaneRun>(experiment, devices, gpu::LaneMemory{});
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
     "network.arithmetic = \"ns3\": a device does not support ns-3's order of events"},
    {"output.series = true", "a device cannot record queues or PFC frames; use --device cpu"},
    {"workload = { type = \"stream\", operations = 40, bytes = \"1KB\" }",
     "a device cannot execute a streamed job; use --device cpu"},
};

}  // namespace

TEST_CASE("unit.batch_devices.what_a_device_declines_the_host_does") {
    gpu::LaneDevices devices = block_device({});
    const TestFolder folder;
    for (const Declined& declined : kDeclined) {
        const std::string keys = declined.keys;
        INFO(keys);
        LaneRequest host;
        host.directory = folder.file("host");
        LaneRequest device = on_blocks(devices, true);
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
    const BatchRow done = row_of("seed = 2", on_blocks(devices, true));
    CHECK(done.status == BatchStatus::done);
    CHECK(done.declined.empty());
}

TEST_CASE("unit.batch_devices.a_device_that_was_named_refuses") {
    gpu::LaneDevices devices = block_device({});
    const TestFolder folder;
    for (const Declined& declined : kDeclined) {
        const std::string keys = declined.keys;
        INFO(keys);
        LaneRequest device = on_blocks(devices, false);
        device.directory = folder.file("device");
        const BatchRow row = row_of(keys, device);
        CHECK(row.status == BatchStatus::refused);
        CHECK(row.reason == declined.reason);
    }
}

TEST_CASE("unit.batch_devices.what_is_wrong_is_wrong_on_the_host_too") {
    gpu::LaneDevices devices = block_device({});
    const BatchRow row = row_of("topology.hosts = 0", on_blocks(devices, true));
    CHECK(row.status == BatchStatus::refused);
    CHECK(row.reason.find("hosts") != std::string::npos);
}

TEST_CASE("unit.batch_devices.a_device_out_of_order_fails_its_experiment") {
    for (const bool fall_back : {false, true}) {
        const BatchRow row = row_of("seed = 2", failing(DeviceError("lane is full"), fall_back));
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

TEST_CASE("unit.batch_devices.the_host_takes_so_many_at_a_time_as_it_has_threads") {
    Turns turns(1);
    std::mutex mutex;
    std::vector<std::size_t> asked;  // by whom, in their order
    const Batch batch = batch_of("workload.size = \"4MB\"");
    std::vector<std::thread> lanes;
    for (std::size_t i = 0; i < 4; ++i) {
        lanes.emplace_back([&, i] {
            LaneRequest request = failing(ConfigError("declined"), true);
            request.host_turns = &turns;
            request.go_on = [&, i](const LanePosition&) {
                const std::lock_guard lock(mutex);
                asked.push_back(i);
                return true;
            };
            bool whole = false;
            run_lane(batch, 0, request, whole);
        });
    }
    for (std::thread& lane : lanes) lane.join();
    std::size_t changes = 0;
    for (std::size_t i = 1; i < asked.size(); ++i) changes += asked[i] != asked[i - 1] ? 1U : 0U;
    CHECK(asked.size() >= 8);  // when its turn comes, and while it runs
    CHECK(changes == 3);
}
