// SPDX-License-Identifier: Apache-2.0
/// What told episodes are off by (core/episodes/episode.h), from those that were known and simulated instead.
///
/// Of an audited episode its flows' ends are compared with those that were foreseen, as a draw among samples: the share of
/// their foreseen completion times that its packets took longer (of all together: one by one, what moves both ways
/// would make a mean of ratios too large), and, for the job's time, how much later
/// the last byte of all came, over the time from the begin to it. Kinds of episodes (their digests) are strata: the audits
/// of one stand for the told flows of it, each in proportion to 1 / its probability. Ratios and variances are those of
/// estimate.h, an episode being a cluster, kinds of like lengths joined where there are few. Audits that earlier runs have
/// left with a kind in the memo weigh what the run's own do on average.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "core/audit/estimate.h"
#include "core/episodes/episode.h"
#include "core/memo/memo.h"

namespace sluice::audit {

/// Flows of like completion times, within a factor of two, are in one; `time` in ticks, above 0.
int stratum_of(double time);

class ToldAudit {
  public:
    /// `memo`, if any, keeps what is found, and must outlive it.
    explicit ToldAudit(memo::Memo* memo) : memo_(memo) {}

    /// Whether an audit of its kind is known, and two of what is told in all: else a run that tells the episode might
    /// not be able to say its error.
    bool may_tell(const hybrid::Episode& episode);
    void told(const hybrid::Episode& episode);
    /// All of the flows of an episode that was drawn with this probability have ended, simulated.
    void compared(const hybrid::Episode& episode, double probability, Tick now);

    std::uint64_t told_count() const { return told_; }
    std::uint64_t compared_count() const { return compared_; }
    /// Of kinds that this run has met.
    std::uint64_t inherited_count() const { return inherited_; }
    std::size_t clusters() const;
    double flows() const { return flows_; }

    /// Nothing was told, or at least two audits say what that was off by.
    bool enough() const;
    struct Lost {
        Interval shares;  ///< of told flows' completion times, summed over them
        Interval time;    ///< ticks, summed over told flows
    };
    /// What simulation would have taken longer. enough().
    Lost lost() const;
    /// Of an audited episode's flows together, in magnitude.
    double largest() const { return largest_; }

  private:
    /// Of an episode.
    struct Found {
        double weight = 0;  ///< 1 / probability; 0: inherited
        double shares = 0;  ///< lost, summed over flows
        double flows = 0;
        double lost = 0;  ///< ticks times flows
        double time = 0;  ///< the same
    };
    struct Kind {
        int stratum = 0;
        double flows = 0;  ///< told
        double time = 0;   ///< ticks times flows
        std::vector<Found> found;
    };

    Kind& kind_of(const hybrid::Episode& episode);
    static std::vector<Found> weighted(const Kind& kind);

    memo::Memo* memo_;
    std::map<memo::Digest, Kind> kinds_;
    std::uint64_t told_ = 0;
    std::uint64_t compared_ = 0;
    std::uint64_t inherited_ = 0;
    double flows_ = 0;
    double largest_ = 0;
};

}  // namespace sluice::audit
