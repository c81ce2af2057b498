// SPDX-License-Identifier: Apache-2.0
/// Threads that are joined, whatever happens.
#pragma once

#include <cstddef>
#include <thread>
#include <vector>

namespace sluice {

class ThreadGroup {
  public:
    ThreadGroup() = default;
    ~ThreadGroup() { join(); }
    ThreadGroup(const ThreadGroup&) = delete;
    ThreadGroup& operator=(const ThreadGroup&) = delete;

    /// std::system_error if the system makes no more threads.
    template <typename Work>
    void add(const Work& work) {
        threads_.emplace_back(work);
    }
    void join() {
        for (std::thread& thread : threads_) thread.join();
        threads_.clear();
    }
    std::size_t size() const { return threads_.size(); }

  private:
    std::vector<std::thread> threads_;
};

}  // namespace sluice
