// SPDX-License-Identifier: Apache-2.0
/// Two pairs of hosts that send the same at the same time are alike, column by column; what differs is named.
#include "core/fold/likeness.h"

#include <functional>
#include <string>

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

namespace {

/// Hosts 0 and 1, the representative, and 2 and 3, its copy, in the midst of a flow from the first to the second.
class TwoPairs {
  public:
    TwoPairs() : id_(parts_.lead({0})), image_(parts_.pair_up(id_, {0}, {1})) {}

    Likeness likeness() {
        return Likeness(parts_.rig.store, parts_.folds.places(), parts_.folds[id_], *image_,
                        parts_.now);
    }
    World& world() { return parts_.world; }
    PortId port_of(NodeId host) const { return parts_.port_of(host); }
    PortId peer_of(PortId port) const { return parts_.peer_of(port); }

  private:
    FoldParts parts_{two_pairs()};
    std::uint32_t id_;
    std::unique_ptr<Image> image_;
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
