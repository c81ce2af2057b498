// SPDX-License-Identifier: Apache-2.0
/// The devices that a batch's lanes are shared out to. A lane goes to the one with the fewest lanes, of
/// those to the one with the most room, of those to the one that has had the fewest so far, and stays there. What finds no room waits for another lane's end, in
/// the order in which lanes were made: so memory bounds how many there are at once, and the rest streams
/// through.
///
/// Lanes grow. One that finds no memory for that leaves its device, waits like a new one for all that it
/// needs now, and begins again; but the oldest lane of a device waits where it is until the others have left:
/// it always comes to its end.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "gpu/lane/lane_executor.h"

namespace sluice::gpu {

class LaneStay;

class LaneDevices {
  public:
    /// At least one.
    explicit LaneDevices(std::vector<std::unique_ptr<LaneExecutor>> executors);
    explicit LaneDevices(std::unique_ptr<LaneExecutor> executor);
    ~LaneDevices();
    LaneDevices(const LaneDevices&) = delete;
    LaneDevices& operator=(const LaneDevices&) = delete;

    std::size_t count() const { return devices_.size(); }
    /// Of each device, how many lanes have come to it so far.
    std::vector<std::size_t> shares() const;

  private:
    friend class LaneStay;

    struct Device {
        std::unique_ptr<LaneExecutor> executor;
        std::set<std::uint64_t> lanes;  ///< tickets of those that are there
        std::size_t come = 0;
        bool claimed = false;  ///< all that becomes free is its oldest lane's
        std::string dead;      ///< why it executes nothing any more
    };

    void* enter(LaneStay& stay, std::size_t bytes);
    void* grow(LaneStay& stay, std::size_t bytes);
    void leave(LaneStay& stay);
    void* find_room(LaneStay& stay, std::size_t bytes);
    void check_fits(std::size_t bytes) const;
    void wait(std::unique_lock<std::mutex>& lock, LaneStay& stay);
    void declare_dead(Device& device, const std::string& why);

    std::vector<Device> devices_;
    mutable std::mutex mutex_;  ///< of what follows, and of devices
    std::condition_variable changed_;
    std::uint64_t tickets_ = 0;
    std::set<std::uint64_t> waiting_;  ///< tickets
};

/// A lane's stay on one of the devices: from its first block on until leave().
class LaneStay : public MemorySource {
  public:
    /// `go_on` is asked about ten times a second while the lane waits; if it says no, allocate() throws Interrupted.
    LaneStay(LaneDevices& devices, std::function<bool()> go_on);
    ~LaneStay() override { leave(); }
    LaneStay(const LaneStay&) = delete;
    LaneStay& operator=(const LaneStay&) = delete;

    struct Interrupted {};

    /// The first block waits for its turn and for room, and chooses the device. Null, of a later one: the lane must
    /// leave, and begin again with room for all in its first block. DeviceError: no device can ever give it, or its
    /// own has failed.
    void* allocate(std::size_t bytes) override;
    void free(void* block) override;
    void bring(void* block, Side to) override;
    /// All blocks have been freed.
    void leave() { devices_.leave(*this); }
    /// DeviceError, and the device takes no lanes any more.
    LaneReport run(Lane& lane, const LaneOrder& order);

  private:
    friend class LaneDevices;
    LaneDevices& devices_;
    std::function<bool()> go_on_;
    std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
    std::uint64_t ticket_;
    LaneDevices::Device* device_ = nullptr;
};

}  // namespace sluice::gpu
