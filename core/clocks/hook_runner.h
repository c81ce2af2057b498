// SPDX-License-Identifier: Apache-2.0
/// What a driver does between windows besides stepping: link events, and what RunHooks ask for. The
/// same for every driver.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/results/run_hooks.h"
#include "core/world/world_store.h"

namespace sluice::step {

class HookRunner {
  public:
    HookRunner(WorldStore& store, std::vector<LinkEvent> events, RunHooks hooks)
        : store_(store), events_(std::move(events)), hooks_(std::move(hooks)) {
        std::stable_sort(events_.begin(), events_.end(),
                         [](const LinkEvent& a, const LinkEvent& b) { return a.at < b.at; });
        next_sample_ = hooks_.sample_every > 0 && hooks_.on_sample ? hooks_.sample_from : kNever;
        next_progress_ = hooks_.interval;
        World& world = store_.world();
        world.digest_hops = world.digest_hops || hooks_.checksum;
        world.list_pauses = world.list_pauses || hooks_.on_pfc;
    }
    HookRunner(const HookRunner&) = delete;
    HookRunner& operator=(const HookRunner&) = delete;

    Tick next_sample() const { return next_sample_; }
    void sample(Tick at) {
        const World& world = store_.world();
        queue_bytes_.resize(store_.topology().port_count());
        for (std::size_t port = 0; port < queue_bytes_.size(); ++port) {
            queue_bytes_[port] = world.egress[port].queued_bytes;
        }
        hooks_.on_sample(at, queue_bytes_);
        next_sample_ += hooks_.sample_every;
        if (next_sample_ > hooks_.sample_to) {
            next_sample_ = kNever;
        }
    }

    Tick next_event() const {
        return next_event_ < events_.size() ? events_[next_event_].at : kNever;
    }
    void run_events(Tick at) {
        run_events(at, [&](const LinkEvent& event) { store_.set_link(event.link, event.up, at); });
    }
    /// The same by `set_link(event)`.
    template <class SetLink>
    void run_events(Tick at, SetLink&& set_link) {
        for (; next_event() == at; ++next_event_) {
            set_link(events_[next_event_]);
        }
    }

    /// kNever if nobody wants to know.
    Tick next_progress() const { return hooks_.on_progress ? next_progress_ : kNever; }
    bool stopped() const { return stopped_; }
    /// Everything before `now` has been executed: reports what has happened since the last call, and
    /// empties `finished`.
    void report(Tick now, std::vector<FlowRecord>& finished) {
        if (!finished.empty()) {
            if (hooks_.on_finish) {
                std::sort(finished.begin(), finished.end(),
                          [](const FlowRecord& a, const FlowRecord& b) {
                              return std::make_pair(a.result.finish, a.id) <
                                     std::make_pair(b.result.finish, b.id);
                          });
                std::for_each(finished.begin(), finished.end(), hooks_.on_finish);
            }
            finished.clear();
        }
        if (PlainVector<PfcFrame>& frames = store_.world().pauses; frames.count > 0) {
            std::sort(frames.data, frames.data + frames.count,
                      [](const PfcFrame& a, const PfcFrame& b) {
                          return std::make_pair(a.at, a.port) < std::make_pair(b.at, b.port);
                      });
            std::for_each(frames.data, frames.data + frames.count, [&](const PfcFrame& frame) {
                hooks_.on_pfc(PfcEvent{frame.at, frame.port, frame.pause});
            });
            frames.count = 0;
        }
        // Whoever has ended the run is not asked again: 200 ms later the answer would be another one.
        if (hooks_.on_progress && !stopped_) {
            const auto wall = std::chrono::steady_clock::now();
            if (now >= next_progress_ || wall - last_wall_ > std::chrono::milliseconds(200)) {
                last_wall_ = wall;
                if (now >= next_progress_) {  // wall time must not move what cuts stretches
                    next_progress_ = (now / hooks_.interval + 1) * hooks_.interval;
                }
                stopped_ = !hooks_.on_progress(now);
            }
        }
    }

  private:
    WorldStore& store_;
    std::vector<LinkEvent> events_;
    std::size_t next_event_ = 0;
    RunHooks hooks_;
    Tick next_sample_ = kNever;
    Tick next_progress_ = kNever;
    std::chrono::steady_clock::time_point last_wall_ = std::chrono::steady_clock::now();
    std::vector<std::int64_t> queue_bytes_;  ///< by port, scratch of sample()
    bool stopped_ = false;
};

}  // namespace sluice::step
