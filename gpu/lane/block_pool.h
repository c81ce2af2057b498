// SPDX-License-Identifier: Apache-2.0
/// Blocks of one piece of memory, given out and taken back on the host: first fit, neighbours joined. For memory
/// of a device, whose own allocator waits for the kernel to end.
#pragma once

#include <cstddef>
#include <map>
#include <mutex>

#include "gpu/lane/device_memory.h"

namespace sluice::gpu {

class BlockPool : public DeviceMemory {
  public:
    /// Blocks begin and end at multiples of `grain`, one of 64 itself, and so does `base`, which must outlive this.
    BlockPool(void* base, std::size_t bytes, std::size_t grain = 64);
    void* allocate(std::size_t bytes) override;
    void free(void* block) override;
    void bring(void*, Side) override {}
    std::size_t size() const override { return size_; }
    std::size_t room() const override;

  protected:
    /// Of one that has been given out.
    std::size_t bytes_of(void* block) const;

  private:
    using Extents = std::map<unsigned char*, std::size_t>;
    void add_free(unsigned char* base, std::size_t bytes);

    const std::size_t grain_;
    const std::size_t size_;
    mutable std::mutex mutex_;
    std::size_t room_;
    Extents free_;  ///< bytes by where they begin
    Extents used_;
};

}  // namespace sluice::gpu
