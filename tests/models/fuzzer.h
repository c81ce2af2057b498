// SPDX-License-Identifier: Apache-2.0
/// A foreign model that does whatever it likes: it forwards some packets rightly, and sends others with any field, at any time,
/// by any port, opens and closes flows of its own and of others, and calls what it should not.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "models/foreign/foreign_models.h"
#include "models/network.h"
#include "models/sim_time.h"

namespace sluice::test {

class Fuzzer : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Fuzzer);
    /// In place of `self`. Sends `packets` packets, one every `every`.
    Fuzzer(const sc_core::sc_module_name& name, Network& network, NodeId self,
           std::uint64_t packets, Tick every, std::uint64_t seed)
        : sc_module(name),
          network_(network),
          topology_(network.store().topology()),
          self_(self),
          left_(packets),
          every_(every),
          state_(seed) {
        for (std::uint32_t i = 0; i < topology_.port_count(self); ++i) {
            const PortId mine = topology_.first_port(self) + i;
            ports_.emplace_back(*this, i, network.port(topology_.peer_of(mine)));
            free_at_.push_back(0);
        }
        SC_METHOD(act);
    }

    void accept(std::uint32_t, const step::Packet& packet, const sc_core::sc_time& delay) {
        ++heard;
        if (below(8) == 0) {
            seen_[below(seen_.size())] = packet;
        }
        if (!network_.store().topology().is_host(self_) && below(16) != 0) {
            attempt([&] { forward(packet, to_ticks(sc_core::sc_time_stamp() + delay)); });
        }
    }

    std::uint64_t heard = 0;
    std::uint64_t taken = 0;    ///< calls without an error
    std::uint64_t refused = 0;  ///< calls that were reported

  private:
    std::uint64_t below(std::uint64_t limit) { return (state_ = mix_bits(state_ + 1)) % limit; }
    bool one_in(std::uint64_t many) { return below(many) == 0; }

    /// Every error is one that can be caught.
    template <class Call>
    void attempt(Call&& call) {
        try {
            call();
            ++taken;
        } catch (const sc_core::sc_report&) {
            ++refused;
        } catch (const ConfigError&) {
            ++refused;
        } catch (const InternalError&) {
            ++refused;
        }
    }

    /// As a FifoSwitch does, where the network's tables lead, if the packet can be believed.
    void forward(step::Packet packet, Tick now) {
        const FlowSpec& spec = network_.store().world().spec[packet.flow];
        const NodeId end = packet.packet_kind() == step::PacketKind::data ? spec.dst : spec.src;
        const PortId first = topology_.first_port(self_);
        std::uint32_t out = static_cast<std::uint32_t>(below(ports_.size()));
        for (std::uint32_t i = 0; i < ports_.size(); ++i) {
            out = topology_.neighbor(first + i) == end ? i : out;
        }
        free_at_[out] =
            std::max(free_at_[out], now + network_.store().world().lookahead) +
            serialization_time(packet.bytes, topology_.rate(first + out), Arithmetic::exact);
        packet.hop = packet.hop + 1;
        ports_[out].send(packet, free_at_[out] + topology_.delay(first + out));
    }

    std::uint64_t anything() {
        constexpr std::uint64_t kEdges[] = {0,
                                            1,
                                            2,
                                            7,
                                            15,
                                            64,
                                            0x7fff,
                                            0xffff,
                                            0x7fffffff,
                                            0xffffffff,
                                            std::uint64_t{1} << 42,
                                            std::uint64_t{1} << 50,
                                            std::numeric_limits<std::int64_t>::max(),
                                            std::uint64_t{1} << 63,
                                            std::numeric_limits<std::uint64_t>::max()};
        return one_in(2) ? kEdges[below(std::size(kEdges))] : one_in(2) ? below(200) : below(~0ULL);
    }

    void change(step::Packet& packet) {
        const std::uint64_t value = anything();
        switch (below(11)) {
            case 0: packet.stamp = static_cast<Tick>(value); break;
            case 1: packet.flow = static_cast<FlowSlot>(one_in(2) ? below(8) : value); break;
            case 2: packet.sequence = static_cast<std::uint32_t>(value); break;
            case 3: packet.bytes = static_cast<std::uint16_t>(value); break;
            case 4: packet.transmission = static_cast<std::uint16_t>(value); break;
            case 5: packet.ingress = static_cast<std::uint16_t>(value); break;
            case 6: packet.kind = value & 7U; break;
            case 7: packet.traffic_class = value & 7U; break;
            case 8: packet.hop = value & 15U; break;
            case 9: packet.int_hops = value & 15U; break;
            default: packet.ce = value & 1U; packet.echo = value >> 1 & 1U;
        }
    }

    sc_core::sc_time some_delay(std::uint32_t port) {
        const Tick lookahead = network_.store().world().lookahead;
        switch (below(16)) {
            case 0: return sc_core::SC_ZERO_TIME;
            case 1: return sc_core::sc_max_time();
            case 2:
                return to_sc_time(static_cast<Tick>(below(static_cast<std::uint64_t>(lookahead))));
            case 3:
                // Behind what is far in the future nothing else may arrive by the port.
                if (left_ < 1000) {
                    return to_sc_time(static_cast<Tick>(anything() >> 2));
                }
                [[fallthrough]];
            default: {
                const Tick now = to_ticks(sc_core::sc_time_stamp());
                free_at_[port] = std::max(free_at_[port], now + 2 * lookahead) +
                                 static_cast<Tick>(below(200'000));
                return to_sc_time(free_at_[port] - now);
            }
        }
    }

    void send_something() {
        step::Packet packet = seen_[below(seen_.size())];
        for (std::uint64_t changes = below(4); changes > 0; --changes) {
            change(packet);
        }
        const auto port = static_cast<std::uint32_t>(below(ports_.size()));
        sc_core::sc_time delay = some_delay(port);
        PacketInitiatorSocket& out = ports_[port].out;
        tlm::tlm_phase phase = one_in(50) ? tlm::END_REQ : tlm::BEGIN_REQ;
        if (one_in(50)) {
            out->transport_dbg(packet);
        } else if (one_in(50)) {
            out->b_transport(packet, delay);
        } else {
            out->nb_transport_fw(packet, phase, delay);
        }
    }

    void open_or_close() {
        if (one_in(2)) {
            network_.close_foreign_flow(static_cast<FlowSlot>(one_in(2) ? below(16) : anything()),
                                        static_cast<std::int64_t>(anything()));
            return;
        }
        FlowSpec spec;
        spec.src = one_in(2) ? self_ : static_cast<NodeId>(below(topology_.node_count() + 1));
        spec.dst = one_in(4) ? static_cast<NodeId>(anything())
                             : static_cast<NodeId>(below(topology_.node_count()));
        spec.size = one_in(4) ? static_cast<std::int64_t>(anything())
                              : static_cast<std::int64_t>(1 + below(20'000));
        spec.priority = static_cast<std::uint8_t>(one_in(4) ? anything() : 1 + below(7));
        seen_[below(seen_.size())].flow = network_.open_foreign_flow(spec);
    }

    void act() {
        if (left_ == 0) {
            return;
        }
        --left_;
        attempt([&] { one_in(20) ? open_or_close() : send_something(); });
        next_trigger(
            to_sc_time(1 + static_cast<Tick>(below(2 * static_cast<std::uint64_t>(every_)))));
    }

    Network& network_;
    const Topology& topology_;
    NodeId self_;
    std::uint64_t left_;
    Tick every_;
    std::uint64_t state_;
    std::deque<foreign::ForeignPort<Fuzzer>> ports_;
    std::vector<Tick> free_at_;  ///< by port
    std::vector<step::Packet> seen_ = std::vector<step::Packet>(16);
};

}  // namespace sluice::test
