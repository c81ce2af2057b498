// SPDX-License-Identifier: Apache-2.0
/// A queue in a ring buffer. It allocates only when it becomes longer than ever before.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace sluice {

/// T can be constructed by default and moved.
template <class T>
class RingQueue {
  public:
    bool empty() const { return count_ == 0; }
    std::size_t size() const { return count_; }
    T& front() { return slots_[head_]; }
    const T& front() const { return slots_[head_]; }
    /// The `i`-th from the front.
    T& operator[](std::size_t i) { return slots_[(head_ + i) & (slots_.size() - 1)]; }
    const T& operator[](std::size_t i) const { return slots_[(head_ + i) & (slots_.size() - 1)]; }

    /// The first place whose entry is not `before`, of entries that are sorted by it; size() if there is none.
    template <class Before>
    std::size_t partition_point(Before before) const {
        std::size_t first = 0;
        for (std::size_t last = count_; first < last;) {
            const std::size_t middle = first + (last - first) / 2;
            if (before((*this)[middle])) {
                first = middle + 1;
            } else {
                last = middle;
            }
        }
        return first;
    }

    void push_back(T value) {
        if (count_ == slots_.size()) grow();
        (*this)[count_++] = std::move(value);
    }
    void pop_front() {
        head_ = (head_ + 1) & (slots_.size() - 1);
        --count_;
    }

  private:
    void grow() {
        std::vector<T> longer(slots_.empty() ? 4 : 2 * slots_.size());
        for (std::size_t i = 0; i < count_; ++i) longer[i] = std::move((*this)[i]);
        slots_ = std::move(longer);
        head_ = 0;
    }

    std::vector<T> slots_;  ///< a power of two of them
    std::size_t head_ = 0;
    std::size_t count_ = 0;
};

}  // namespace sluice
