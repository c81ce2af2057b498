// SPDX-License-Identifier: Apache-2.0
/// Steady rates that are known already (docs/models/phases.md, Calibrated rates). Groups that are renamed
/// copies of each other (ClusterKey) go the same way: one of them is simulated long once, and what its flows
/// sent per base RTT since the group formed is kept (SteadyCurve). The others take the rate of a skip from
/// it, and how far it may be trusted.
///
/// Nothing depends on the order in which groups are looked at: what is told at one instant is seen after it,
/// and what several tell alike then counts once, so that copies of which one is executed tell no less.
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

#include "core/calibration/cluster_kind.h"
#include "core/calibration/steady_curve.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

class CurveMemory;

/// What a group has done lately is compared over so many bins.
inline constexpr std::size_t kCompared = 4;

class Calibration {
  public:
    /// What earlier runs told is known, too. Before anything is asked for; `memory` must outlive this.
    void remember(CurveMemory& memory) { memory_ = &memory; }
    /// After the run: what is new to the memory is told to it.
    void leave(Tick now);

    /// False: no group like this, whatever its key, has told of itself, so that its key need not be known.
    bool may_know(const CurveKind& kind) const;
    /// The entry of a kind, made as it is first seen.
    std::uint32_t find(const ClusterKind& kind, Tick now);
    /// The same if it is known, else kNone.
    std::uint32_t known(const ClusterKind& kind);
    /// As it was told before `now`, in this run or, if that tells more, an earlier one. Groups of both are never put
    /// together: the same run again would count them twice.
    const SteadyCurve& curve(std::uint32_t entry, Tick now);
    /// What curve() was the last time.
    const SteadyCurve& told(std::uint32_t entry) const {
        const Entry& found = entries_[entry];
        return is_recalled(found) ? *found.recalled : found.curve;
    }
    /// At `now`: as SteadyCurve::add_origin().
    void add_origin(std::uint32_t entry, Tick now, const std::vector<BinReading>& readings);
    /// The same: as SteadyCurve::add().
    void add(std::uint32_t entry, Tick now, std::size_t first, std::vector<BinReading> readings,
             bool saturated);
    /// True if a group that is looked at `now` is to be simulated long, for `lasts` ticks: as many others as have to
    /// tell (SteadyCurve::tellers(); `whole`, of groups that end before anything can be told of what is beyond, three)
    /// have not done so nor are about to, and the key has been seen before or, `unseen`, need not have been; for each
    /// group that was asked in vain, or told and was not enough, at twice as many instants. Who is asked at one
    /// instant counts once.
    bool wants(std::uint32_t entry, Tick now, Tick lasts, bool unseen, bool whole);
    /// Who was asked at `asked` has told at `now` what it was asked for.
    void has_told(std::uint32_t entry, Tick asked, Tick now);
    /// After `now` nothing is added any more.
    void close(std::uint32_t entry, Tick now);
    /// curve() is what an earlier run told.
    bool is_recalled(std::uint32_t entry) const { return is_recalled(entries_[entry]); }
    std::size_t entries() const { return entries_.size(); }
    bool closed(std::uint32_t entry, Tick now) const { return entries_[entry].closed < now; }

  private:
    using Told = std::tuple<std::size_t, bool, std::vector<BinReading>>;
    struct Entry {
        /// To be simulated long.
        struct Asked {
            Tick at;
            Tick until;  ///< it will have told then, or was asked in vain
            Tick told;   ///< kNever: it has not
        };
        explicit Entry(SteadyCurve made) : curve(std::move(made)) {}

        SteadyCurve curve;
        std::optional<SteadyCurve> recalled;  ///< what earlier runs told
        Tick seen = kNever;                   ///< last
        std::uint64_t sightings = 0;          ///< instants, before that
        std::vector<Asked> asked;             ///< ascending
        Tick closed = kNever;
        Tick told_at = 0;
        std::set<Told> told;                        ///< then
        std::set<std::vector<BinReading>> origins;  ///< then, too
    };

    static void take_up(Entry& entry, Tick now);
    static bool is_recalled(const Entry& entry) {
        return entry.recalled && entry.curve.trusted() <= entry.recalled->trusted();
    }
    std::uint32_t make(const ClusterKind& kind);
    std::uint32_t& look_up(const ClusterKind& kind);

    CurveMemory* memory_ = nullptr;
    std::map<ClusterKey, std::uint32_t> index_;  ///< kNone: nobody has told of it
    std::set<CurveKind> kinds_;                  ///< of entries
    std::vector<Entry> entries_;
};

/// Readings bin by bin, which copies of a group have in common until one of them adds to its own. All copies belong to one
/// thread.
class BinReadings {
  public:
    bool empty() const { return size() == 0; }
    std::size_t size() const { return list_ == nullptr ? 0 : list_->size(); }
    const BinReading& operator[](std::size_t i) const { return (*list_)[i]; }
    /// Good until the next append().
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
    std::shared_ptr<std::vector<BinReading>> list_;  ///< null: none
};

/// What a group has done since it formed.
struct SteadyRecord {
    bool on = false;
    bool long_run = false;  ///< it is simulated for others, without skips
    Tick asked = kNever;    ///< when it was asked for that
    bool saturated = true;  ///< every flow was at its NIC's line rate throughout
    std::uint32_t entry = kNone;
    std::int64_t echoes = 0;  ///< of all flows, at the first bin's start
    Tick begin = 0;
    Tick edge = 0;                  ///< of the open bin, local
    double agreement = 0;           ///< relative difference of rates that are the same
    std::vector<std::int64_t> age;  ///< by flow: class of it, as the group formed
    std::vector<Tick> progress;  ///< by flow, at the open bin's start; none: nothing was read yet
    std::vector<std::int64_t> acked;
    std::vector<double> sent;  ///< by flow, payload bytes since the first bin began
    ClusterKind
        kind;  ///< what it is among included, as long as that is the same; no key: it was not asked for
    std::vector<double> across;  ///< that, by flow and port of its data: a share of the link
    bool from_begin = false;     ///< that was known as the first bin began, and is the same
    bool tells = false;          ///< what it does is told of
    bool told = false;           ///< the next skip's rates are what others told: means from
    double told_from = 0;        ///< this age on, in bins,
    double told_for = 0;         ///< over so many
    bool recalled = false;       ///< in an earlier run
    static constexpr std::size_t kNotAsked = std::numeric_limits<std::size_t>::max();
    std::uint32_t known = kNone;       ///< the entry of its kind, kNone: there was none among the
    std::size_t known_of = kNotAsked;  ///< first so many
    /// Readings in `bins`, of which entry, as an earlier run told it or not, and how often that had been added to.
    using Compared = std::tuple<std::size_t, std::uint32_t, bool, std::uint64_t>;
    Compared compared{0, kNone, false, 0};  ///< last,
    bool agrees = false;                    ///< and whether they agreed
    std::vector<BinReading>
        origin;        ///< by flow, at the first bin's start; rates are the laws', bits/s
    BinReadings bins;  ///< of all flows
};

}  // namespace sluice::hybrid
