// SPDX-License-Identifier: Apache-2.0
/// Several threads that step the cells of one window. Within a window nobody reads what another worker
/// writes (core/packet/state.h), so there is no lock, nothing depends on which worker steps which cell,
/// and results are those of one thread to the bit. A window:
///
///   cells that have something to do are listed and dealt out    the caller
///   take_snapshot() of each                                     all workers
///   each is stepped                                             all workers
///   stalled hosts go on; end_shared()                           the caller
///
/// For one clock (Driver::divide_windows). The application's callbacks are called by the worker that steps
/// their host.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "core/world/world_store.h"

namespace sluice::step {

class Team {
  public:
    /// How a worker steps one of its cells, by its own world.
    using Step = std::function<void(const Cell& cell, Tick begin, Tick end)>;
    /// Puts a window's cells into another order; they are dealt out by turns. Nothing depends on it.
    using Arrange = std::function<void(std::vector<NodeId>& cells)>;

    /// `workers` >= 1, the calling thread among them. `make_step` is called for each worker's world, here.
    /// The store must outlive it.
    Team(WorldStore& store, std::uint32_t workers,
         const std::function<Step(World& world)>& make_step, Arrange arrange = {});
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    /// run_window() (core/clocks/window_loop.h). Throws what a step throws; then the world is in the
    /// middle of a window.
    void run_window(Tick begin, Tick end);

  private:
    struct alignas(64) Worker {
        World* world = nullptr;
        Step step;
        std::vector<NodeId> cells;
        std::exception_ptr error;
        std::thread thread;
    };

    void work(Worker& worker);
    void run_part(Worker& worker, bool snapshot);
    void list_cells(Tick end);
    void meet();
    void serve_stalled();
    void gather_wakes();

    WorldStore& store_;
    Arrange arrange_;
    std::vector<Worker> workers_;
    std::vector<NodeId> cells_;          ///< of the window
    std::vector<std::uint32_t> blocks_;  ///< that they are in
    Tick begin_ = 0;
    Tick end_ = 0;
    bool leaving_ = false;
    std::atomic<std::uint32_t> present_{0};   ///< workers that have come to a meeting
    std::atomic<std::uint32_t> meetings_{0};  ///< that are over
    std::mutex sleep_;                        ///< of workers that wait for long
    std::condition_variable over_;
};

}  // namespace sluice::step
