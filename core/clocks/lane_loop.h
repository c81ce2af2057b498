// SPDX-License-Identifier: Apache-2.0
/// What the drivers of a lane share: what they drive, how far they are, and the loop that alternates
/// windows with what happens between them, cuts.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "core/clocks/driver_hooks.h"
#include "core/clocks/supervisor.h"
#include "core/clocks/window_loop.h"
#include "core/error.h"

namespace sluice::step {

class LaneLoop {
  public:
    LaneLoop(const LaneLoop&) = delete;
    LaneLoop& operator=(const LaneLoop&) = delete;

    /// Everything before this instant has been executed.
    Tick now() const { return now_; }
    bool stopped() const { return hooks_.stopped(); }

  protected:
    LaneLoop(WorldStore& store, std::vector<LinkEvent> events, DriverHooks hooks)
        : store_(store), hooks_(store, std::move(events), std::move(hooks)) {
        if (store.config().arithmetic == Arithmetic::ns3) {
            throw InternalError("windows cannot keep ns-3's order of events (core/ns3/driver.h)");
        }
    }
    ~LaneLoop() = default;

    /// Executes everything before `limit`: at each of `driver`'s cuts driver.execute_cut(), and what
    /// lies between by `window(begin, until)`, which runs at least from the instant `begin` on and
    /// moves now_, but not beyond `until`. Returns driver.next(), or kNever once stopped.
    template <class Driver, class Window>
    Tick drive(Driver& driver, Tick limit, Window&& window) {
        while (!stopped()) {
            const Tick begin = next_instant(store_.world());
            const Tick cut = driver.next_cut();
            if (cut <= begin) {
                if (cut >= limit || cut == kNever) {
                    break;
                }
                now_ = std::max(now_, cut);
                driver.execute_cut(cut);
                continue;
            }
            if (begin >= limit) {
                break;
            }
            window(begin, std::min(cut, limit));
        }
        hooks_.report(now_);
        return stopped() ? kNever : driver.next();
    }

    /// The next instant at which something happens between windows; `supervisor` may be null.
    Tick next_cut_with(const Supervisor* supervisor) const {
        const Tick event = hooks_.next_event();
        const bool pending = event != kNever && !at_rest();
        const Tick at = std::min(pending ? event : kNever, hooks_.next_sample());
        // Nothing left to do is the end, however much there would be to look at.
        const bool watched = supervisor != nullptr && next_instant(store_.world()) != kNever;
        return watched ? std::min(at, supervisor->next_cut()) : at;
    }

    /// Nothing is under way and nothing will start: a link event would change nothing.
    bool at_rest() const {
        const World& world = store_.world();
        return world.senders.count == world.free_senders.count && next_instant(world) == kNever;
    }

    WorldStore& store_;
    HookRunner hooks_;
    Tick now_ = 0;
};

}  // namespace sluice::step
