// SPDX-License-Identifier: Apache-2.0
#include "gpu/lane/block_pool.h"

#include <algorithm>
#include <iterator>

namespace sluice::gpu {

BlockPool::BlockPool(void* base, std::size_t bytes, std::size_t grain)
    : grain_(grain), size_(bytes / grain * grain), room_(size_) {
    free_.emplace(static_cast<unsigned char*>(base), size_);
}

std::size_t BlockPool::room() const {
    const std::lock_guard lock(mutex_);
    return room_;
}

void* BlockPool::allocate(std::size_t bytes) {
    bytes = std::max((bytes + grain_ - 1) / grain_ * grain_, grain_);
    const std::lock_guard lock(mutex_);
    const auto found = std::find_if(free_.begin(), free_.end(),
                                    [&](const auto& extent) { return extent.second >= bytes; });
    if (found == free_.end()) {
        return nullptr;
    }
    const auto [base, size] = *found;
    free_.erase(found);
    if (size > bytes) {
        free_.emplace(base + bytes, size - bytes);
    }
    used_.emplace(base, bytes);
    room_ -= bytes;
    return base;
}

void BlockPool::free(void* block) {
    const std::lock_guard lock(mutex_);
    const auto found = used_.find(static_cast<unsigned char*>(block));
    if (found != used_.end()) {
        room_ += found->second;
        add_free(found->first, found->second);
        used_.erase(found);
    }
}

std::size_t BlockPool::bytes_of(void* block) const {
    const std::lock_guard lock(mutex_);
    return used_.at(static_cast<unsigned char*>(block));
}

void BlockPool::add_free(unsigned char* base, std::size_t bytes) {
    const auto after = free_.lower_bound(base);
    if (after != free_.end() && base + bytes == after->first) {
        bytes += after->second;
        free_.erase(after);
    }
    const auto next = free_.lower_bound(base);
    if (next != free_.begin()) {
        const auto before = std::prev(next);
        if (before->first + before->second == base) {
            before->second += bytes;
            return;
        }
    }
    free_.emplace(base, bytes);
}

}  // namespace sluice::gpu
