// SPDX-License-Identifier: Apache-2.0
#include "gpu/lane/work_desk.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/error.h"
#include "gpu/lane/device_error.h"

namespace sluice::gpu {

namespace {

/// Between two looks at the items that are out, and how many of them there are to a look at the kernel.
constexpr std::chrono::microseconds kDeskNap{100};
constexpr int kLooks = 100;

}  // namespace

/// An item of the queue in the hands of one run(), which holds the desk's mutex when it takes it and when it gives
/// it back.
class WorkDesk::Item {
  public:
    explicit Item(WorkDesk& desk) : number(desk.free_.back()), desk_(desk) {
        desk.free_.pop_back();
        desk.out_.push_back(number);
        desk.done_[number] = false;
    }
    ~Item() {
        desk_.out_.erase(std::find(desk_.out_.begin(), desk_.out_.end(), number));
        desk_.free_.push_back(number);
        desk_.free_item_.notify_one();
    }
    Item(const Item&) = delete;
    Item& operator=(const Item&) = delete;

    const std::uint32_t number;

  private:
    WorkDesk& desk_;
};

WorkDesk::WorkDesk(WorkQueue& queue, std::function<std::string()> death)
    : queue_(queue),
      death_(std::move(death)),
      done_(queue.count),
      told_(new std::condition_variable[queue.count]) {
    for (std::uint32_t i = queue.count; i > 0; --i) {
        free_.push_back(i - 1);
    }
    out_.reserve(queue.count);
    looker_ = std::thread([this] { look(); });
}

WorkDesk::~WorkDesk() {
    {
        const std::lock_guard lock(mutex_);
        closed_ = true;
        work_.notify_one();
    }
    looker_.join();
}

LaneReport WorkDesk::run(Lane& lane, const LaneOrder& order) {
    std::unique_lock lock(mutex_);
    free_item_.wait(lock, [&] { return !dead_.empty() || !free_.empty(); });
    if (!dead_.empty()) {
        throw DeviceError(dead_);
    }
    const Item mine(*this);
    WorkItem& item = queue_.item[mine.number];
    item.lane = &lane;
    item.order = order;
    __atomic_store_n(&item.placed, item.placed + 1, __ATOMIC_RELEASE);
    work_.notify_one();
    told_[mine.number].wait(lock, [&] { return !dead_.empty() || done_[mine.number]; });
    if (!done_[mine.number]) {
        throw DeviceError(dead_);
    }
    return item.report;
}

/// Tells those whose items are done. False: none is out.
bool WorkDesk::collect() {
    bool any = false;
    for (const std::uint32_t i : out_) {
        const WorkItem& item = queue_.item[i];
        if (!done_[i] && __atomic_load_n(&item.done, __ATOMIC_ACQUIRE) == item.placed) {
            done_[i] = true;
            told_[i].notify_one();
        }
        any = any || !done_[i];
    }
    return any;
}

void WorkDesk::look() {
    std::unique_lock lock(mutex_);
    for (int look = 1; !closed_ && dead_.empty(); ++look) {
        if (!collect()) {
            work_.wait(lock);
            continue;
        }
        lock.unlock();
        const std::string why = look % kLooks == 0 ? death_() : "";
        std::this_thread::sleep_for(kDeskNap);
        lock.lock();
        dead_ = why;
    }
    // What was done before the end is done.
    collect();
    free_item_.notify_all();
    for (std::uint32_t i = 0; i < queue_.count; ++i) {
        told_[i].notify_all();
    }
}

std::uint32_t gangs_that_fit(std::uint32_t resident, std::uint32_t blocks_of_gang,
                             std::uint32_t lanes) {
    if (blocks_of_gang > resident) {
        throw ConfigError("--gang " + std::to_string(blocks_of_gang) + ": the GPU holds " +
                          std::to_string(resident) + " blocks at once");
    }
    return std::max(std::min(resident / blocks_of_gang, lanes), 1U);
}

}  // namespace sluice::gpu
