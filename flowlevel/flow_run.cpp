// SPDX-License-Identifier: Apache-2.0
#include "flowlevel/flow_run.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/routing/routing.h"
#include "core/world/lookahead.h"
#include "flowlevel/connection_queues.h"
#include "flowlevel/finish_times.h"
#include "flowlevel/flow_path.h"
#include "flowlevel/max_min.h"

namespace sluice::flowlevel {
namespace {

/// What happens at a host. At one instant in this order, then by host, then by id.
enum class EventKind : std::uint8_t { received, sent, flow_start, application };

struct Event {
    Tick at = 0;
    EventKind kind = EventKind::received;
    NodeId host = 0;
    std::uint64_t id = 0;  ///< flow, or the application's token

    bool operator>(const Event& other) const {
        return std::tie(at, kind, host, id) > std::tie(other.at, other.kind, other.host, other.id);
    }
};

/// A flow that is sending. Its index is the solver's handle.
struct Active {
    FlowId flow = kNone;
    double remaining = 0;  ///< payload bytes at `since`
    double counted = 0;    ///< of which so many are not yet in the ports' statistics
    double rate = 0;       ///< payload bytes per tick from `since` on
    Tick since = 0;
    FlowPorts ports;
};

struct Stalled {
    FlowId flow = kNone;
    double remaining = 0;
};

std::vector<double> capacities_of(const Topology& topology, const NetworkConfig& config) {
    // HPCC leaves a part of every link unused on purpose (eta; HPCC, SIGCOMM'19, 3.2).
    const double utilization = congestion::target_utilization(config.congestion);
    std::vector<double> capacities(topology.port_count());
    for (PortId port = 0; port < capacities.size(); ++port) {
        capacities[port] = utilization * frame_rate(topology, config, port);
    }
    return capacities;
}

using Wall = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kWallInterval{200};

}  // namespace

struct FlowRun::Impl {
    explicit Impl(const FlowExperiment& given);

    /// What an application may do, bound to a host and an instant.
    class Services : public HostServices {
      public:
        Services(Impl& run, NodeId host) : run_(run), host_(host) {}

        void start_flow(FlowId flow, Tick at) override {
            if (flow >= run_.experiment.flows.size() || run_.experiment.flows[flow].src != host_ ||
                at < run_.now || run_.results[flow].start != kNever) {
                throw InternalError("an application started flow " + std::to_string(flow) +
                                    " at host " + std::to_string(host_) +
                                    ": not its own, in the past, or already started");
            }
            run_.events.push({at, EventKind::flow_start, host_, flow});
        }
        void set_timer(NodeId host, Tick at, std::uint64_t token) override {
            if (at < run_.now + (host == host_ ? 0 : run_.lookahead)) {
                throw InternalError("an application's timer for host " + std::to_string(host) +
                                    " is earlier than now plus the lookahead");
            }
            run_.events.push({at, EventKind::application, host, token});
        }
        Tick lookahead() const override { return run_.lookahead; }

      private:
        Impl& run_;
        NodeId host_;
    };

    void check_flow(FlowId flow) const;
    void begin();
    Tick next_instant();
    void execute_instant();
    void execute(const Event& event);
    void change_links();
    void end_transfers();
    void begin_sending(FlowId flow);
    void start(FlowId flow, double remaining);
    void attach(FlowId flow, double remaining, FlowPorts ports);
    void settle(Active& active) const;
    void count(const Active& active, double left, std::vector<PortStatistics>& into) const;
    void apply_rates();
    void report(const RunHooks& hooks);
    const FlowPath& path_of(FlowId flow) const;
    FlowPorts ports_of(FlowId flow) const;
    bool at_rest() const { return net.flow_count() == 0 && stalled.empty() && events.empty(); }

    const FlowExperiment experiment;
    Routing routing;
    MaxMin net;
    Tick lookahead = 0;
    std::vector<FlowResult> results;
    std::vector<PortStatistics> ports;  ///< of what is no longer under way
    std::vector<Active> active;
    ConnectionQueues queues;
    std::vector<Stalled> stalled;  ///< flows without a path, in the order in which they lost it
    FinishTimes finish;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    std::vector<LinkEvent> link_events;
    std::size_t next_link_event = 0;
    std::vector<FlowId> finished;  ///< at this instant
    std::vector<std::uint32_t> due;
    std::vector<FlowId> begins;  ///< end_transfers(): whose turn it is
    std::vector<LinkUse> uses;
    Tick now = 0;
    Tick next_progress = 0;
    Wall::time_point last_progress = Wall::now();
    std::uint64_t event_count = 0;
    std::uint64_t rate_changes = 0;
    bool cut_off = false;
    bool stopped = false;
    double elaboration_seconds = 0;
};

FlowRun::Impl::Impl(const FlowExperiment& given)
    : experiment(given),
      routing(given.topology),
      net(capacities_of(given.topology, given.network)),
      lookahead(step::network_lookahead(given.topology, given.network)),
      results(given.flows.size()),
      ports(given.topology.port_count()),
      queues(given.flows),
      link_events(given.link_events) {
    if (!experiment.paths.empty() && experiment.paths.size() != experiment.flows.size()) {
        throw InternalError("paths must be given for every flow or for none");
    }
    for (FlowId flow = 0; flow < experiment.flows.size(); ++flow) {
        check_flow(flow);
    }
    std::stable_sort(link_events.begin(), link_events.end(),
                     [](const LinkEvent& a, const LinkEvent& b) { return a.at < b.at; });
}

void FlowRun::Impl::check_flow(FlowId flow) const {
    const FlowSpec& spec = experiment.flows[flow];
    const Topology& topology = experiment.topology;
    const std::string name = "flow " + std::to_string(flow);
    const std::size_t nodes = topology.node_count();
    if (spec.src >= nodes || spec.dst >= nodes || !topology.is_host(spec.src) ||
        !topology.is_host(spec.dst) || spec.src == spec.dst) {
        throw ConfigError(name + " goes from node " + std::to_string(spec.src) + " to node " +
                          std::to_string(spec.dst) + "; allowed: two different hosts");
    }
    if (spec.size < 1) {
        throw ConfigError(name + " has " + std::to_string(spec.size) +
                          " bytes; allowed: at least 1");
    }
    if (spec.priority < 1 || spec.priority > 7) {
        throw ConfigError(name + " has priority " + std::to_string(spec.priority) +
                          "; allowed: 1 to 7");
    }
    if (routing.distance(spec.src, spec.dst) < 0) {
        throw ConfigError(name + ": no path from host " + std::to_string(spec.src) + " to host " +
                          std::to_string(spec.dst));
    }
}

void FlowRun::Impl::begin() {
    for (FlowId flow = 0; flow < experiment.flows.size(); ++flow) {
        const FlowSpec& spec = experiment.flows[flow];
        if (spec.start != kNever) {
            events.push({spec.start, EventKind::flow_start, spec.src, flow});
        }
    }
    if (experiment.application != nullptr) {
        for (const NodeId host : experiment.topology.hosts()) {
            Services services(*this, host);
            experiment.application->on_begin(host, services);
        }
    }
}

Tick FlowRun::Impl::next_instant() {
    Tick next = finish.next();
    if (!events.empty()) {
        next = std::min(next, events.top().at);
    }
    if (next_link_event < link_events.size() && !at_rest()) {
        next = std::min(next, link_events[next_link_event].at);
    }
    return next;
}

/// Everything of the instant `now`, then one solution for all that it changed.
void FlowRun::Impl::execute_instant() {
    if (next_link_event < link_events.size() && link_events[next_link_event].at <= now) {
        change_links();
    }
    end_transfers();
    while (!events.empty() && events.top().at == now) {
        const Event event = events.top();
        events.pop();
        execute(event);
    }
    apply_rates();
}

void FlowRun::Impl::execute(const Event& event) {
    ++event_count;
    Application* const application = experiment.application;
    Services services(*this, event.host);
    const auto flow = static_cast<FlowId>(event.id);
    switch (event.kind) {
        case EventKind::received:
            results[flow].received = now;
            if (application != nullptr) {
                application->on_received(event.host, flow, now, services);
            }
            break;
        case EventKind::sent:
            results[flow].finish = now;
            finished.push_back(flow);
            if (application != nullptr) {
                application->on_sent(event.host, flow, now, services);
            }
            break;
        case EventKind::flow_start:
            if (queues.take_turn(flow)) begin_sending(flow);
            break;
        case EventKind::application:
            application->on_timer(event.host, event.id, now, services);
            break;
    }
}

void FlowRun::Impl::begin_sending(FlowId flow) {
    results[flow].start = now;
    start(flow, static_cast<double>(experiment.flows[flow].size));
}

const FlowPath& FlowRun::Impl::path_of(FlowId flow) const {
    static const FlowPath kByRouting;
    return experiment.paths.empty() ? kByRouting : experiment.paths[flow];
}

FlowPorts FlowRun::Impl::ports_of(FlowId flow) const {
    return find_ports(experiment.topology, routing, experiment.network, experiment.flows[flow],
                      path_of(flow));
}

void FlowRun::Impl::start(FlowId flow, double remaining) {
    FlowPorts found = ports_of(flow);
    if (found.shares.empty()) {
        stalled.push_back({flow, remaining});
    } else {
        attach(flow, remaining, std::move(found));
    }
}

void FlowRun::Impl::attach(FlowId flow, double remaining, FlowPorts found) {
    const std::int64_t size = experiment.flows[flow].size;
    const FlowFrames frames = frames_of(size, experiment.network);
    const auto per_byte = [&](double share, std::int64_t bytes) {
        return share * static_cast<double>(bytes) / static_cast<double>(size);
    };
    // Nothing makes data wait for the ACKs that it causes, though a flow of few bytes a packet has
    // more of them.
    const std::int64_t ack_bytes = std::min(frames.ack_bytes, frames.data_bytes);
    uses.clear();
    for (const PortShare& share : found.shares) {
        const double coefficient =
            per_byte(share.data, frames.data_bytes) + per_byte(share.acks, ack_bytes);
        if (coefficient > 0) {
            uses.push_back({share.port, coefficient});
        }
    }
    const MaxMin::Flow slot = net.add(uses, Demand{});
    if (slot >= active.size()) {
        active.resize(slot + std::size_t{1});
    }
    active[slot] = {flow, remaining, remaining, 0, now, std::move(found)};
    finish.set(slot, kNever);
}

void FlowRun::Impl::settle(Active& one) const {
    one.remaining = std::max(0.0, one.remaining - one.rate * static_cast<double>(now - one.since));
    one.since = now;
}

/// Adds what the flow has sent since it was last counted, `left` bytes being still to send.
void FlowRun::Impl::count(const Active& one, double left, std::vector<PortStatistics>& into) const {
    const std::int64_t size = experiment.flows[one.flow].size;
    const FlowFrames frames = frames_of(size, experiment.network);
    const double part = (one.counted - left) / static_cast<double>(size);
    const auto of = [part](double share, std::int64_t whole) {
        return std::llround(part * share * static_cast<double>(whole));
    };
    for (const PortShare& share : one.ports.shares) {
        into[share.port].tx_bytes +=
            of(share.data, frames.data_bytes) + of(share.acks, frames.ack_bytes);
        into[share.port].tx_packets += of(share.data, frames.packets) + of(share.acks, frames.acks);
    }
}

void FlowRun::Impl::end_transfers() {
    if (finish.next() > now) {
        return;
    }
    due.clear();
    begins.clear();
    finish.due(now, due);
    for (const std::uint32_t slot : due) {
        ++event_count;
        Active& one = active[slot];
        const FlowSpec& spec = experiment.flows[one.flow];
        count(one, 0, ports);
        const Tick received = queues.arrival(one.flow, now + one.ports.pipeline);
        events.push({received, EventKind::received, spec.dst, one.flow});
        events.push({received + one.ports.ack_return, EventKind::sent, spec.src, one.flow});
        finish.set(slot, kNever);
        net.remove(slot);
        const FlowId next = queues.pass_turn(one.flow);
        if (next != kNone) begins.push_back(next);
        one.flow = kNone;
    }
    for (const FlowId flow : begins) {
        begin_sending(flow);
    }
}

void FlowRun::Impl::change_links() {
    for (; next_link_event < link_events.size() && link_events[next_link_event].at <= now;
         ++next_link_event) {
        ++event_count;
        routing.set_link(link_events[next_link_event].link, link_events[next_link_event].up);
    }
    // First all that moves, then the moves: a slot that is given up may be handed out again.
    std::vector<std::pair<std::uint32_t, FlowPorts>> moves;
    for (std::uint32_t slot = 0; slot < active.size(); ++slot) {
        if (active[slot].flow != kNone) {
            FlowPorts found = ports_of(active[slot].flow);
            if (found.shares != active[slot].ports.shares) {
                moves.emplace_back(slot, std::move(found));
            }
        }
    }
    std::vector<Stalled> waiting;
    std::swap(waiting, stalled);
    for (auto& [slot, found] : moves) {
        settle(active[slot]);
        count(active[slot], active[slot].remaining, ports);
        const FlowId flow = active[slot].flow;
        const double remaining = active[slot].remaining;
        finish.set(slot, kNever);
        net.remove(slot);
        active[slot].flow = kNone;
        if (found.shares.empty()) {
            stalled.push_back({flow, remaining});
        } else {
            attach(flow, remaining, std::move(found));
        }
    }
    for (const Stalled& one : waiting) {
        start(one.flow, one.remaining);
    }
}

void FlowRun::Impl::apply_rates() {
    net.update();
    for (const MaxMin::Flow slot : net.changed()) {
        Active& one = active[slot];
        const double rate = net.rate(slot);
        if (rate == one.rate) {
            continue;
        }
        settle(one);
        one.rate = rate;
        ++rate_changes;
        const double left = rate > 0 ? one.remaining / rate : kUnlimited;
        // A rate so low that the end lies beyond the last instant is none.
        const bool ends = left < static_cast<double>(kNever - now) / 2;
        finish.set(slot, ends ? now + std::llround(left) : kNever);
    }
}

void FlowRun::Impl::report(const RunHooks& hooks) {
    if (!finished.empty()) {
        std::sort(finished.begin(), finished.end());
        if (hooks.on_finish) {
            for (const FlowId flow : finished) {
                hooks.on_finish({flow, experiment.flows[flow], results[flow]});
            }
        }
        finished.clear();
    }
    if (hooks.on_progress) {
        const auto wall = Wall::now();
        if (now >= next_progress || wall - last_progress > kWallInterval) {
            last_progress = wall;
            if (now >= next_progress) {
                next_progress = (now / hooks.interval + 1) * hooks.interval;
            }
            stopped = !hooks.on_progress(now);
        }
    }
}

FlowRun::FlowRun(const FlowExperiment& experiment) {
    const auto begin = Wall::now();
    impl_ = std::make_unique<Impl>(experiment);
    impl_->elaboration_seconds = std::chrono::duration<double>(Wall::now() - begin).count();
}

FlowRun::~FlowRun() = default;

void FlowRun::run(const RunHooks& hooks) {
    Impl& run = *impl_;
    run.next_progress = hooks.interval;
    run.begin();
    while (!run.stopped) {
        const Tick next = run.next_instant();
        if (next == kNever) {
            break;
        }
        if (next >= run.experiment.stop) {
            run.now = run.experiment.stop;
            run.cut_off = true;
            break;
        }
        if (next > run.now) {
            run.report(hooks);
            if (run.stopped) {
                break;
            }
        }
        run.now = next;
        run.execute_instant();
    }
    run.report(hooks);
}

bool FlowRun::cut_off() const { return impl_->cut_off; }

Tick FlowRun::now() const { return impl_->now; }

const std::vector<FlowResult>& FlowRun::results() const { return impl_->results; }

RunCounters FlowRun::counters() const {
    RunCounters counters;
    counters.events = impl_->event_count;
    return counters;
}

std::vector<PortStatistics> FlowRun::port_statistics() const {
    std::vector<PortStatistics> all = impl_->ports;
    for (Active one : impl_->active) {
        if (one.flow != kNone) {
            impl_->settle(one);
            impl_->count(one, one.remaining, all);
        }
    }
    return all;
}

double FlowRun::elaboration_seconds() const { return impl_->elaboration_seconds; }

std::size_t FlowRun::memory_bytes() const {
    const Impl& run = *impl_;
    std::size_t bytes = run.net.memory_bytes() + run.routing.memory_bytes() +
                        run.finish.memory_bytes() + run.queues.memory_bytes() +
                        run.results.capacity() * sizeof(FlowResult) +
                        run.ports.capacity() * sizeof(PortStatistics) +
                        run.active.capacity() * sizeof(Active) + run.events.size() * sizeof(Event);
    for (const Active& one : run.active) {
        bytes += one.ports.shares.capacity() * sizeof(PortShare);
    }
    return bytes;
}

std::uint64_t FlowRun::rate_changes() const { return impl_->rate_changes; }

}  // namespace sluice::flowlevel
