// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/calibration.h"

#include <algorithm>

#include "core/calibration/profile_memory.h"

namespace sluice::hybrid {

std::uint32_t& Calibration::look_up(const GroupKind& kind) {
    auto found = index_.lower_bound(kind.key);
    if (found != index_.end() && found->first == kind.key) {
        return found->second;
    }
    found = index_.emplace_hint(found, kind.key, kNone);
    if (memory_ != nullptr) {
        if (std::optional<CalibrationProfile> profile = memory_->recall(kind)) {
            found->second = make(kind);
            entries_.back().recalled = std::move(profile);
        }
    }
    return found->second;
}

std::uint32_t Calibration::make(const GroupKind& kind) {
    entries_.emplace_back(CalibrationProfile(kind.profile));
    kinds_.insert(kind.profile);
    return static_cast<std::uint32_t>(entries_.size() - 1);
}

bool Calibration::may_know(const ProfileKind& kind) const {
    return kinds_.count(kind) != 0 || (memory_ != nullptr && memory_->may_know(kind));
}

std::uint32_t Calibration::find(const GroupKind& kind) { return look_up(kind); }

std::uint32_t Calibration::find_or_add(const GroupKind& kind, Tick now) {
    std::uint32_t& index = look_up(kind);
    if (index == kNone) {
        index = make(kind);
    }
    Entry& entry = entries_[index];
    if (entry.last_seen != now) {
        entry.occurrences += entry.last_seen == kNever ? 0 : 1;
        entry.last_seen = now;
    }
    return index;
}

void Calibration::save(Tick now) {
    if (memory_ == nullptr) {
        return;
    }
    for (const auto& [key, index] : index_) {
        if (index != kNone) {
            Entry& entry = entries_[index];
            apply_pending(entry, kNever);
            memory_->learn(key, entry.profile, entry.recalled, now);
        }
    }
}

/// Adds what was contributed before `now` to the profile.
void Calibration::apply_pending(Entry& entry, Tick now) {
    if (entry.pending_since >= now) {
        return;
    }
    for (const std::vector<BinReading>& initial : entry.pending_initial) {
        entry.profile.add_initial(initial);
    }
    entry.pending_initial.clear();
    for (const auto& [first, saturated, readings] : entry.pending) {
        entry.profile.add(first, readings, saturated);
    }
    entry.pending.clear();
}

const CalibrationProfile& Calibration::profile(std::uint32_t entry, Tick now) {
    apply_pending(entries_[entry], now);
    return last_profile(entry);
}

void Calibration::add_initial(std::uint32_t entry, Tick now,
                              const std::vector<BinReading>& readings) {
    if (closed(entry, now)) {
        return;
    }
    Entry& found = entries_[entry];
    apply_pending(found, now);
    found.pending_since = now;
    found.pending_initial.insert(readings);
}

void Calibration::add(std::uint32_t entry, Tick now, std::size_t first,
                      std::vector<BinReading> readings, bool saturated) {
    if (closed(entry, now)) {
        return;
    }
    Entry& found = entries_[entry];
    apply_pending(found, now);
    found.pending_since = now;
    found.pending.insert(Contribution{first, saturated, std::move(readings)});
}

std::uint32_t Calibration::request_run(std::uint32_t entry, Tick now, const RunRequest& request) {
    Entry& found = entries_[entry];
    if (closed(entry, now)) {
        return kNone;
    }
    const auto next = static_cast<std::uint32_t>(found.runs.size());
    if (next > 0 && found.runs.back().requested == now) {
        if (!request.copies) {
            return kNone;
        }
        found.runs.back().deadline = std::max(found.runs.back().deadline, now + request.length);
        return next - 1;
    }
    std::uint64_t complete = 0;
    std::uint64_t under_way = 0;
    for (const Entry::Run& run : found.runs) {
        complete += run.complete < now ? 1 : 0;
        under_way += run.complete >= now && run.deadline >= now ? 1 : 0;
    }
    const auto needed =
        static_cast<std::uint64_t>(request.whole ? CalibrationProfile::kRequiredContributors
                                                 : found.profile.required_contributors());
    if (under_way >= (complete < needed ? needed - complete : 1)) {
        return kNone;
    }
    const std::uint64_t failed = found.runs.size() - complete - under_way;
    const std::uint64_t started = complete + under_way;
    const std::uint64_t surplus = failed + (started < needed ? 0 : started - needed + 1);
    const std::uint64_t occurred = found.occurrences + (found.last_seen < now ? 1 : 0);
    const std::uint64_t needed_occurrences = std::uint64_t{1}
                                             << std::min<std::uint64_t>(surplus, 63);
    if (occurred < needed_occurrences && !(surplus == 0 && request.unseen)) {
        return kNone;
    }
    found.runs.push_back({now, now + request.length, kNever});
    return next;
}

void Calibration::complete_run(std::uint32_t entry, std::uint32_t run, Tick now) {
    Tick& complete = entries_[entry].runs[run].complete;
    complete = std::min(complete, now);
}

void Calibration::close(std::uint32_t entry, Tick now) {
    entries_[entry].closed = std::min(entries_[entry].closed, now);
}

}  // namespace sluice::hybrid
