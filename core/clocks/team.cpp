// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/team.h"

#include <algorithm>
#include <utility>

namespace sluice::step {

namespace {

/// Looks at a meeting before a thread goes to sleep: a few microseconds, less than waking takes.
constexpr int kPatience = 2000;

}  // namespace

Team::Team(WorldStore& store, std::uint32_t workers,
           const std::function<Step(World& world)>& make_step, Arrange arrange)
    : store_(store), arrange_(std::move(arrange)), workers_(workers) {
    for (Worker& worker : workers_) {
        const bool caller = &worker == &workers_.front();
        worker.world = caller ? &store.world() : &store.add_worker();
        worker.step = make_step(*worker.world);
    }
    for (auto worker = workers_.begin() + 1; worker < workers_.end(); ++worker) {
        worker->thread = std::thread([this, own = &*worker] { work(*own); });
    }
}

Team::~Team() {
    leaving_ = true;
    meet();
    for (Worker& worker : workers_) {
        if (worker.thread.joinable()) {
            worker.thread.join();
        }
    }
}

/// Until all workers have come here; what each has done before, all see after.
void Team::meet() {
    const std::uint32_t meeting = meetings_.load(std::memory_order_relaxed);
    if (present_.fetch_add(1, std::memory_order_acq_rel) + 1 == workers_.size()) {
        present_.store(0, std::memory_order_relaxed);
        {
            const std::lock_guard<std::mutex> lock(sleep_);
            meetings_.fetch_add(1, std::memory_order_release);
        }
        over_.notify_all();
        return;
    }
    const auto over = [&] { return meetings_.load(std::memory_order_acquire) != meeting; };
    for (int looks = 0; looks < kPatience; ++looks) {
        if (over()) {
            return;
        }
    }
    std::unique_lock<std::mutex> lock(sleep_);
    over_.wait(lock, over);
}

void Team::work(Worker& worker) {
    for (;;) {
        meet();
        if (leaving_) {
            return;
        }
        run_part(worker, true);
        meet();
        run_part(worker, false);
        meet();
    }
}

/// A worker's cells: their snapshots, or their steps.
void Team::run_part(Worker& worker, bool snapshot) {
    try {
        for (const NodeId node : worker.cells) {
            if (snapshot) {
                take_snapshot(*worker.world, whole_node(node));
            } else {
                worker.step(whole_node(node), begin_, end_);
            }
        }
    } catch (...) {
        worker.error = std::current_exception();
    }
}

void Team::list_cells(Tick end) {
    const World& world = store_.world();
    cells_.clear();
    blocks_.clear();
    for (std::uint32_t block = 0; block * 64 < world.node_count; ++block) {
        if (world.block_wake[block] >= end) {
            continue;
        }
        blocks_.push_back(block);
        const NodeId last = std::min((block + 1) * 64, world.node_count);
        for (NodeId node = block * 64; node < last; ++node) {
            if (world.wake[node] < end) {
                cells_.push_back(node);
            }
        }
    }
    if (arrange_) {
        arrange_(cells_);
    }
    for (Worker& worker : workers_) {
        worker.cells.clear();
    }
    for (std::size_t i = 0; i < cells_.size(); ++i) {
        workers_[i % workers_.size()].cells.push_back(cells_[i]);
    }
}

/// Hosts whose flows found no slot go on from there, to the window's end or to the next such flow.
void Team::serve_stalled() {
    for (bool again = true; again;) {
        again = false;
        for (Worker& worker : workers_) {
            const std::uint32_t count = std::exchange(worker.world->stalled.count, 0U);
            const CellId* const stalled = worker.world->stalled.data;
            const std::vector<NodeId> hosts(stalled, stalled + count);
            for (const NodeId host : hosts) {
                store_.serve_stalled(host);
                worker.step(whole_node(host), begin_, end_);
                again = true;
            }
        }
    }
}

void Team::gather_wakes() {
    World& world = store_.world();
    for (const std::uint32_t block : blocks_) {
        const NodeId last = std::min((block + 1) * 64, world.node_count);
        world.block_wake[block] = *std::min_element(world.wake + block * 64, world.wake + last);
    }
}

void Team::run_window(Tick begin, Tick end) {
    begin_ = begin;
    end_ = end;
    list_cells(end);
    store_.begin_shared();
    meet();
    run_part(workers_.front(), true);
    meet();
    run_part(workers_.front(), false);
    meet();
    for (Worker& worker : workers_) {
        if (worker.error != nullptr) {
            std::rethrow_exception(std::exchange(worker.error, nullptr));
        }
    }
    serve_stalled();
    gather_wakes();
    store_.end_shared();
}

}  // namespace sluice::step
