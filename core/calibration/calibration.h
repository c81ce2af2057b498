// SPDX-License-Identifier: Apache-2.0
/// Calibration profiles of a run, by kind of flow group (docs/models/phases.md, Calibrated rates). Groups of one kind are
/// equal up to the names of their flows, ports and nodes (GroupKey), and so behave alike. Some of them are simulated for
/// long, as calibration runs, and contribute to the kind's profile. The others take rates and lengths of skips from it.
///
/// Results do not depend on the order in which groups are sampled at one instant: contributions become visible after their
/// instant, and equal ones count once. So copies of which only one is executed contribute as much as if all were.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/calibration/calibration_profile.h"
#include "core/calibration/group_kind.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

class ProfileMemory;

/// A group is compared with a profile over this many of its latest bins.
inline constexpr std::size_t kComparedBins = 4;

class Calibration {
  public:
    /// Also uses profiles of earlier runs. Call before any lookup; `memory` must outlive this.
    void use_memory(ProfileMemory& memory) { memory_ = &memory; }
    /// After the run: saves new profiles to the memory.
    void save(Tick now);

    /// False: no group of this kind has contributed, whatever its key. So its key need not be computed.
    bool may_know(const ProfileKind& kind) const;
    /// The entry of a kind, which is created at its first occurrence. Counts the occurrence at `now`.
    std::uint32_t find_or_add(const GroupKind& kind, Tick now);
    /// The entry of a kind; kNone if there is none.
    std::uint32_t find(const GroupKind& kind);
    /// The profile as of before `now`: this run's, or an earlier run's if that one is trusted for longer. The two are never
    /// merged, as a repetition of the same run would count twice.
    const CalibrationProfile& profile(std::uint32_t entry, Tick now);
    /// The profile that profile() last returned.
    const CalibrationProfile& last_profile(std::uint32_t entry) const {
        const Entry& found = entries_[entry];
        return is_recalled(found) ? *found.recalled : found.profile;
    }
    /// Contributes a group's initial state at `now`; see CalibrationProfile::add_initial().
    void add_initial(std::uint32_t entry, Tick now, const std::vector<BinReading>& readings);
    /// Contributes a group's readings at `now`; see CalibrationProfile::add().
    void add(std::uint32_t entry, Tick now, std::size_t first, std::vector<BinReading> readings,
             bool saturated);
    /// The calibration run that a group would make.
    struct RunRequest {
        Tick length = 0;      ///< at most
        bool unseen = false;  ///< it may be the first one of a kind that has not occurred before
        /// Groups of this kind are too short for an extrapolation, so that kRequiredContributors runs are required.
        bool whole = false;
        /// Groups that ask at one instant may be copies of each other: all of them become the same run. Else one does.
        bool copies = true;
    };
    /// The number of the calibration run that a group becomes at `now`, or kNone. Required are
    /// CalibrationProfile::required_contributors() runs. If these did not suffice, further ones follow, one at a time. The
    /// kind must have occurred before. Each run that failed or did not suffice doubles the number of occurrences that the
    /// next one needs.
    std::uint32_t request_run(std::uint32_t entry, Tick now, const RunRequest& request);
    /// A calibration run is complete at `now`.
    void complete_run(std::uint32_t entry, std::uint32_t run, Tick now);
    /// Contributions after `now` are ignored.
    void close(std::uint32_t entry, Tick now);
    /// True if profile() is an earlier run's.
    bool is_recalled(std::uint32_t entry) const { return is_recalled(entries_[entry]); }
    std::size_t entries() const { return entries_.size(); }
    bool closed(std::uint32_t entry, Tick now) const { return entries_[entry].closed < now; }

  private:
    /// First bin, whether all flows were saturated, readings.
    using Contribution = std::tuple<std::size_t, bool, std::vector<BinReading>>;
    struct Entry {
        /// A calibration run.
        struct Run {
            Tick requested;
            Tick deadline;  ///< a run that is not complete by then has failed
            Tick complete;  ///< kNever: it is not
        };
        explicit Entry(CalibrationProfile made) : profile(std::move(made)) {}

        CalibrationProfile profile;
        std::optional<CalibrationProfile> recalled;  ///< of earlier runs
        Tick last_seen = kNever;
        std::uint64_t occurrences = 0;  ///< instants before `last_seen`
        std::vector<Run> runs;          ///< by `requested`, and by number
        Tick closed = kNever;
        Tick pending_since = 0;                             ///< instant of what is pending
        std::set<Contribution> pending;                     ///< not in `profile` yet
        std::set<std::vector<BinReading>> pending_initial;  ///< the same
    };

    static void apply_pending(Entry& entry, Tick now);
    static bool is_recalled(const Entry& entry) {
        return entry.recalled && entry.profile.trusted_tail() <= entry.recalled->trusted_tail();
    }
    std::uint32_t make(const GroupKind& kind);
    std::uint32_t& look_up(const GroupKind& kind);

    ProfileMemory* memory_ = nullptr;
    std::map<GroupKey, std::uint32_t> index_;  ///< kNone: looked up, but without an entry
    std::set<ProfileKind> kinds_;              ///< of entries
    std::vector<Entry> entries_;
};

/// A group's readings, bin by bin. Copies share them until one of them appends. All copies must belong to one thread.
class BinReadings {
  public:
    bool empty() const { return size() == 0; }
    std::size_t size() const { return list_ == nullptr ? 0 : list_->size(); }
    const BinReading& operator[](std::size_t i) const { return (*list_)[i]; }
    /// Valid until the next append().
    const std::vector<BinReading>& all() const {
        static const std::vector<BinReading> kNothing;
        return list_ == nullptr ? kNothing : *list_;
    }
    /// `bin` must not be all() of this.
    void append(const std::vector<BinReading>& bin) {
        if (list_.use_count() != 1) {
            auto own = std::make_shared<std::vector<BinReading>>();
            own->reserve(size() + bin.size());
            own->assign(all().begin(), all().end());
            list_ = std::move(own);
        }
        list_->insert(list_->end(), bin.begin(), bin.end());
    }

  private:
    std::shared_ptr<std::vector<BinReading>> list_;  ///< null: empty
};

/// A group's behaviour since it formed, and what it contributes to or takes from a profile.
struct CalibrationRecord {
    bool recording = false;
    bool calibrating = false;   ///< it is a calibration run, which is not skipped
    std::uint32_t run = kNone;  ///< its number, once it has become one
    bool saturated = true;      ///< every flow was at its NIC's line rate throughout
    std::uint32_t entry = kNone;
    std::int64_t echoes = 0;              ///< sum of FlowReading::echoes at the first bin's start
    Tick begin = 0;                       ///< start of the first bin
    Tick bin_end = 0;                     ///< of the open bin, in the group's local time
    double tolerance = 0;                 ///< relative difference up to which rates count as equal
    std::vector<std::int64_t> age_class;  ///< by flow, as the group formed
    std::vector<Tick> progress;  ///< by flow, at the open bin's start; empty: nothing read yet
    std::vector<std::int64_t> acked;
    std::vector<double> sent;  ///< by flow, payload bytes since the first bin began
    GroupKind
        kind;  ///< includes the ACK load, as long as it stays the same; key empty: not computed
    std::vector<double> ack_shares;  ///< by flow and data port: the link's share of foreign ACKs
    bool known_from_begin = false;   ///< `ack_shares` was known at the first bin's start and holds
    bool contributes = false;
    // Rates of the next skip from the profile.
    bool predicted = false;
    double predicted_from = 0;  ///< age at the skip's start, bins
    double predicted_for = 0;   ///< length of the skip, bins
    bool recalled = false;      ///< by an earlier run's profile
    static constexpr std::size_t kNotLookedUp = std::numeric_limits<std::size_t>::max();
    std::uint32_t known = kNone;           ///< entry of its kind, as last looked up
    std::size_t looked_up = kNotLookedUp;  ///< number of entries at that time
    /// Own readings, entry, whether that was recalled, additions to it.
    using Compared = std::tuple<std::size_t, std::uint32_t, bool, std::uint64_t>;
    Compared compared{0, kNone, false, 0};  ///< the last comparison with a profile
    bool agrees = false;                    ///< its result
    std::vector<BinReading> initial;        ///< by flow; as for CalibrationProfile::add_initial()
    BinReadings bins;                       ///< bin by bin, each with all flows
};

}  // namespace sluice::hybrid
