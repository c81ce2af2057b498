// SPDX-License-Identifier: Apache-2.0
/// A growable vector of plain data that host and device code share. It grows by malloc(), or, where its
/// owner's memory is an arena, out of that, which has an end: then nothing is added, and a sticky flag says so.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>

#include "core/arena.h"
#include "core/memory_space.h"

namespace sluice {

/// Memory that a worker's containers took, bytes, and the overflow flag.
struct Memory {
    std::size_t ring_bytes = 0;
    std::size_t other_bytes = 0;
    bool overflow = false;
    Arena* arena = nullptr;  ///< null: malloc()
};

/// A new block of `bytes`, aligned to 64. Null: the arena has none left, and `memory` says so.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void* new_block(Memory& memory, std::size_t bytes) {
    is_in_shared_memory(memory);
    void* block = nullptr;
    if (memory.arena != nullptr) {
        block = take(*memory.arena, bytes);
    }
#if !defined(__CUDA_ARCH__)
    if (memory.arena == nullptr) {
        block = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
        if (block == nullptr) {
            throw std::bad_alloc();
        }
    }
#endif
    if (block == nullptr) {
        memory.overflow = true;
    }
    return block;
}

/// Gives back what new_block() gave; an arena keeps it.
SLUICE_HD inline void free_block([[maybe_unused]] const Memory& memory,
                                 [[maybe_unused]] void* block) {
#if !defined(__CUDA_ARCH__)
    if (memory.arena == nullptr) {
        std::free(block);
    }
#endif
}

/// A vector of trivially copyable elements; freed by whoever owns the world.
template <class T>
struct PlainVector {
    static_assert(std::is_trivially_copyable<T>::value, "plain data only");
    Global<T> data = nullptr;
    std::uint32_t count = 0;
    std::uint32_t capacity = 0;

    SLUICE_HD T& operator[](std::uint32_t i) { return data[i]; }
    SLUICE_HD const T& operator[](std::uint32_t i) const { return data[i]; }
    SLUICE_HD bool reserve(Memory& memory, std::uint32_t wanted) {
        return wanted <= capacity || grow(memory, wanted);
    }
    /// False: the arena has no room for it.
    SLUICE_HD bool push(Memory& memory, const T& value) {
        if (!reserve(memory, count + 1)) {
            return false;
        }
        data[count++] = value;
        return true;
    }
    /// Keeps the order of the others.
    SLUICE_HD void erase(std::uint32_t i) {
        --count;
        for (; i < count; ++i) {
            data[i] = data[i + 1];
        }
    }

  private:
    SLUICE_DEVICE_NOINLINE SLUICE_HD bool grow(Memory& memory, std::uint32_t wanted) {
        is_in_shared_memory(memory);
        std::uint32_t larger = capacity < 4 ? 4 : capacity * 2;
        larger = larger < wanted ? wanted : larger;
        T* const block = static_cast<T*>(new_block(memory, larger * sizeof(T)));
        if (block == nullptr) {
            return false;
        }
        if (count > 0) {
            std::memcpy(block, data, count * sizeof(T));
        }
        free_block(memory, data);
        data = block;
        memory.other_bytes += (larger - capacity) * sizeof(T);
        capacity = larger;
        return true;
    }
};

/// What a vector that grew by malloc() holds is gone.
template <class T>
void free_vector(PlainVector<T>& vector) {
    std::free(vector.data);
    vector = PlainVector<T>{};
}

}  // namespace sluice
