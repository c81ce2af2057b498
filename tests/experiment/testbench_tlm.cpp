// SPDX-License-Identifier: Apache-2.0
/// TLM-2.0 transactions beside a job that skips: they end the skips that they meet, at the instant at which a post by a
/// host port would, whatever delay they are annotated with; and what is written is there.
#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/random.h"
#include "experiment/build_experiment.h"
#include "experiment/testbench/experiment_network.h"
#include "models/host_port/host_port.h"
#include "models/sim_time.h"
#include "models/tlm/tlm_fabric.h"
#include "models/tlm/tlm_memory.h"
#include "scenario/scenario.h"

namespace sluice::test {
namespace {

constexpr std::uint32_t kHosts = 16;
constexpr NodeId kInitiator = 5;
constexpr int kAccesses = 60;
constexpr std::uint64_t kWindow = 1U << 20;
constexpr std::uint64_t kLongest = 40'000;  ///< bytes of an access

/// Two leaves; each host sends 30 MB to the host under the other leaf, so that nothing happens for milliseconds.
BuiltExperiment long_flows(Mode mode) {
    std::string text =
        "[topology]\ntype = \"leaf-spine\"\nleaves = 2\nspines = 8\nhosts_per_leaf = 8\n"
        "[congestion]\nlaw = \"dcqcn\"\n[phases]\naudit = 0\nwake = \"data\"\n"
        "[workload]\ntype = \"flows\"\nlist = [\n";
    for (std::uint32_t host = 0; host < kHosts; ++host) {
        text += "[" + std::to_string(host) + ", " + std::to_string((host + 8) % kHosts) +
                ", \"30MB\"],\n";
    }
    Scenario scenario = parse_scenario(
        std::string("mode = \"") + mode_name(mode) + "\"\n" + text + "]\n", "test.toml");
    return build_experiment(scenario);
}

struct Access {
    bool read = false;
    NodeId peer = 0;
    std::uint64_t offset = 0;
    std::vector<unsigned char> data;
    Tick delay = 0;  ///< ahead of SystemC's time
};

/// Makes the same accesses at the same times, one after the other, however `execute` does them.
class Accelerator : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Accelerator);
    Accelerator(const sc_core::sc_module_name& name, std::function<void(Access&)> execute)
        : sc_module(name),
          execute_(std::move(execute)),
          shadow_(kHosts, std::vector<unsigned char>(kWindow)) {
        SC_THREAD(run);
    }
    std::vector<Tick> done;
    int wrong = 0;  ///< reads that did not return what was written

  private:
    void run() {
        std::uint64_t state = 1;
        const auto draw = [&](std::uint64_t below) {
            return (state = mix_bits(state + 1)) % below;
        };
        for (int i = 0; i < kAccesses; ++i) {
            wait(to_sc_time(1 + static_cast<Tick>(draw(60'000'000))));
            Access access;
            access.read = draw(3) == 0;
            access.peer = (kInitiator + 1 + static_cast<NodeId>(draw(kHosts - 1))) % kHosts;
            access.offset = draw(4) * kLongest;
            access.data.resize(1 + draw(kLongest));
            access.delay = static_cast<Tick>(draw(5'000'000));
            unsigned char* const kept = shadow_[access.peer].data() + access.offset;
            if (!access.read) {
                for (unsigned char& byte : access.data) {
                    byte = static_cast<unsigned char>(draw(256));
                }
                std::copy(access.data.begin(), access.data.end(), kept);
            }
            execute_(access);
            wrong += std::equal(access.data.begin(), access.data.end(), kept) ? 0 : 1;
            done.push_back(to_ticks(sc_core::sc_time_stamp()));
        }
    }
    std::function<void(Access&)> execute_;
    std::vector<std::vector<unsigned char>> shadow_;  ///< by host
};

/// A network with a fabric over all of its hosts, and an accelerator that calls b_transport().
struct ByTlm : sc_core::sc_module, tlm::tlm_bw_transport_if<> {
    ByTlm(const sc_core::sc_module_name& name, const Experiment& experiment, Mode mode)
        : sc_module(name),
          network("network", experiment, mode),
          fabric("fabric", network.network(), map(), exact(network.network())),
          socket("socket"),
          accelerator("accelerator", [this](Access& access) { transport(access); }) {
        for (NodeId host = 0; host < kHosts; ++host) {
            memories.emplace_back(("memory" + std::to_string(host)).c_str());
            fabric.memory(host).bind(memories.back().socket);
        }
        socket.bind(*this);
        socket.bind(fabric.target(kInitiator));
    }
    static HostPortOptions exact(Network& network) {
        HostPortOptions options;
        options.doorbell_latency = network.store().world().lookahead;
        return options;
    }
    static AddressMap map() {
        AddressMap map;
        for (NodeId host = 0; host < kHosts; ++host) {
            map.add(host, host * kWindow, kWindow);
        }
        return map;
    }
    void transport(Access& access) {
        tlm::tlm_generic_payload payload;
        payload.set_command(access.read ? tlm::TLM_READ_COMMAND : tlm::TLM_WRITE_COMMAND);
        payload.set_address(access.peer * kWindow + access.offset);
        payload.set_data_ptr(access.data.data());
        payload.set_data_length(static_cast<unsigned int>(access.data.size()));
        payload.set_streaming_width(static_cast<unsigned int>(access.data.size()));
        sc_core::sc_time delay = to_sc_time(access.delay);
        socket->b_transport(payload, delay);
        CHECK(payload.is_response_ok());
        CHECK(delay == sc_core::SC_ZERO_TIME);
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload&, tlm::tlm_phase&,
                                       sc_core::sc_time&) override {
        return tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

    ExperimentNetwork network;
    TlmFabric fabric;
    tlm::tlm_initiator_socket<32> socket;
    std::deque<TlmMemory> memories;
    Accelerator accelerator;
};

}  // namespace

TEST_CASE("experiment.testbench_tlm.transactions_end_skips_as_posts_do") {
    const BuiltExperiment packets = long_flows(Mode::packet);
    const BuiltExperiment hybrid = long_flows(Mode::hybrid);
    ByTlm in_packets("in_packets", packets.experiment, Mode::packet);
    ByTlm skipping("skipping", hybrid.experiment, Mode::hybrid);
    ExperimentNetwork posted("posted", hybrid.experiment, Mode::hybrid);
    HostPort port("port", posted.network(), kInitiator, ByTlm::exact(posted.network()));
    Accelerator poster("poster", [&](Access& access) {
        sc_core::wait(to_sc_time(access.delay));
        Post post;
        post.operation = access.read ? Operation::read : Operation::write;
        post.peer = access.peer;
        post.bytes = static_cast<std::int64_t>(access.data.size());
        port.post_and_wait(post);
    });
    sc_core::sc_start();
    skipping.network.finish();
    posted.finish();
    CHECK(in_packets.accelerator.done.size() == kAccesses);
    CHECK(in_packets.accelerator.wrong == 0);
    CHECK(skipping.accelerator.wrong == 0);
    // To the picosecond, across the skips that they end.
    CHECK(skipping.accelerator.done == poster.done);
    const RunCounters counters = skipping.network.counters();
    CHECK(counters.phases.skips > 10);
    CHECK(counters.phases.skip_backs > 10);
    CHECK(counters.packet_hops < in_packets.network.counters().packet_hops / 2);
}

}  // namespace sluice::test
