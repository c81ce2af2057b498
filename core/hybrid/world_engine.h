// SPDX-License-Identifier: Apache-2.0
/// The phase controller's view of the packet engine's columns (core/packet/), whoever drives them:
/// the SystemC clock, a plain loop, or the oracle.
#pragma once

#include <memory>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/hybrid/phase_engine.h"
#include "core/world/world_store.h"

namespace sluice::hybrid {

class WorldEngine : public PhaseEngine {
  public:
    /// `foreign`: by node, true where a model of the user's own stands; may be empty. Where partitions are
    /// flows that share data ports, ACKs are no packets from here on.
    WorldEngine(step::WorldStore& store, const step::FlowPartitions& partitions,
                std::vector<bool> foreign = {});

    bool active(FlowSlot flow) const override;
    void sort(std::vector<FlowSlot>& flows) const override;
    const congestion::Parameters& law() const override;
    const congestion::State& law_state(FlowSlot flow) const override { return sender(flow).cc; }
    Tick base_rtt(FlowSlot flow) const override;
    std::int64_t line_rate(FlowSlot flow) const override;
    std::uint8_t traffic_class(FlowSlot flow) const override;
    std::int64_t payload() const override;
    std::int64_t data_bytes() const override;
    double ack_bytes() const override;
    double packets_per_ack() const override;
    std::int64_t counter_unit() const override;
    std::optional<std::int64_t> counter_ahead(PortId from, PortId to, Tick now) const override;
    std::int64_t link_rate(PortId port) const override;
    const step::Footprint& tracks(FlowSlot flow) const override;
    steady::FlowReading reading(FlowSlot flow) const override;
    std::int64_t queue_bytes(PortId port) const override;
    Tick lookahead() const override { return store_.world().lookahead; }
    NodeId node_of(PortId port) const override { return store_.topology().node_of(port); }
    Tick skipped(FlowSlot flow) const override;
    std::int64_t unsent_packets(FlowSlot flow) const override;
    bool may_skip(const Group& group) const override;

    AckStreams* ack_streams() override { return ack_streams_.get(); }

    void decide(PortId port, Tick now) override;
    void shift(const Group& group, Tick dt) override;
    void advance(FlowSlot flow, std::int64_t packets) override;
    void account(FlowSlot flow, std::int64_t packets) override;
    void settle(const Group& group) override;
    void advance_law(FlowSlot flow, Tick dt, std::int64_t packets, double marked,
                     Tick now) override;
    void rescale_law(FlowSlot flow, double factor, Tick now) override;
    PortPast describe(PortId port) const override;
    RestoredQueues set_queues(const Group& group, const Skipped& skip,
                              const std::vector<PortId>& ports, const std::vector<double>& wanted,
                              Tick now) override;

    void fold(step::Folding& folding) override { folding_ = &folding; }
    NodeId executed_as(NodeId host) const override;
    Executed executed_of(const Group& group) const override;

    FlowId id_of(FlowSlot flow) const override { return store_.world().id[flow]; }
    std::int64_t size_of(FlowSlot flow) const override { return store_.world().spec[flow].size; }
    FlowResult result(FlowSlot flow) const override { return store_.world().result[flow]; }
    std::vector<std::int64_t> law_facts(FlowSlot flow) const override {
        const auto& law = sender(flow).cc;
        return {law.base_rtt, law.max_window, law.line_rate};
    }
    const FlowSpec& spec(FlowSlot flow) const override { return store_.world().spec[flow]; }
    std::vector<NodeId> ends(FlowSlot flow) const override {
        return {store_.world().spec[flow].src, store_.world().spec[flow].dst};
    }
    std::vector<NodeId> switches_on(FlowSlot flow) const override;
    Tick least_time(FlowSlot flow) const override;
    EpisodePort describe_for_episode(PortId port) const override;
    bool may_tell(FlowSlot flow) const override;
    bool stands_alone(FlowSlot flow) const override;
    std::int64_t whole_hops(FlowSlot flow) const override;
    void list_ports(NodeId node, std::vector<PortId>& ports) const override;
    bool run_held_calls(NodeId host, Tick at, std::vector<FlowSlot>& opened) override;
    std::uint32_t run_alone(const Group& group, Tick from, Tick to) override;
    void tell_ends(FlowSlot flow, Tick received, Tick finish) override;
    void untell_ends(FlowSlot flow) override;
    std::int64_t account_told(const std::vector<PortId>& data, const std::vector<PortId>& acks,
                              std::int64_t bytes, std::int64_t sent) override;
    std::int64_t drop_sender(FlowSlot flow) override;
    void resume(FlowSlot flow, std::int64_t packets, double rate, Tick now) override;
    void drop_packets(const Group& group) override;

    Tick next_call(NodeId host) const override;
    bool run_calls(NodeId host, Tick at) override;
    bool run_calls_to_start(NodeId host, Tick at) override;

  protected:
    step::World& columns() { return store_.world(); }

  private:
    template <class Stop>
    bool run_calls_until(NodeId host, Tick at, Stop&& stop);
    std::int64_t acks_for(std::int64_t packets) const;
    const step::Sender& sender(FlowSlot flow) const;
    FlowSlot executed(FlowSlot flow) const;
    bool follows(FlowSlot flow) const { return executed(flow) != flow; }
    PortId executed_port(PortId port) const;
    bool follows_port(PortId port) const { return executed_port(port) != port; }
    bool followed(NodeId host) const;
    bool under_pfc(PortId port) const;

    step::WorldStore& store_;
    const step::FlowPartitions& partitions_;
    std::vector<bool> foreign_;
    std::unique_ptr<AckStreams> ack_streams_;
    step::Folding* folding_ = nullptr;
};

}  // namespace sluice::hybrid
