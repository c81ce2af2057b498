// SPDX-License-Identifier: Apache-2.0
#include "gpu/lane/lane_devices.h"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "gpu/lane/device_error.h"

namespace sluice::gpu {

namespace {

/// Between two questions whether a lane that waits is to go on waiting.
constexpr std::chrono::milliseconds kNap{100};

std::vector<std::unique_ptr<LaneExecutor>> one(std::unique_ptr<LaneExecutor> executor) {
    std::vector<std::unique_ptr<LaneExecutor>> executors;
    executors.push_back(std::move(executor));
    return executors;
}

}  // namespace

LaneDevices::LaneDevices(std::vector<std::unique_ptr<LaneExecutor>> executors)
    : devices_(executors.size()) {
    for (std::size_t i = 0; i < executors.size(); ++i) {
        devices_[i].executor = std::move(executors[i]);
    }
}

LaneDevices::LaneDevices(std::unique_ptr<LaneExecutor> executor)
    : LaneDevices(one(std::move(executor))) {}

LaneDevices::~LaneDevices() {
    for (const Device& device : devices_) {
        device.executor->close();
    }
}

std::vector<std::size_t> LaneDevices::shares() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::size_t> shares;
    for (const Device& device : devices_) {
        shares.push_back(device.come);
    }
    return shares;
}

void* LaneDevices::enter(LaneStay& stay, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    waiting_.insert(stay.ticket_);
    void* block = nullptr;
    try {
        for (;;) {
            check_fits(bytes);
            block = *waiting_.begin() == stay.ticket_ ? find_room(stay, bytes) : nullptr;
            if (block != nullptr) {
                break;
            }
            wait(lock, stay);
        }
    } catch (...) {
        waiting_.erase(stay.ticket_);
        changed_.notify_all();
        throw;
    }
    waiting_.erase(stay.ticket_);
    changed_.notify_all();
    return block;
}

/// No device that still works is large enough: waiting would not help.
void LaneDevices::check_fits(std::size_t bytes) const {
    std::size_t largest = 0;
    std::string dead;
    for (const Device& device : devices_) {
        if (device.dead.empty()) {
            largest = std::max(largest, device.executor->memory().size());
        } else {
            dead = device.dead;
        }
    }
    if (largest == 0 && !dead.empty()) {
        throw DeviceError(dead);
    }
    if (bytes > largest) {
        throw DeviceError("the network needs " + std::to_string(bytes) +
                          " bytes of the device's memory, of which lanes may take " +
                          std::to_string(largest) + " in all");
    }
}

void* LaneDevices::find_room(LaneStay& stay, std::size_t bytes) {
    using Key = std::tuple<std::size_t, std::size_t, std::size_t>;
    std::vector<std::pair<Key, Device*>> order;
    for (Device& device : devices_) {
        if (device.dead.empty() && !device.claimed) {
            // Ascending: by lanes, by the room that is missing to the most there can be, by lanes so far.
            const std::size_t missing = SIZE_MAX - device.executor->memory().room();
            order.emplace_back(Key(device.lanes.size(), missing, device.come), &device);
        }
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [key, device] : order) {
        void* const block = device->executor->memory().allocate(bytes);
        if (block != nullptr) {
            device->lanes.insert(stay.ticket_);
            ++device->come;
            stay.device_ = device;
            return block;
        }
    }
    return nullptr;
}

void* LaneDevices::grow(LaneStay& stay, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    Device& device = *stay.device_;
    const auto unclaim = [&] {
        device.claimed = false;
        changed_.notify_all();
    };
    bool claiming = false;
    for (;;) {
        void* const block =
            device.claimed && !claiming ? nullptr : device.executor->memory().allocate(bytes);
        const bool may_wait = *device.lanes.begin() == stay.ticket_ && device.lanes.size() > 1;
        if (block != nullptr || !device.dead.empty() || !may_wait) {
            if (claiming) {
                unclaim();
            }
            if (block == nullptr && !device.dead.empty()) {
                throw DeviceError(device.dead);
            }
            return block;
        }
        claiming = true;
        device.claimed = true;
        try {
            wait(lock, stay);
        } catch (...) {
            unclaim();
            throw;
        }
    }
}

void LaneDevices::wait(std::unique_lock<std::mutex>& lock, LaneStay& stay) {
    changed_.wait_until(lock, stay.asked_ + kNap);
    if (const auto now = std::chrono::steady_clock::now(); now >= stay.asked_ + kNap) {
        stay.asked_ = now;
        lock.unlock();
        const bool go_on = stay.go_on_();
        lock.lock();
        if (!go_on) {
            throw LaneStay::Interrupted{};
        }
    }
}

void LaneDevices::leave(LaneStay& stay) {
    const std::lock_guard lock(mutex_);
    if (stay.device_ != nullptr) {
        stay.device_->lanes.erase(stay.ticket_);
        stay.device_ = nullptr;
        changed_.notify_all();
    }
}

void LaneDevices::declare_dead(Device& device, const std::string& why) {
    const std::lock_guard lock(mutex_);
    device.dead = why;
    changed_.notify_all();
}

LaneStay::LaneStay(LaneDevices& devices, std::function<bool()> go_on)
    : devices_(devices), go_on_(std::move(go_on)) {
    const std::lock_guard lock(devices.mutex_);
    ticket_ = devices.tickets_++;
}

void* LaneStay::allocate(std::size_t bytes) {
    return device_ == nullptr ? devices_.enter(*this, bytes) : devices_.grow(*this, bytes);
}

void LaneStay::free(void* block) { device_->executor->memory().free(block); }

void LaneStay::bring(void* block, Side to) { device_->executor->memory().bring(block, to); }

LaneReport LaneStay::run(Lane& lane, const LaneOrder& order) {
    try {
        return device_->executor->run(lane, order);
    } catch (const DeviceError& error) {
        devices_.declare_dead(*device_, error.what());
        throw;
    }
}

}  // namespace sluice::gpu
