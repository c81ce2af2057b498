// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/trajectories.h"

#include <algorithm>

#include "core/calibration/trajectory_memory.h"

namespace sluice::hybrid {

namespace {

/// A group is recorded only when so many of its kind have formed: most kinds of a small job occur once.
constexpr std::uint64_t kFirst = 2;
/// So many groups of a kind are recorded before others follow them: flows alone do the same, to what their kind tells.
constexpr std::size_t kFewestAlone = 1;
constexpr std::size_t kFewestShared = 6;
/// Of large groups: where none is long enough, one of so many that are longest is followed.
constexpr std::size_t kLongest = 3;
/// One that is being recorded is known up to so many steps ago.
constexpr Tick kBehind = 4;
/// And if it is known for so many: how laws come down from line rate shows in the first.
constexpr Tick kFewestKnown = 2;
/// One that goes on for no more steps is not worth following.
constexpr Tick kWorth = 4;
/// At least so many of a kind that shares ports are as long as a group needs.
constexpr std::size_t kFewestLong = 3;
/// And no more than this.
constexpr std::size_t kMost = 16;
/// One more than the fewest is recorded when this many groups have formed; each further one at twice as many.
constexpr std::uint64_t kMoreAfter = 16;
/// The same where those that are known are too short.
constexpr std::uint64_t kLongerAfter = 4;
/// A trajectory that ends a little sooner is long enough.
constexpr double kNearlyAll = 0.9;
std::size_t fewest(std::size_t flows) { return flows == 1 ? kFewestAlone : kFewestShared; }

bool is_long_enough(const Trajectory& trajectory, Tick need) {
    const bool goes_on = trajectory.settles() || !is_large(trajectory.flows());
    return (goes_on && trajectory.is_complete()) ||
           static_cast<double>(trajectory.reach()) >= kNearlyAll * static_cast<double>(need);
}

/// One that `grows` is being recorded.
bool is_worth_following(const Trajectory& trajectory, bool grows, Tick age) {
    return grows ? trajectory.reach() >= kFewestKnown * trajectory.step() &&
                       trajectory.reach() + kBehind * trajectory.step() >= age
                 : trajectory.extended_reach() > age + kWorth * trajectory.step();
}

}  // namespace

std::uint32_t Trajectories::kind_of(const GroupKey& key) {
    const auto [found, added] = index_.emplace(key, static_cast<std::uint32_t>(kinds_.size()));
    if (!added) {
        return found->second;
    }
    Kind& kind = kinds_.emplace_back();
    if (memory_ != nullptr) {
        for (std::shared_ptr<Trajectory>& trajectory : memory_->recall(key, kMost)) {
            kind.kept.push_back({std::move(trajectory), {}, true});
        }
        kind.recorded = kind.kept.size();
    }
    return found->second;
}

/// Flows alone whose kind nobody has recorded follow one that is near. So these are looked up at once.
void Trajectories::use_memory(TrajectoryMemory& memory) {
    memory_ = &memory;
    memory.recall_facts(facts_);
    for (const GroupKey& key : memory.kinds_alone()) {
        kind_of(key);
    }
}

void Trajectories::save(Tick now) const {
    if (memory_ == nullptr) {
        return;
    }
    for (const auto& [key, number] : index_) {
        for (const Kept& one : kinds_[number].kept) {
            if (!one.recalled && is_worth_following(*one.trajectory, false, 0)) {
                memory_->learn(key, *one.trajectory, now);
            }
        }
    }
    memory_->learn_facts(facts_, now);
}

bool Trajectories::wants(std::uint32_t kind, std::size_t flows, Tick need) const {
    const Kind& of = kinds_[kind];
    const std::size_t kept = of.kept.size();
    if (of.formed < kFirst) {
        return false;
    }
    const auto enough = std::count_if(of.kept.begin(), of.kept.end(), [need](const Kept& one) {
        return !one.recording.expired() || is_long_enough(*one.trajectory, need);
    });
    if (is_large(flows)) {
        // As many as the root of how many have formed.
        return static_cast<std::size_t>(enough) < kMost &&
               (of.recorded + 1) * (of.recorded + 1) <= of.formed;
    }
    if (kept < fewest(flows) || kept >= kMost) {
        return kept < fewest(flows);
    }
    const bool too_short = static_cast<std::size_t>(enough) < std::min(fewest(flows), kFewestLong);
    const std::uint64_t after = too_short ? kLongerAfter : kMoreAfter;
    return (flows > 1 || too_short) && of.formed >= after << (kept - fewest(flows));
}

bool Trajectories::claim(std::uint32_t kind, Tick now, Tick until) {
    Kind& of = kinds_[kind];
    const bool free = of.claimed < now;
    of.claimed = free ? until : of.claimed;
    return free;
}

void Trajectories::keep(std::uint32_t kind, const std::shared_ptr<Recording>& recording) {
    std::vector<Kept>& kept = kinds_[kind].kept;
    ++kinds_[kind].recorded;
    if (kept.size() >= kMost) {  // the shortest gives way
        kept.erase(std::min_element(kept.begin(), kept.end(), [](const Kept& a, const Kept& b) {
            const auto rank = [](const Kept& one) {
                return std::make_pair(!one.recording.expired(), one.trajectory->reach());
            };
            return rank(a) < rank(b);
        }));
    }
    kept.push_back({recording->trajectory, recording, false});
}

/// Of a large group: as long as is needed; or one that is being recorded, and has come as far; or whatever goes on.
std::shared_ptr<const Trajectory> Trajectories::draw_large(std::uint32_t kind, Tick age, Tick need,
                                                           std::uint64_t draw) const {
    std::vector<std::shared_ptr<Trajectory>> longer;
    std::size_t best = 0;
    for (const Kept& one : kinds_[kind].kept) {
        const Trajectory& trajectory = *one.trajectory;
        const bool grows = !one.recording.expired();
        const bool is_long = is_long_enough(trajectory, need);
        const std::size_t rank = is_long || grows ? 2 : 1;
        if (!is_worth_following(trajectory, grows, age) || rank < best) {
            continue;
        }
        if (rank > best) {
            longer.clear();
            best = rank;
        }
        longer.push_back(one.trajectory);
    }
    if (longer.empty()) {
        return nullptr;
    }
    if (best == 1 && longer.size() > kLongest) {
        std::stable_sort(longer.begin(), longer.end(),
                         [](const auto& a, const auto& b) { return a->reach() > b->reach(); });
        longer.resize(kLongest);
    }
    return longer[draw % longer.size()];
}

std::shared_ptr<const Trajectory> Trajectories::complete(std::uint32_t kind) const {
    for (const Kept& one : kinds_[kind].kept) {
        if (one.recording.expired() && one.trajectory->is_complete()) {
            return one.trajectory;
        }
    }
    return nullptr;
}

void Trajectories::add_to(LateSteps& late, std::uint32_t kind) const {
    for (const Kept& one : kinds_[kind].kept) {
        one.trajectory->add_to(late);
    }
}

bool Trajectories::grows(std::uint32_t kind, const Trajectory& trajectory) const {
    if (kind == kOfNoKind) {
        return false;
    }
    const std::vector<Kept>& kept = kinds_[kind].kept;
    return std::any_of(kept.begin(), kept.end(), [&](const Kept& one) {
        return one.trajectory.get() == &trajectory && !one.recording.expired();
    });
}

bool Trajectories::begins(std::uint32_t kind) const {
    const std::vector<Kept>& kept = kinds_[kind].kept;
    return std::any_of(kept.begin(), kept.end(), [](const Kept& one) {
        return !one.recording.expired() &&
               one.trajectory->reach() < kFewestKnown * one.trajectory->step();
    });
}

bool Trajectories::goes_on(std::uint32_t kind, const Trajectory& trajectory, Tick age) const {
    return is_worth_following(trajectory, grows(kind, trajectory), age);
}

std::shared_ptr<const Trajectory> Trajectories::draw(std::uint32_t kind, std::size_t flows,
                                                     Tick age, Tick need,
                                                     std::uint64_t draw) const {
    if (is_large(flows)) {
        return draw_large(kind, age, need, draw);
    }
    std::vector<std::shared_ptr<Trajectory>> longer;
    for (const Kept& one : kinds_[kind].kept) {
        if (is_worth_following(*one.trajectory, !one.recording.expired(), age)) {
            longer.push_back(one.trajectory);
        }
    }
    if (longer.empty() || kinds_[kind].kept.size() < fewest(flows)) {
        return nullptr;
    }
    if (flows > 1) {
        return longer[draw % longer.size()];
    }
    return *std::max_element(longer.begin(), longer.end(),
                             [](const auto& a, const auto& b) { return a->reach() < b->reach(); });
}

}  // namespace sluice::hybrid
