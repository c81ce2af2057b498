// SPDX-License-Identifier: Apache-2.0
/// The names by which a copy has what its representative has.
#include "core/fold/renaming.h"

#include "tests/support/fold_parts.h"

using namespace sluice;
using namespace sluice::step;
using namespace sluice::test;

namespace {

/// Two pairs of hosts in the midst of their flows, the second pair named by the first.
class Named {
  public:
    Named() : id_(parts.lead({0})), image_(parts.pair_up(id_, {0}, {1})) {}

    Renaming names() const {
        return Renaming(parts.rig.store, parts.folds.places(), parts.folds[id_], *image_);
    }
    Egress& to_host(NodeId host) { return parts.world.egress[parts.peer_of(parts.port_of(host))]; }

    FoldParts parts{two_pairs()};

  private:
    std::uint32_t id_;
    std::unique_ptr<Image> image_;
};

}  // namespace

TEST_CASE("unit.renaming.packets_get_the_copys_flow_and_ports") {
    Named named;
    Packet packet;
    packet.flow = 0;
    packet.kind = static_cast<std::uint8_t>(PacketKind::data);
    packet.hop = 1;
    packet.ingress = 0;  // of the switch: from host 0
    const PortId queue = named.parts.peer_of(named.parts.port_of(1));
    CHECK(named.names().packet(packet, queue).flow == 1);
    CHECK(named.names().packet(packet, queue).ingress == 2);
    CHECK(named.names().packet(packet).ingress == 0);  // on a link it has not entered anything yet
}

TEST_CASE("unit.renaming.senders_get_the_copys_flow_and_port") {
    Named named;
    const Sender& own = sender_of(named.parts.world, 0);
    const Sender renamed = named.names().sender(own);
    CHECK(renamed.flow == 1);
    CHECK(renamed.port == named.parts.port_of(2));
    CHECK(renamed.next == own.next);
}

TEST_CASE("unit.renaming.hosts_receive_as_the_copys_flow") {
    Named named;
    CHECK(named.names().receives(1, 0));
    CHECK_FALSE(named.names().receives(0, 0));
    CHECK(named.names().received_as(0) == 1);
    CHECK(named.names().received_by(1) == std::vector<FlowSlot>{1});
    CHECK(named.names().received_by(0).empty());
}

TEST_CASE("unit.renaming.only_the_representatives_ports_are_its_own") {
    Named named;
    CHECK(named.names().has(named.parts.port_of(0)));
    CHECK_FALSE(named.names().has(named.parts.port_of(2)));
}

TEST_CASE("unit.renaming.int_records_go_on_from_the_copys_own_counters") {
    Named named;
    const auto unit = static_cast<std::int64_t>(named.parts.world.int_units.bytes_unit);
    const PortId port = named.parts.peer_of(named.parts.port_of(1));
    CHECK(named.names().whole_units_apart(port));
    named.to_host(3).tx_bytes += 3 * unit;
    CHECK(named.names().whole_units_apart(port));
    const Renaming::IntUnits units = named.names().int_units(0);
    CHECK(units[0] == 0);  // the tag
    CHECK(units[1] == 3);
    CHECK(units[2] == 0);
    CHECK(Renaming::int_record(units, 1, 0) == 0);  // nothing was recorded
    named.to_host(3).tx_bytes += 1;
    CHECK_FALSE(named.names().whole_units_apart(port));
}
