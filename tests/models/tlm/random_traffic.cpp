// SPDX-License-Identifier: Apache-2.0
/// Random initiators, LT and AT, on random networks with loss, PFC and failures of links: no violation of the base protocol,
/// every byte where it belongs, in the order of each queue pair.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "tests/models/tlm/traffic.h"

namespace sluice::test {
namespace {

/// A few thousand transactions are checked in a test; a million by hand: SLUICE_TRANSACTIONS=1000000.
std::size_t transactions() {
    const char* const given = std::getenv("SLUICE_TRANSACTIONS");
    return given == nullptr ? 4000 : std::stoul(given);
}

/// Links that fail come back.
Case restored_case(std::uint64_t seed) {
    Dice dice(seed);
    Case made;
    RandomOptions options;
    const Topology shape = build_leaf_spine({2 + dice.below(2), 2, 2 + dice.below(2), 1, {}, {}});
    made.topology = random_links(dice, shape, options, true);
    made.config = random_config(dice, made.topology, options);
    // So that everything arrives at last.
    made.config.buffer.admission = Admission::dynamic_threshold;
    made.config.buffer.size =
        made.config.pfc ? Bytes{6'000 + pfc_share(made.topology, made.config)} : Bytes{60'000};
    made.config.nic.back_to_zero = false;
    for (int failures = static_cast<int>(dice.below(4)); failures > 0; --failures) {
        const std::uint32_t link =
            dice.below(static_cast<std::uint32_t>(made.topology.links().size()));
        const Tick at = (5 + dice.below(1000)) * kMicrosecond;
        made.events.push_back({at, link, false});
        made.events.push_back({at + (10 + dice.below(300)) * kMicrosecond, link, true});
    }
    return made;
}

template <class Kind>
class RandomTraffic : public sc_core::sc_module {
  public:
    RandomTraffic(const sc_core::sc_module_name& name, std::uint64_t seed, std::size_t count,
                  Tally& given)
        : sc_module(name),
          tally(given),
          case_(restored_case(seed)),
          routing_(case_.topology),
          network_("network", case_.topology, routing_, case_.config, none_, paths_, nullptr,
                   options()),
          fabric_("fabric", network_, traffic_windows(case_.topology), port_options(seed)) {
        const std::vector<NodeId>& hosts = case_.topology.hosts();
        for (const NodeId host : hosts) {
            std::vector<NodeId> peers;
            for (const NodeId peer : hosts) {
                if (peer != host) {
                    peers.push_back(peer);
                }
            }
            TlmMemoryOptions memory;
            memory.dmi = host % 2 == 0;
            memory.latency = to_sc_time(host % 3 == 1 ? 50'000 : 0);
            const std::string number = std::to_string(host);
            memories_.push_back(std::make_unique<TlmMemory>(("memory" + number).c_str(), memory));
            fabric_.memory(host).bind(memories_.back()->socket);
            checkers_.push_back(
                std::make_unique<BaseProtocolChecker>(("checker" + number).c_str()));
            checkers_.back()->on_violation([this](const BaseProtocolViolation& one) {
                if (tally.violations++ == 0) {
                    tally.first = std::string(rule_name(one.rule)) + ": " + one.what;
                }
            });
            checkers_.back()->initiator.bind(fabric_.target(host));
            initiators_.push_back(std::make_unique<Kind>(("initiator" + number).c_str(), host,
                                                         std::move(peers), seed * 100 + host,
                                                         count / hosts.size(), given));
            initiators_.back()->socket.bind(checkers_.back()->target);
        }
    }

    /// After all is over: the memories are as the shadows.
    void compare() {
        for (std::size_t i = 0; i < initiators_.size(); ++i) {
            checkers_[i]->check_lost();
            Kind& initiator = *initiators_[i];
            for (const NodeId peer : initiator.shadow.peers()) {
                for (std::uint32_t pair = 0; pair < kPairs; ++pair) {
                    std::vector<unsigned char> bytes(kRegion);
                    tlm::tlm_generic_payload payload;
                    set_up(payload, tlm::TLM_READ_COMMAND, initiator.shadow.region(peer, pair),
                           bytes.data(), kRegion);
                    CHECK(initiator.socket->transport_dbg(payload) == kRegion);
                    CHECK((bytes == initiator.shadow.held(peer, pair)));
                }
            }
            if constexpr (std::is_same_v<Kind, ApproximateInitiator>) {
                CHECK(initiator.held() == 0);
            }
            CHECK(initiator.left == 0);
        }
    }
    RunCounters counters() const { return network_.counters(); }
    Tally& tally;

  private:
    NetworkOptions options() const {
        NetworkOptions made;
        made.link_events = case_.events;
        return made;
    }
    static HostPortOptions port_options(std::uint64_t seed) {
        HostPortOptions made;
        made.depth = seed % 3 == 0 ? 3 : 64;
        made.pcie_bandwidth = seed % 4 == 0 ? 20e9 : 0;
        made.completion_latency = seed % 5 == 0 ? 700 : 0;
        return made;
    }

    Case case_;
    Routing routing_;
    std::vector<FlowSpec> none_;
    std::vector<FlowPath> paths_;
    Network network_;
    TlmFabric fabric_;
    std::vector<std::unique_ptr<TlmMemory>> memories_;
    std::vector<std::unique_ptr<BaseProtocolChecker>> checkers_;
    std::vector<std::unique_ptr<Kind>> initiators_;
};

/// `count` transactions on networks of so many seeds.
template <class Kind>
MechanismTally run_random_traffic(const sc_core::sc_time& quantum,
                                  const std::vector<std::uint64_t>& seeds, std::size_t count) {
    tlm::tlm_global_quantum::instance().set(quantum);
    Tally tally;
    std::vector<std::unique_ptr<RandomTraffic<Kind>>> networks;
    for (const std::uint64_t seed : seeds) {
        networks.push_back(std::make_unique<RandomTraffic<Kind>>(
            ("network" + std::to_string(seed)).c_str(), seed, count / seeds.size(), tally));
    }
    sc_core::sc_start(sc_core::sc_time(static_cast<double>(count), sc_core::SC_MS));
    MechanismTally mechanisms;
    for (const auto& one : networks) {
        one->compare();
        mechanisms.add(one->counters());
    }
    INFO(tally.first);
    CHECK(tally.violations == 0);
    CHECK(tally.wrong_responses == 0);
    CHECK(tally.wrong_reads == 0);
    CHECK(tally.refused > count / 100);
    CHECK(tally.completed > count * 9 / 10);
    MESSAGE(tally.completed << " transactions, " << tally.refused << " refused");
    return mechanisms;
}

template <class Kind>
void run_random_traffic(const sc_core::sc_time& quantum) {
    std::vector<std::uint64_t> seeds(std::clamp<std::size_t>(transactions() / 500, 1, 100));
    std::iota(seeds.begin(), seeds.end(), 4200);
    run_random_traffic<Kind>(quantum, seeds, transactions()).check();
}

}  // namespace

TEST_CASE("models.tlm.random_traffic.loosely_timed") {
    run_random_traffic<LooseInitiator>(sc_core::SC_ZERO_TIME);
}

TEST_CASE("models.tlm.random_traffic.loosely_timed_with_a_quantum") {
    run_random_traffic<LooseInitiator>(sc_core::sc_time(10, sc_core::SC_US));
}

TEST_CASE("models.tlm.random_traffic.approximately_timed") {
    run_random_traffic<ApproximateInitiator>(sc_core::SC_ZERO_TIME);
}

TEST_CASE("models.tlm.random_traffic.approximately_timed_with_a_quantum") {
    run_random_traffic<ApproximateInitiator>(sc_core::sc_time(10, sc_core::SC_US));
}

TEST_CASE("models.tlm.random_traffic.messages_that_go_back_wait_for_those_before_them") {
    // A message that has gone back, while the window was closed, and has no timer of its own.
    run_random_traffic<ApproximateInitiator>(sc_core::SC_ZERO_TIME, {5033, 5143, 5153, 5194, 5212},
                                             20'000);
}

}  // namespace sluice::test
