// SPDX-License-Identifier: Apache-2.0
#include "models/foreign/link_checker.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "core/random.h"
#include "core/world/network_check.h"
#include "models/sim_time.h"

namespace sluice {

const char* rule_name(LinkRule rule) {
    switch (rule) {
        case LinkRule::phase: return "phase";
        case LinkRule::answer: return "answer";
        case LinkRule::causality: return "causality";
        case LinkRule::wire: return "wire";
        case LinkRule::packet: return "packet";
        case LinkRule::duplicate: return "duplicate";
        case LinkRule::change: return "change";
        case LinkRule::lost: return "lost";
    }
    throw InternalError("unknown link rule");
}

namespace {

const char* const kKinds[] = {"data", "ACK", "NACK", "pause", "resume"};

std::string name_of(const step::Packet& packet, FlowId flow) {
    const std::uint32_t kind = packet.kind;
    return (kind < 5 ? kKinds[kind] : "packet of kind " + std::to_string(kind)) + std::string(" ") +
           std::to_string(packet.sequence) + " of flow " + std::to_string(flow);
}

}  // namespace

std::size_t DeviceLedger::Hash::operator()(const Key& key) const {
    std::uint64_t hash = mix_bits(std::get<0>(key));
    hash = mix_bits(hash ^ (std::uint64_t{std::get<1>(key)} << 32 | std::get<2>(key)));
    hash = mix_bits(hash ^ static_cast<std::uint64_t>(std::get<3>(key)));
    return mix_bits(hash ^ std::get<4>(key));
}

DeviceLedger::Key DeviceLedger::key_of(const step::Packet& packet, FlowId flow) {
    return {flow, packet.kind, packet.sequence, packet.stamp, packet.transmission};
}

void DeviceLedger::entered(const step::Packet& packet, FlowId flow) {
    inside_[key_of(packet, flow)].push_back(packet);
    ++inside_count_;
}

std::pair<LinkRule, std::string> DeviceLedger::left(const step::Packet& packet, FlowId flow) {
    const Key key = key_of(packet, flow);
    const auto found = inside_.find(key);
    if (found == inside_.end()) {
        if (gone_.count(key) > 0) {
            ++duplicated_;
            return {LinkRule::duplicate, "leaves once more than it entered"};
        }
        ++made_;
        return {};
    }
    const step::Packet before = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) {
        inside_.erase(found);
    }
    --inside_count_;
    ++forwarded_;
    ++gone_[key];
    gone_order_.push_back(key);
    if (gone_order_.size() > remembered_) {
        const auto oldest = gone_.find(gone_order_.front());
        if (--oldest->second == 0) {
            gone_.erase(oldest);
        }
        gone_order_.pop_front();
    }
    if (packet.bytes != before.bytes || packet.traffic_class != before.traffic_class ||
        packet.echo != before.echo) {
        return {LinkRule::change,
                "has other bytes, another class or another echo than it came with"};
    }
    if (packet.ce < before.ce) {
        return {LinkRule::change, "has lost its mark"};
    }
    if (packet.hop != std::min(before.hop + 1, 15)) {
        return {LinkRule::change, "leaves with hop " + std::to_string(packet.hop) +
                                      ", and came with " + std::to_string(before.hop) +
                                      "; allowed: one more"};
    }
    return {};
}

std::uint64_t DeviceLedger::check_lost(const LinkHandler& handler) const {
    for (const auto& [key, packets] : inside_) {
        for (const step::Packet& packet : packets) {
            handler({LinkRule::lost, to_ticks(sc_core::sc_time_stamp()),
                     name_of(packet, std::get<FlowId>(key)) + " entered and did not leave"});
        }
    }
    return inside_count_;
}

LinkChecker::LinkChecker(const sc_core::sc_module_name& name, const Topology& topology,
                         Network& network, PortId port, Crossing crossing, DeviceLedger* ledger)
    : sc_module(name),
      in("in"),
      out("out"),
      network_(network),
      port_(port),
      crossing_(ledger == nullptr ? Crossing::none : crossing),
      ledger_(ledger) {
    if (port >= topology.port_count()) {
        throw ConfigError("port " + std::to_string(port) + " is to be checked; allowed: 0 to " +
                          std::to_string(topology.port_count() - 1));
    }
    rate_ = topology.rate(port);
    foreign_ = network.node(topology.node_of(port)) == nullptr;
    in.bind(*this);
    out.bind(*this);
    handler_ = [this](const LinkViolation& violation) {
        const std::string text =
            std::string(this->name()) + ": " + rule_name(violation.rule) + ": " + violation.what;
        SC_REPORT_ERROR("sluice/link-checker", text.c_str());
    };
}

void LinkChecker::report(LinkRule rule, const step::Packet& packet, const std::string& what) {
    ++violations_;
    const step::WorldStore& store = network_.store();
    const FlowId flow = packet.flow < store.slot_count() ? store.world().id[packet.flow] : kNoFlow;
    handler_({rule, to_ticks(sc_core::sc_time_stamp()),
              "port " + std::to_string(port_) + ": " + name_of(packet, flow) + " " + what});
}

void LinkChecker::check_time(const step::Packet& packet, const sc_core::sc_time& delay) {
    const Tick now = to_ticks(sc_core::sc_time_stamp());
    const Tick arrival = to_ticks(sc_core::sc_time_stamp() + delay);
    const Tick lookahead = network_.store().world().lookahead;
    if (foreign_ && arrival < now + lookahead) {
        report(LinkRule::causality, packet,
               "arrives " + std::to_string(arrival - now) + " ps after the call; allowed: " +
                   std::to_string(lookahead) + " ps or more, the lookahead");
    }
    const Tick begin = arrival - serialization_time(packet.bytes, rate_, Arithmetic::exact);
    if (last_arrival_ >= 0 && begin < last_arrival_) {
        report(LinkRule::wire, packet,
               "begins to arrive " + std::to_string(last_arrival_ - begin) +
                   " ps before the last bit of the one before it");
    }
    last_arrival_ = std::max(last_arrival_, arrival);
}

void LinkChecker::check_packet(const step::Packet& packet) {
    const step::WorldStore& store = network_.store();
    const std::int64_t most = step::largest_packet(store.config());
    if (packet.packet_kind() > step::PacketKind::resume) {
        return report(LinkRule::packet, packet, "is none of the five kinds");
    }
    if (packet.bytes < 1 || packet.bytes > most) {
        report(LinkRule::packet, packet,
               "has " + std::to_string(packet.bytes) + " bytes; allowed: 1 to " +
                   std::to_string(most));
    }
    if (packet.packet_kind() >= step::PacketKind::pause) {
        if (packet.sequence >= step::kClasses) {
            report(LinkRule::packet, packet, "is for no class; allowed: 0 to 7");
        }
        return;
    }
    if (packet.hop == 0) {
        report(LinkRule::packet, packet,
               "has hop 0; allowed: the transmissions so far, this one counted");
    }
    if (packet.flow >= store.slot_count()) {
        return report(LinkRule::packet, packet, "has a slot that the network does not have");
    }
    const bool data = packet.packet_kind() == step::PacketKind::data;
    const std::uint32_t packets = store.world().receiver[packet.flow].packets;
    if (store.world().id[packet.flow] != kNoFlow && packet.sequence >= packets + (data ? 0U : 1U)) {
        report(LinkRule::packet, packet,
               "is beyond the " + std::to_string(packets) + " packets of its flow");
    }
}

void LinkChecker::cross(const step::Packet& packet) {
    const step::WorldStore& store = network_.store();
    if (crossing_ == Crossing::none || packet.packet_kind() >= step::PacketKind::pause ||
        packet.flow >= store.slot_count()) {
        return;
    }
    const FlowId flow = store.world().id[packet.flow];
    if (crossing_ == Crossing::enters) {
        ledger_->entered(packet, flow);
        return;
    }
    const auto [rule, what] = ledger_->left(packet, flow);
    if (!what.empty()) {
        report(rule, packet, what);
    }
}

tlm::tlm_sync_enum LinkChecker::nb_transport_fw(step::Packet& packet, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
    ++packets_;
    if (phase != tlm::BEGIN_REQ) {
        report(LinkRule::phase, packet,
               std::string("comes with phase ") + phase.get_name() + "; allowed: BEGIN_REQ");
    }
    check_time(packet, delay);
    check_packet(packet);
    cross(packet);
    const step::Packet sent = packet;
    const tlm::tlm_sync_enum answer = out->nb_transport_fw(packet, phase, delay);
    if (answer != tlm::TLM_COMPLETED) {
        report(LinkRule::answer, sent, "is not answered by TLM_COMPLETED");
    }
    if (std::memcmp(&sent, &packet, sizeof sent) != 0) {
        report(LinkRule::answer, sent, "is the sender's, and the receiver has changed it");
    }
    return answer;
}

void LinkChecker::b_transport(step::Packet& packet, sc_core::sc_time& delay) {
    report(LinkRule::phase, packet, "comes by b_transport(); allowed: nb_transport_fw()");
    out->b_transport(packet, delay);
}

tlm::tlm_sync_enum LinkChecker::nb_transport_bw(step::Packet& packet, tlm::tlm_phase& phase,
                                                sc_core::sc_time& delay) {
    report(LinkRule::phase, packet, "comes backwards; allowed: nothing does");
    return in->nb_transport_bw(packet, phase, delay);
}

void LinkChecker::invalidate_direct_mem_ptr(sc_dt::uint64 begin, sc_dt::uint64 end) {
    in->invalidate_direct_mem_ptr(begin, end);
}

DeviceChecker::DeviceChecker(const sc_core::sc_module_name& name, const Topology& topology,
                             Network& network, NodeId node)
    : sc_module(name) {
    for (std::uint32_t i = 0; i < topology.port_count(node); ++i) {
        const PortId mine = topology.first_port(node) + i;
        const std::string number = std::to_string(i);
        LinkEnd& neighbor = network.port(topology.peer_of(mine));
        entering_.emplace_back(("in" + number).c_str(), topology, network, topology.peer_of(mine),
                               Crossing::enters, &ledger_);
        leaving_.emplace_back(("out" + number).c_str(), topology, network, mine, Crossing::leaves,
                              &ledger_);
        neighbor.out.bind(entering_.back().in);
        leaving_.back().out.bind(neighbor.in);
    }
}

void DeviceChecker::on_violation(const LinkHandler& handler) {
    for (std::deque<LinkChecker>* side : {&entering_, &leaving_}) {
        for (LinkChecker& checker : *side) {
            checker.on_violation(handler);
        }
    }
}

std::uint64_t DeviceChecker::violations() const {
    std::uint64_t sum = 0;
    for (const std::deque<LinkChecker>* side : {&entering_, &leaving_}) {
        for (const LinkChecker& checker : *side) {
            sum += checker.violations();
        }
    }
    return sum;
}

}  // namespace sluice
