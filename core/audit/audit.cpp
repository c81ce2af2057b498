// SPDX-License-Identifier: Apache-2.0
#include "core/audit/audit.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace sluice::audit {

namespace {

/// Base round trips for which what comes after a skip is looked at.
constexpr Tick kHorizon = 8;
/// Of a skip at least so many are audited, if it is that long: where two courses begin and end is known to a
/// packet's time or so, and what a prefix is off by is taken times the skip's length by its own.
constexpr Tick kShortestPrefix = 32;
/// Of a skip whose rates others told at most so many: a packet is 0.03% of what a window of 35 packets sends in them.
constexpr Tick kToldPrefix = 96;
/// One audit costs at most this share of all that is due so far, but for the shortest.
constexpr double kLargestAudit = 0.1;
/// An error that every skip makes is that of a rate over so many round trips.
constexpr Tick kPerSkip = 64;
/// What an audit of all skips was beside the truth at most, as a share of flows' times (docs/audit.md): what
/// skips of one group do to others; and, where ACKs are no packets, what that does, for shadows have none either.
constexpr double kUnseen = 3e-4;
constexpr double kUnseenWithoutAcks = 1e-3;
/// Packet-hops up to which the first skip of each kind that others told is audited, whatever is due: a quarter of a second.
constexpr double kToldAdvance = 4e6;
/// Levels at which two courses are compared.
constexpr int kLevels = 8;
/// Clusters that are known when it is first asked whether the run can be trusted.
constexpr std::size_t kFirstLook = 8;
/// Then by one of so many parts more each time.
constexpr std::size_t kLooks = 4;
/// Strata of episodes, beside those of skips.
constexpr int kOfEpisodes = 1024;

std::uint64_t key_of(const step::World& world, const std::vector<FlowSlot>& flows) {
    std::uint64_t key = flows.size();
    for (const FlowSlot flow : flows) {
        key = mix_bits(key ^ world.id[flow]);
    }
    return key;
}

step::NetworkPart part_of(const hybrid::Executed& executed) {
    step::NetworkPart part{executed.ports, executed.hosts, executed.flows};
    std::sort(part.ports.begin(), part.ports.end());  // of several partitions: one after the other
    return part;
}

/// Mean of `late(bytes)` over levels between where `course` is at half of the horizon and at its end.
template <class Late>
double over_levels(const Course& course, Tick horizon, Late&& late) {
    const double first = course.bytes_at(horizon / 2);
    const double last = course.bytes_at(horizon);
    double sum = 0;
    for (int i = 1; i <= kLevels; ++i) {
        sum += late(first + (last - first) * i / kLevels);
    }
    return sum / kLevels;
}

/// Fewer packets than its rate would have sent: the run is late, packets lose less. A flow that has gone ahead of the one that
/// it follows waits at no rate.
double rounded(const hybrid::WatchedSkip& skip, std::size_t flow, std::int64_t packets) {
    const auto length = static_cast<double>(skip.end - skip.begin);
    return skip.rate[flow] > 0 ? static_cast<double>(packets) / skip.rate[flow] - length : 0;
}

}  // namespace

/// What packets make of a skip and of what follows, beside what the run made of it. By flow of the group, but for
/// runs, which are of what is executed of it.
struct Audit::Compared {
    ShadowRun run;                          ///< from the end of the skip
    ShadowRun truth;                        ///< from its begin
    std::vector<std::uint32_t> run_like;    ///< hybrid::Executed::like, as the skip ended
    std::vector<std::uint32_t> truth_like;  ///< the same, as it began
    Tick length = 0;
    Tick audited = 0;
    Tick horizon = 0;
    Tick until = 0;               ///< no flow ends earlier after the skip, nor the horizon
    std::vector<double> skipped;  ///< bytes, by the rate in the audited part
    std::vector<double> shorter;  ///< bytes by which the flow has become shorter
    std::vector<double> besides;  ///< of them, not by its rate: queues were changed

    bool whole() const { return audited == length; }
    const Course& run_of(std::size_t flow) const { return run.courses[run_like[flow]]; }
    const Course& truth_of(std::size_t flow) const { return truth.courses[truth_like[flow]]; }

    /// Ticks that the flow has lost; of a prefix without what it loses to whole packets.
    double lost(std::size_t flow) const {
        const Course& after = run_of(flow);
        const Course& course = truth_of(flow);
        if (whole()) {
            return over_levels(after, horizon, [&](double bytes) {
                return course.time_of(bytes + shorter[flow]) - after.time_of(bytes) -
                       static_cast<double>(length);
            });
        }
        const double rate = over_levels(course, until, [&](double bytes) {
            return course.time_of(bytes + skipped[flow]) - course.time_of(bytes) -
                   static_cast<double>(audited);
        });
        const double waking = over_levels(after, until, [&](double bytes) {
            return course.time_of(bytes + besides[flow]) - after.time_of(bytes);
        });
        return rate * static_cast<double>(length) / static_cast<double>(audited) + waking;
    }
};

/// A skip that is audited, as it began.
struct Audit::Drawn {
    step::NetworkPart part;
    std::vector<std::uint32_t> like;  ///< hybrid::Executed::like
    step::Snapshot before;
    std::uint64_t cluster = 0;
    double probability = 1;
    bool certain = false;
};

Audit::Audit(step::WorldStore& store, const AuditSettings& settings, memo::Memo* memo)
    : store_(store),
      settings_(settings),
      shadow_(store),
      draws_(store.world(), settings.share, settings.advance, settings.seed),
      told_(memo),
      next_look_(kFirstLook) {}

Audit::~Audit() = default;

FlowAudit& Audit::known(FlowSlot flow) {
    if (known_.size() <= flow) {
        known_.resize(std::size_t{flow} + 1);
    }
    return known_[flow];
}

/// Of what is executed, as a shadow has it.
double Audit::hops_per_tick(const hybrid::WatchedSkip& skip) const {
    const step::World& world = store_.world();
    double hops = 0;
    for (std::size_t i = 0; i < skip.group.flows.size(); ++i) {
        const FlowSlot flow = skip.group.flows[i];
        if (skip.executed_for(i) != flow) {
            continue;
        }
        const auto entries = [&](int first) {
            const PortId* const route = world.route[flow].port + first;
            return std::find(route, route + step::kPathHops, PortId{kNone}) - route;
        };
        const auto acks = world.answers == nullptr ? entries(step::kPathHops) : 0;
        hops += skip.rate[i] * static_cast<double>(entries(0) + acks);
    }
    return hops;
}

/// All of the skip, or as much as may be paid.
Tick Audit::length_to_audit(const hybrid::WatchedSkip& skip, double hops_per_tick,
                            bool certain) const {
    const Tick length = skip.end - skip.begin;
    if (settings_.share >= 1) {
        return length;
    }
    const Tick least = std::min(length, kShortestPrefix * skip.rtt);
    const double paid = kLargestAudit * draws_.due() / std::max(hops_per_tick, 1e-300);
    const double most = paid - static_cast<double>(2 * kHorizon * skip.rtt);
    const Tick whole = certain ? std::min(length, kToldPrefix * skip.rtt) : length;
    return most < static_cast<double>(whole) ? std::max(least, static_cast<Tick>(most)) : whole;
}

/// The completion time of a flow of the group, should it go on at its rate.
double Audit::foreseen_time(const hybrid::WatchedSkip& skip, std::size_t flow) const {
    const step::World& world = store_.world();
    const FlowSlot slot = skip.executed_for(flow);
    const step::Sender& sender = step::sender_of(world, slot);
    // The skip of a group may go on until the last byte of a flow has left a port, after the sender has sent it.
    const std::uint32_t unsent = sender.packets - sender.next;
    const double left = unsent == 0 ? 0 : static_cast<double>(unsent) / skip.rate[flow];
    return static_cast<double>(skip.begin - world.result[slot].start) + left;
}

/// How much the skip may be off by: the share of its flows' times that it is, as far as can be foreseen, summed
/// over them. A part of what is lost is lost by every skip, however short.
double Audit::importance(const hybrid::WatchedSkip& skip) const {
    double shares = 0;
    for (std::size_t i = 0; i < skip.group.flows.size(); ++i) {
        shares += static_cast<double>(skip.end - skip.begin + kPerSkip * skip.rtt) /
                  foreseen_time(skip, i);
    }
    return static_cast<double>(skip.copies) * shares;
}

double Audit::cost_of(const hybrid::WatchedSkip& skip, bool certain) const {
    const double rate = hops_per_tick(skip);
    return rate *
           static_cast<double>(length_to_audit(skip, rate, certain) + 2 * kHorizon * skip.rtt);
}

bool Audit::is_certain(const hybrid::WatchedSkip& skip) {
    if (settings_.share >= 1) {
        return true;
    }
    return skip.told != kNone && hops() + cost_of(skip, true) <= kToldAdvance &&
           told_kinds_.insert(skip.told).second;
}

void Audit::before_skip(const hybrid::WatchedSkip& skip) {
    const int stratum = stratum_of(foreseen_time(skip, 0));
    ++skips_;
    const auto copies = static_cast<double>(skip.copies * skip.sheets());
    const bool certain = is_certain(skip);
    certain_ += certain ? 1 : 0;
    const double probability =
        draws_.draw({stratum, importance(skip), cost_of(skip, certain), copies, certain});
    if (probability > 0) {
        const std::uint64_t key = key_of(store_.world(), skip.group.flows);
        const step::NetworkPart part = part_of(skip.executed);
        drawn_[skip.id] = std::make_unique<Drawn>(Drawn{part, skip.executed.like,
                                                        step::Snapshot(store_, part, skip.begin),
                                                        key, probability, certain});
    }
}

void Audit::after_skip(const hybrid::WatchedSkip& skip, const std::vector<std::int64_t>& packets) {
    const Tick length = skip.end - skip.begin;
    const auto copies = static_cast<double>(skip.copies);
    for (std::size_t i = 0; i < packets.size(); ++i) {
        FlowAudit& flow = known(skip.group.flows[i]);
        flow.skipped += copies * static_cast<double>(length);
        flow.held += skip.holds_shares ? copies * static_cast<double>(length) : 0;
        flow.rounded += copies * rounded(skip, i, packets[i]);
    }
    const auto drawn = drawn_.find(skip.id);
    if (drawn == drawn_.end()) {
        return;
    }
    if (length > 0) {
        measure(*drawn->second, skip, packets);
    }
    drawn_.erase(drawn);
}

/// Flows whose ends the skip has told, as `part` has them.
std::vector<ToldFlow> Audit::told_of(const hybrid::WatchedSkip& skip,
                                     const step::NetworkPart& part) const {
    std::vector<ToldFlow> told;
    for (const hybrid::ToldEnd& end : skip.ends) {
        const auto found = std::find(part.flows.begin(), part.flows.end(), end.flow);
        const PortId* const route = store_.world().route[end.flow].port;
        const PortId* const last = std::find(route, route + step::kPathHops, PortId{kNone});
        told.push_back({static_cast<std::size_t>(found - part.flows.begin()),
                        std::vector<PortId>(route, last), end.finish});
    }
    return told;
}

void Audit::measure(Drawn& drawn, const hybrid::WatchedSkip& skip,
                    const std::vector<std::int64_t>& packets) {
    const Tick horizon = kHorizon * skip.rtt;
    Compared compared;
    compared.horizon = horizon;
    compared.length = skip.end - skip.begin;
    compared.audited = length_to_audit(skip, hops_per_tick(skip), drawn.certain);
    compared.truth_like = drawn.like;
    compared.run_like = skip.executed.like;
    const step::NetworkPart part = part_of(skip.executed);  // it may have been unfolded meanwhile
    const step::Snapshot after(store_, part, skip.end);
    const std::vector<ToldFlow> told = told_of(skip, part);
    compared.run = shadow_.run(after, part, horizon, {}, told);
    const std::size_t flows = skip.group.flows.size();
    const auto payload = static_cast<double>(store_.world().payload);
    std::vector<double> wanted(drawn.part.flows.size());
    compared.until = horizon;
    for (std::size_t i = 0; i < flows; ++i) {
        const step::Sender* const before = drawn.before.sender(drawn.like[i]);
        const double shorter =
            static_cast<double>(before->size - after.sender(compared.run_like[i])->size);
        const double skipped =
            skip.mean_rate(i, compared.audited) * static_cast<double>(compared.audited) * payload;
        compared.skipped.push_back(skipped);
        compared.shorter.push_back(shorter);
        compared.besides.push_back(shorter - static_cast<double>(packets[i]) * payload);
        const double more = compared.whole() ? shorter : skipped;
        double& bytes = wanted[drawn.like[i]];
        bytes = std::max(bytes, compared.run_of(i).bytes_at(horizon) + std::max(more, 0.0));
        const bool ends = std::any_of(told.begin(), told.end(), [&](const ToldFlow& flow) {
            return flow.place == compared.run_like[i];
        });
        if (compared.run_of(i).ended() && !ends) {
            compared.until = std::min(compared.until, compared.run_of(i).last());
        }
    }
    compared.truth = shadow_.run(drawn.before, drawn.part, compared.audited + horizon, wanted);
    const auto taken = static_cast<double>(compared.run.hops + compared.truth.hops);
    if (drawn.certain) {
        certain_hops_ += taken;
    } else {
        draws_.spend(taken);
    }
    for (std::size_t i = 0; i < flows; ++i) {
        const double lost =
            compared.lost(i) - (compared.whole() ? rounded(skip, i, packets[i]) : 0);
        const auto length = static_cast<double>(compared.length);
        largest_ = std::max(largest_, std::abs(lost) / length);
        known(skip.group.flows[i])
            .found.push_back({drawn.cluster, static_cast<double>(skip.copies) / drawn.probability,
                              lost, length, length - static_cast<double>(compared.audited)});
    }
    ++audited_;
    prefixes_ += compared.whole() ? 0 : 1;
    look(skip.end);
}

bool Audit::takes(const hybrid::Episode& episode) {
    double time = 0;
    for (std::size_t i = 0; i < episode.flows.size(); ++i) {
        time += static_cast<double>(episode.foreseen[i].finish - episode.flows[i].start);
    }
    const auto flows = static_cast<double>(episode.flows.size());
    const double drawn = draws_.draw({kOfEpisodes + stratum_of(time / flows), flows, episode.hops});
    const double probability = told_.may_tell(episode) ? drawn : 1;
    if (probability > 0) {
        taken_[episode.flows.front().id] = probability;
    }
    return probability > 0;
}

void Audit::compared(const hybrid::Episode& episode, Tick now) {
    draws_.spend(episode.hops);
    told_.compared(episode, taken_.at(episode.flows.front().id), now);
    look(now);
}

/// Whether so much is surely lost already that the run would be off by more than the tolerance if nothing were from now
/// on.
void Audit::look(Tick now) {
    const std::size_t known = losses_.clusters() + told_.clusters();
    if (known < next_look_ || !trusts()) {
        return;
    }
    next_look_ = known + known / kLooks + 1;
    const AuditCounters found = counters();
    const double part = losses_.flows() / std::max(losses_.flows(), settings_.flows);
    distrusted_ =
        found.enough && (std::abs(found.fct_error) - found.fct_half) * part > settings_.tolerance
            ? now
            : kNever;
}

void Audit::left(FlowSlot flow) {
    const FlowResult& result = store_.world().result[flow];
    if (result.finish == kNever) {
        return;  // it goes another way
    }
    const auto time = static_cast<double>(result.finish - result.start);
    FlowAudit& had = known(flow);
    losses_.add(time, had);
    draws_.progress(losses_.flows() / std::max(losses_.flows(), settings_.flows));
    had = FlowAudit{};
}

AuditCounters Audit::counters() const {
    AuditCounters made;
    made.share = settings_.share;
    made.tolerance = settings_.tolerance;
    made.distrusted = distrusted_;
    made.skips = skips_;
    made.audited = audited_;
    made.prefixes = prefixes_;
    made.episodes = told_.told_count();
    made.audited_episodes = told_.compared_count();
    made.inherited = told_.inherited_count();
    made.hops = static_cast<std::uint64_t>(hops());
    made.clusters = losses_.clusters();
    made.skipped_share = losses_.skipped_share();
    made.largest_skip_error = largest_;
    made.largest_episode_error = told_.largest();
    made.enough =
        losses_.flows() > 0 && (skips_ == 0 || is_census() || losses_.enough()) && told_.enough();
    if (made.enough && made.skips + made.episodes > 0) {
        estimate(made);
    }
    return made;
}

/// Time lost makes the run's times too short. Skips and episodes are drawn apart: variances add up.
void Audit::estimate(AuditCounters& made) const {
    const double unseen = store_.answers_left_out() ? kUnseenWithoutAcks : kUnseen;
    const double flows = losses_.flows();
    SkipLosses skips;
    if (skips_ > 0) {
        skips = losses_.by_skips(is_census(), largest_);
        made.mean_skip_error = -skips.times.mean / losses_.skipped_time();
        skips.shares.mean += losses_.rounded_share();
        skips.times.mean += losses_.rounded_time();
    }
    Interval told_shares;
    Interval told_times;
    if (told_.told_count() > 0) {
        const ToldAudit::Lost lost = told_.lost();
        told_shares = lost.shares;
        told_times = lost.time;
        made.mean_episode_error = -told_shares.mean / told_.flows();
    }
    made.fct_error = -(skips.shares.mean + told_shares.mean) / flows;
    made.fct_half = std::hypot(skips.shares.half, told_shares.half) / flows + unseen +
                    losses_.unseen_share() / flows;
    made.time_error = -(skips.times.mean + told_times.mean) / losses_.time();
    made.time_half = std::hypot(skips.times.half, told_times.half) / losses_.time() + unseen +
                     losses_.unseen_time() / losses_.time();
}

}  // namespace sluice::audit
