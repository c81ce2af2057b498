// SPDX-License-Identifier: Apache-2.0
#include "core/engine/engine.h"

#include "core/clocks/division.h"
#include "core/hybrid/phase_controller.h"
#include "core/packet/egress.h"
#include "core/world/skip.h"

namespace sluice::engine {

void Engine::configure(std::vector<LinkEvent> events, RunHooks hooks, Tick stop) {
    events_ = std::move(events);
    hooks_ = std::move(hooks);
    stop_ = stop;
}

void Engine::keep_partitions(Clocks clocks, step::FlowPartitions& partitions,
                             hybrid::PhaseController* controller) {
    clocks_ = clocks;
    partitions_ = &partitions;
    controller_ = controller;
}

void Engine::begin(const Surroundings& surroundings) {
    store_.begin();
    if (store_.config().arithmetic == Arithmetic::ns3) {
        ns3_ = std::make_unique<ns3::Driver>(store_, std::move(events_), std::move(hooks_));
        return;
    }
    driver_ = partitions_ == nullptr
                  ? std::make_unique<Driver>(store_, std::move(events_), std::move(hooks_))
                  : std::make_unique<Driver>(store_, std::move(events_), std::move(hooks_), clocks_,
                                             *partitions_, controller_);
    if (surroundings.foreign) {
        driver_->expect_packets_from_outside();
    }
    step::CopyNotes* const notes = controller_ != nullptr ? controller_->copy_notes() : nullptr;
    const bool followed = notes != nullptr && clocks_ == Clocks::one;
    if (fold_ && (partitions_ == nullptr || followed) && !surroundings.foreign &&
        !store_.world().digest_hops) {
        folds_ = std::make_unique<step::Folds>(store_, notes);
        driver_->fold(*folds_);
    }
    if (divisible(surroundings)) {
        pool_ = std::make_unique<step::WorkerPool>(store_, threads_, step::cell_stepper);
        if (controller_ != nullptr) {
            pool_->keep_division(step::divide_for_skips(store_.topology(), threads_.count));
        }
        driver_->divide_windows(*pool_);
    }
}

bool Engine::divisible(const Surroundings& surroundings) const {
    const Application* application = store_.application();
    return threads_.count > 1 && clocks_ == Clocks::one && !surroundings.foreign &&
           surroundings.as_is && (application == nullptr || !application->for_one_thread());
}

/// What is left to do is due at `next`.
Tick Engine::ended(Tick next) {
    const bool stopped = ns3_ != nullptr ? ns3_->stopped() : driver_->stopped();
    if (ns3_ != nullptr) {
        next = next >= stop_ && ns3_->idle() ? kNever : next;
    } else {
        if (next >= stop_ || stopped) {
            unfold();
        }
        if (next >= stop_ && next != kNever) {
            // Only what means something is cut off by the stop.
            step::forget_stale_wakes(store_.world());
            next = driver_->next();
        }
    }
    finished_ = stopped || next >= stop_ || next == kNever;
    at_rest_ = !stopped && next == kNever;
    cut_off_ = !stopped && next >= stop_ && next != kNever;
    return next;
}

Tick Engine::reached() const {
    if (cut_off_) {
        return stop_;
    }
    return at_rest_ ? store_.last_arrival() : now();
}

void Engine::unfold() {
    if (folds_ != nullptr) {
        driver_->unfold();
    }
}

FoldCounters Engine::fold_counters() const {
    return folds_ != nullptr ? folds_->counters() : FoldCounters{};
}

std::uint32_t Engine::threads_used() const {
    return pool_ != nullptr && pool_->windows() > 0 ? pool_->size() : 1;
}

std::uint64_t Engine::windows() const {
    return ns3_ != nullptr ? ns3_->instants() : driver_ != nullptr ? driver_->windows() : 0;
}

RunCounters Engine::counters() const {
    RunCounters counters = store_.counters();
    counters.windows = windows();
    counters.fold = fold_counters();
    counters.threads = threads_used();
    return counters;
}

}  // namespace sluice::engine
