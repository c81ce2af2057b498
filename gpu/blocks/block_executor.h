// SPDX-License-Identifier: Apache-2.0
/// The device's program on the host: threads stand for a gang's, with real barriers, so that it can be tested,
/// and looked at by sanitizers, where there is no device. Which thread does what can be varied: no result may
/// depend on it.
#pragma once

#include <cstdint>
#include <exception>
#include <vector>

#include "core/clocks/barrier.h"
#include "core/packet/state.h"
#include "gpu/lane/lane_executor.h"
#include "gpu/program/lane.h"

namespace sluice::gpu {

/// How a gang's threads share things out.
enum class Share : std::uint8_t {
    strided,   ///< thread t has t, t + threads, ...: a device's
    chunked,   ///< a stretch each
    shuffled,  ///< strided, over an order that changes from window to window
};

struct Mapping {
    std::uint32_t threads = 1;
    Share share = Share::strided;
    std::uint64_t seed = 1;  ///< of a shuffled order
};

/// Where a gang's threads wait for each other, and what they tell each other there.
class ThreadMeeting {
  public:
    explicit ThreadMeeting(std::uint32_t threads);
    /// Thrown in the others when one of them fails.
    struct Failed {};
    /// The least of what all threads say in the `round`-th meeting.
    Tick least(std::uint32_t thread, std::uint32_t round, Tick at);
    /// What ends the run in one thread ends it in all.
    void fail() { barrier_.fail(); }

  private:
    struct alignas(64) Told {
        Tick at[2] = {};  ///< in meetings of even and odd number: late readers see the one before
    };
    step::Barrier barrier_;
    std::vector<Told> told_;
};

/// A thread's view of its gang (gpu/program/window.h).
class BlockGang {
  public:
    BlockGang(ThreadMeeting& meeting, std::uint32_t thread, const Mapping& mapping)
        : meeting_(meeting), thread_(thread), mapping_(mapping) {}

    bool first() const { return thread_ == 0; }
    std::uint32_t item(std::uint32_t k, std::uint32_t count) const {
        const std::uint64_t strided = std::uint64_t{k} * mapping_.threads + thread_;
        switch (mapping_.share) {
            case Share::strided: break;
            case Share::chunked: {
                const std::uint32_t chunk = (count + mapping_.threads - 1) / mapping_.threads;
                const std::uint64_t at = std::uint64_t{thread_} * chunk + k;
                return k < chunk && at < count ? static_cast<std::uint32_t>(at) : count;
            }
            case Share::shuffled:
                if (strided < count) {
                    return static_cast<std::uint32_t>((strided * step_of(count) + round_) % count);
                }
                break;
        }
        return strided < count ? static_cast<std::uint32_t>(strided) : count;
    }
    Tick min(Tick at) {
        round_ = round_ * 6364136223846793005ULL + mapping_.seed;
        round_ >>= 20;
        return meeting_.least(thread_, meetings_++, at);
    }
    bool any(bool said) { return meeting_.least(thread_, meetings_++, said ? 0 : 1) == 0; }

  private:
    /// A stride through `count` things that comes by all of them: a prime that does not divide it.
    static std::uint64_t step_of(std::uint32_t count) {
        constexpr std::uint64_t kLarge = 2'147'483'647;
        return count % kLarge == 0 ? 1 : kLarge;
    }

    ThreadMeeting& meeting_;
    std::uint32_t thread_;
    Mapping mapping_;
    std::uint64_t round_ = 0;  ///< of a shuffled order
    std::uint32_t meetings_ = 0;
};

/// Executes `windows` windows of the lane, or fewer; its counters are in Lane::world then. Throws what a thread
/// has thrown.
Outcome run_blocks(Lane& lane, const Mapping& mapping, std::uint64_t windows);

class BlockExecutor : public LaneExecutor {
  public:
    /// Lanes take at most `bytes` of the host's memory at once.
    explicit BlockExecutor(const Mapping& mapping, std::size_t bytes = SIZE_MAX)
        : mapping_(mapping), memory_(bytes) {}
    DeviceMemory& memory() override { return memory_; }
    LaneReport run(Lane& lane, const LaneOrder& order) override {
        obey(lane, order);
        return report_of(lane, run_blocks(lane, mapping_, order.windows));
    }

  private:
    Mapping mapping_;
    HostMemory memory_;
};

}  // namespace sluice::gpu
