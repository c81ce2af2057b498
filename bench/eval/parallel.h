// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace sluice::bench {

/// Calls work(0) to work(count - 1), each once, on `threads` threads. Each writes to a place of its own.
inline void for_each_repetition(std::size_t count, std::size_t threads,
                                const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    const auto take = [&] {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    };
    std::vector<std::thread> others;
    for (std::size_t i = 1; i < threads; ++i) others.emplace_back(take);
    take();
    for (std::thread& other : others) other.join();
}

}  // namespace sluice::bench
