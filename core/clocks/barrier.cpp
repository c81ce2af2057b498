// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/barrier.h"

#include <thread>

namespace sluice::step {

namespace {

/// Rests from one offer of the core to the next: who is waited for may be on the same one.
constexpr int kRests = 64;

/// Lets the core rest for a few cycles.
inline void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

bool Barrier::arrive_and_wait() {
    if (failed_.load(std::memory_order_acquire)) {
        return false;
    }
    const std::uint32_t round = passed_.load(std::memory_order_relaxed);
    if (present_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
        present_.store(0, std::memory_order_relaxed);
        // In one order with a sleeper's announcement: he sees the round's end, or is seen.
        passed_.store(round + 1, std::memory_order_seq_cst);
        if (asleep_.load(std::memory_order_seq_cst) != 0) {
            { const std::lock_guard<std::mutex> lock(bed_); }
            over_.notify_all();
        }
        return true;
    }
    for (int look = 0; look < looks_; ++look) {
        if (passed_.load(std::memory_order_acquire) != round) {
            return true;
        }
        if (failed_.load(std::memory_order_acquire)) {
            return passed_.load(std::memory_order_relaxed) != round;
        }
        if (look % kRests == kRests - 1) {
            std::this_thread::yield();
        } else {
            pause();
        }
    }
    return sleep(round);
}

void Barrier::fail() {
    {
        const std::lock_guard<std::mutex> lock(bed_);
        failed_.store(true, std::memory_order_release);
    }
    over_.notify_all();
}

void Barrier::await_others() const {
    for (int look = 0; present_.load(std::memory_order_acquire) + 1 < members_; ++look) {
        if (look % kRests == kRests - 1) {
            std::this_thread::yield();
        } else {
            pause();
        }
    }
}

bool Barrier::sleep(std::uint32_t round) {
    std::unique_lock<std::mutex> lock(bed_);
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    const auto over = [&] { return passed_.load(std::memory_order_seq_cst) != round; };
    over_.wait(lock, [&] { return over() || failed_.load(std::memory_order_relaxed); });
    asleep_.fetch_sub(1, std::memory_order_relaxed);
    return over();
}

}  // namespace sluice::step
