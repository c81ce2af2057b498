// SPDX-License-Identifier: Apache-2.0
#include "core/engine/driver.h"

#include "core/clocks/worker_pool.h"
#include "core/error.h"
#include "core/fold/folds.h"
#include "core/hybrid/phase_controller.h"

namespace sluice::engine {

namespace {

void require_windows(const step::WorldStore& store) {
    if (store.config().arithmetic == Arithmetic::ns3) {
        throw InternalError("windows cannot keep ns-3's order of events (core/ns3/driver.h)");
    }
}

std::unique_ptr<step::Domains> domains_of(step::WorldStore& store, Clocks clocks,
                                          step::FlowPartitions& partitions,
                                          const hybrid::PhaseController* controller) {
    if (clocks == Clocks::one) {
        return nullptr;
    }
    if (partitions.shared_by() != step::SharedBy::cables) {
        throw InternalError(
            "partitions that share cables and hosts cannot have clocks of their own");
    }
    if (controller != nullptr) {
        throw InternalError("phases are for networks on one clock");
    }
    return std::make_unique<step::Domains>(store, partitions);
}

}  // namespace

Driver::Driver(step::WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks)
    : store_(store), hooks_(store, std::move(events), std::move(hooks)), changes_(store) {
    require_windows(store);
}

Driver::Driver(step::WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks,
               Clocks clocks, step::FlowPartitions& partitions, hybrid::PhaseController* controller)
    : store_(store),
      hooks_(store, std::move(events), std::move(hooks)),
      domains_(domains_of(store, clocks, partitions, controller)),
      changes_(store, partitions, controller, domains_.get()),
      controller_(controller) {
    require_windows(store);
}

Driver::~Driver() = default;

void Driver::expect_packets_from_outside() {
    outside_ = true;
    changes_.expect_packets_from_outside();
    if (domains_ != nullptr) {
        domains_->keep_one_clock();
    }
}

void Driver::before_packet_from_outside(const step::Packet& packet, PortId port, Tick at) {
    if (domains_ != nullptr) {
        domains_->stand_at(now_);
    }
    changes_.before_packet_from_outside(packet, port, at);
}

void Driver::tune(const step::ClockTuning& tuning) {
    if (domains_ != nullptr) {
        domains_->tune(tuning);
    }
}

std::uint64_t Driver::windows() const {
    return domains_ == nullptr
               ? windows_
               : domains_->statistics().windows_solo + domains_->statistics().windows_joint;
}

step::ClockStatistics Driver::statistics() const {
    step::ClockStatistics statistics;
    if (domains_ == nullptr) {
        statistics.windows_joint = windows_;
    } else {
        statistics = domains_->statistics();
    }
    static_cast<step::MembershipStatistics&>(statistics) = changes_.statistics();
    return statistics;
}

void Driver::divide_windows(step::WorkerPool& pool) {
    if (domains_ != nullptr) {
        throw InternalError("only windows of a network on one clock can be divided");
    }
    pool_ = &pool;
}

void Driver::fold(step::Folds& folds) {
    if (domains_ != nullptr || (controller_ != nullptr && controller_->copy_notes() == nullptr)) {
        throw InternalError("only a network on one clock can be folded");
    }
    if (controller_ != nullptr) {
        controller_->fold(folds);
    }
    folds_ = &folds;
    changes_.fold(folds);
}

void Driver::unfold() {
    if (folds_ != nullptr) {
        folds_->unfold();
        take_up_separated();
    }
}

/// After whatever may have ended a fold: the phase controller goes on with what its copies have become.
void Driver::take_up_separated() {
    if (controller_ != nullptr) {
        controller_->take_up_separated();
    }
}

/// What a leader's host does is repeated at others', which may be another worker's.
bool Driver::for_pool() {
    if (folds_ != nullptr && folds_->folded()) {
        pool_->unite();
        return false;
    }
    return pool_->takes(windows_);
}

void Driver::run_divided(Tick begin, Tick until) {
    const Tick report = hooks_.next_progress() > now_ ? hooks_.next_progress() : now_;
    const step::WorkerPool::Stretch stretch =
        pool_->run(begin, until, report, 256 - (windows_ & 255U));
    now_ = std::max(now_, stretch.end);
    window_end_ = stretch.end;
    windows_ += stretch.windows;
}

Tick Driver::next_cut() const {
    const Tick event = hooks_.next_event();
    const bool pending = event != kNever && !step::at_rest(store_.world());
    const Tick at = std::min(pending ? event : kNever, hooks_.next_sample());
    // Nothing left to do is the end, however much there would be to look at.
    const bool watched = controller_ != nullptr && (step::next_instant(store_.world()) != kNever ||
                                                    (outside_ && controller_->leaves_out()));
    return watched ? std::min(at, controller_->next_cut()) : at;
}

void Driver::execute_cut(Tick at) {
    if (hooks_.next_sample() == at) {
        unfold();
        hooks_.sample(at);
    }
    if (hooks_.next_event() == at) {
        unfold();
        changes_.links_change(at, [&] { hooks_.run_events(at); });
    }
    if (controller_ != nullptr && controller_->next_cut() <= now_) {
        controller_->at_cut(now_);
        if (folds_ != nullptr) {
            folds_->after_cut(now_);
            take_up_separated();
        }
    }
}

Tick Driver::solo_until(Tick begin, Tick limit) {
    if (changes_.strays() > 0) {
        return 0;
    }
    Tick cut = std::min({limit, hooks_.next_event(), hooks_.next_sample()});
    if (hooks_.next_progress() > now_) {
        cut = std::min(cut, hooks_.next_progress());
    }
    return domains_->solo_until(begin, now_, cut);
}

void Driver::take_up_closed() {
    take_up_changes();
    hooks_.report(now_, changes_.finished());
}

/// A window is complete only when nothing of it found its memory full: host memory grows, so this is
/// for worlds whose columns have a fixed size.
void Driver::take_up_changes() {
    if (store_.world().memory.overflow) {
        throw InternalError("a window has filled a queue or a column that cannot grow");
    }
    if (domains_ != nullptr) {
        domains_->check_windows();
        domains_->stand_at(now_);
    }
    if (folds_ != nullptr) {
        folds_->after_window(window_end_);
        take_up_separated();
    }
    changes_.take_up(now_);
    changes_.search(now_);
    if (folds_ != nullptr) {
        folds_->settle(now_, changes_.strays() == 0);
        take_up_separated();
    }
    if (domains_ != nullptr) {
        domains_->after_changes(now_);
    }
}

}  // namespace sluice::engine
