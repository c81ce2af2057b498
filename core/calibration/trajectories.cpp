// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/trajectories.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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
/// After so many, for ever. No more are recorded.
constexpr Tick kSteady = 256;
/// What settles, after so many of its own, if the mean of its flows' rates has moved by no more than this part of it in the last
/// quarter.
constexpr double kMeanMoves = 0.002;
constexpr double kAloneMoves = 0.0005;  ///< of a flow alone
constexpr double kOneMoves = 0.01;      ///< the same of a single flow whose rate does not converge

bool differ_little(double before, double after, double most) {
    return std::abs(after - before) <= most * before;
}

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

Tick Trajectory::reach() const {
    std::size_t steps = advances(0);
    for (std::size_t f = 0; f < flows(); ++f) {
        steps = std::min({steps, advances(f), laws(f)});
    }
    return static_cast<Tick>(steps) * step_;
}

bool Trajectory::is_complete() const {
    const Tick steps = reach() / step_;
    return steps >= kSteady || (settles() && steps >= settling_.steps && has_settled());
}

void Trajectory::halve() {
    for (std::vector<float>& all : advance_) {
        for (std::size_t i = 2; i < all.size(); i += 2) {
            all[i / 2] = all[i];
        }
        all.resize((all.size() + 1) / 2);
    }
    const auto keep_second = [](auto& all) {
        for (std::size_t i = 1; i < all.size(); i += 2) {
            all[i / 2] = all[i];
        }
        all.resize(all.size() / 2);
    };
    for (std::size_t flow = 0; flow < flows(); ++flow) {
        keep_second(law_[flow]);
        keep_second(stage_[flow]);
    }
    step_ *= 2;
}

void Trajectory::go_on_as(const Trajectory& other) {
    const Tick known = reach();
    const auto steps = static_cast<std::size_t>(known / step_);
    advance_[0].resize(steps + 1);
    law_[0].resize(steps);
    stage_[0].resize(steps);
    const double ahead =
        static_cast<double>(advance_[0].back()) - other.advance(0, static_cast<double>(known));
    const Tick last = std::max(other.reach(), settling_.steps * step_);
    for (Tick age = known + step_; age < last + step_; age += step_) {
        const auto at = static_cast<double>(age);
        add_advance(0, other.advance(0, at) + ahead);
        add_law(0, other.law(0, at), other.stage(0, at));
    }
}

/// Advance per step, between two steps.
double Trajectory::slope(std::size_t flow, std::size_t first, std::size_t last) const {
    const std::vector<float>& all = advance_[flow];
    return (static_cast<double>(all[last]) - static_cast<double>(all[first])) /
           static_cast<double>(last - first);
}

/// Of its law's rate, between two steps.
double Trajectory::mean_law(std::size_t flow, std::size_t first, std::size_t last) const {
    const auto begin = law_[flow].begin();
    return std::accumulate(begin + static_cast<std::ptrdiff_t>(first),
                           begin + static_cast<std::ptrdiff_t>(last), 0.0) /
           static_cast<double>(last - first);
}

/// Flows whose rates converge.
std::size_t Trajectory::converging() const {
    return static_cast<std::size_t>(std::count(keeps_rate_.begin(), keeps_rate_.end(), false));
}

/// Of these.
double Trajectory::mean_slope(std::size_t first, std::size_t last) const {
    double sum = 0;
    for (std::size_t flow = 0; flow < flows(); ++flow) {
        sum += keeps_rate_[flow] ? 0 : slope(flow, first, last);
    }
    return sum / static_cast<double>(converging());
}

/// The mean of rates that converge has moved by no more than this part of it in the last quarter.
bool Trajectory::moves_little(double part) const {
    const auto last = static_cast<std::size_t>(reach() / step_);
    return differ_little(mean_slope(last / 2, last * 3 / 4), mean_slope(last * 3 / 4, last), part);
}

bool Trajectory::has_settled() const {
    const auto last = static_cast<std::size_t>(reach() / step_);
    bool settled = converging() == 0 || moves_little(flows() == 1 ? kAloneMoves : kMeanMoves);
    // While the NIC is the bottleneck, a flow's rate does not show that its law still lowers the window.
    for (std::size_t flow = 0; flow < flows() && settled; ++flow) {
        settled =
            !keeps_rate_[flow] || (differ_little(slope(flow, last / 2, last * 3 / 4),
                                                 slope(flow, last * 3 / 4, last), kOneMoves) &&
                                   differ_little(mean_law(flow, last / 2, last * 3 / 4),
                                                 mean_law(flow, last * 3 / 4, last), kOneMoves));
    }
    return settled;
}

Tick Trajectory::extended_reach() const {
    const Tick known = reach();
    if ((flows() == 1 || settles()) && is_complete()) {
        return kNever / 4;
    }
    // What has settled goes on for another eighth.
    const bool settled = (flows() == 1 || is_large(flows())) && known >= kSettled * step_;
    return known + 2 * step_ + (settled ? known / 8 : 0);
}

/// Advance per step, in the later half of what is recorded. A rate that stays is taken from the last quarter: it may have moved
/// before. So is the rate of a small group that has not been recorded for long, as its laws may still change it.
double Trajectory::last_slope(std::size_t flow) const {
    const std::size_t last = advance_[flow].size() - 1;
    const bool is_early = !is_large(flows()) && !is_complete();
    const std::size_t part = keeps_rate_[flow] || is_early ? last / 4 : last / 2;
    const std::size_t fewest = is_early ? 2 : 4;
    const std::size_t over = std::min(last, std::max(part, fewest));
    return over == 0 ? 0 : slope(flow, last - over, last);
}

/// The mean of the last slopes of flows whose rates converge.
double Trajectory::settled_slope() const {
    const auto steps = std::make_pair(advances(0), advances(flows() - 1));
    if (settled_at_ != steps) {
        settled_at_ = steps;
        settled_ = 0;
        const auto count = static_cast<double>(converging());
        for (std::size_t flow = 0; flow < flows(); ++flow) {
            settled_ += keeps_rate_[flow] ? 0 : last_slope(flow) / count;
        }
    }
    return settled_;
}

/// So long after its end.
double Trajectory::advance_beyond(std::size_t flow, double time) const {
    const auto step = static_cast<double>(step_);
    const double last = last_slope(flow);
    if (!(settling_.convergence > 0) || keeps_rate_[flow]) {
        return last * time / step;
    }
    const double mean = settled_slope();
    // The later half's mean is that of a quarter before the end.
    const double quarter = static_cast<double>(advances(flow)) * step / 4;
    const double excess = (last - mean) * std::exp(-quarter / settling_.convergence);
    return (mean * time +
            excess * settling_.convergence * (1 - std::exp(-time / settling_.convergence))) /
           step;
}

double Trajectory::advance(std::size_t flow, double age) const {
    const std::vector<float>& all = advance_[flow];
    const double at = age / static_cast<double>(step_);
    const auto last = static_cast<double>(all.size() - 1);
    if (at >= last) {
        return all.back() + advance_beyond(flow, age - last * static_cast<double>(step_));
    }
    const auto before = static_cast<std::size_t>(at);
    const double from = all[before];
    return from + (at - static_cast<double>(before)) * (all[before + 1] - from);
}

/// The step whose end is nearest, from 0; there is one.
std::size_t Trajectory::law_at(std::size_t flow, double age) const {
    const double place = std::max(std::round(age / static_cast<double>(step_)) - 1, 0.0);
    return static_cast<std::size_t>(std::min(place, static_cast<double>(law_[flow].size() - 1)));
}

double Trajectory::law(std::size_t flow, double age) const {
    return law_[flow].empty() ? 1 : law_[flow][law_at(flow, age)];
}

/// Beyond the end it is one of those of the last quarter.
std::int64_t Trajectory::stage(std::size_t flow, double age) const {
    const std::vector<std::uint8_t>& all = stage_[flow];
    if (all.empty()) {
        return 0;
    }
    const double beyond = age / static_cast<double>(step_) - static_cast<double>(all.size());
    const std::size_t last = law_at(flow, age);
    const auto back = beyond > 0 ? static_cast<std::uint64_t>(beyond) % (all.size() / 4 + 1) : 0;
    return all[last - back];
}

double Trajectory::age_at(std::size_t flow, double advance) const {
    const std::vector<float>& all = advance_[flow];
    const auto step = static_cast<double>(step_);
    const auto found = std::lower_bound(all.begin(), all.end(), advance);
    if (found == all.begin()) {
        return 0;
    }
    if (found == all.end()) {
        return static_cast<double>(all.size() - 1) * step +
               time_beyond(flow, advance - static_cast<double>(all.back()));
    }
    const double before = *(found - 1);
    const double part = (advance - before) / (*found - before);
    return (static_cast<double>(found - all.begin() - 1) + part) * step;
}

/// In which it comes to so much more.
double Trajectory::time_beyond(std::size_t flow, double more) const {
    constexpr int kRounds = 4;  // rates come to their mean in a time that is long
    const double slope = last_slope(flow);
    double time = slope > 0 ? more / slope * static_cast<double>(step_)
                            : std::numeric_limits<double>::infinity();
    for (int round = 0; settling_.convergence > 0 && !keeps_rate_[flow] && round < kRounds &&
                        std::isfinite(time) && time > 0;
         ++round) {
        time *= more / advance_beyond(flow, time);
    }
    return time;
}

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
