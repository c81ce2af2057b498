// SPDX-License-Identifier: Apache-2.0
/// Memory that a lane lies in: seen at one address by the host, which builds lanes, and by whoever executes
/// them.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

namespace sluice::gpu {

class DeviceMemory {
  public:
    virtual ~DeviceMemory() = default;
    /// Aligned to 64, zeroed or not. std::bad_alloc if there is none.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void free(void* block) = 0;
};

/// The host's own, for the block executor.
class HostMemory : public DeviceMemory {
  public:
    void* allocate(std::size_t bytes) override {
        void* const block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (block == nullptr) {
            throw std::bad_alloc();
        }
        return block;
    }
    void free(void* block) override { std::free(block); }
};

}  // namespace sluice::gpu
