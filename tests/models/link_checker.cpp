// SPDX-License-Identifier: Apache-2.0
/// The checker of foreign models: a right one passes, and what is wrong with a wrong one is said.
#include <doctest/doctest.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "models/foreign/foreign_models.h"
#include "models/foreign/link_checker.h"
#include "tests/models/page_star.h"

namespace sluice::test {
namespace {

/// A FIFO switch that does something else to the packets that `fault` names.
class FaultySwitch : public foreign::FifoSwitch {
  public:
    using Send = std::function<void(std::uint32_t port, const step::Packet&, Tick at)>;
    using Fault = std::function<void(std::uint32_t port, step::Packet, Tick at, const Send&)>;
    FaultySwitch(const Star& star, Network& network, DeviceChecker* checker, Fault fault)
        : FifoSwitch("mine", star.topology, 4, network, false, checker), fault_(std::move(fault)) {}

  protected:
    void send(std::uint32_t port, step::Packet packet, Tick at) override {
        fault_(port, packet, at, [this](std::uint32_t to, const step::Packet& sent, Tick when) {
            FifoSwitch::send(to, sent, when);
        });
    }

  private:
    Fault fault_;
};

/// What the checker says of the switch.
struct Checked {
    explicit Checked(const FaultySwitch::Fault& fault, bool network_refuses = false) {
        PlainStar star;
        NetworkOptions options;
        options.foreign.push_back(4);
        options.stop = 5 * kMillisecond;
        Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                        nullptr, options);
        DeviceChecker checker("checker", star.topology, network, 4);
        FaultySwitch mine(star, network, &checker, fault);
        const LinkHandler note = [this](const LinkViolation& violation) {
            ++rules[violation.rule];
            if (what.empty()) {
                what = violation.what;
            }
        };
        checker.on_violation(note);
        bool refused = false;
        try {
            sc_core::sc_start();
        } catch (const std::exception&) {
            refused = true;
        }
        CHECK(refused == network_refuses);
        lost = checker.ledger().check_lost(note);
        duplicated = checker.ledger().duplicated();
        forwarded = checker.ledger().forwarded();
        made = checker.ledger().made();
        checksum_of_finishes = finishes(network);
    }
    std::map<LinkRule, int> rules;
    std::string what;  ///< of the first violation
    std::uint64_t lost = 0;
    std::uint64_t duplicated = 0;
    std::uint64_t forwarded = 0;
    std::uint64_t made = 0;
    std::vector<Tick> checksum_of_finishes;
};

bool is(const step::Packet& packet, std::uint32_t sequence) {
    return packet.packet_kind() == step::PacketKind::data && packet.flow == 1 &&
           packet.sequence == sequence;
}

TEST_CASE("models.link_checker.a_right_switch_has_no_violation_and_works_as_without") {
    Checked checked([](std::uint32_t port, step::Packet packet, Tick at,
                       const FaultySwitch::Send& send) { send(port, packet, at); });
    CHECK(checked.rules.empty());
    CHECK(checked.forwarded == 2 * 3 * 1000);  // packets and their ACKs
    CHECK(checked.lost == 0);
    CHECK(checked.made == 0);
    CHECK(checked.what == "");
    for (const Tick finish : checked.checksum_of_finishes) {
        CHECK(finish != kNever);
    }
}

TEST_CASE("models.link_checker.a_lost_packet_is_found") {
    bool once = false;
    Checked checked(
        [&](std::uint32_t port, step::Packet packet, Tick at, const FaultySwitch::Send& send) {
            if (is(packet, 17) && !std::exchange(once, true)) {
                return;
            }
            send(port, packet, at);
        });
    CHECK(checked.lost == 1);
    CHECK(checked.rules == std::map<LinkRule, int>{{LinkRule::lost, 1}});
    CHECK(checked.what == "data 17 of flow 1 entered and did not leave");
}

TEST_CASE("models.link_checker.a_duplicate_is_found") {
    Checked checked(
        [&](std::uint32_t port, step::Packet packet, Tick at, const FaultySwitch::Send& send) {
            send(port, packet, at);
            if (is(packet, 500)) {
                send(port, packet, at);
            }
        });
    CHECK(checked.duplicated == 1);
    CHECK(checked.rules[LinkRule::duplicate] == 1);
    CHECK(checked.rules[LinkRule::wire] == 1);  // both at once
    CHECK(checked.lost == 0);
}

TEST_CASE("models.link_checker.changes_are_found") {
    Checked checked(
        [&](std::uint32_t port, step::Packet packet, Tick at, const FaultySwitch::Send& send) {
            packet.bytes = static_cast<std::uint16_t>(packet.bytes - (is(packet, 5) ? 1 : 0));
            packet.hop = is(packet, 6) ? packet.hop - 1U : packet.hop;
            packet.traffic_class = is(packet, 7) ? 2 : packet.traffic_class;
            send(port, packet, at);
        });
    CHECK(checked.rules == std::map<LinkRule, int>{{LinkRule::change, 3}});
    CHECK(checked.what ==
          "port 7: data 5 of flow 1 has other bytes, another class or another echo than it came "
          "with");
}

TEST_CASE("models.link_checker.a_packet_that_is_faster_than_its_cable_is_found") {
    Checked checked(
        [&](std::uint32_t port, step::Packet packet, Tick at, const FaultySwitch::Send& send) {
            send(port, packet, is(packet, 400) ? at - 10'000 : at);
        });
    CHECK(checked.rules == std::map<LinkRule, int>{{LinkRule::wire, 1}});
    CHECK(checked.what ==
          "port 7: data 400 of flow 1 begins to arrive 10000 ps before the last bit "
          "of the one before it");
}

TEST_CASE("models.link_checker.a_packet_without_delay_is_found_before_the_network_refuses_it") {
    throw_reports();
    Checked checked(
        [&](std::uint32_t port, step::Packet packet, Tick at, const FaultySwitch::Send& send) {
            send(port, packet, is(packet, 0) ? sc_now() : at);
        },
        true);
    CHECK(checked.rules[LinkRule::causality] == 1);
    CHECK(checked.what.rfind("port 7: data 0 of flow 1 arrives 0 ps after the call; allowed: ",
                             0) == 0);
}

TEST_CASE("models.link_checker.an_impossible_packet_is_found_before_the_network_refuses_it") {
    throw_reports();
    Checked checked(
        [&](std::uint32_t port, step::Packet packet, Tick at, const FaultySwitch::Send& send) {
            packet.sequence = is(packet, 3) ? 1000 : packet.sequence;
            send(port, packet, at);
        },
        true);
    CHECK(checked.rules[LinkRule::packet] == 1);
    CHECK(checked.what == "port 7: data 1000 of flow 1 is beyond the 1000 packets of its flow");
}

}  // namespace
}  // namespace sluice::test
