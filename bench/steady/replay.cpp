// SPDX-License-Identifier: Apache-2.0
#include "bench/steady/replay.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <utility>

#include "bench/experiment_loop.h"
#include "core/routing/base_rtt.h"

namespace sluice::steady_bench {

namespace {

class SkippingRun {
  public:
    SkippingRun(const Experiment& experiment, step::WorldStore& store,
                const steady::DetectorSettings& settings, Lag lag)
        : experiment_(experiment),
          store_(store),
          lag_(lag),
          detector_(steady::make_detector(settings)),
          skipped_(experiment.flows.size(), 0),
          finish_(experiment.flows.size(), kNever),
          start_(experiment.flows.size(), kNever) {
        const step::World& world = store.world();
        std::vector<std::pair<NodeId, NodeId>> pairs;
        for (const FlowSpec& spec : experiment.flows) {
            if (spec.start == kNever) {
                throw std::runtime_error("replay: flows need start times");
            }
            pairs.emplace_back(spec.src, spec.dst);
        }
        base_ = pair_base_rtts(experiment.topology, {world.payload, experiment.network.arithmetic},
                               pairs);
        facts_.congestion = experiment.network.congestion;
        facts_.payload = world.payload;
        std::set<PortId> ports;
        for (FlowId f = 0; f < experiment.flows.size(); ++f) {
            facts_.base_rtt = std::max(facts_.base_rtt, base_[f].rtt);
            const step::Egress& first = world.egress[world.route[f].port[0]];
            facts_.line_rate = std::max(facts_.line_rate, first.line_rate);
            for (const PortId port : world.route[f].port) {
                if (port != kNone && world.is_host[experiment.topology.node_of(port)] == 0) {
                    ports.insert(port);
                }
            }
        }
        ports_.assign(ports.begin(), ports.end());
    }

    Tick period() const { return steady::sampling_period(facts_); }

    /// A cut between windows: sees who came and went, samples, and skips if it may.
    void sample(Tick now) {
        const step::World& world = store_.world();
        std::vector<FlowId> active;
        for (FlowId f = 0; f < experiment_.flows.size(); ++f) {
            note_ends(f);
            if (world.sender_at[f] != kNone) {
                active.push_back(f);
            }
        }
        if (active != group_) {
            group_ = active;
            steady::GroupFacts facts = facts_;
            facts.flows = group_.size();
            facts.ports = ports_.size();
            for (const FlowId f : group_) {
                facts.lag = std::max(facts.lag, lag_ == Lag::flow ? skipped_[f] : 0);
            }
            facts.sharing = sharing();
            detector_->reset(facts);
            carry_.assign(group_.size(), 0);
        }
        if (group_.empty()) {
            return;
        }
        readings_.clear();
        for (const FlowId f : group_) {
            const step::Sender& sender = step::sender_of(world, f);
            steady::FlowReading reading;
            reading.progress = sender.last_progress;
            reading.acked = sender.una_bytes;
            reading.in_flight = sender.next_bytes - sender.una_bytes;
            reading.rate = sender.cc.rate;
            readings_.push_back(reading);
        }
        queues_.clear();
        if (detector_->reads_queues()) {
            for (const PortId port : ports_) {
                queues_.push_back(world.egress[port].queued_bytes);
            }
        }
        detector_->add(now, readings_, queues_);
        const steady::Verdict verdict = detector_->judge();
        if (!verdict.steady) {
            ++result_.refusals[verdict.reason];
            return;
        }
        const Tick skip = allowed(verdict, now);
        if (skip > 4 * facts_.base_rtt) {
            advance(verdict, skip, now);
            detector_->resumed(lag_ == Lag::none ? 0 : skip);
        } else {
            ++result_.refusals["nothing left"];
        }
    }

    ReplayResult finish() {
        for (FlowId f = 0; f < experiment_.flows.size(); ++f) {
            note_ends(f);
            result_.fct.push_back(finish_[f] - start_[f]);
        }
        result_.makespan = *std::max_element(finish_.begin(), finish_.end()) -
                           *std::min_element(start_.begin(), start_.end());
        result_.packet_hops = store_.counters().packet_hops;
        return std::move(result_);
    }

  private:
    /// On a star flows share a port that have a host in common, at the same end.
    std::size_t sharing() const {
        std::map<NodeId, std::size_t> from;
        std::map<NodeId, std::size_t> to;
        std::size_t most = 0;
        for (const FlowId f : group_) {
            most =
                std::max({most, ++from[experiment_.flows[f].src], ++to[experiment_.flows[f].dst]});
        }
        return most;
    }

    /// Simulated start and finish, with what had been skipped by then.
    void note_ends(FlowId f) {
        const FlowResult& done = store_.results()[f];
        if (done.start != kNever && start_[f] == kNever) {
            start_[f] = done.start + offset_;
        }
        if (done.finish != kNever && finish_[f] == kNever) {
            finish_[f] = done.finish + offset_;
        }
    }

    /// The verdict's skip, cut at the next start and before any flow's last window.
    Tick allowed(const steady::Verdict& verdict, Tick now) const {
        const step::World& world = store_.world();
        Tick skip = verdict.longest_skip;
        for (FlowId f = 0; f < experiment_.flows.size(); ++f) {
            if (store_.results()[f].start == kNever) {
                skip = std::min(skip, experiment_.flows[f].start - offset_ - now - period());
            }
        }
        for (std::size_t i = 0; i < group_.size(); ++i) {
            const step::Sender& sender = step::sender_of(world, group_[i]);
            const std::int64_t flight = sender.next_bytes - sender.una_bytes;
            const std::int64_t left = sender.size - sender.next_bytes - flight - 2 * world.payload;
            const double ticks =
                static_cast<double>(left) / verdict.rate[i] * static_cast<double>(kSecond);
            skip = std::min(skip, static_cast<Tick>(ticks));
        }
        return skip;
    }

    void advance(const steady::Verdict& verdict, Tick skip, Tick) {
        step::World& world = store_.world();
        for (std::size_t i = 0; i < group_.size(); ++i) {
            const double bytes =
                verdict.rate[i] * static_cast<double>(skip) / static_cast<double>(kSecond) +
                carry_[i];
            const auto packets = static_cast<std::uint32_t>(bytes / world.payload);
            carry_[i] = bytes - static_cast<double>(packets) * world.payload;
            step::Sender& sender = step::sender_of(world, group_[i]);
            sender.packets -= packets;
            sender.size -= std::int64_t{packets} * world.payload;
            world.receiver[group_[i]].packets -= packets;
            skipped_[group_[i]] += skip;
        }
        bring_starts_closer(skip);
        offset_ += skip;
        result_.skipped += skip;
        ++result_.skips;
    }

    void bring_starts_closer(Tick skip) {
        step::World& world = store_.world();
        for (NodeId node = 0; node < world.node_count; ++node) {
            if (world.is_host[node] == 0 || world.host[node].timers.count == 0) {
                continue;
            }
            PlainVector<step::Timer>& heap = world.host[node].timers;
            std::vector<step::Timer> timers(heap.data, heap.data + heap.count);
            heap.count = 0;
            for (step::Timer timer : timers) {
                if (timer.kind == step::TimerKind::flow_start) {
                    timer.time -= skip;
                }
                step::schedule(world, node, timer);
            }
        }
    }

    const Experiment& experiment_;
    step::WorldStore& store_;
    Lag lag_;
    std::unique_ptr<steady::Detector> detector_;
    steady::GroupFacts facts_;
    std::vector<BaseRtt> base_;
    std::vector<PortId> ports_;
    std::vector<FlowId> group_;
    std::vector<Tick> skipped_;  ///< by flow
    std::vector<double> carry_;  ///< bytes short of a whole packet, by the group's order
    std::vector<steady::FlowReading> readings_;
    std::vector<std::int64_t> queues_;
    std::vector<Tick> finish_;
    std::vector<Tick> start_;
    Tick offset_ = 0;
    ReplayResult result_;
};

}  // namespace

ReplayResult replay(const Experiment& experiment, const steady::DetectorSettings* settings,
                    Lag lag) {
    ExperimentLoop loop(experiment, true);
    SkippingRun run(experiment, loop.store,
                    settings != nullptr ? *settings : steady::DetectorSettings{}, lag);
    RunHooks hooks;
    if (settings != nullptr) {
        hooks.on_sample = [&](Tick now, const auto&) { run.sample(now); };
        hooks.sample_every = run.period();
        hooks.sample_from = run.period();
        hooks.sample_to = kNever;
    }
    loop.run_sampled(experiment.link_events, std::move(hooks), kNever);
    return run.finish();
}

}  // namespace sluice::steady_bench
