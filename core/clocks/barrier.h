// SPDX-License-Identifier: Apache-2.0
/// Where threads wait for each other, again and again: what each has done before, all see after. Who waits
/// looks for a while before he sleeps, because others come within microseconds as a rule.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace sluice::step {

class Barrier {
  public:
    /// `looks`: before a thread goes to sleep.
    Barrier(std::uint32_t members, int looks) : members_(members), looks_(looks) {}
    Barrier(const Barrier&) = delete;
    Barrier& operator=(const Barrier&) = delete;

    /// Until all members have come. False: one of them will not, for it has failed.
    bool arrive_and_wait();
    /// A member fails: nobody waits for it, now or later. Barriers that it came to have been passed.
    void fail();
    /// Until all others have come, who go on waiting: what they have done before, the caller sees after.
    void await_others() const;

  private:
    bool sleep(std::uint32_t round);

    const std::uint32_t members_;
    const int looks_;
    alignas(64) std::atomic<std::uint32_t> present_{0};  ///< members that have come
    alignas(64) std::atomic<std::uint32_t> passed_{0};   ///< rounds that are over
    alignas(64) std::atomic<std::uint32_t> asleep_{0};
    std::atomic<bool> failed_{false};
    std::mutex bed_;
    std::condition_variable over_;
};

}  // namespace sluice::step
