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

bool Calibration::wants(std::uint32_t entry, Tick now, Tick lasts, bool unseen, bool whole) {
    Entry& found = entries_[entry];
    if (closed(entry, now)) {
        return false;
    }
    if (!found.asked.empty() && found.asked.back().at == now) {
        found.asked.back().until = std::max(found.asked.back().until, now + lasts);
        return true;
    }
    std::uint64_t heard = 0;
    std::uint64_t awaited = 0;
    for (const Entry::Asked& asked : found.asked) {
        heard += asked.told < now ? 1 : 0;
        awaited += asked.told >= now && asked.until >= now ? 1 : 0;
    }
    const auto needed =
        static_cast<std::uint64_t>(whole ? SteadyCurve::kTellers : found.curve.tellers());
    if (awaited >= (heard < needed ? needed - heard : 1)) {
        return false;
    }
    const std::uint64_t in_vain = found.asked.size() - heard - awaited;
    const std::uint64_t tell = heard + awaited;
    const std::uint64_t beyond = in_vain + (tell < needed ? 0 : tell - needed + 1);
    const std::uint64_t before = found.sightings + (found.seen < now ? 1 : 0);
    const std::uint64_t enough = std::uint64_t{1} << std::min<std::uint64_t>(beyond, 63);
    if (before < enough && !(beyond == 0 && unseen)) {
        return false;
    }
    found.asked.push_back({now, now + lasts, kNever});
    return true;
}

void Calibration::has_told(std::uint32_t entry, Tick asked, Tick now) {
    for (Entry::Asked& one : entries_[entry].asked) {
        if (one.at == asked) {
            one.told = std::min(one.told, now);
        }
    }
}

void Calibration::close(std::uint32_t entry, Tick now) {
    entries_[entry].closed = std::min(entries_[entry].closed, now);
}

}  // namespace sluice::hybrid
