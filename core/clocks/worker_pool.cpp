// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/worker_pool.h"

#include <algorithm>
#include <string>
#include <system_error>
#include <utility>

#include "core/bits.h"
#include "core/clocks/division.h"
#include "core/clocks/window_loop.h"
#include "core/error.h"
#include "core/world/wakes.h"

namespace sluice::step {

namespace {

/// Looks at a barrier before a thread goes to sleep, about as long as waking takes; and where threads have
/// no cores of their own, so that waiting takes another one's time.
constexpr int kLooks = 10000;
constexpr int kLooksCrowded = 20;

/// Windows from one look at how much they have to do to the next.
constexpr std::uint64_t kLookEvery = 256;
/// The first look after a division. On a machine whose cores have other work a window may take a hundred times as long, since
/// workers wait for each other to be scheduled.
constexpr std::uint64_t kTrial = 16;
/// Windows until nodes are divided by what they have sent for the first time.
constexpr std::uint64_t kFirstLook = 32;
/// A division is looked for anew when the one in use does worse, beside one that shares all work evenly, than
/// it did when it was found; and taken if it promises to be better.
constexpr double kWorse = 1.03;
constexpr double kBetter = 0.98;
constexpr double kNoDivision = 1e30;
/// Weight of a window in what windows have to do: those that cuts make short alternate with others.
constexpr double kLatest = 0.125;
/// Where the pool may choose, it must be faster than one worker by this. If it is not, windows must have so many
/// times as much to do; at each look that is forgotten by a part, for other work of the machine may have ended.
constexpr double kFaster = 1.1;
constexpr double kMuchSlower = 0.5;  ///< as fast as one, or less, after a trial
constexpr double kMore = 2;
constexpr double kForgets = 0.9965;

}  // namespace

WorkerPool::WorkerPool(WorldStore& store, Threads threads,
                       const std::function<Step(World& world)>& make_step)
    : store_(store),
      threads_(threads),
      workers_(threads.count),
      barrier_(threads.count,
               threads.count <= std::thread::hardware_concurrency() ? kLooks : kLooksCrowded) {
    choice_.least = static_cast<double>(threads.least_events);
    for (Worker& worker : workers_) {
        worker.part = &store.workers().add();
        worker.step = make_step(worker.part->world);
    }
    try {
        for (auto worker = workers_.begin() + 1; worker < workers_.end(); ++worker) {
            worker->thread = std::thread([this, own = &*worker] { work(*own); });
        }
    } catch (const std::system_error& error) {
        leaving_ = true;
        barrier_.fail();
        join();
        throw ConfigError("the system does not make " + std::to_string(threads_.count) +
                          " threads here (" + error.code().message() + "); allowed: fewer");
    }
}

WorkerPool::~WorkerPool() {
    leaving_ = true;
    barrier_.arrive_and_wait();
    join();
}

void WorkerPool::join() {
    for (Worker& worker : workers_) {
        if (worker.thread.joinable()) {
            worker.thread.join();
        }
    }
}

void WorkerPool::keep_division(std::vector<std::uint16_t> owner) {
    kept_ = true;
    owner_ = std::move(owner);
    unite();
    next_look_ = 0;
}

void WorkerPool::unite() {
    if (divided_) {
        divided_ = false;
        store_.workers().unite();
    }
    next_look_ = 0;
}

/// Divides the network, or not, by what its last windows had to do, and how fast that went.
void WorkerPool::look(std::uint64_t windows) {
    const bool tried = choice_.on_trial;
    if (threads_.least_events > 0 && !is_worth_dividing(windows)) {
        return;
    }
    if (!kept_ && !tried) {
        plan();
    }
    next_look_ = windows < kFirstLook ? kFirstLook : windows + kLookEvery;
    if (!divided_) {
        store_.workers().divide(owner_);
        divided_ = true;
        choice_.on_trial = threads_.least_events > 0;
        next_look_ = choice_.on_trial ? windows + kTrial : next_look_;
    }
}

/// If not, one goes on alone until the next look.
bool WorkerPool::is_worth_dividing(std::uint64_t windows) {
    const std::uint64_t all = store_.world().events;
    const auto events = static_cast<double>(all - std::exchange(choice_.events, all));
    const std::uint64_t more = windows - std::exchange(choice_.looked, windows);
    const double each = more > 0 ? events / static_cast<double>(more) : 0;
    const Pace pace{each, std::exchange(choice_.timed, {}).rate()};
    if (divided_) {
        const double least = std::exchange(choice_.on_trial, false) ? kMuchSlower : kFaster;
        const bool slow = pace.rate < least * choice_.alone;
        if (each >= choice_.least / 2 && !slow) {
            return true;
        }
        // Perhaps these are other windows than those that one was tried with: so it is tried with these.
        choice_.doubted = slow ? pace : Pace{};
        unite();
        next_look_ = windows + kLookEvery;
        return false;
    }
    choice_.alone = pace.rate;
    const Pace doubted = std::exchange(choice_.doubted, {});
    const bool slow = doubted.rate > 0 && doubted.rate < kFaster * choice_.alone;
    choice_.least =
        slow ? std::max(choice_.least, kMore * doubted.events)
             : std::max(choice_.least * kForgets, static_cast<double>(threads_.least_events));
    if (each < choice_.least || choice_.alone == 0) {
        next_look_ = windows + kLookEvery;
        return false;
    }
    return true;
}

/// Divides nodes by what was sent since the last look, ports that were silent as if all were alike.
void WorkerPool::plan() {
    const Topology& topology = store_.topology();
    sent_.resize(topology.port_count(), 0);
    std::vector<std::uint64_t> packets(sent_.size());
    for (PortId p = 0; p < packets.size(); ++p) {
        const auto sent = static_cast<std::uint64_t>(store_.world().egress[p].tx_packets);
        packets[p] = 64 * (sent - sent_[p]) + 1;
        sent_[p] = sent;
    }
    const double now = owner_.empty() ? kNoDivision : unevenness(topology, packets, owner_, size());
    if (now <= kWorse * found_) {
        return;
    }
    std::vector<std::uint16_t> owner = divide_nodes(topology, packets, size());
    found_ = unevenness(topology, packets, owner, size());
    if (found_ > kBetter * now) {
        found_ = now;
        return;
    }
    owner_ = std::move(owner);
    divided_ = false;
}

void WorkerPool::work(Worker& worker) {
    for (;;) {
        barrier_.arrive_and_wait();
        if (leaving_) {
            return;
        }
        run_together(worker);
    }
}

WorkerPool::Stretch WorkerPool::run(Tick begin, Tick until, Tick report, std::uint64_t most) {
    const bool together = stretch_.events >= threads_.worth_barriers;
    const std::uint64_t left = choice_.on_trial ? std::min(most, next_look_ - choice_.asked) : most;
    order_ = {begin, until, report, left, stretch_.events, together};
    if (threads_.least_events > 0) {
        time([this] { run_shared(); });
    } else {
        run_shared();
    }
    windows_ += stretch_.windows;
    return stretch_;
}

void WorkerPool::run_shared() {
    store_.workers().begin_shared();
    if (order_.together) {
        barrier_.arrive_and_wait();
        run_together(workers_.front());
    } else {
        run_alone();
    }
    for (Worker& worker : workers_) {
        if (worker.error != nullptr) {
            std::rethrow_exception(std::exchange(worker.error, nullptr));
        }
    }
    store_.workers().end_shared();
}

/// Packets that a window had to do with lately, the last one included.
double WorkerPool::events_lately(double before) const {
    std::uint64_t events = 0;
    for (const Worker& worker : workers_) {
        events += worker.events;
    }
    return before + kLatest * (static_cast<double>(events) - before);
}

/// Every worker comes to the same windows, and to the same end.
template <class StepWindow>
WorkerPool::Stretch WorkerPool::run_stretch(StepWindow&& step_window) {
    const Tick lookahead = store_.world().lookahead;
    const Order order = order_;  // the caller may be ahead, and give the next one
    Stretch stretch;
    stretch.events = order.events;
    Tick begin = order.begin;
    for (bool done = false; !done;) {
        const Tick end = std::min(begin + lookahead, order.until);
        step_window(begin, end);
        ++stretch.windows;
        stretch.end = end;
        done = stretch.windows >= order.most || end >= order.report;
        begin = kNever;
        for (const Worker& other : workers_) {
            begin = std::min(begin, other.next);
            done = done || other.done;
        }
        stretch.events = events_lately(stretch.events);
        done = done || begin >= order.until ||
               order.together != (stretch.events >= threads_.worth_barriers);
    }
    return stretch;
}

void WorkerPool::run_together(Worker& worker) {
    store_.workers().find_wakes(*worker.part);
    const Stretch stretch =
        run_stretch([&](Tick begin, Tick end) { step_window(worker, begin, end); });
    if (&worker == &workers_.front()) {
        stretch_ = stretch;
    }
}

void WorkerPool::run_alone() {
    barrier_.await_others();  // they may be in the last stretch yet
    for (Worker& worker : workers_) {
        store_.workers().find_wakes(*worker.part);
    }
    stretch_ = run_stretch([&](Tick begin, Tick end) { step_window_alone(begin, end); });
}

void WorkerPool::step_window(Worker& worker, Tick begin, Tick end) {
    step_nodes(worker, begin, end);
    worker.stalled = worker.part->world.stalled.count > 0;
    barrier_.arrive_and_wait();
    if (any_stalled()) {
        if (&worker == &workers_.front()) {
            serve_stalled(begin, end);
        }
        barrier_.arrive_and_wait();
    }
    take_delivery(worker);
    barrier_.arrive_and_wait();
    Workers::delivered(*worker.part);
}

/// One of them steps what is all of theirs.
void WorkerPool::step_window_alone(Tick begin, Tick end) {
    for (Worker& worker : workers_) {
        step_nodes(worker, begin, end);
    }
    serve_stalled(begin, end);
    for (Worker& worker : workers_) {
        take_delivery(worker);
    }
    for (Worker& worker : workers_) {
        Workers::delivered(*worker.part);
    }
}

void WorkerPool::take_delivery(Worker& worker) {
    const World& world = worker.part->world;
    store_.workers().deliver(*worker.part);
    worker.next = next_instant(world);
    worker.events = worker.stepped;
    worker.done = worker.error != nullptr || world.changed.count > 0 || world.disturbed.count > 0 ||
                  world.called.count > 0;
}

bool WorkerPool::any_stalled() const {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](const Worker& worker) { return worker.stalled; });
}

void WorkerPool::step_nodes(Worker& worker, Tick begin, Tick end) {
    const auto blocks = static_cast<std::uint32_t>(worker.part->mine.size());
    const std::uint64_t before = worker.part->world.events;
    try {
        for (std::uint32_t block = 0; block < blocks; ++block) {
            if (worker.part->block_wake[block] < end) {
                step_block(worker, block, begin, end);
            }
        }
    } catch (...) {
        worker.error = std::current_exception();
    }
    worker.stepped = worker.part->world.events - before;
}

void WorkerPool::step_block(Worker& worker, std::uint32_t block, Tick begin, Tick end) {
    const World& world = worker.part->world;
    const std::uint64_t mine = worker.part->mine[block];
    const NodeId last = std::min((block + 1) * 64, world.node_count);
    for (std::uint64_t left = mine; left != 0; left &= left - 1) {
        const NodeId node = block * 64 + first_bit(left);
        if (world.wake[node] < end) {
            if ((left & (left - 1)) != 0) {
                prefetch_node(world, block * 64 + first_bit(left & (left - 1)), last);
            }
            worker.step(whole_node(node), begin, end);
        }
    }
    worker.part->block_wake[block] = earliest_wake(world, block, mine);
}

/// Hosts whose flows found no slot go on from there, to the window's end or to the next such flow.
void WorkerPool::serve_stalled(Tick begin, Tick end) {
    for (bool again = true; again;) {
        again = false;
        for (Worker& worker : workers_) {
            World& world = worker.part->world;
            const std::uint32_t count = std::exchange(world.stalled.count, 0U);
            const CellId* const stalled = world.stalled.data;
            const std::vector<NodeId> hosts(stalled, stalled + count);
            again = again || count > 0;
            // Whatever goes wrong, the others wait at the window's end.
            try {
                for (const NodeId host : hosts) {
                    store_.workers().serve_stalled(host);
                    worker.step(whole_node(host), begin, end);
                    worker.part->block_wake[host >> 6] =
                        earliest_wake(world, host >> 6, worker.part->mine[host >> 6]);
                }
            } catch (...) {
                worker.error = std::current_exception();
            }
        }
    }
}

}  // namespace sluice::step
