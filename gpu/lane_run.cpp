// SPDX-License-Identifier: Apache-2.0
#include "gpu/lane_run.h"

#include <algorithm>
#include <utility>

#include "core/clocks/hook_runner.h"
#include "core/clocks/window_loop.h"
#include "core/error.h"
#include "core/job/job_set.h"
#include "core/packet/sender.h"
#include "core/world/paused_cycle.h"
#include "core/world/skip.h"
#include "experiment/configuration_of.h"

namespace sluice::gpu {

namespace {

/// Windows between two looks at the clock on the wall.
constexpr std::uint64_t kWindowsAtATime = 4096;

/// Flows are started by something else than jobs.
bool is_streamed(const Experiment& experiment) {
    const Application* const application = experiment.application.get();
    return application != nullptr && dynamic_cast<const JobApplication*>(application) == nullptr &&
           dynamic_cast<const JobSet*>(application) == nullptr;
}

/// ConfigError if a device cannot execute this.
const Experiment& checked(const Experiment& experiment) {
    Configuration configuration = configuration_of(experiment, Mode::packet);
    configuration.streamed = is_streamed(experiment);
    refuse(configuration, Effect::not_on_a_device);
    return experiment;
}

/// The experiment's jobs, by number.
std::vector<const JobApplication*> jobs_of(const Experiment& experiment) {
    const Application* const application = experiment.application.get();
    if (application == nullptr) {
        return {};
    }
    if (const auto* const job = dynamic_cast<const JobApplication*>(application)) {
        return {job};
    }
    std::vector<const JobApplication*> jobs;
    const auto& set = dynamic_cast<const JobSet&>(*application);
    for (std::size_t i = 0; i < set.size(); ++i) {
        jobs.push_back(&set.job(i));
    }
    return jobs;
}

}  // namespace

LaneRun::LaneRun(const Experiment& experiment, LaneDevices& devices, const LaneMemory& memory)
    : experiment_(checked(experiment)),
      jobs_(jobs_of(experiment)),
      devices_(devices),
      plan_(memory),
      begin_(std::chrono::steady_clock::now()),
      routing_(experiment.topology, next_hop_order(experiment.network.arithmetic)),
      store_(std::make_unique<step::WorldStore>(experiment.topology, routing_, experiment.network,
                                                experiment.flows, experiment.paths,
                                                experiment.application.get())),
      tables_(needs_tables()),
      told_(experiment.flows.size()) {
    store_->pin_list();
    elaboration_ = std::chrono::steady_clock::now() - begin_;
}

LaneRun::~LaneRun() = default;

/// A packet may not find its next hop in its flow's way.
bool LaneRun::needs_tables() const {
    if (experiment_.network.sprayed_classes() != 0 || !experiment_.link_events.empty()) {
        return true;
    }
    const auto is_long = [this](FlowId id) {
        const FlowSpec& spec = experiment_.flows[id];
        const std::size_t given = experiment_.paths.empty()
                                      ? 0
                                      : std::max(experiment_.paths[id].forward.size(),
                                                 experiment_.paths[id].reverse.size());
        return given > step::kPathHops || routing_.distance(spec.src, spec.dst) > step::kPathHops;
    };
    for (FlowId id = 0; id < experiment_.flows.size(); ++id) {
        if (is_long(id)) {
            return true;
        }
    }
    return false;
}

/// One more, in which no job begins again.
std::unique_ptr<step::WorldStore> LaneRun::new_store() const {
    auto store =
        std::make_unique<step::WorldStore>(experiment_.topology, routing_, experiment_.network,
                                           experiment_.flows, experiment_.paths, nullptr);
    store->pin_list();
    store->world().digest_hops = digest_hops_;
    for (const auto& [host, timer] : opening_) {
        step::schedule(store->world(), host, timer);
    }
    return store;
}

void LaneRun::keep_opening() {
    const step::World& world = store_->world();
    digest_hops_ = world.digest_hops;
    for (const NodeId host : experiment_.topology.hosts()) {
        const PlainVector<step::Timer>& timers = world.host[host].timers;
        for (std::uint32_t i = 0; i < timers.count; ++i) {
            opening_.emplace_back(host, timers[i]);
        }
    }
}

void LaneRun::load() {
    if (store_ == nullptr) {
        store_ = new_store();
    }
    RouteImage routes;
    if (tables_) {
        routes = RouteImage(experiment_.topology, routing_, experiment_.flows);
    }
    image_ = std::make_unique<LaneImage>(*store_, jobs_, std::move(routes), *stay_, plan_);
    saved_.windows = 0;
    bytes_ = std::max(bytes_, image_->bytes());
    if (plan_.alone && experiment_.link_events.empty()) {
        store_.reset();
        saved_.all = false;
    }
}

/// The device has no room for what the lane has become. What it has done since load() is done anew, as soon as
/// there is room for all of it.
void LaneRun::begin_again(const Arena& full) {
    plan_.slack = image_->slack_with_more(full);
    windows_ += saved_.windows;
    leave();
    load();
}

/// The store's state is what counts.
void LaneRun::leave() {
    saved_.all = true;
    image_.reset();
    stay_->leave();
}

void LaneRun::save() const {
    if (!saved_.all) {
        if (store_ == nullptr) {
            store_ = new_store();
        }
        image_->bring(Side::host);
        image_->save(*store_);
        saved_.windows = image_->lane().windows;
        saved_.all = true;
    }
}

/// Flows that have finished since the last call.
std::vector<FlowRecord> LaneRun::take_finished() {
    std::vector<FlowRecord> finished;
    for (FlowSlot slot = 0; slot < told_.size(); ++slot) {
        if (!told_[slot] && store_->world().result[slot].finish != kNever) {
            told_[slot] = true;
            finished.push_back(store_->network_flows().record(slot));
        }
    }
    return finished;
}

/// Executes everything before `until`; false if a hook has stopped it.
bool LaneRun::advance(Tick until) {
    LaneOrder order;
    order.windows = kWindowsAtATime;
    order.until = until;
    order.law = experiment_.network.congestion.law;
    for (;;) {
        image_->bring(Side::device);
        const LaneReport report = stay_->run(image_->lane(), order);
        order.fresh = Arena{};
        saved_.all = false;
        if (report.fault != 0) {
            throw InternalError("an operation gives back a resource that no acquire holds");
        }
        if (report.outcome == Outcome::full) {
            order.fresh = image_->grow(report.arena);
            if (order.fresh.base == nullptr) {
                begin_again(report.arena);
            }
            bytes_ = std::max(bytes_, image_->bytes());
            continue;
        }
        now_ = std::max(now_, std::min(report.end, until));
        if (report.outcome == Outcome::reached) {
            return true;
        }
        if (!go_on_()) {
            return false;
        }
    }
}

/// Takes the store's state to a device, there up to `until`, and back; false if it was stopped.
bool LaneRun::execute(Tick until) {
    bool whole = false;
    try {
        load();
        whole = advance(until);
        save();
        windows_ += image_->lane().windows;
    } catch (const LaneStay::Interrupted&) {
        whole = false;
    }
    leave();
    if (store_ == nullptr) {
        store_ = new_store();  // it was interrupted before there was anything to save
    }
    return whole;
}

void LaneRun::run(const RunHooks& hooks) {
    Configuration configuration = configuration_of(experiment_, Mode::packet);
    configuration.samples = hooks.on_sample || hooks.on_pfc;
    refuse(configuration, Effect::not_on_a_device);
    go_on_ = [&] { return !hooks.on_progress || hooks.on_progress(now_); };
    stay_ = std::make_unique<LaneStay>(devices_, go_on_);
    auto runner = std::make_unique<step::HookRunner>(*store_, experiment_.link_events, hooks);
    store_->begin();
    keep_opening();
    bool stopped = false;
    for (;;) {
        const Tick event = step::at_rest(store_->world()) ? kNever : runner->next_event();
        if (step::next_instant(store_->world()) < experiment_.stop) {
            stopped = !execute(std::min(event, experiment_.stop));
            if (experiment_.link_events.empty()) {
                // It may be another store.
                runner =
                    std::make_unique<step::HookRunner>(*store_, experiment_.link_events, hooks);
            }
        }
        std::vector<FlowRecord> finished = take_finished();
        runner->report(now_, finished);
        stopped = stopped || runner->stopped();
        if (stopped || step::at_rest(store_->world()) || event >= experiment_.stop) {
            break;
        }
        now_ = std::max(now_, event);
        runner->run_events(event);
        store_->world().links_changed = true;
    }
    if (!stopped) {
        step::forget_stale_wakes(store_->world());
        ending_ = step::next_instant(store_->world()) == kNever ? Ending::at_rest : Ending::cut_off;
    }
}

Tick LaneRun::now() const {
    if (cut_off()) {
        return experiment_.stop;
    }
    return ending_ == Ending::at_rest ? store_->last_arrival() : now_;
}

const std::vector<FlowResult>& LaneRun::results() const {
    save();
    return store_->results();
}

std::vector<FlowSpec> LaneRun::under_way() const {
    save();
    return store_->network_flows().under_way();
}

std::int64_t LaneRun::progress() const {
    const step::World& world = saved_.all ? store_->world() : image_->lane().world;
    return step::acknowledged_bytes(world, store_->slot_count());
}

std::vector<PortId> LaneRun::paused_cycle() const {
    save();
    return step::paused_cycle(*store_);
}

RunCounters LaneRun::counters() const {
    save();
    RunCounters counters = store_->counters();
    counters.windows = windows_ + (image_ == nullptr ? 0 : image_->lane().windows);
    return counters;
}

std::vector<PortStatistics> LaneRun::port_statistics() const {
    save();
    return store_->port_statistics(now());
}

}  // namespace sluice::gpu
