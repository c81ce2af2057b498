// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <fstream>
#include <limits>
#include <string>

#include <unistd.h>

#include "gpu/lane/device_memory.h"

namespace sluice::gpu {

HostMemory::~HostMemory() {
    for (const auto& [block, bytes] : blocks_) {
        std::free(block);
    }
}

void* HostMemory::allocate(std::size_t bytes) {
    bytes = (bytes + 63) / 64 * 64;
    const std::lock_guard lock(mutex_);
    void* const block = bytes > size_ - used_ ? nullptr : std::aligned_alloc(64, bytes);
    if (block != nullptr) {
        used_ += bytes;
        blocks_.emplace(block, bytes);
    }
    return block;
}

void HostMemory::free(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(block);
    if (found != blocks_.end()) {
        used_ -= found->second;
        blocks_.erase(found);
        std::free(block);
    }
}

std::size_t HostMemory::room() const {
    const std::lock_guard lock(mutex_);
    return size_ - used_;
}

std::size_t free_host_memory() {
    std::ifstream file("/proc/meminfo");
    std::string key;
    std::size_t kilobytes = 0;
    while (file >> key >> kilobytes) {
        if (key == "MemAvailable:") {
            return kilobytes * 1024;
        }
        file.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    // Without Linux's list: pages that hold nothing at all.
    return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace sluice::gpu
