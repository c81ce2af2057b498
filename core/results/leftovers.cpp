// SPDX-License-Identifier: Apache-2.0
#include "core/results/leftovers.h"

#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>

namespace sluice {
namespace {

/// Where `path` is set last and cleared first, so that a handler at any instant sees a whole slot.
struct Slot {
    std::atomic<bool> taken{false};
    std::atomic<bool> folder{false};
    std::atomic<const char*> path{nullptr};
};
static_assert(std::atomic<const char*>::is_always_lock_free, "handlers must not wait for locks");

std::array<Slot, 256> slots;

}  // namespace

void Leftover::watch(const std::string& path, Kind kind) {
    release();
    for (std::size_t i = 0; i < slots.size(); ++i) {
        if (slots[i].taken.exchange(true)) continue;
        path_ = path;
        slot_ = static_cast<int>(i);
        slots[i].folder = kind == Kind::folder;
        slots[i].path = path_.c_str();
        return;
    }
}

void Leftover::release() {
    if (slot_ < 0) return;
    Slot& slot = slots[static_cast<std::size_t>(slot_)];
    slot.path = nullptr;
    slot.taken = false;
    slot_ = -1;
}

void Leftover::remove_all() noexcept {
    for (const Slot& slot : slots) {
        const char* path = slot.path;
        if (path != nullptr && !slot.folder) ::unlink(path);
    }
    // Folders lie in each other, in any order of slots: until no more of them is empty.
    for (bool removed = true; removed;) {
        removed = false;
        for (const Slot& slot : slots) {
            const char* path = slot.path;
            if (path != nullptr && slot.folder) removed = ::rmdir(path) == 0 || removed;
        }
    }
}

}  // namespace sluice
