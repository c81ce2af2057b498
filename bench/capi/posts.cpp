// SPDX-License-Identifier: Apache-2.0
/// Transfers a second through libsluice.so, over a 2-hop path: eight hosts of a star write to the next one each, with 16
/// outstanding. As one completes the next is posted, or all are posted beforehand. The same flows, known beforehand, then go
/// through the step functions in a plain loop, and must finish at the same instants. Prints one line of JSON.
///
/// usage: capi_posts answer|before COUNT BYTES
///   COUNT transfers in all, of BYTES each, in packets of 1,000
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "capi/include/sluice.h"
#include "core/clocks/cell_step.h"
#include "core/engine/driver.h"
#include "core/random.h"
#include "scenario/scenario.h"

namespace {

using namespace sluice;

constexpr std::uint32_t kHosts = 8;
constexpr std::uint32_t kDepth = 16;
const char* const kScenario =
    "mode = \"packet\"\n[topology]\ntype = \"star\"\nhosts = 8\n[congestion]\nlaw = \"dcqcn\"\n"
    "[network]\npayload = 1000\n";

double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

/// What became of the transfers, in whatever order.
struct Finished {
    void add(std::uint32_t source, std::int64_t finish) {
        ++count;
        digest += mix_bits(static_cast<std::uint64_t>(finish) * kHosts + source);
    }
    std::uint64_t count = 0;
    std::uint64_t digest = 0;
};

struct Measured {
    double posting = 0;  ///< of user
    double user = 0;
    Finished finished;
};

sluice_transfer transfer_of(std::uint32_t host, std::uint64_t bytes) {
    sluice_transfer transfer{};
    transfer.source = host;
    transfer.destination = (host + 1) % kHosts;
    transfer.bytes = bytes;
    return transfer;
}

/// `flows` gets those that there were, each with the time at which it took effect.
Measured by_library(bool answers, std::uint64_t count, std::uint64_t bytes,
                    std::vector<FlowSpec>& flows) {
    sluice_network* const network = sluice_open_text(kScenario, "posts.toml", nullptr);
    if (network == nullptr) {
        std::fprintf(stderr, "capi_posts: %s\n", sluice_last_error());
        std::exit(1);
    }
    Measured measured;
    const auto post = [&](std::uint32_t host, std::int64_t effect) {
        const sluice_transfer transfer = transfer_of(host, bytes);
        sluice_post(network, &transfer);
        FlowSpec flow;
        flow.src = transfer.source;
        flow.dst = transfer.destination;
        flow.size = static_cast<std::int64_t>(bytes);
        flow.start = effect;
        flow.connection = host;
        flows.push_back(flow);
    };
    const double begin = user_seconds();
    const std::uint64_t first = answers ? std::uint64_t{kHosts} * kDepth : count;
    for (std::uint64_t i = 0; i < first; ++i) {
        post(static_cast<std::uint32_t>(i % kHosts), 0);
    }
    measured.posting = user_seconds() - begin;
    sluice_completion done;
    while (sluice_next_completion(network, SLUICE_FOREVER, &done) == 1) {
        measured.finished.add(done.source, done.finished_ps);
        if (flows.size() < count) {
            post(done.source, done.finished_ps + 1);
        }
    }
    measured.user = user_seconds() - begin;
    sluice_close(network);
    return measured;
}

Measured by_plain_loop(const std::vector<FlowSpec>& flows) {
    const Scenario scenario =
        parse_scenario(std::string(kScenario) + "[workload]\ntype = \"ring\"\n", "posts.toml");
    Routing routing(scenario.topology);
    const std::vector<FlowPath> paths;
    step::WorldStore store(scenario.topology, routing, scenario.network, flows, paths, nullptr);
    step::CellStep step_cell(store.world());
    Measured measured;
    RunHooks hooks;
    hooks.on_finish = [&](const FlowRecord& flow) {
        measured.finished.add(flow.spec.src, flow.result.finish);
    };
    const double begin = user_seconds();
    store.begin();
    engine::Driver driver(store, {}, std::move(hooks));
    driver.advance(kNever, step_cell);
    measured.user = user_seconds() - begin;
    return measured;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string way = argc == 4 ? argv[1] : "";
    if (way != "answer" && way != "before") {
        std::fprintf(stderr, "usage: capi_posts answer|before COUNT BYTES\n");
        return 2;
    }
    const std::uint64_t count = std::strtoull(argv[2], nullptr, 10);
    const std::uint64_t bytes = std::strtoull(argv[3], nullptr, 10);
    std::vector<FlowSpec> flows;
    flows.reserve(count);
    const Measured library = by_library(way == "answer", count, bytes, flows);
    const Measured loop = by_plain_loop(flows);
    const bool same = library.finished.count == count && loop.finished.count == count &&
                      library.finished.digest == loop.finished.digest;
    std::printf(
        "{\"way\": \"%s\", \"bytes\": %llu, \"transfers\": %llu, \"posting_s\": %.4f, \"user_s\": "
        "%.4f, "
        "\"transfers_per_s\": %.0f, \"loop_user_s\": %.4f, \"loop_transfers_per_s\": %.0f, "
        "\"same\": %s}\n",
        way.c_str(), static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(count),
        library.posting, library.user, static_cast<double>(count) / library.user, loop.user,
        static_cast<double>(count) / loop.user, same ? "true" : "false");
    return same ? 0 : 1;
}
