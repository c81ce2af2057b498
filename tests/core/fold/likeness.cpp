// SPDX-License-Identifier: Apache-2.0
/// Two pairs of hosts that send the same at the same time are alike, column by column; what differs is named.
#include "core/fold/likeness.h"

#include <functional>
#include <string>

#include "tests/support/star_support.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

namespace {

constexpr std::uint32_t kFold = 0;

/// Hosts 0 and 1, the representative, and 2 and 3, its copy, in the midst of a flow from the first to the second.
class TwoPairs {
  public:
    TwoPairs() : given_(pairs()), rig_(given_, true) {
        step::Driver driver(rig_.store, {}, {});
        driver.advance(20 * kMicrosecond, rig_);
        places_.unit.resize(given_.topology.port_count());
        places_.host.resize(given_.topology.node_count());
        places_.flow.resize(2);
        for (const NodeId host : {0U, 1U}) {
            add_unit(port_of(host), port_of(host + 2));
            add_unit(peer_of(port_of(host)), peer_of(port_of(host + 2)));
            places_.host[host] = {kFold, FoldPlace::kLeader, host};
            fold_.host.push_back(host);
            image_.host.push_back(host + 2);
        }
        places_.flow[0] = {kFold, FoldPlace::kLeader, 0};
        fold_.flow = {0};
        fold_.source = {{0}, {}};
        image_.flow = {1};
    }

    Likeness likeness() { return Likeness(rig_.store, places_, fold_, image_, 20 * kMicrosecond); }
    World& world() { return rig_.world; }
    PortId port_of(NodeId host) const { return given_.topology.first_port(host); }
    PortId peer_of(PortId port) { return rig_.world.egress[port].peer; }

  private:
    static Case pairs() {
        Case given = lawless_star(4);
        given.config = config_for(congestion::Law::hpcc);
        given.flows = {flow(0, 1, 10'000'000, 0), flow(2, 3, 10'000'000, 0)};
        return given;
    }
    void add_unit(PortId leader, PortId image) {
        places_.unit[leader] = {kFold, FoldPlace::kLeader,
                                static_cast<std::uint32_t>(fold_.unit.size())};
        const Egress& egress = rig_.world.egress[leader];
        fold_.unit.push_back(leader);
        fold_.base.push_back({counters_of(egress), 0, egress.free_at, rig_.store.skipped(leader)});
        image_.unit.push_back(image);
    }

    Case given_;
    Rig rig_;
    FoldPlaces places_;
    Fold fold_;
    Image image_;
};

/// What is said after `change` was made to the copy alone.
Difference difference_after(const std::function<void(TwoPairs&)>& change) {
    TwoPairs pairs;
    change(pairs);
    const Likeness likeness = pairs.likeness();
    CHECK_FALSE(likeness.holds());
    return likeness.difference();
}

void check_names(const Difference& found, const std::string& structure, const std::string& column) {
    REQUIRE(found.structure != nullptr);
    REQUIRE(found.column != nullptr);
    CHECK(std::string(found.structure) == structure);
    CHECK(std::string(found.column) == column);
}

}  // namespace

TEST_CASE("unit.likeness.two_pairs_that_do_the_same_are_alike") {
    TwoPairs pairs;
    REQUIRE(pairs.world().sender_at[0] != kNone);
    CHECK(pairs.likeness().holds());
}

TEST_CASE("unit.likeness.a_difference_is_named_by_struct_index_and_column") {
    const Difference port = difference_after([](TwoPairs& pairs) {
        pairs.world().egress[pairs.peer_of(pairs.port_of(3))].last_class = 5;
    });
    check_names(port, "Egress", "last_class");
    TwoPairs pairs;
    CHECK(port.leader == pairs.peer_of(pairs.port_of(1)));
    CHECK(port.image == pairs.peer_of(pairs.port_of(3)));
    check_names(difference_after([](TwoPairs& of) { sender_of(of.world(), 1).last_gap += 1; }),
                "Sender", "last_gap");
    check_names(difference_after([](TwoPairs& of) { of.world().receiver[1].acked += 1; }),
                "Receiver", "acked");
    check_names(difference_after([](TwoPairs& of) {
                    of.world().ingress[of.peer_of(of.port_of(2))].total_bytes += 1;
                }),
                "Ingress", "total_bytes");
    check_names(difference_after([](TwoPairs& of) {
                    Wire& link = of.world().link[of.port_of(3)];
                    link.front().ce ^= 1U;
                }),
                "Packet", "ce");
}

TEST_CASE("unit.likeness.what_ports_are_must_be_the_same_too") {
    check_names(difference_after([](TwoPairs& of) { of.world().egress[of.port_of(2)].delay += 1; }),
                "Egress", "delay");
    check_names(difference_after([](TwoPairs& of) {
                    of.world().egress[of.peer_of(of.port_of(2))].ecn_pmax += 0.5;
                }),
                "Egress", "ecn_pmax");
}

TEST_CASE("unit.likeness.counters_and_instants_that_are_over_make_no_difference") {
    TwoPairs pairs;
    Egress& copy = pairs.world().egress[pairs.peer_of(pairs.port_of(2))];
    copy.drops_no_room += 3;
    copy.max_queued_bytes += 1000;
    copy.paused_since = 1;
    CHECK(pairs.likeness().holds());
}
