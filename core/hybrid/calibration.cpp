// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/calibration.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/steady/trend.h"

namespace sluice::hybrid {

namespace {

/// Relative error of a flow's bytes in a skip that an entry's rate may cause, by its uncertainty or by a
/// trend that goes on: a fifth of what a group alone is allowed by what it has seen of itself.
constexpr double kTolerance = 0.02;
/// As the detector's: bytes in flight may move by this part of their mean while a skip lasts.
constexpr double kFlightRange = 0.3;
constexpr double kUnlimited = 1e18;
/// Groups that have to have gone as far before others are told what they did there.
constexpr double kTellers = 3;
/// A conclusion is drawn from the later half of the bins, in blocks of equal length.
constexpr std::size_t kPerConclusion = 2 * steady::kBlocks;

void append_way(ClusterKey& key, const std::vector<PortId>& way, std::map<PortId, int>& names,
                const std::function<ClusterPort(PortId)>& describe) {
    key.push_back(static_cast<std::int64_t>(way.size()));
    for (const PortId port : way) {
        const auto [name, first] = names.insert({port, static_cast<int>(names.size())});
        key.push_back(name->second);
        if (first) {
            const ClusterPort told = describe(port);
            key.insert(key.end(), {told.rate, told.mark_bytes, told.across});
        }
    }
}

}  // namespace

ClusterKey cluster_key(const std::vector<ClusterFlow>& flows,
                       const std::function<ClusterPort(PortId)>& describe) {
    ClusterKey key;
    std::map<PortId, int> names;
    for (const ClusterFlow& flow : flows) {
        key.insert(key.end(), {flow.base_rtt, flow.line_rate, flow.age, flow.traffic_class});
        append_way(key, flow.way->data, names, describe);
        append_way(key, flow.way->acks, names, describe);
    }
    return key;
}

void SteadyCurve::add(std::size_t first, const std::vector<BinReading>& readings, bool saturated) {
    if (saturated_ && !saturated) {
        saturated_ = false;  // the law swings: what was concluded without that is no longer sure
        trusted_ = 0;
        tail_.clear();
    }
    for (std::size_t i = 0; i + flows_ <= readings.size(); i += flows_) {
        const std::size_t at = first + i / flows_;
        if (at > bins_.size() || at >= kMostBins) {
            return;  // nobody has told what comes before
        }
        if (at == bins_.size()) {
            bins_.push_back({0, std::vector<BinReading>(flows_), std::vector<double>(flows_)});
        }
        Bin& bin = bins_[at];
        bin.groups += 1;
        for (std::size_t f = 0; f < flows_; ++f) {
            bin.sum[f].rate += readings[i + f].rate;
            bin.sum[f].flight += readings[i + f].flight;
            bin.squares[f] += readings[i + f].rate * readings[i + f].rate;
        }
        if (at + 1 == bins_.size() && bin.groups == 1 && bins_.size() % kPerConclusion == 0) {
            conclude();
        }
    }
}

void SteadyCurve::add_origin(const std::vector<BinReading>& readings) {
    origins_.sum.resize(flows_);
    origins_.groups += 1;
    for (std::size_t f = 0; f < flows_; ++f) {
        origins_.sum[f].rate += readings[f].rate;
        origins_.sum[f].flight += readings[f].flight;
    }
}

BinReading SteadyCurve::origin(std::size_t flow) const {
    return {origins_.sum[flow].rate / origins_.groups, origins_.sum[flow].flight / origins_.groups};
}

BinReading SteadyCurve::bin(std::size_t flow, std::size_t at) const {
    if (at >= bins_.size()) {
        if (!tail_.empty()) {
            return tail_[flow];
        }
        return bins_.empty() ? BinReading{} : bin(flow, bins_.size() - 1);
    }
    const Bin& found = bins_[at];
    return {found.sum[flow].rate / found.groups, found.sum[flow].flight / found.groups};
}

BinReading SteadyCurve::between(std::size_t flow, std::size_t first, std::size_t last) const {
    BinReading sum;
    for (std::size_t at = first; at < last; ++at) {
        const BinReading one = bin(flow, at);
        sum.rate += one.rate;
        sum.flight += one.flight;
    }
    const auto count = static_cast<double>(last - first);
    return {sum.rate / count, sum.flight / count};
}

BinReading SteadyCurve::mean(std::size_t flow, double first, double count) const {
    BinReading sum;
    const double end = first + count;
    const auto known = static_cast<double>(bins_.size());
    const auto weigh = [&](const BinReading& reading, double weight) {
        sum.rate += weight * reading.rate;
        sum.flight += weight * reading.flight;
    };
    for (double at = first; at < std::min(end, known);) {
        const double next = std::min(std::floor(at) + 1, end);
        weigh(bin(flow, static_cast<std::size_t>(at)), next - at);
        at = next;
    }
    weigh(bin(flow, bins_.size()), end - std::max(first, std::min(end, known)));
    return {sum.rate / count, sum.flight / count};
}

/// As Detector::trusted_skip(), with one standard error as there, by the later half of what is known of `flow`.
double SteadyCurve::trusted_beyond(std::size_t flow) const {
    std::array<double, steady::kBlocks> rates{};
    std::array<double, steady::kBlocks> flights{};
    const std::size_t block = bins_.size() / kPerConclusion;
    for (std::size_t b = 0; b < steady::kBlocks; ++b) {
        const std::size_t first = (steady::kBlocks + b) * block;
        const BinReading mean = between(flow, first, first + block);
        rates[b] = mean.rate;
        flights[b] = mean.flight;
    }
    const double span = static_cast<double>(steady::kBlocks * block) * static_cast<double>(unit_);
    const steady::Line rate = steady::fit_line(rates);
    const double room = kTolerance - rate.mean_error / rate.mean;
    if (!(room > 0)) {
        return 0;
    }
    double skip = kUnlimited;
    const double drift = (std::abs(rate.change) + rate.change_error) / rate.mean / span;
    if (drift * kUnlimited > 2 * room) {
        skip = std::max(2 * room / drift - span, 0.0);
    }
    const steady::Line flight = steady::fit_line(flights);
    const double flight_drift = (std::abs(flight.change) + flight.change_error) / span;
    if (flight_drift * kUnlimited > kFlightRange * flight.mean) {
        skip = std::min(skip, kFlightRange * flight.mean / flight_drift);
    }
    return skip;
}

/// Standard deviation of a flow's rate among the groups that told of a bin.
double SteadyCurve::spread(std::size_t flow, std::size_t at) const {
    const Bin& found = bins_[at];
    const double mean = found.sum[flow].rate / found.groups;
    return std::sqrt(std::max(found.squares[flow] / found.groups - mean * mean, 0.0));
}

bool SteadyCurve::told_enough(double first) const {
    return first >= static_cast<double>(kMostBins) ||
           (first < static_cast<double>(bins_.size()) &&
            bins_[static_cast<std::size_t>(first)].groups >= kTellers);
}

double SteadyCurve::trusted(double first) const {
    double known = 0;
    std::vector<double> sent(flows_, 0);
    std::vector<double> off(flows_, 0);  // if who is off goes on being off
    for (auto at = static_cast<std::size_t>(first);
         told_enough(static_cast<double>(at)) && at < bins_.size(); ++at) {
        for (std::size_t f = 0; f < flows_; ++f) {
            sent[f] += bins_[at].sum[f].rate / bins_[at].groups;
            off[f] += spread(f, at);
            if (off[f] > kTolerance * sent[f]) {
                return std::max(trusted_, known);
            }
        }
        known = (static_cast<double>(at) + 1 - first) * static_cast<double>(unit_);
    }
    return std::max(trusted_, known);
}

void SteadyCurve::conclude() {
    const std::size_t half = bins_.size() / 2;
    const auto span = static_cast<double>(half) * static_cast<double>(unit_);
    if (!saturated_ && span < 2 * static_cast<double>(swings_)) {
        return;
    }
    trusted_ = kUnlimited;
    std::vector<BinReading> tail;
    for (std::size_t f = 0; f < flows_; ++f) {
        trusted_ = std::min(trusted_, trusted_beyond(f));
        tail.push_back(between(f, half, bins_.size()));
    }
    tail_ = std::move(tail);
}

std::uint32_t Calibration::find(const ClusterKey& key, std::size_t flows, Tick unit, Tick swings,
                                Tick now) {
    const auto [found, first] = index_.insert({key, static_cast<std::uint32_t>(entries_.size())});
    if (first) {
        entries_.emplace_back(SteadyCurve(flows, unit, swings));
    }
    Entry& entry = entries_[found->second];
    if (entry.seen != now) {
        entry.sightings += entry.seen == kNever ? 0 : 1;
        entry.seen = now;
    }
    return found->second;
}

/// What was told before `now`.
void Calibration::take_up(Entry& entry, Tick now) {
    if (entry.told_at >= now) {
        return;
    }
    for (const std::vector<BinReading>& origin : entry.origins) {
        entry.curve.add_origin(origin);
    }
    entry.origins.clear();
    for (const auto& [first, saturated, readings] : entry.told) {
        entry.curve.add(first, readings, saturated);
    }
    entry.told.clear();
}

const SteadyCurve& Calibration::curve(std::uint32_t entry, Tick now) {
    Entry& found = entries_[entry];
    take_up(found, now);
    return found.curve;
}

void Calibration::add_origin(std::uint32_t entry, Tick now,
                             const std::vector<BinReading>& readings) {
    if (closed(entry, now)) {
        return;
    }
    Entry& found = entries_[entry];
    take_up(found, now);
    found.told_at = now;
    found.origins.insert(readings);
}

void Calibration::add(std::uint32_t entry, Tick now, std::size_t first,
                      std::vector<BinReading> readings, bool saturated) {
    if (closed(entry, now)) {
        return;
    }
    Entry& found = entries_[entry];
    take_up(found, now);
    found.told_at = now;
    found.told.insert(Told{first, saturated, std::move(readings)});
}

bool Calibration::wants(std::uint32_t entry, Tick now, Tick lasts) {
    Entry& found = entries_[entry];
    if (closed(entry, now)) {
        return false;
    }
    if (found.asked == now) {
        found.free = std::max(found.free, now + lasts);
        return true;
    }
    const std::uint64_t before = found.sightings + (found.seen < now ? 1 : 0);
    if (before < found.enough || (found.asked != kNever && now <= found.free)) {
        return false;
    }
    found.asked = now;
    found.free = now + lasts;
    found.enough *= 2;
    return true;
}

void Calibration::close(std::uint32_t entry, Tick now) {
    entries_[entry].closed = std::min(entries_[entry].closed, now);
}

}  // namespace sluice::hybrid
