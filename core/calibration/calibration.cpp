// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/calibration.h"

#include <algorithm>

#include "core/calibration/curve_memory.h"

namespace sluice::hybrid {

std::uint32_t& Calibration::look_up(const ClusterKind& kind) {
    auto found = index_.lower_bound(kind.key);
    if (found != index_.end() && found->first == kind.key) {
        return found->second;
    }
    found = index_.emplace_hint(found, kind.key, kNone);
    if (memory_ != nullptr) {
        if (std::optional<SteadyCurve> curve = memory_->recall(kind)) {
            found->second = make(kind);
            entries_.back().recalled = std::move(curve);
        }
    }
    return found->second;
}

std::uint32_t Calibration::make(const ClusterKind& kind) {
    entries_.emplace_back(SteadyCurve(kind.curve));
    kinds_.insert(kind.curve);
    return static_cast<std::uint32_t>(entries_.size() - 1);
}

bool Calibration::may_know(const CurveKind& kind) const {
    return kinds_.count(kind) != 0 || (memory_ != nullptr && memory_->may_know(kind));
}

std::uint32_t Calibration::known(const ClusterKind& kind) { return look_up(kind); }

std::uint32_t Calibration::find(const ClusterKind& kind, Tick now) {
    std::uint32_t& index = look_up(kind);
    if (index == kNone) {
        index = make(kind);
    }
    Entry& entry = entries_[index];
    if (entry.seen != now) {
        entry.sightings += entry.seen == kNever ? 0 : 1;
        entry.seen = now;
    }
    return index;
}

void Calibration::leave(Tick now) {
    if (memory_ == nullptr) {
        return;
    }
    for (const auto& [key, index] : index_) {
        if (index != kNone) {
            Entry& entry = entries_[index];
            take_up(entry, kNever);
            memory_->learn(key, entry.curve, entry.recalled, now);
        }
    }
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
    take_up(entries_[entry], now);
    return told(entry);
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
