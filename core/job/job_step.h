// SPDX-License-Identifier: Apache-2.0
/// What a job does when something happens at one of its ranks, over plain columns: one source for the
/// application that engines of the host call (core/job/job_application.h) and for a device's program. Each
/// call is for one rank, and touches that rank's state, its operations' and, at the host of a meeting's first
/// part, the meeting's.
///
/// Services are what the job may do at its host and instant:
///   room(n)                       n timers and starts of flows more can be taken; false: not now
///   start_flow(flow, at), set_timer(host, at, token), lookahead()   as HostServices
///   bad_release(op, resource)     an operation gives back what no acquire holds
/// A rank for which there is no room is *stuck* at its instant: resume() goes on when there is. Nothing else
/// may happen at its host before.
#pragma once

#include "core/job/job_state.h"
#include "core/memory_space.h"

namespace sluice::job {

/// Nothing ends later: flows that start then have a day until time itself ends.
inline constexpr Tick kLastEnd = kNever - 86'400 * kSecond;
/// What would end later than that has no timer.
inline constexpr Tick kTooLate = kNever - 1;

SLUICE_HD inline Tick later(Tick now, Tick duration) {
    return duration <= kLastEnd - now ? now + duration : kTooLate;
}

inline constexpr std::uint64_t kMillion = 1'000'000;
__extension__ typedef unsigned __int128 Wide;

/// How long `work` takes, and how much is done in `time`, where work is `slowdown` millionths slower.
/// Rounded so that work is never done early.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline Tick slowed_time(Tick work, std::int64_t slowdown) {
    const std::uint64_t slowed = kMillion + static_cast<std::uint64_t>(slowdown);
    const Wide time = (static_cast<Wide>(work) * slowed + (kMillion - 1)) / kMillion;
    return time < static_cast<Wide>(kTooLate) ? static_cast<Tick>(time) : kTooLate;
}
SLUICE_DEVICE_NOINLINE SLUICE_HD inline Tick slowed_work(Tick time, std::int64_t slowdown) {
    return static_cast<Tick>(static_cast<Wide>(time) * kMillion /
                             (kMillion + static_cast<std::uint64_t>(slowdown)));
}

/// A heap, the least on top.
SLUICE_DEVICE_NOINLINE SLUICE_HD inline void push_least(Memory& memory, PlainVector<OpId>& heap,
                                                        OpId op) {
    if (!heap.push(memory, op)) {
        return;
    }
    std::uint32_t child = heap.count - 1;
    for (; child > 0 && op < heap[(child - 1) / 2]; child = (child - 1) / 2) {
        heap[child] = heap[(child - 1) / 2];
    }
    heap[child] = op;
}
SLUICE_DEVICE_NOINLINE SLUICE_HD inline OpId pop_least(PlainVector<OpId>& heap) {
    const OpId least = heap[0];
    const OpId last = heap[--heap.count];
    std::uint32_t parent = 0;
    for (std::uint32_t child = 1; child < heap.count; child = 2 * parent + 1) {
        if (child + 1 < heap.count && heap[child + 1] < heap[child]) {
            ++child;
        }
        if (last < heap[child]) {
            break;
        }
        heap[parent] = heap[child];
        parent = child;
    }
    if (heap.count > 0) {
        heap[parent] = last;
    }
    return least;
}

template <class Services>
class Step {
  public:
    SLUICE_HD Step(const Job& job, Services& services) : job_(job), services_(services) {}

    /// The rank at `host`, if there is one, begins.
    SLUICE_HD void begin(NodeId host, Tick now) {
        const RankId rank = rank_at(job_, host);
        if (rank != kNone) {
            drain(job_.state[rank], now);
        }
    }
    /// The rank, which is stuck, goes on.
    SLUICE_HD void resume(RankId rank) { drain(job_.state[rank], job_.state[rank].stuck_at); }

    SLUICE_HD void received(NodeId host, FlowId flow, Tick now) {
        const JobMessage* const message = message_of(flow);
        if (message != nullptr && rank_at(job_, host) == job_.rank[message->recv]) {
            arrive(message->recv, now);
        }
    }

    SLUICE_HD void sent(NodeId host, FlowId flow, Tick now) {
        const JobMessage* const message = message_of(flow);
        if (message != nullptr && rank_at(job_, host) == job_.rank[message->send]) {
            advance(message->send, now);
        }
    }

    SLUICE_HD void timer(NodeId host, std::uint64_t token, Tick now) {
        const bool present = (token & kPresent) != 0;
        token &= ~kPresent;
        if (token >= job_.ops) {
            return;
        }
        const auto op = static_cast<OpId>(token);
        if (present) {
            part_present(op, now - services_.lookahead());
            return;
        }
        const RankId rank = job_.rank[op];
        if (rank_at(job_, host) != rank) {
            return;
        }
        if (job_.kind[op] == OpKind::await) {
            arrive(op, now);
        } else if (!slows(op) || finish_running(op, now, job_.state[rank])) {
            advance(op, now);
        }
    }

  private:
    SLUICE_HD const JobMessage* message_of(FlowId flow) const {
        return flow < job_.first_flow || flow - job_.first_flow >= job_.messages
                   ? nullptr
                   : &job_.message[flow - job_.first_flow];
    }

    SLUICE_HD void arrive(OpId op, Tick now) {
        job_.arrived[op] = 1;
        if (job_.start[op] != kNever) {
            advance(op, now);
        }
    }

    SLUICE_HD void advance(OpId op, Tick now) {
        RankState& state = job_.state[job_.rank[op]];
        finish_op(op, now, state);
        drain(state, now);
    }

    /// Starts all that can start now. A queue, not recursion: a chain of operations that take no time may
    /// be long.
    SLUICE_DEVICE_NOINLINE SLUICE_HD void drain(RankState& state, Tick now) {
        is_in_global_memory(state);
        state.stuck_at = now;
        do {
            for (; state.started < state.ready.count; ++state.started) {
                if (!services_.room(1)) {
                    return;
                }
                start_op(state.ready[state.started], now, state);
            }
            state.ready.count = 0;
            state.started = 0;
            if (!grant_resources(state, now)) {
                return;
            }
        } while (state.ready.count > 0 || state.claimed);
        if (overlaps_slow(job_)) {
            if (!services_.room(state.running.count)) {
                return;
            }
            time_running(state, now);
        }
        state.stuck_at = kNever;
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD void start_op(OpId op, Tick now, RankState& state) {
        is_in_global_memory(state);
        const OpKind kind = job_.kind[op];
        const std::uint32_t target = job_.target[op];
        if (kind == OpKind::acquire && counted(job_, target) != nullptr) {
            Resource& resource = state.resources[target];
            if (resource.left == 0) {
                resource.waiting.push(state.memory, op);
            } else {
                --resource.left;
                take_one(op, now, state);
            }
            return;
        }
        if (kind == OpKind::task || kind == OpKind::acquire) {
            push_least(state.memory, state.resources[target].waiting, op);
            state.claimed = true;
            return;
        }
        job_.start[op] = now;
        switch (kind) {
            case OpKind::compute:
            case OpKind::delay: start_timed(op, now, state); break;
            case OpKind::send:
                ++state.communicating;
                services_.start_flow(job_.first_flow + target, now);
                break;
            case OpKind::signal:
                set_timer(job_.host[job_.rank[target]], later(now, job_.duration[op]), target);
                finish_op(op, now, state);
                break;
            case OpKind::meet: {
                ++state.communicating;
                const OpId first = job_.meeting[target].first;
                services_.set_timer(job_.host[job_.rank[first]], now + services_.lookahead(),
                                    kPresent | op);
                break;
            }
            case OpKind::recv:
            case OpKind::await:
                if (job_.arrived[op] != 0) {
                    finish_op(op, now, state);
                }
                break;
            case OpKind::release: finish_op(op, now, state); break;
            case OpKind::task:
            case OpKind::acquire: break;
        }
    }

    SLUICE_HD void set_timer(NodeId host, Tick at, std::uint64_t token) {
        if (at != kTooLate) {
            services_.set_timer(host, at, token);
        }
    }

    SLUICE_HD void start_timed(OpId op, Tick now, RankState& state) {
        const Tick duration = job_.duration[op];
        if (duration == 0) {
            finish_op(op, now, state);
        } else if (slows(op)) {
            // Timed at the end of this instant, when it is known whether the rank communicates.
            state.running.push(state.memory, Running{op, duration, now, kNever});
        } else {
            set_timer(job_.host[job_.rank[op]], later(now, duration), op);
        }
    }

    /// Free resources go to those that wait for them; what that completes at once may free them again. False:
    /// no room.
    SLUICE_DEVICE_NOINLINE SLUICE_HD bool grant_resources(RankState& state, Tick now) {
        is_in_global_memory(state);
        if (!state.claimed) {
            return true;
        }
        state.claimed = false;
        for (std::uint32_t i = 0; i < state.resources.count; ++i) {
            Resource& resource = state.resources[i];
            if (resource.holder != kNone || resource.waiting.count == 0) {
                continue;
            }
            if (!services_.room(1)) {
                state.claimed = true;
                return false;
            }
            const OpId op = pop_least(resource.waiting);
            resource.holder = op;
            job_.served_after[op] = resource.given_by;
            job_.start[op] = now;
            if (job_.kind[op] == OpKind::task) {
                start_timed(op, now, state);
            } else {
                finish_op(op, now, state);
            }
        }
        return true;
    }

    SLUICE_HD void take_one(OpId op, Tick now, RankState& state) {
        Resource& resource = state.resources[job_.target[op]];
        resource.holder = op;
        job_.served_after[op] = resource.given_by;
        job_.start[op] = now;
        finish_op(op, now, state);
    }

    SLUICE_HD void give_one(OpId op, Tick now, RankState& state) {
        Resource& resource = state.resources[job_.target[op]];
        resource.given_by = op;
        if (resource.waiting.count == 0) {
            const std::uint32_t most = counted(job_, job_.target[op])->most;
            resource.left = resource.left < most ? resource.left + 1 : most;
            return;
        }
        const OpId next = resource.waiting[resource.served++];
        if (resource.served == resource.waiting.count) {
            resource.waiting.count = 0;
            resource.served = 0;
        }
        take_one(next, now, state);
    }

    SLUICE_DEVICE_NOINLINE SLUICE_HD void finish_op(OpId op, Tick now, RankState& state) {
        is_in_global_memory(state);
        job_.end[op] = now;
        ++state.completed;
        state.last_end = state.last_end > now ? state.last_end : now;
        const OpKind kind = job_.kind[op];
        if (kind == OpKind::release && counted(job_, job_.target[op]) != nullptr) {
            give_one(op, now, state);
        } else if (kind == OpKind::task || kind == OpKind::release) {
            Resource& resource = state.resources[job_.target[op]];
            if (kind == OpKind::release &&
                (resource.holder == kNone || job_.kind[resource.holder] != OpKind::acquire)) {
                services_.bad_release(op, job_.target[op]);
            }
            resource.holder = kNone;
            resource.given_by = op;
            state.claimed = true;
        } else if (kind == OpKind::send || kind == OpKind::meet) {
            --state.communicating;
        }
        for (std::uint32_t i = job_.successors_begin[op]; i < job_.successors_begin[op + 1]; ++i) {
            const OpId next = job_.successors[i];
            if (--job_.pending[next] == 0) {
                state.ready.push(state.memory, next);
            }
        }
    }

    /// Runs at the host of the meeting's first part: another one's part `op` has been there since `at`.
    SLUICE_DEVICE_NOINLINE SLUICE_HD void part_present(OpId op, Tick at) {
        const std::uint32_t index = job_.target[op];
        const JobMeeting& meeting = job_.meeting[index];
        MeetingState& state = job_.meet[index];
        state.latest = state.latest > at ? state.latest : at;
        if (++state.present < meeting.parts) {
            return;
        }
        const Tick end = later(state.latest, job_.duration[op]);
        for (OpId part = meeting.first; part < meeting.first + meeting.parts; ++part) {
            set_timer(job_.host[job_.rank[part]], end, part);
        }
    }

    SLUICE_HD bool slows(OpId op) const {
        const OpKind kind = job_.kind[op];
        return job_.cls[op] == OpClass::compute && overlap_slowdown(job_, op) > 0 &&
               (kind == OpKind::compute || kind == OpKind::task || kind == OpKind::delay);
    }

    /// Compute that runs changes speed when its rank begins or ends to communicate. Timers cannot be
    /// taken back: those set for an earlier speed find another due time and mean nothing.
    SLUICE_DEVICE_NOINLINE SLUICE_HD void time_running(RankState& state, Tick now) {
        is_in_global_memory(state);
        const bool slow = state.communicating > 0;
        for (std::uint32_t i = 0; i < state.running.count; ++i) {
            Running& running = state.running[i];
            if (running.due != kNever && slow == state.slow) {
                continue;
            }
            const std::int64_t slowdown = overlap_slowdown(job_, running.op);
            if (running.due != kNever) {
                const Tick elapsed = now - running.since;
                running.work -= state.slow ? slowed_work(elapsed, slowdown) : elapsed;
                running.work = running.work > 0 ? running.work : 0;
            }
            running.since = now;
            running.due = later(now, slow ? slowed_time(running.work, slowdown) : running.work);
            set_timer(job_.host[job_.rank[running.op]], running.due, running.op);
        }
        state.slow = slow;
    }

    SLUICE_HD static bool finish_running(OpId op, Tick now, RankState& state) {
        for (std::uint32_t i = 0; i < state.running.count; ++i) {
            if (state.running[i].op == op && state.running[i].due == now) {
                state.running[i] = state.running[--state.running.count];
                return true;
            }
        }
        return false;
    }

    const Job& job_;
    Services& services_;
};

}  // namespace sluice::job
