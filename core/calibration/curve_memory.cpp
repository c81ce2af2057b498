// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/curve_memory.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "core/memo/canonical_form.h"

namespace sluice::hybrid {

namespace {

/// 100 kbit/s, in bytes per tick and, of laws' rates, in bits/s.
constexpr double kRateUnit = 1e5 / 8e12;
constexpr double kLawRateUnit = 1e5;
/// Ticks beyond which it makes no difference how long a curve is trusted.
constexpr double kForever = 1e18;

void append(memo::Numbers& numbers, const BinReading& reading, double unit) {
    numbers.push_back(std::llround(reading.rate / unit));
    numbers.push_back(std::llround(reading.flight));
}

/// Takes numbers one by one; `whole` is false once one was missing or out of range.
class Reader {
  public:
    explicit Reader(const memo::Numbers& numbers) : numbers_(numbers) {}

    std::int64_t take(std::int64_t most) {
        if (next_ >= numbers_.size() || numbers_[next_] < 0 || numbers_[next_] > most) {
            whole_ = false;
            return 0;
        }
        return numbers_[next_++];
    }
    BinReading take_reading(double unit) {
        const double rate = static_cast<double>(take(kMost)) * unit;
        return {rate, static_cast<double>(take(kMost)), 0, 0};
    }
    double take_law() { return static_cast<double>(take(kMost)) * kLawRateUnit; }
    std::vector<BinReading> take_readings(std::size_t flows, double unit) {
        std::vector<BinReading> readings;
        for (std::size_t f = 0; f < flows && whole_; ++f) {
            readings.push_back(take_reading(unit));
        }
        return readings;
    }
    bool whole() const { return whole_; }
    bool at_end() const { return next_ == numbers_.size(); }

    static constexpr std::int64_t kMost = std::int64_t{1} << 60;

  private:
    const memo::Numbers& numbers_;
    std::size_t next_ = 0;
    bool whole_ = true;
};

memo::Numbers facts_of(const CurveKind& kind) {
    return {static_cast<std::int64_t>(kind.flows), kind.unit, kind.swings};
}

/// What lets skips be taken: how long beyond the bins, and from the first bin on.
std::tuple<double, double> reach(const SteadyCurve& curve) {
    return {curve.trusted(), curve.trusted(0)};
}

}  // namespace

memo::Numbers numbers_of(const CurveSummary& summary) {
    const bool shared = !summary.blocks.empty() && !summary.blocks.front().apart.empty();
    memo::Numbers numbers = {summary.saturated ? 1 : 0,
                             static_cast<std::int64_t>(std::min(summary.trusted, kForever)),
                             summary.tail.empty() ? 0 : 1, std::llround(summary.origins),
                             static_cast<std::int64_t>(summary.blocks.size())};
    for (const BinReading& reading : summary.tail) {
        append(numbers, reading, kRateUnit);
        if (shared) {
            numbers.push_back(std::llround(reading.law / kLawRateUnit));
        }
    }
    for (const BinReading& reading : summary.origin) {
        append(numbers, reading, kLawRateUnit);
    }
    for (const CurveSummary::Block& block : summary.blocks) {
        numbers.push_back(static_cast<std::int64_t>(block.bins));
        numbers.push_back(std::llround(block.groups));
        for (std::size_t f = 0; f < block.readings.size(); ++f) {
            append(numbers, block.readings[f], kRateUnit);
            numbers.push_back(std::llround(block.spread[f] / kRateUnit));
            if (!block.apart.empty()) {
                numbers.push_back(std::llround(block.readings[f].law / kLawRateUnit));
                numbers.push_back(std::llround(block.apart[f]));
            }
        }
    }
    return numbers;
}

std::optional<CurveSummary> summary_of(const memo::Numbers& numbers, const CurveKind& kind) {
    const std::size_t flows = kind.flows;
    Reader reader(numbers);
    CurveSummary summary;
    summary.saturated = reader.take(1) == 1;
    summary.trusted = static_cast<double>(reader.take(Reader::kMost));
    const bool has_tail = reader.take(1) == 1;
    summary.origins = static_cast<double>(reader.take(Reader::kMost));
    const std::int64_t blocks = reader.take(kMostBins);
    for (std::size_t f = 0; has_tail && f < flows && reader.whole(); ++f) {
        summary.tail.push_back(reader.take_reading(kRateUnit));
        summary.tail.back().law = kind.shared ? reader.take_law() : 0;
    }
    summary.origin = reader.take_readings(summary.origins > 0 ? flows : 0, kLawRateUnit);
    std::size_t bins = 0;
    for (std::int64_t i = 0; i < blocks && reader.whole(); ++i) {
        CurveSummary::Block block;
        block.bins = static_cast<std::size_t>(reader.take(kMostBins));
        block.groups = static_cast<double>(reader.take(Reader::kMost));
        bins += block.bins;
        for (std::size_t f = 0; f < flows && reader.whole(); ++f) {
            block.readings.push_back(reader.take_reading(kRateUnit));
            block.spread.push_back(static_cast<double>(reader.take(Reader::kMost)) * kRateUnit);
            if (kind.shared) {
                block.readings.back().law = reader.take_law();
                block.apart.push_back(static_cast<double>(reader.take(Reader::kMost)));
            }
        }
        if (block.bins == 0 || block.groups < 1 || bins > kMostBins) {
            return std::nullopt;
        }
        summary.blocks.push_back(std::move(block));
    }
    const bool beyond = summary.trusted > 0 && !has_tail;
    if (!reader.whole() || !reader.at_end() || beyond) {
        return std::nullopt;
    }
    return summary;
}

CurveSummary reordered(const CurveSummary& summary, const std::vector<std::size_t>& order) {
    const auto permuted = [&order](const auto& given) {
        auto made = given;
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i] = given[order[i]];
        }
        return made;
    };
    CurveSummary made = summary;
    made.tail = permuted(summary.tail);
    made.origin = permuted(summary.origin);
    for (CurveSummary::Block& block : made.blocks) {
        block.readings = permuted(block.readings);
        block.spread = permuted(block.spread);
        block.apart = permuted(block.apart);
    }
    return made;
}

CurveMemory::Canonical CurveMemory::canonical(const ClusterKind& kind) const {
    std::vector<std::int64_t> words = {static_cast<std::int64_t>(memo::Kind::transient),
                                       kind.curve.unit, kind.curve.swings};
    words.insert(words.end(), fingerprint_.begin(), fingerprint_.end());
    const ClusterGraph cluster = cluster_graph(kind, std::move(words));
    const memo::CanonicalForm form = memo::canonical_form(cluster.graph);
    std::map<std::uint32_t, std::size_t> places;
    for (std::size_t flow = 0; flow < kind.curve.flows; ++flow) {
        places[cluster.flows[flow]] = flow;
    }
    Canonical made{form.digest, {}};
    for (const std::uint32_t vertex : form.order) {
        if (const auto place = places.find(vertex); place != places.end()) {
            made.flows.push_back(place->second);
        }
    }
    return made;
}

bool CurveMemory::may_know(const CurveKind& kind) const {
    return memo_.began_with(memo::Kind::transient, facts_of(kind));
}

std::optional<SteadyCurve> CurveMemory::recall(const ClusterKind& kind) const {
    const Canonical form = canonical(kind);
    const memo::Entry* const entry = memo_.find(form.digest, 0);
    std::optional<SteadyCurve> best;
    if (entry == nullptr || entry->kind != memo::Kind::transient) {
        return best;
    }
    std::vector<std::size_t> kept(kind.curve.flows);
    for (std::size_t place = 0; place < kind.curve.flows; ++place) {
        kept[form.flows[place]] = place;
    }
    for (const memo::SampleCount& seen : entry->samples) {
        const std::optional<CurveSummary> summary = summary_of(seen.sample->values, kind.curve);
        if (!summary) {
            continue;
        }
        SteadyCurve curve(kind.curve, reordered(*summary, kept));
        if (!best || reach(*best) < reach(curve)) {
            best = std::move(curve);
        }
    }
    return best;
}

void CurveMemory::learn(const ClusterKey& key, const SteadyCurve& curve,
                        const std::optional<SteadyCurve>& recalled, Tick now) {
    const ClusterKind kind{key, curve.kind()};
    const auto unit = static_cast<double>(kind.curve.unit);
    const auto [beyond, from_begin] = reach(curve);
    if ((beyond < unit && from_begin < unit) || (recalled && reach(curve) <= reach(*recalled))) {
        return;
    }
    const Canonical form = canonical(kind);
    memo_.add(form.digest, now, memo::Kind::transient, facts_of(kind.curve),
              memo::Sample{numbers_of(reordered(curve.summary(), form.flows))});
}

}  // namespace sluice::hybrid
