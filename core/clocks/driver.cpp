// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/driver.h"

#include "core/clocks/worker_pool.h"
#include "core/error.h"

namespace sluice::step {

namespace {

void require_windows(const WorldStore& store) {
    if (store.config().arithmetic == Arithmetic::ns3) {
        throw InternalError("windows cannot keep ns-3's order of events (core/ns3/driver.h)");
    }
}

}  // namespace

Driver::Driver(WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks)
    : store_(store),
      hooks_(store, std::move(events), std::move(hooks)),
      membership_(std::make_unique<Membership>(store)) {
    require_windows(store);
}

Driver::Driver(WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks, Clocks clocks,
               FlowPartitions& partitions, Supervisor* supervisor)
    : store_(store),
      hooks_(store, std::move(events), std::move(hooks)),
      domains_(clocks == Clocks::many ? std::make_unique<Domains>(store, partitions, supervisor)
                                      : nullptr),
      membership_(std::make_unique<Membership>(store, partitions, supervisor, domains_.get())),
      supervisor_(supervisor) {
    require_windows(store);
    if (clocks == Clocks::many && partitions.shared_by() != SharedBy::cables) {
        throw InternalError(
            "partitions that share cables and hosts cannot have clocks of their own");
    }
}

Driver::~Driver() = default;

void Driver::expect_packets_from_outside() {
    outside_ = true;
    membership_->expect_packets_from_outside();
    if (domains_ != nullptr) {
        domains_->keep_one_clock();
    }
}

void Driver::before_packet_from_outside(const Packet& packet, PortId port, Tick at) {
    if (domains_ != nullptr) {
        domains_->stand_at(now_);
    }
    membership_->before_packet_from_outside(packet, port, at);
}

void Driver::tune(const ClockTuning& tuning) {
    if (domains_ != nullptr) {
        domains_->tune(tuning);
    }
}

std::uint64_t Driver::windows() const {
    return domains_ == nullptr
               ? windows_
               : domains_->statistics().windows_solo + domains_->statistics().windows_joint;
}

ClockStatistics Driver::statistics() const {
    ClockStatistics statistics;
    if (domains_ == nullptr) {
        statistics.windows_joint = windows_;
    } else {
        statistics = domains_->statistics();
    }
    static_cast<MembershipStatistics&>(statistics) = membership_->statistics();
    return statistics;
}

void Driver::divide_windows(WorkerPool& pool) {
    if (domains_ != nullptr) {
        throw InternalError("only windows of a network on one clock can be divided");
    }
    pool_ = &pool;
}

void Driver::fold(Folding& folding) {
    if (domains_ != nullptr || (supervisor_ != nullptr && supervisor_->copy_notes() == nullptr)) {
        throw InternalError("only a network on one clock can be folded");
    }
    if (supervisor_ != nullptr) {
        supervisor_->fold(folding);
    }
    folding_ = &folding;
    membership_->fold(folding);
}

void Driver::unfold() {
    if (folding_ != nullptr) {
        folding_->unfold();
        take_up_separated();
    }
}

/// After whatever may have ended a fold: the supervisor goes on with what its copies have become.
void Driver::take_up_separated() {
    if (supervisor_ != nullptr) {
        supervisor_->take_up_separated();
    }
}

/// What a leader's host does is repeated at others', which may be another worker's.
bool Driver::for_pool() {
    if (folding_ != nullptr && folding_->folded()) {
        pool_->unite();
        return false;
    }
    return pool_->takes(windows_);
}

void Driver::run_divided(Tick begin, Tick until) {
    const Tick report = hooks_.next_progress() > now_ ? hooks_.next_progress() : now_;
    const WorkerPool::Stretch stretch = pool_->run(begin, until, report, 256 - (windows_ & 255U));
    now_ = std::max(now_, stretch.end);
    window_end_ = stretch.end;
    windows_ += stretch.windows;
}

Tick Driver::next_cut() const {
    const Tick event = hooks_.next_event();
    const bool pending = event != kNever && !at_rest(store_.world());
    const Tick at = std::min(pending ? event : kNever, hooks_.next_sample());
    // Nothing left to do is the end, however much there would be to look at.
    const bool watched = supervisor_ != nullptr && (next_instant(store_.world()) != kNever ||
                                                    (outside_ && supervisor_->leaves_out()));
    return watched ? std::min(at, supervisor_->next_cut()) : at;
}

void Driver::execute_cut(Tick at) {
    if (hooks_.next_sample() == at) {
        unfold();
        hooks_.sample(at);
    }
    if (hooks_.next_event() == at) {
        unfold();
        membership_->links_change(at, [&] { hooks_.run_events(at); });
    }
    if (supervisor_ != nullptr && supervisor_->next_cut() <= now_) {
        supervisor_->at_cut(now_);
        if (folding_ != nullptr) {
            folding_->after_cut(now_);
            take_up_separated();
        }
        if (domains_ != nullptr) {
            domains_->forget_timeouts();
        }
    }
}

Tick Driver::solo_until(Tick begin, Tick limit) {
    if (membership_->strays() > 0) {
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
    hooks_.report(now_, membership_->finished());
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
    if (folding_ != nullptr) {
        folding_->after_window(window_end_);
        take_up_separated();
    }
    membership_->take_up_changes(now_);
    membership_->search(now_);
    if (folding_ != nullptr) {
        folding_->settle(now_, membership_->strays() == 0);
        take_up_separated();
    }
    if (domains_ != nullptr) {
        domains_->after_changes(now_);
    }
}

}  // namespace sluice::step
