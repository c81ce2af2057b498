// SPDX-License-Identifier: Apache-2.0
/// A gang on a device: the threads of one block, or of several that wait for each other in global memory.
#pragma once

#include <cstdint>

#include "core/memory_space.h"
#include "core/units.h"

namespace sluice::gpu {

/// Where the blocks of a gang meet; zeroed, and `least` all ones, before they do.
struct GangMeeting {
    unsigned arrived = 0;
    unsigned round = 0;
    unsigned long long least[3] = {~0ULL, ~0ULL, ~0ULL};
};

/// All threads of a block share one.
class DeviceGang {
  public:
    /// `blocks` blocks of the same number of threads; this is block `block` of them. All must be resident.
    __device__ DeviceGang(GangMeeting* meeting, unsigned blocks, unsigned block)
        : meeting_(meeting), blocks_(blocks), block_(block) {}

    __device__ bool first() const { return block_ == 0 && threadIdx.x == 0; }
    __device__ std::uint32_t item(std::uint32_t k, std::uint32_t count) const {
        const std::uint64_t at = (std::uint64_t{k} * blocks_ + block_) * blockDim.x + threadIdx.x;
        return at < count ? static_cast<std::uint32_t>(at) : count;
    }
    __device__ Tick min(Tick at) {
        auto least = static_cast<unsigned long long>(at);
        for (int lanes = 16; lanes > 0; lanes /= 2) {
            const unsigned long long other = __shfl_xor_sync(0xffffffffU, least, lanes);
            least = other < least ? other : least;
        }
        __shared__ unsigned long long warps[32];
        __shared__ unsigned long long of_all;
        if (threadIdx.x % 32 == 0) {
            warps[threadIdx.x / 32] = least;
        }
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) {
            for (unsigned w = 1; w < blockDim.x / 32; ++w) {
                least = warps[w] < least ? warps[w] : least;
            }
            of_all = blocks_ == 1 ? least : meet(least);
        }
        __syncthreads();
        __threadfence();
        const auto result = static_cast<Tick>(of_all);
        __syncthreads();
        return result;
    }
    __device__ bool any(bool said) {
        if (blocks_ == 1) {
            return __syncthreads_or(said ? 1 : 0) != 0;
        }
        return min(said ? 0 : 1) == 0;
    }

  private:
    /// One thread a block. Of three words one is in use, one is read by those that are late, and one is made ready.
    __device__ unsigned long long meet(unsigned long long least) {
        const unsigned round = round_++;
        atomicMin(&meeting_->least[round % 3], least);
        __threadfence();
        if (atomicAdd(&meeting_->arrived, 1U) + 1 == blocks_) {
            atomicExch(&meeting_->arrived, 0U);
            atomicExch(&meeting_->least[(round + 1) % 3], ~0ULL);
            __threadfence();
            atomicExch(&meeting_->round, round + 1);
        } else {
            while (atomicAdd(&meeting_->round, 0U) == round) {
                __nanosleep(64);
            }
        }
        __threadfence();
        return atomicAdd(&meeting_->least[round % 3], 0ULL);
    }

    Global<GangMeeting> meeting_;
    unsigned blocks_;
    unsigned block_;
    unsigned round_ = 0;  ///< meet()'s thread's
};

}  // namespace sluice::gpu
