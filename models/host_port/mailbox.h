// SPDX-License-Identifier: Apache-2.0
/// What has come for a testbench, in the order of time: by a callback, else it waits until it is taken.
#pragma once

#include <deque>
#include <functional>
#include <systemc>
#include <utility>

namespace sluice {

template <class T>
class Mailbox {
  public:
    /// From here on nothing waits.
    void on_each(std::function<void(const T&)> callback) { callback_ = std::move(callback); }
    /// Notified in the next delta cycle after something has come.
    const sc_core::sc_event& event() const { return event_; }
    /// False: there is none.
    bool take(T& one) {
        if (waiting_.empty()) {
            return false;
        }
        one = std::move(waiting_.front());
        waiting_.pop_front();
        return true;
    }
    void put(const T& one) {
        if (callback_) {
            callback_(one);
        } else {
            waiting_.push_back(one);
        }
        notify();
    }
    void notify() { event_.notify(sc_core::SC_ZERO_TIME); }

  private:
    std::function<void(const T&)> callback_;
    std::deque<T> waiting_;
    sc_core::sc_event event_;
};

}  // namespace sluice
