// SPDX-License-Identifier: Apache-2.0
/// Several threads that step windows. Each has nodes of its own (divide_nodes()), which it steps window after
/// window, so that what belongs to them stays in its core's cache; within a window nobody reads what another
/// one writes (core/packet/state.h). There is no lock, nothing depends on who steps what, and results are
/// those of one thread to the bit. A window, of all workers at once:
///
///   own nodes that have something to do are stepped
///   barrier
///   what others have sent to own nodes is put on their links
///   barrier; all know the next instant, and go on to the next window
///
/// until the caller has something to do between windows: flows that opened or closed, a cut.
///
/// For one clock (Driver::divide_windows). The application's callbacks are called by the worker that steps
/// their host.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "core/clocks/barrier.h"
#include "core/world/world_store.h"

namespace sluice::step {

/// How many threads step windows, and when.
struct Threads {
    std::uint32_t count = 1;
    /// If not 0: only windows that have so much to do, packets sent and received, on average, and only as
    /// long as they are done faster so. Others cost more than they gain.
    std::uint64_t least_events = 0;
    /// Where windows lately had less to do, one of them steps them all, without barriers.
    double worth_barriers = 0;
};

/// The step of the devices of core/packet/, by a worker's world, which must outlive it. In a file of its own:
/// how the packet path is compiled must not depend on who else calls it.
std::function<void(const Cell& cell, Tick begin, Tick end)> cell_stepper(World& world);

class WorkerPool {
  public:
    /// How a worker steps one of its cells, by its own world.
    using Step = std::function<void(const Cell& cell, Tick begin, Tick end)>;

    /// `threads.count` >= 1, the calling thread among them. `make_step` is called for each worker's world,
    /// here. The store must outlive it. ConfigError if the system does not make so many threads.
    WorkerPool(WorldStore& store, Threads threads,
               const std::function<Step(World& world)>& make_step);
    ~WorkerPool();
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;

    /// Gives each node to the worker of that number, for good, instead of by what is sent.
    void keep_division(std::vector<std::uint16_t> owner);

    /// Windows executed.
    struct Stretch {
        std::uint64_t windows = 0;
        Tick end = 0;       ///< of the last one
        double events = 0;  ///< of a window lately
    };
    /// Whether the network's next windows, of which `windows` have been executed, are for the pool. If not,
    /// all is in world().
    bool takes(std::uint64_t windows) {
        choice_.asked = windows;
        if (windows >= next_look_) {
            look(windows);
        }
        return divided_;
    }
    /// Runs a window of all nodes that is not for the pool, the `windows`-th one. How fast that goes tells whether the pool is
    /// worth it.
    template <class RunWindow>
    void run_unshared(std::uint64_t windows, RunWindow&& run_window) {
        if (threads_.least_events == 0 || windows + kTimed < next_look_) {
            run_window();
            return;
        }
        time([&] { run_window(); });
    }
    /// Windows as run_window() (core/clocks/window_loop.h), from `begin` = next_instant() on, none beyond
    /// `until`, up to `most` of them, until one has reached `report` or the caller has something to do. Throws
    /// what a step throws; then the world is in the middle of a window. After takes().
    Stretch run(Tick begin, Tick until, Tick report, std::uint64_t most);
    /// One worker steps all, by world(), until takes() says otherwise. Between windows.
    void unite();

    /// Windows that it has executed.
    std::uint64_t windows() const { return windows_; }
    std::uint32_t size() const { return static_cast<std::uint32_t>(workers_.size()); }

  private:
    using Clock = std::chrono::steady_clock;
    /// What a worker tells the others at barriers.
    struct alignas(64) Worker {
        step::Worker* part = nullptr;
        Step step;
        std::exception_ptr error;
        std::thread thread;
        std::uint64_t stepped = 0;       ///< events of its last window
        alignas(64) Tick next = kNever;  ///< instant of its nodes
        std::uint64_t events = 0;        ///< `stepped`, as the others may read it
        bool stalled = false;            ///< hosts wait for slots
        bool done = false;               ///< the caller has something to do
    };

    /// What run() was asked for.
    struct Order {
        Tick begin = 0;
        Tick until = 0;
        Tick report = 0;
        std::uint64_t most = 0;
        double events = 0;  ///< of a window lately
        bool together = true;
    };

    /// Of so many windows before a look it is measured how fast one thread is.
    static constexpr std::uint64_t kTimed = 64;

    /// Of windows that have been timed.
    struct Timed {
        std::uint64_t events = 0;
        Clock::duration time{};
        /// Events per second.
        double rate() const {
            return static_cast<double>(events) /
                   std::max(std::chrono::duration<double>(time).count(), 1e-9);
        }
    };
    struct Pace {
        double events = 0;  ///< of a window
        double rate = 0;    ///< events per second
    };
    /// What is known of whether the pool is worth it, where it may choose.
    struct Choice {
        double least = 0;          ///< events that a window must have
        double alone = 0;          ///< events per second of one worker, when it was last tried
        Pace doubted;              ///< of all workers, if they seemed too slow
        Timed timed;               ///< since the last look
        std::uint64_t looked = 0;  ///< windows of the network at the last look
        std::uint64_t events = 0;  ///< the same
        std::uint64_t asked = 0;   ///< windows, when takes() was asked last
        bool on_trial = false;     ///< the network has just been divided
    };
    template <class Windows>
    void time(Windows&& windows) {
        const Clock::time_point begin = Clock::now();
        const std::uint64_t before = store_.world().events;
        windows();
        choice_.timed.events += store_.world().events - before;
        choice_.timed.time += Clock::now() - begin;
    }

    void join();
    void look(std::uint64_t windows);
    bool is_worth_dividing(std::uint64_t windows);
    void run_shared();
    void plan();
    void work(Worker& worker);
    template <class StepWindow>
    Stretch run_stretch(StepWindow&& step_window);
    void run_together(Worker& worker);
    void run_alone();
    double events_lately(double before) const;
    void step_window(Worker& worker, Tick begin, Tick end);
    void step_window_alone(Tick begin, Tick end);
    void take_delivery(Worker& worker);
    void step_block(Worker& worker, std::uint32_t block, Tick begin, Tick end);
    void step_nodes(Worker& worker, Tick begin, Tick end);
    void serve_stalled(Tick begin, Tick end);
    bool any_stalled() const;

    WorldStore& store_;
    const Threads threads_;
    std::vector<Worker> workers_;
    Barrier barrier_;
    Order order_;
    Stretch stretch_;
    bool leaving_ = false;
    // Who steps what.
    bool divided_ = false;
    bool kept_ = false;  ///< keep_division()
    std::vector<std::uint16_t> owner_;
    std::uint64_t windows_ = 0;
    std::uint64_t next_look_ = 0;  ///< in windows of the network
    Choice choice_;
    std::vector<std::uint64_t> sent_;  ///< by port, at the last look
    double found_ = 0;  ///< how far the division was from an even one, as it was found
};

}  // namespace sluice::step
