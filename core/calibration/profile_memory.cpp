// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/profile_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/memo/canonical_form.h"
#include "core/memo/number_reader.h"

namespace sluice::hybrid {

namespace {

/// 100 kbit/s, in bytes per tick and, for algorithms' rates, in bits/s.
constexpr double kRateUnit = 1e5 / 8e12;
constexpr double kLawRateUnit = 1e5;
/// Longer trusted skips are not distinguished, ticks.
constexpr double kForever = 1e18;

void append(memo::Numbers& numbers, const BinReading& reading, double unit) {
    numbers.push_back(std::llround(reading.rate / unit));
    numbers.push_back(std::llround(reading.in_flight));
}

/// Reads what append() has written, and what else is in a summary.
class SummaryReader : public memo::NumberReader {
  public:
    using NumberReader::NumberReader;

    BinReading take_reading(double unit) {
        const double rate = static_cast<double>(take()) * unit;
        return {rate, static_cast<double>(take()), 0, 0};
    }
    double take_law() { return static_cast<double>(take()) * kLawRateUnit; }
    std::vector<BinReading> take_readings(std::size_t flows, double unit) {
        std::vector<BinReading> readings;
        for (std::size_t f = 0; f < flows && is_whole(); ++f) {
            readings.push_back(take_reading(unit));
        }
        return readings;
    }
};

memo::Numbers facts_of(const ProfileKind& kind) {
    return {static_cast<std::int64_t>(kind.flows), kind.bin_length, kind.sawtooth_span};
}

/// Trusted skips beyond the bins, and from the first bin on.
std::tuple<double, double> reach(const CalibrationProfile& profile) {
    return {profile.trusted_tail(), profile.trusted_skip(0)};
}

}  // namespace

memo::Numbers numbers_of(const ProfileSummary& summary) {
    const bool shared = !summary.blocks.empty() && !summary.blocks.front().sent_spread.empty();
    memo::Numbers numbers = {summary.saturated ? 1 : 0,
                             static_cast<std::int64_t>(std::min(summary.tail_skip, kForever)),
                             summary.tail.empty() ? 0 : 1, std::llround(summary.initial_groups),
                             static_cast<std::int64_t>(summary.blocks.size())};
    for (const BinReading& reading : summary.tail) {
        append(numbers, reading, kRateUnit);
        if (shared) {
            numbers.push_back(std::llround(reading.law_rate / kLawRateUnit));
        }
    }
    for (const BinReading& reading : summary.initial) {
        append(numbers, reading, kLawRateUnit);
    }
    for (const ProfileSummary::Block& block : summary.blocks) {
        numbers.push_back(static_cast<std::int64_t>(block.bins));
        numbers.push_back(std::llround(block.groups));
        for (std::size_t f = 0; f < block.readings.size(); ++f) {
            append(numbers, block.readings[f], kRateUnit);
            numbers.push_back(std::llround(block.rate_spread[f] / kRateUnit));
            if (!block.sent_spread.empty()) {
                numbers.push_back(std::llround(block.readings[f].law_rate / kLawRateUnit));
                numbers.push_back(std::llround(block.sent_spread[f]));
            }
        }
    }
    return numbers;
}

std::optional<ProfileSummary> summary_of(const memo::Numbers& numbers, const ProfileKind& kind) {
    const std::size_t flows = kind.flows;
    SummaryReader reader(numbers);
    ProfileSummary summary;
    summary.saturated = reader.take(1) == 1;
    summary.tail_skip = static_cast<double>(reader.take());
    const bool has_tail = reader.take(1) == 1;
    summary.initial_groups = static_cast<double>(reader.take());
    const std::int64_t blocks = reader.take(kMaxBins);
    for (std::size_t f = 0; has_tail && f < flows && reader.is_whole(); ++f) {
        summary.tail.push_back(reader.take_reading(kRateUnit));
        summary.tail.back().law_rate = kind.shared ? reader.take_law() : 0;
    }
    summary.initial = reader.take_readings(summary.initial_groups > 0 ? flows : 0, kLawRateUnit);
    std::size_t bins = 0;
    for (std::int64_t i = 0; i < blocks && reader.is_whole(); ++i) {
        ProfileSummary::Block block;
        block.bins = static_cast<std::size_t>(reader.take(kMaxBins));
        block.groups = static_cast<double>(reader.take());
        bins += block.bins;
        for (std::size_t f = 0; f < flows && reader.is_whole(); ++f) {
            block.readings.push_back(reader.take_reading(kRateUnit));
            block.rate_spread.push_back(static_cast<double>(reader.take()) * kRateUnit);
            if (kind.shared) {
                block.readings.back().law_rate = reader.take_law();
                block.sent_spread.push_back(static_cast<double>(reader.take()));
            }
        }
        if (block.bins == 0 || block.groups < 1 || bins > kMaxBins) {
            return std::nullopt;
        }
        summary.blocks.push_back(std::move(block));
    }
    const bool beyond = summary.tail_skip > 0 && !has_tail;
    if (!reader.is_whole() || !reader.at_end() || beyond) {
        return std::nullopt;
    }
    return summary;
}

ProfileSummary reordered(const ProfileSummary& summary, const std::vector<std::size_t>& order) {
    const auto permuted = [&order](const auto& given) {
        auto made = given;
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i] = given[order[i]];
        }
        return made;
    };
    ProfileSummary made = summary;
    made.tail = permuted(summary.tail);
    made.initial = permuted(summary.initial);
    for (ProfileSummary::Block& block : made.blocks) {
        block.readings = permuted(block.readings);
        block.rate_spread = permuted(block.rate_spread);
        block.sent_spread = permuted(block.sent_spread);
    }
    return made;
}

ProfileMemory::Canonical ProfileMemory::canonical(const GroupKind& kind) const {
    std::vector<std::int64_t> words = {static_cast<std::int64_t>(memo::Kind::transient),
                                       kind.profile.bin_length, kind.profile.sawtooth_span};
    words.insert(words.end(), fingerprint_.begin(), fingerprint_.end());
    const GroupGraph group = group_graph(kind, std::move(words));
    const memo::CanonicalForm form = memo::canonical_form(group.graph);
    std::map<std::uint32_t, std::size_t> places;
    for (std::size_t flow = 0; flow < kind.profile.flows; ++flow) {
        places[group.flows[flow]] = flow;
    }
    Canonical made{form.digest, {}};
    for (const std::uint32_t vertex : form.order) {
        if (const auto place = places.find(vertex); place != places.end()) {
            made.flows.push_back(place->second);
        }
    }
    return made;
}

bool ProfileMemory::may_know(const ProfileKind& kind) const {
    return memo_.began_with(memo::Kind::transient, facts_of(kind));
}

std::optional<CalibrationProfile> ProfileMemory::recall(const GroupKind& kind) const {
    const Canonical form = canonical(kind);
    const memo::Entry* const entry = memo_.find(form.digest, 0);
    std::optional<CalibrationProfile> best;
    if (entry == nullptr || entry->kind != memo::Kind::transient) {
        return best;
    }
    std::vector<std::size_t> kept(kind.profile.flows);
    for (std::size_t place = 0; place < kind.profile.flows; ++place) {
        kept[form.flows[place]] = place;
    }
    for (const memo::SampleCount& seen : entry->samples) {
        const std::optional<ProfileSummary> summary = summary_of(seen.sample->values, kind.profile);
        if (!summary) {
            continue;
        }
        CalibrationProfile profile(kind.profile, reordered(*summary, kept));
        if (!best || reach(*best) < reach(profile)) {
            best = std::move(profile);
        }
    }
    return best;
}

void ProfileMemory::learn(const GroupKey& key, const CalibrationProfile& profile,
                          const std::optional<CalibrationProfile>& recalled, Tick now) {
    const GroupKind kind{key, profile.kind()};
    const auto unit = static_cast<double>(kind.profile.bin_length);
    const auto [beyond, from_begin] = reach(profile);
    if ((beyond < unit && from_begin < unit) || (recalled && reach(profile) <= reach(*recalled))) {
        return;
    }
    const Canonical form = canonical(kind);
    memo_.add(form.digest, now, memo::Kind::transient, facts_of(kind.profile),
              memo::Sample{numbers_of(reordered(profile.summary(), form.flows))});
}

}  // namespace sluice::hybrid
