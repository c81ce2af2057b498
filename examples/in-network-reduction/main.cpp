// SPDX-License-Identifier: Apache-2.0
/// Data-parallel training on eight hosts around a switch: all-reduces by a ring, and by a switch that adds up the
/// gradients that pass it. The switch is a model of one's own behind TLM-2.0 sockets.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <systemc>
#include <utility>
#include <vector>

#include "core/topology/builders.h"
#include "models/foreign/foreign_models.h"
#include "models/network.h"
#include "models/sim_time.h"

using sluice::FlowSlot, sluice::NodeId, sluice::Tick, sluice::step::Packet,
    sluice::step::PacketKind;

constexpr NodeId kHosts = 8;
constexpr NodeId kSum = 8;  // the address to which hosts send what is to be added up
constexpr NodeId kSwitch = 9;
constexpr std::int64_t kGradients = 4'000'000;         // bytes
constexpr Tick kCompute = 200 * sluice::kMicrosecond;  // of host 0; each next one needs 1 us more
constexpr int kIterations = 5;

/// Each host computes, takes part in an all-reduce, and computes again.
class Training : public sluice::Application {
  public:
    explicit Training(bool ring) : ring_(ring) {}
    void on_begin(NodeId host, sluice::HostServices& services) override {
        if (host < kHosts) {
            services.set_timer(host, compute(host), 0);
        }
    }
    void on_timer(NodeId host, std::uint64_t, Tick now, sluice::HostServices& services) override {
        ranks_[host].computing = false;
        go_on(host, now, services);
    }
    void on_received(NodeId host, sluice::FlowId, Tick now,
                     sluice::HostServices& services) override {
        ++ranks_[host].received;
        go_on(host, now, services);
    }
    void on_sent(NodeId, sluice::FlowId, Tick, sluice::HostServices&) override {}

    Tick end = 0;  // of the last iteration
    int finished = 0;

  private:
    struct Rank {
        bool computing = true;
        int sent = 0;  // messages of this iteration
        int received = 0;
        int iterations = 0;
    };

    static Tick compute(NodeId host) { return kCompute + host * sluice::kMicrosecond; }

    void go_on(NodeId host, Tick now, sluice::HostServices& services) {
        Rank& rank = ranks_[host];
        const int steps = ring_ ? 2 * (static_cast<int>(kHosts) - 1) : 1;
        while (!rank.computing && rank.sent < steps && rank.sent <= rank.received) {
            sluice::FlowSpec flow;
            flow.src = host;
            flow.dst = ring_ ? (host + 1) % kHosts : kSum;
            flow.size = ring_ ? kGradients / kHosts : kGradients;
            services.open_flow(flow, now);
            ++rank.sent;
        }
        if (rank.sent == steps && rank.received >= steps) {
            rank = {true, 0, rank.received - steps, rank.iterations + 1};
            end = std::max(end, now);
            if (rank.iterations < kIterations) {
                services.set_timer(host, now + compute(host), 0);
            } else {
                ++finished;
            }
        }
    }

    bool ring_;
    Rank ranks_[kHosts];
};

/// Holds the packets of one place in the gradients until those of all hosts are there. Then it acknowledges them, and
/// sends the sum to every host. So what it holds is bounded by the hosts' windows.
class ReducingSwitch : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(ReducingSwitch);
    ReducingSwitch(const sc_core::sc_module_name& name, const sluice::Topology& topology,
                   sluice::Network& network)
        : sc_module(name), network_(network) {
        for (NodeId host = 0; host < kHosts; ++host) {
            const sluice::PortId mine = topology.first_port(kSwitch) + host;
            ports_.emplace_back(*this, host, network.port(topology.peer_of(mine)));
        }
        rate_ = topology.rate(topology.first_port(kSwitch));
        delay_ = topology.delay(topology.first_port(kSwitch));
        SC_METHOD(work);
        sensitive << arrived_;
        dont_initialize();
    }
    /// A packet's last bit arrives at the present and `delay`. It is the sender's: a copy stays.
    void accept(std::uint32_t port, const Packet& packet, const sc_core::sc_time& delay) {
        waiting_.emplace(std::make_pair(sluice::to_ticks(sc_core::sc_time_stamp() + delay), port),
                         packet);
        wait_for_first();
    }

    std::size_t held = 0;  // packets
    std::size_t most_held = 0;

  private:
    struct Reduction {
        FlowSlot sums[kHosts] = {};                          // flows to the hosts
        std::map<std::uint32_t, std::vector<Packet>> parts;  // by sequence
        NodeId joined = 0;
    };

    void wait_for_first() {
        arrived_.notify(sluice::to_sc_time(waiting_.begin()->first.first) -
                        sc_core::sc_time_stamp());
    }

    void work() {
        const Tick now = sluice::to_ticks(sc_core::sc_time_stamp());
        while (!waiting_.empty() && waiting_.begin()->first.first == now) {
            const NodeId from = waiting_.begin()->first.second;
            const Packet packet = waiting_.begin()->second;
            waiting_.erase(waiting_.begin());
            if (packet.packet_kind() == PacketKind::data) {
                add(from, packet, now);
            } else if (packet.sequence == packets_) {
                network_.close_foreign_flow(packet.flow);  // the last ACK of a sum
            }
        }
        if (!waiting_.empty()) {
            wait_for_first();
        }
    }

    void add(NodeId from, const Packet& packet, Tick now) {
        rounds_[from] += packet.sequence == 0 ? 1 : 0;  // cables lose nothing here
        Reduction& reduction = reductions_[rounds_[from]];
        if (packet.sequence == 0 && ++reduction.joined == 1) {
            open_sums(reduction);
        }
        packets_ = std::max(packets_, packet.sequence + 1);
        std::vector<Packet>& parts = reduction.parts[packet.sequence];
        parts.push_back(packet);
        most_held = std::max(most_held, ++held);
        if (parts.size() < kHosts) {
            return;
        }
        for (const Packet& part : parts) {
            const NodeId host = network_.store().world().spec[part.flow].src;
            Packet ack = part;
            ack.kind = static_cast<std::uint16_t>(PacketKind::ack);
            ack.sequence = part.sequence + 1;
            ack.bytes = 60;
            send(host, ack, now);
            Packet sum = part;
            sum.flow = reduction.sums[host];
            send(host, sum, now);
        }
        held -= kHosts;
        reduction.parts.erase(packet.sequence);
    }

    void open_sums(Reduction& reduction) {
        for (NodeId host = 0; host < kHosts; ++host) {
            sluice::FlowSpec flow;
            flow.src = kSum;
            flow.dst = host;
            flow.size = kGradients;
            reduction.sums[host] = network_.open_foreign_flow(flow);
        }
    }

    void send(NodeId host, Packet packet, Tick now) {
        packet.hop = 1;
        free_at_[host] = std::max(free_at_[host], now) +
                         sluice::serialization_time(packet.bytes, rate_, sluice::Arithmetic::exact);
        ports_[host].send(packet, free_at_[host] + delay_);
    }

    sluice::Network& network_;
    std::deque<sluice::foreign::ForeignPort<ReducingSwitch>> ports_;
    sluice::Rate rate_;
    Tick delay_ = 0;
    Tick free_at_[kHosts] = {};
    int rounds_[kHosts] = {};    // reductions that each host has joined
    std::uint32_t packets_ = 0;  // of a reduction
    std::map<int, Reduction> reductions_;
    std::map<std::pair<Tick, std::uint32_t>, Packet> waiting_;  // by arrival and port
    sc_core::sc_event arrived_;
};

int sc_main(int, char**) {
    const sluice::Topology topology = sluice::build_star({kHosts + 1, {}});
    sluice::Routing routing(topology);
    sluice::NetworkConfig config;
    config.congestion =
        sluice::congestion::default_parameters(sluice::congestion::Law::none, 100'000'000'000);
    config.format.extra_header = 0;
    config.format.ack = 60;
    const std::vector<sluice::FlowSpec> none;
    const std::vector<sluice::FlowPath> paths;
    Training ring(true), reduced(false);
    sluice::NetworkOptions options;
    options.foreign = {kSum, kSwitch};
    sluice::Network before("before", topology, routing, config, none, paths, &ring);
    sluice::Network after("after", topology, routing, config, none, paths, &reduced, options);
    ReducingSwitch reducer("reducer", topology, after);
    sc_core::sc_start();
    for (const Training* training : {&ring, &reduced}) {
        std::printf("%s: %d hosts finished, %.3f us an iteration\n",
                    training == &ring ? "ring" : "in the switch", training->finished,
                    static_cast<double>(training->end) / kIterations / 1e6);
    }
    std::printf("packets in the switch: at most %zu, %zu at the end\n", reducer.most_held,
                reducer.held);
    return 0;
}
