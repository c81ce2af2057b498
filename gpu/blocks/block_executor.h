// SPDX-License-Identifier: Apache-2.0
/// The device's program on the host: threads stand for a gang's, with real barriers, so that it can be tested,
/// and looked at by sanitizers, where there is no device. Which thread does what can be varied: no result may
/// depend on it.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <vector>

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

/// A barrier that may be used again at once, and what its threads tell each other at it.
class Meeting {
  public:
    explicit Meeting(std::uint32_t threads) : threads_(threads), told_(threads) {}
    /// The least of what all threads say.
    Tick least(std::uint32_t thread, Tick at);
    /// What ends the run in one thread ends it in all.
    void leave_in_error() { failed_.store(true, std::memory_order_relaxed); }
    bool failed() const { return failed_.load(std::memory_order_relaxed); }

  private:
    struct alignas(64) Told {
        Tick at[2] = {};
    };
    std::uint32_t threads_;
    std::vector<Told> told_;
    std::atomic<std::uint32_t> arrived_{0};
    std::atomic<std::uint32_t> round_{0};
    std::atomic<bool> failed_{false};
};

/// A thread's view of its gang (gpu/program/window.h).
class BlockGang {
  public:
    BlockGang(Meeting& meeting, std::uint32_t thread, const Mapping& mapping)
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
        return meeting_.least(thread_, at);
    }
    bool any(bool said) { return meeting_.least(thread_, said ? 0 : 1) == 0; }

  private:
    /// A stride through `count` things that comes by all of them: a prime that does not divide it.
    static std::uint64_t step_of(std::uint32_t count) {
        constexpr std::uint64_t kLarge = 2'147'483'647;
        return count % kLarge == 0 ? 1 : kLarge;
    }

    Meeting& meeting_;
    std::uint32_t thread_;
    Mapping mapping_;
    std::uint64_t round_ = 0;
};

/// Executes `windows` windows of the lane, or fewer; its counters are in Lane::world then. Throws what a thread
/// has thrown.
Outcome run_blocks(Lane& lane, const Mapping& mapping, std::uint64_t windows);

class BlockExecutor : public LaneExecutor {
  public:
    explicit BlockExecutor(const Mapping& mapping) : mapping_(mapping) {}
    DeviceMemory& memory() override { return memory_; }
    Outcome run(Lane& lane, std::uint64_t windows) override {
        return run_blocks(lane, mapping_, windows);
    }
    bool routes_by_table() const override { return true; }

  private:
    Mapping mapping_;
    HostMemory memory_;
};

}  // namespace sluice::gpu
