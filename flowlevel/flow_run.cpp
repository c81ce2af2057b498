// SPDX-License-Identifier: Apache-2.0
#include "flowlevel/flow_run.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/routing/flow_check.h"
#include "core/world/lookahead.h"
#include "flowlevel/flow_run_impl.h"

namespace sluice::flowlevel {
namespace {

std::vector<double> capacities_of(const Topology& topology, const NetworkConfig& config) {
    // HPCC leaves a part of every link unused on purpose (eta; HPCC, SIGCOMM'19, 3.2).
    const double utilization = congestion::target_utilization(config.congestion);
    std::vector<double> capacities(topology.port_count());
    for (PortId port = 0; port < capacities.size(); ++port) {
        capacities[port] = utilization * frame_rate(topology, config, port);
    }
    return capacities;
}

constexpr std::chrono::milliseconds kWallInterval{200};
/// An instant seldom lasts as long as asking for the time of day.
constexpr std::uint32_t kInstantsPerLook = 64;

}  // namespace

/// What an application may do, bound to a host and an instant.
class FlowRun::Impl::Services : public HostServices {
  public:
    Services(Impl& run, NodeId host) : run_(run), host_(host) {}

    FlowId open_flow(const FlowSpec& spec, Tick at) override {
        return run_.open_flow(host_, spec, at);
    }
    void start_flow(FlowId flow, Tick at) override {
        if (flow >= run_.experiment.flows.size() || run_.experiment.flows[flow].src != host_ ||
            at < run_.now || run_.flows.results()[flow].start != kNever) {
            throw InternalError("an application started flow " + std::to_string(flow) +
                                " at host " + std::to_string(host_) +
                                ": not its own, in the past, or already started");
        }
        run_.events.push({at, flow, host_, static_cast<FlowSlot>(flow), EventKind::flow_start});
    }
    void set_timer(NodeId host, Tick at, std::uint64_t token) override {
        if (at < run_.now + (host == host_ ? 0 : run_.lookahead)) {
            throw InternalError("an application's timer for host " + std::to_string(host) +
                                " is earlier than now plus the lookahead");
        }
        run_.events.push({at, token, host, kNone, EventKind::application});
    }
    Tick lookahead() const override { return run_.lookahead; }

  private:
    Impl& run_;
    NodeId host_;
};

FlowRun::Impl::Impl(const FlowExperiment& given)
    : experiment(given),
      routing(given.topology),
      net(capacities_of(given.topology, given.network)),
      classes(given.topology, given.network, net),
      lookahead(
          std::min(step::network_lookahead(given.topology, given.network),
                   given.application == nullptr ? kNever : given.application->signal_lookahead())),
      flows(given.flows, given.paths),
      opened_by(given.application == nullptr ? 0 : given.topology.node_count(), 0),
      ports(given.topology.port_count()),
      queues(flows),
      link_events(given.link_events) {
    for (FlowId flow = 0; flow < experiment.flows.size(); ++flow) {
        check_flow(experiment.topology, experiment.flows[flow], flow);
        check_joined(routing, experiment.flows[flow], flow);
    }
    std::stable_sort(link_events.begin(), link_events.end(),
                     [](const LinkEvent& a, const LinkEvent& b) { return a.at < b.at; });
}

FlowId FlowRun::Impl::open_flow(NodeId host, const FlowSpec& given, Tick at) {
    FlowSpec spec = given;
    if (spec.id == kNoFlow) spec.id = opened_flow_id(host, opened_by[host]++);
    if (spec.src != host || at < now || spec.id < flows.listed_count()) {
        throw InternalError("an application opened flow " + std::to_string(spec.id) + " at host " +
                            std::to_string(host) + ": of another host, in the past, or with the " +
                            "id of a flow of the list");
    }
    check_flow(experiment.topology, spec, spec.id);
    // While links are down a flow waits for its path, as those do that lose theirs.
    if (!any_link_down) check_joined(routing, spec, spec.id);
    events.push({at, spec.id, host, flows.open(spec), EventKind::flow_start});
    return spec.id;
}

void FlowRun::Impl::begin() {
    for (FlowId flow = 0; flow < experiment.flows.size(); ++flow) {
        const FlowSpec& spec = experiment.flows[flow];
        if (spec.start != kNever) {
            events.push(
                {spec.start, flow, spec.src, static_cast<FlowSlot>(flow), EventKind::flow_start});
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
    switch (event.kind) {
        case EventKind::received:
            flows.result(event.flow).received = now;
            if (application != nullptr) {
                application->on_received(event.host, event.id, now, services);
            }
            break;
        case EventKind::sent:
            flows.result(event.flow).finish = now;
            finished.push_back(event.flow);
            if (application != nullptr) {
                application->on_sent(event.host, event.id, now, services);
            }
            break;
        case EventKind::flow_start:
            if (queues.take_turn(event.flow)) begin_sending(event.flow);
            break;
        case EventKind::application:
            application->on_timer(event.host, event.id, now, services);
            break;
    }
}

void FlowRun::Impl::report_finished(const RunHooks& hooks) {
    std::sort(finished.begin(), finished.end(),
              [&](FlowSlot a, FlowSlot b) { return flows.id(a) < flows.id(b); });
    for (const FlowSlot flow : finished) {
        if (hooks.on_finish) {
            hooks.on_finish({flows.id(flow), flows.spec(flow), flows.result(flow)});
        }
        flows.close(flow);
    }
    finished.clear();
}

void FlowRun::Impl::report(const RunHooks& hooks) {
    if (!finished.empty()) report_finished(hooks);
    if (!hooks.on_progress || stopped) return;
    if (now < next_progress && ++instants % kInstantsPerLook != 0) return;
    const auto wall = Wall::now();
    if (now >= next_progress || wall - last_progress > kWallInterval) {
        last_progress = wall;
        if (now >= next_progress) {
            next_progress = (now / hooks.interval + 1) * hooks.interval;
        }
        stopped = !hooks.on_progress(now);
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

const std::vector<FlowResult>& FlowRun::results() const { return impl_->flows.results(); }

std::size_t FlowRun::opened_unfinished() const { return impl_->flows.opened_count(); }

std::vector<FlowSpec> FlowRun::under_way() const { return impl_->flows.under_way(); }

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
    std::size_t bytes = run.net.memory_bytes() + run.classes.memory_bytes() +
                        run.routing.memory_bytes() + run.finish.memory_bytes() +
                        run.queues.memory_bytes() + run.flows.memory_bytes() +
                        run.ports.capacity() * sizeof(PortStatistics) +
                        run.active.capacity() * sizeof(Active) + run.events.size() * sizeof(Event);
    for (const Active& one : run.active) {
        bytes += one.ports.shares.capacity() * sizeof(PortShare);
    }
    return bytes;
}

std::uint64_t FlowRun::rate_changes() const { return impl_->rate_changes; }

}  // namespace sluice::flowlevel
