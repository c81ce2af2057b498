// SPDX-License-Identifier: Apache-2.0
/// Calibration profiles that outlive their run (core/calibration/calibration.h). They are transients in the memo, and keyed
/// by a digest of the group that ignores the names and the order of flows and ports (core/memo/canonical_form.h). After
/// Wormhole's simulation database (4.2 to 4.4), which stores a rate and the time until it is reached.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/calibration/calibration.h"
#include "core/memo/memo.h"

namespace sluice::hybrid {

class ProfileMemory {
  public:
    /// `fingerprint`: everything else that a group's behaviour depends on, such as algorithm, packet formats and buffers.
    /// `memo` must outlive this.
    ProfileMemory(memo::Memo& memo, std::vector<std::int64_t> fingerprint)
        : memo_(memo), fingerprint_(std::move(fingerprint)) {}

    /// True if the memo held a profile of this kind, whatever its key, when the run began. Cheaper than recall().
    bool may_know(const ProfileKind& kind) const;
    /// The profile that the memo held when the run began. Of several ones, that with the longest trusted skips.
    std::optional<CalibrationProfile> recall(const GroupKind& kind) const;
    /// At the run's end: stores the profile if it allows skips, and longer ones than `recalled`.
    void learn(const GroupKey& key, const CalibrationProfile& profile,
               const std::optional<CalibrationProfile>& recalled, Tick now);

  private:
    /// A kind's digest, and its flows' places in the key, in canonical order.
    struct Canonical {
        memo::Digest digest;
        std::vector<std::size_t> flows;
    };
    Canonical canonical(const GroupKind& kind) const;

    memo::Memo& memo_;
    std::vector<std::int64_t> fingerprint_;
};

/// A summary as integers: rates in 100 kbit/s, bytes in flight and times rounded to bytes and ticks.
memo::Numbers numbers_of(const ProfileSummary& summary);
/// Inverse of numbers_of(). Empty if the numbers are no summary of this kind.
std::optional<ProfileSummary> summary_of(const memo::Numbers& numbers, const ProfileKind& kind);
/// Flow i of the result is flow order[i] of `summary`.
ProfileSummary reordered(const ProfileSummary& summary, const std::vector<std::size_t>& order);

}  // namespace sluice::hybrid
