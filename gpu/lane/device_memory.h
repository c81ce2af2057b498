// SPDX-License-Identifier: Apache-2.0
/// Memory that lanes lie in: seen at one address by the host, which builds lanes, and by whoever executes
/// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace sluice::gpu {

enum class Side : std::uint8_t { host, device };

/// Where a lane's blocks come from.
class MemorySource {
  public:
    virtual ~MemorySource() = default;
    /// Aligned to 64, zeroed or not. Null: there is none. Any thread.
    virtual void* allocate(std::size_t bytes) = 0;
    virtual void free(void* block) = 0;
    /// Who works on a block next: what moves page by page is brought there in one piece. Changes no content.
    virtual void bring(void* block, Side to) = 0;
};

/// All the memory of a device that lanes may take.
class DeviceMemory : public MemorySource {
  public:
    /// Bytes in all, and those of them that are free now: the largest block may be smaller.
    virtual std::size_t size() const = 0;
    virtual std::size_t room() const = 0;
};

/// The host's own, for the block executor.
class HostMemory : public DeviceMemory {
  public:
    /// At most `bytes` of it at once.
    explicit HostMemory(std::size_t bytes = SIZE_MAX) : size_(bytes) {}
    ~HostMemory() override;
    HostMemory(const HostMemory&) = delete;
    HostMemory& operator=(const HostMemory&) = delete;
    void* allocate(std::size_t bytes) override;
    void free(void* block) override;
    void bring(void*, Side) override {}
    std::size_t size() const override { return size_; }
    std::size_t room() const override;

  private:
    const std::size_t size_;
    mutable std::mutex mutex_;
    std::size_t used_ = 0;
    std::map<void*, std::size_t> blocks_;
};

/// Bytes of the host's memory that nobody uses, caches of files included.
std::size_t free_host_memory();

}  // namespace sluice::gpu
