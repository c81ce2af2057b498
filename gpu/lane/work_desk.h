// SPDX-License-Identifier: Apache-2.0
/// The host's side of a WorkQueue: threads hand lanes in and sleep until they are executed; one thread looks
/// after all items that are out, and after the kernel. When that has ended before its time, everybody hears of it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "gpu/lane/work_queue.h"

namespace sluice::gpu {

class WorkDesk {
  public:
    /// The queue must outlive this. `death` says why the kernel has ended, "" while it has not; called by one thread.
    WorkDesk(WorkQueue& queue, std::function<std::string()> death);
    /// All calls of run() have returned.
    ~WorkDesk();
    WorkDesk(const WorkDesk&) = delete;
    WorkDesk& operator=(const WorkDesk&) = delete;

    /// Has the lane executed; waits while all items are out. Any thread. DeviceError when the kernel has ended.
    LaneReport run(Lane& lane, const LaneOrder& order);

  private:
    class Item;
    void look();
    bool collect();

    WorkQueue& queue_;
    std::function<std::string()> death_;
    std::mutex mutex_;                   ///< of what follows
    std::condition_variable free_item_;  ///< or the kernel's end
    std::condition_variable work_;       ///< for the thread that looks
    std::vector<std::uint32_t> free_;
    std::vector<std::uint32_t> out_;
    std::vector<bool> done_;
    std::unique_ptr<std::condition_variable[]> told_;  ///< by item: done, or the kernel's end
    std::string dead_;
    bool closed_ = false;
    std::thread looker_;
};

/// Gangs of `blocks_of_gang` blocks that a device works with which holds `resident` blocks at once, at most one a
/// lane. All of a gang must be there, as they wait for each other: ConfigError if not even one gang is.
std::uint32_t gangs_that_fit(std::uint32_t resident, std::uint32_t blocks_of_gang,
                             std::uint32_t lanes);

}  // namespace sluice::gpu
