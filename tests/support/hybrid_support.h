// SPDX-License-Identifier: Apache-2.0
/// Hybrid runs of the step tests' cases, with every contract checked after every transition.
#pragma once

#include <functional>
#include <memory>

#include "core/calibration/profile_memory.h"
#include "core/calibration/trajectory_memory.h"
#include "core/clocks/cell_step.h"
#include "core/clocks/worker_pool.h"
#include "core/engine/driver.h"
#include "core/episodes/episodes.h"
#include "core/fold/folds.h"
#include "core/hybrid/phase_controller.h"
#include "core/world/skip.h"
#include "flowlevel/rate_sources.h"
#include "tests/support/chain_application.h"
#include "tests/support/step_random.h"

namespace sluice::test {

inline Case chained_case(std::uint64_t seed, std::unique_ptr<ChainApplication>& application,
                         RandomOptions options = {}) {
    Case given = random_case(seed, options);
    Dice dice(seed ^ 0x636861696eULL);
    // Fewer and longer flows than in the step tests: there must be time to skip.
    given.flows.resize(std::min<std::size_t>(given.flows.size(), 6 + dice.below(8)));
    given.paths.resize(std::min(given.paths.size(), given.flows.size()));
    for (FlowSpec& spec : given.flows) {
        spec.size += dice.chance(70) ? 1'000'000 + dice.below(5'000'000) : 0;
    }
    given.stop = 4 * kMillisecond;
    application = chain_flows(dice, given);
    return given;
}

/// Runs `body(case, application)` on the chained case of each seed.
template <class Body>
void for_chained_cases(std::uint64_t first, std::uint64_t count, const RandomOptions& options,
                       Body&& body) {
    for (std::uint64_t seed = first; seed < first + count; ++seed) {
        std::unique_ptr<ChainApplication> application;
        Case given = chained_case(seed, application, options);
        INFO(given.name);
        body(seed, given, application.get());
    }
}

/// Settings under which nearly everything passes for steady, so that skips are many.
inline PhaseConfig eager_phases() {
    PhaseConfig config;
    config.detector.theta = 1e9;
    config.detector.span = kMicrosecond;
    config.detector.tolerance = 1e9;
    config.longest_skip = 200 * kMicrosecond;
    return config;
}

/// Reports no earlier skips, if it forgets.
class ForgetfulView final : public hybrid::NetworkView {
  public:
    ForgetfulView(step::WorldStore& store, const step::FlowPartitions& partitions, bool forgets)
        : NetworkView(store, partitions), forgets_(forgets) {}

    Tick skipped(FlowSlot flow) const override { return forgets_ ? 0 : NetworkView::skipped(flow); }

  private:
    bool forgets_;
};

/// An engine that keeps account of what the controller does to it.
class CheckedEngine final : public hybrid::PhaseEngine {
  public:
    CheckedEngine(step::WorldStore& store, const step::FlowPartitions& partitions,
                  hybrid::NetworkView& view)
        : PhaseEngine(store, partitions, view),
          advanced(store.results().size(), 0),
          world_(store.world()) {}

    void shift(const hybrid::Group& group, Tick dt) override {
        PhaseEngine::shift(group, dt);
        ++transitions;
    }
    void advance(FlowSlot flow, std::int64_t packets) override {
        PhaseEngine::advance(flow, packets);
        of(flow) += packets * view().payload();
        if (!folds) {
            CHECK(of(flow) >= 0);
        }
    }
    void rescale_law(FlowSlot flow, double factor, Tick now) override {
        PhaseEngine::rescale_law(flow, factor, now);
        if (world_.sender_at[flow] == kNone) {
            return;  // it follows another
        }
        const step::Sender& sender = step::sender_of(world_, flow);
        CHECK(sender.cc.rate > 0);
        CHECK(sender.cc.rate <= sender.cc.line_rate);
        CHECK(sender.window == congestion::window(sender.cc, view().law()));
        ++transitions;
        ++rescaled;
    }
    hybrid::RestoredQueues set_queues(const hybrid::Group& group, const hybrid::Skipped& skip,
                                      const std::vector<PortId>& ports,
                                      const std::vector<double>& wanted, Tick now) override {
        std::vector<std::int64_t> before;
        std::vector<std::uint32_t> sent;
        for (const FlowId flow : group.flows) {
            before.push_back(size_of(flow));
            sent.push_back(step::sender_of(world_, flow).next);
        }
        const hybrid::RestoredQueues made =
            PhaseEngine::set_queues(group, skip, ports, wanted, now);
        std::int64_t shorter = 0;
        for (std::size_t i = 0; i < group.flows.size(); ++i) {
            const std::int64_t taken = before[i] - size_of(group.flows[i]);
            of(group.flows[i]) += taken;
            shorter += taken;
            CHECK((folds || of(group.flows[i]) >= 0));
            // The packet that fills the window asks for an ACK: the sender's to send.
            const step::Sender& sender = step::sender_of(world_, group.flows[i]);
            if (sender.next > sent[i]) {
                CHECK(sender.next_bytes - sender.una_bytes + sender.behind < sender.window);
            }
        }
        CHECK(shorter == made.delivered * view().payload());
        ++transitions;
        restored.delivered += made.delivered;
        restored.given_back += made.given_back;
        restored.placed += made.placed;
        return made;
    }

    std::vector<std::int64_t> advanced;  ///< payload bytes, by flow
    bool folds = false;                  ///< what flows were folded with is taken for their own
    std::uint64_t transitions = 0;       ///< shifts, queues set and laws rescaled
    std::uint64_t rescaled = 0;
    hybrid::RestoredQueues restored;

  private:
    /// Workers have slots in stock: there may be more of them than flows.
    std::int64_t& of(FlowSlot flow) {
        advanced.resize(std::max<std::size_t>(advanced.size(), std::size_t{flow} + 1), 0);
        return advanced[flow];
    }
    std::int64_t size_of(FlowId flow) { return step::sender_of(world_, flow).size; }

    step::World& world_;
};

/// What is known of episodes is used by a run's controller; null: it need not be.
inline std::unique_ptr<hybrid::Episodes> remember_episodes(hybrid::PhaseController& controller,
                                                           step::WorldStore& store,
                                                           hybrid::EpisodeMemory* memory,
                                                           hybrid::EpisodeWatcher* watcher) {
    const hybrid::PhaseParts parts = controller.parts();
    if (memory == nullptr || !hybrid::Episodes::may_defer(parts)) {
        return nullptr;
    }
    auto episodes = std::make_unique<hybrid::Episodes>(parts, store, *memory, watcher);
    controller.defer(*episodes);
    return episodes;
}

/// Capacity, and what INT tells, between two transitions.
inline void check_ports(const Case& given, const step::WorldStore& store, Tick now) {
    const step::World& world = store.world();
    const std::vector<PortStatistics> ports = store.port_statistics(now);
    double fastest = 0;  // bytes per tick
    for (const Link& link : given.topology.links()) {
        fastest = std::max(fastest, static_cast<double>(link.rate.bits_per_second) / 8e12);
    }
    for (PortId p = 0; p < given.topology.port_count(); ++p) {
        // In 1/8 ticks of the port's rate; a frame may be under way, and rates round up to a frame
        // per skip and flow.
        const double per_tick = static_cast<double>(given.topology.rate(p).bits_per_second) / 8e12;
        const double can = per_tick * static_cast<double>(now);
        const double frame = world.payload + world.data_overhead;
        // Ports learn of ACKs that are no packets up to 2.5 base RTTs late; these answer to what the
        // fastest NIC sends.
        const bool local = store.answers_left_out();
        const double late = 2.5 * static_cast<double>(world.base_rtt) * fastest *
                            world.config->format.ack / frame *
                            static_cast<double>(given.flows.size());
        CHECK(static_cast<double>(ports[p].tx_bytes) <=
              can * (local ? 1.001 : 1.0001) + 2 * frame +
                  (local ? std::min(static_cast<double>(store.crossed_bytes(p)), late) : 0));
        // What INT tells of a port stands within its unit where it would stand without skips.
        const auto unit = static_cast<std::int64_t>(world.int_units.bytes_unit);
        CHECK((ports[p].tx_bytes - store.crossed_bytes(p) - world.egress[p].tx_bytes) % unit == 0);
    }
}

/// Conservation and capacity as they stand between two transitions.
inline void check_contracts(const Case& given, const step::WorldStore& store,
                            const std::vector<std::int64_t>& advanced, Tick now) {
    const step::World& world = store.world();
    std::vector<std::int64_t> in_network(given.flows.size(), 0);
    const auto count = [&](step::Ring ring) {
        for (std::uint32_t i = ring.head; i != ring.tail; ++i) {
            const step::Packet& packet = ring.at(i);
            if (packet.packet_kind() == step::PacketKind::data) {
                in_network[packet.flow] += packet.bytes - world.data_overhead;
            }
        }
    };
    for (PortId p = 0; p < given.topology.port_count(); ++p) {
        count(world.link[p]);
        for (const step::Ring& queue : world.egress[p].queue) {
            count(queue);
        }
    }
    for (FlowId f = 0; f < given.flows.size(); ++f) {
        if (world.sender_at[f] == kNone) {
            continue;
        }
        const step::Sender& sender = step::sender_of(world, f);
        const step::Receiver& receiver = world.receiver[f];
        CHECK(sender.size + advanced[f] == given.flows[f].size);
        CHECK(sender.packets == receiver.packets);
        CHECK(sender.una <= receiver.expected);
        CHECK(receiver.expected <= sender.high);
        CHECK(sender.next <= sender.packets);
        if (sender.heir != kNone) {
            CHECK(step::source_of(world, f).senders[sender.heir].behind ==
                  sender.behind + sender.size - sender.una_bytes);
        }
        if (sender.retransmitted == 0 && sender.next == sender.high && world.drops == 0 &&
            receiver.last_nack == kNone) {
            const std::int64_t delivered =
                step::bytes_before(world, receiver.expected, sender.size);
            CHECK(delivered + in_network[f] == sender.next_bytes);
        }
    }
    check_ports(given, store, now);
}

struct HybridOutcome {
    Outcome outcome;
    hybrid::PhaseStatistics phases;
    std::vector<PhaseRecord> timeline;
    std::uint64_t checks = 0;
    std::uint64_t windows = 0;       ///< on one clock
    std::uint64_t pool_windows = 0;  ///< of them by several threads' workers
    hybrid::RestoredQueues restored;
    std::uint64_t rescaled = 0;  ///< laws that woke with another share
};

enum class Driver { windows, oracle };

/// Threads that step windows, and who steps which node.
struct Workers {
    step::Threads threads;
    std::vector<std::uint16_t> owner;
};

/// `check(now)`: before each step of a node.
template <class Check>
void run_in_windows(const Case& given, step::WorldStore& store, step::FlowPartitions& partitions,
                    hybrid::PhaseController& controller, FoldCounters* fold, const Workers* workers,
                    Check&& check, HybridOutcome& made) {
    step::CellStep step_cell(store.world());
    std::unique_ptr<step::WorkerPool> pool;
    engine::Driver windows(store, given.events, {}, engine::Clocks::one, partitions, &controller);
    if (workers != nullptr) {
        pool = std::make_unique<step::WorkerPool>(store, workers->threads, step::cell_stepper);
        pool->keep_division(workers->owner);
        windows.divide_windows(*pool);
    }
    std::unique_ptr<step::Folds> folds;
    if (fold != nullptr) {
        folds = std::make_unique<step::Folds>(store, controller.copy_notes());
        windows.fold(*folds);
    }
    windows.advance(given.stop, [&](const step::Cell& cell, Tick begin, Tick end) {
        check(begin);
        step_cell(cell, begin, end);
    });
    if (fold != nullptr) {
        windows.unfold();
        *fold = folds->counters();
    }
    made.windows = windows.windows();
    made.pool_windows = pool != nullptr ? pool->windows() : 0;
}

/// The same, by the oracle.
inline void run_by_oracle(const Case& given, step::WorldStore& store,
                          step::FlowPartitions& partitions, hybrid::PhaseController& controller) {
    std::vector<LinkEvent> events = given.events;
    std::stable_sort(events.begin(), events.end(),
                     [](const LinkEvent& a, const LinkEvent& b) { return a.at < b.at; });
    step::Oracle oracle(store);
    engine::FlowChanges changes(store, partitions, &controller);
    const step::World& world = store.world();
    const auto run = [&](Tick until) {
        return oracle.run(until, [&](Tick next) {
            if ((world.changed.count > 0 || world.disturbed.count > 0) && next > oracle.now()) {
                changes.take_up(oracle.now());
                return true;
            }
            const Tick cut = controller.next_cut();
            const bool due = next != kNever && cut < until && cut <= next;
            if (due) {
                controller.at_cut(cut);
            }
            return due;
        });
    };
    for (const LinkEvent& event : events) {
        if (event.at < given.stop && run(event.at)) {
            changes.links_change(event.at, [&] { store.set_link(event.link, event.up, event.at); });
            oracle.refresh_all();
        }
    }
    run(given.stop);
}

/// Local phases.
inline PhaseConfig local_phases() {
    PhaseConfig config;
    config.wake = Wake::data;
    return config;
}

/// Runs `given` in hybrid mode. `check`: look at every contract after every transition. `forgets`:
/// the controller does not learn what flows have skipped. `fold`: copies are executed once (on one clock,
/// without a checksum of what was executed), and what that came to. `workers`: on several threads. `memo`: of earlier runs'
/// profiles and trajectories.
inline HybridOutcome run_hybrid(const Case& given, const PhaseConfig& config, Driver driver,
                                Application* application = nullptr, bool check = false,
                                bool forgets = false, hybrid::Restorer* restorer = nullptr,
                                FoldCounters* fold = nullptr, const Workers* workers = nullptr,
                                hybrid::EpisodeMemory* memory = nullptr,
                                memo::Memo* memo = nullptr) {
    Routing routing(given.topology);
    step::WorldStore store(given.topology, routing, given.config, given.flows, given.paths,
                           application);
    step::World& world = store.world();
    world.digest_hops = fold == nullptr;
    step::FlowPartitions partitions(
        store, config.local() ? step::SharedBy::data_ports : step::SharedBy::cables);
    ForgetfulView view(store, partitions, forgets);
    CheckedEngine engine(store, partitions, view);
    engine.folds = fold != nullptr;
    const auto rates = make_rate_source(config.rates);
    hybrid::PhaseController controller(engine, partitions, rates.get(), restorer, config,
                                       given.stop);
    const auto episodes = remember_episodes(controller, store, memory, nullptr);
    memo::Memo nothing;
    hybrid::ProfileMemory profiles(memo != nullptr ? *memo : nothing, {});
    hybrid::TrajectoryMemory trajectories(memo != nullptr ? *memo : nothing, {});
    if (memo != nullptr) {
        controller.stages().calibration().use_memory(profiles);
        controller.stages().trajectories().known().use_memory(trajectories);
    }
    HybridOutcome made;
    controller.report().listen([&](const PhaseRecord& phase) { made.timeline.push_back(phase); });
    std::uint64_t seen = 0;
    const auto check_transitions = [&](Tick now) {
        if (check && engine.transitions != seen) {
            seen = engine.transitions;
            ++made.checks;
            check_contracts(given, store, engine.advanced, now);
        }
    };
    if (check) {
        store.pin_list();  // contracts are looked at flow by flow of the list
    }
    store.begin();
    if (driver == Driver::windows) {
        run_in_windows(given, store, partitions, controller, fold, workers, check_transitions,
                       made);
    } else {
        run_by_oracle(given, store, partitions, controller);
    }
    controller.finish(end_of(given));
    made.outcome = outcome_of(store, end_of(given));
    made.phases = controller.report().counters();
    made.restored = engine.restored;
    made.rescaled = engine.rescaled;
    for (FlowId f = 0; check && f < given.flows.size(); ++f) {
        if (store.results()[f].finish != kNever) {
            CHECK(world.receiver[f].expected == world.receiver[f].packets);
        }
    }
    return made;
}

}  // namespace sluice::test
