// SPDX-License-Identifier: Apache-2.0
/// ns-3's scheduler: events in order of (time, order of scheduling), time in whole nanoseconds.
/// Nearly all events are at most one frame and one cable away, so they lie in a ring of slots, one
/// per nanosecond; a slot's events are one word each, the order of scheduling on top, so that a
/// slot is sorted by appending. What lies farther ahead waits in a heap until its nanosecond comes.
///
/// A place in the order can be taken (take_order) without scheduling anything: the end of a
/// transmission that nobody waits for needs no event, only its place, should somebody come.
#pragma once

#include <cstdint>
#include <vector>

#include "core/units.h"

namespace sluice::ns3 {

/// What an event is about: 24 bits, whose meaning is its owner's.
using EventCode = std::uint32_t;
inline constexpr int kCodeBits = 24;

class EventQueue {
  public:
    /// `reach`: how far ahead nearly all events are scheduled.
    explicit EventQueue(Tick reach);
    ~EventQueue();
    EventQueue(const EventQueue&) = delete;
    EventQueue& operator=(const EventQueue&) = delete;

    /// The next place in the order of scheduling.
    std::uint64_t take_order() { return ++order_; }
    /// The place of the event being executed.
    std::uint64_t current() const { return current_; }

    /// Schedules `code` at `at`, not before the instant being executed.
    void push(Tick at, EventCode code) { insert(at, take_order(), code); }
    /// The same with a place taken before; not before the event being executed.
    void insert(Tick at, std::uint64_t order, EventCode code) {
        const std::int64_t ns = at / kNanosecond;
        if (ns - now_ >= slot_count_) {
            push_far(Far{ns, order, code});
            return;
        }
        put(ns, order << kCodeBits | code);
    }

    /// The earliest instant at which an event is scheduled, kNever if none.
    Tick next() const;

    /// Executes the events of instant `at` (= next()), those scheduled meanwhile included.
    template <class Execute>
    void run(Tick at, Execute&& execute) {
        open(at / kNanosecond);
        const auto index = static_cast<std::size_t>(now_ & mask_);
        Slot& slot = slots_[index];
        for (std::uint32_t i = 0; i < slot.count; ++i) {
            const std::uint64_t event = slot.events[i];
            current_ = event >> kCodeBits;
            execute(code_of(event));
        }
        current_ = 0;
        slot.count = 0;
        occupied_[index >> 6] &= ~(std::uint64_t{1} << (index & 63));
    }

    std::size_t memory_bytes() const;

  private:
    struct Slot {
        std::uint64_t* events = nullptr;
        std::uint32_t count = 0;
        std::uint32_t capacity = 0;
    };
    struct Far {
        std::int64_t ns;
        std::uint64_t order;
        EventCode code;
        bool later_than(const Far& other) const {
            return ns != other.ns ? ns > other.ns : order > other.order;
        }
    };

    static EventCode code_of(std::uint64_t event) {
        return static_cast<EventCode>(event & ((std::uint64_t{1} << kCodeBits) - 1));
    }

    void put(std::int64_t ns, std::uint64_t event) {
        const auto index = static_cast<std::size_t>(ns & mask_);
        Slot& slot = slots_[index];
        if (slot.count == slot.capacity) {
            grow(slot);
        }
        std::uint32_t place = slot.count++;
        for (; place > 0 && slot.events[place - 1] > event; --place) {
            slot.events[place] = slot.events[place - 1];
        }
        slot.events[place] = event;
        occupied_[index >> 6] |= std::uint64_t{1} << (index & 63);
    }
    void open(std::int64_t ns);
    void push_far(const Far& far);
    static void grow(Slot& slot);

    std::vector<Slot> slots_;
    std::vector<std::uint64_t> occupied_;  ///< bit per slot
    std::vector<Far> far_;                 ///< heap, earliest first
    std::int64_t slot_count_ = 0;
    std::int64_t mask_ = 0;
    std::int64_t now_ = 0;  ///< nanosecond of the instant executed last
    std::uint64_t order_ = 0;
    std::uint64_t current_ = 0;
};

}  // namespace sluice::ns3
