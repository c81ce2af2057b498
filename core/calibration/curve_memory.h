// SPDX-License-Identifier: Apache-2.0
/// Steady curves that outlive their run (core/calibration/calibration.h): in a memo, as transients, by the digest of what their
/// groups are, whatever flows, ports and their order are called (core/memo/canonical_form.h). After Wormhole's simulation
/// database (4.2 to 4.4), which keeps a rate and how long it took to be reached.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/calibration/calibration.h"
#include "core/memo/memo.h"

namespace sluice::hybrid {

class CurveMemory {
  public:
    /// `fingerprint` says all else that decides how a group goes: law, formats, buffers. `memo` must outlive this.
    CurveMemory(memo::Memo& memo, std::vector<std::int64_t> fingerprint)
        : memo_(memo), fingerprint_(std::move(fingerprint)) {}

    /// Whether the memo held curves of groups of as many flows and such bins as the run began: recall() costs more.
    bool may_know(const CurveKind& kind) const;
    /// What the memo held as the run began; of several curves the one that reaches farthest.
    std::optional<SteadyCurve> recall(const ClusterKind& kind) const;
    /// At the run's end: kept if skips can be taken from it, and more than from what was recalled.
    void learn(const ClusterKey& key, const SteadyCurve& curve,
               const std::optional<SteadyCurve>& recalled, Tick now);

  private:
    /// What a kind is called in the memo, and its flows (places in its key) in the order in which they are kept there.
    struct Canonical {
        memo::Digest digest;
        std::vector<std::size_t> flows;
    };
    Canonical canonical(const ClusterKind& kind) const;

    memo::Memo& memo_;
    std::vector<std::int64_t> fingerprint_;
};

/// A summary as integers: rates in 100 kbit/s, bytes in flight and times rounded to bytes and ticks.
memo::Numbers numbers_of(const CurveSummary& summary);
/// None if these are not a summary of such groups.
std::optional<CurveSummary> summary_of(const memo::Numbers& numbers, const CurveKind& kind);
/// Flow i of the result is flow order[i] of what is given.
CurveSummary reordered(const CurveSummary& summary, const std::vector<std::size_t>& order);

}  // namespace sluice::hybrid
