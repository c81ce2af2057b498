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
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/clocks/flow_partitions.h"
#include "core/ids.h"
#include "core/units.h"

namespace sluice::hybrid {

/// Bins that a group is recorded for at most.
inline constexpr std::size_t kMostBins = 512;

/// What a group's flow is to its key.
struct ClusterFlow {
    const step::Footprint* way = nullptr;
    Tick base_rtt = 0;
    std::int64_t line_rate = 0;  ///< bits/s
    std::int64_t age = 0;        ///< a class of it, as the group formed
    std::uint8_t traffic_class = 0;
};

/// What a port is to the key, beside which flows meet there.
struct ClusterPort {
    std::int64_t rate = 0;        ///< bits/s
    std::int64_t mark_bytes = 0;  ///< where it begins to mark
    std::int64_t across = 0;      ///< a class of the ACK stream that crosses it
};

/// A group up to the names of its flows, ports and nodes; the order of its flows counts.
using ClusterKey = std::vector<std::int64_t>;

ClusterKey cluster_key(const std::vector<ClusterFlow>& flows,
                       const std::function<ClusterPort(PortId)>& describe);

/// What a flow did in a bin.
struct BinReading {
    double rate = 0;    ///< payload bytes per tick
    double flight = 0;  ///< payload bytes
};

inline bool operator<(const BinReading& a, const BinReading& b) {
    return std::tie(a.rate, a.flight) < std::tie(b.rate, b.flight);
}

/// Means of what groups with one key did, by bins of their age.
class SteadyCurve {
  public:
    /// `unit`: ticks of a bin. `swings`: ticks within which the law's own swings average out, where its
    /// flows are not at their NICs' line rate throughout.
    SteadyCurve(std::size_t flows, Tick unit, Tick swings)
        : flows_(flows), unit_(unit), swings_(swings) {}

    /// What one group's flows were like as its first bin began: their laws' rates, bits/s.
    void add_origin(const std::vector<BinReading>& readings);
    /// Of `flow`, the mean.
    BinReading origin(std::size_t flow) const;
    bool has_origin() const { return origins_.groups > 0; }
    /// One group's readings, `flows` a bin, from bin `first` on.
    void add(std::size_t first, const std::vector<BinReading>& readings, bool saturated);

    std::size_t bins() const { return bins_.size(); }
    Tick unit() const { return unit_; }
    /// Of `flow` in the bins from `first` on, `count` of them; beyond the last one: its long-run mean.
    BinReading mean(std::size_t flow, double first, double count) const;
    /// The longest skip from bin `first` on, ticks, in which a flow's bytes by mean() are right within the
    /// tolerance: to where several groups have gone and did alike, or, once one was simulated long, beyond.
    /// 0: not known.
    double trusted(double first) const;
    /// The same, from any bin on, once one was simulated long.
    double trusted() const { return trusted_; }
    /// So many groups have gone that far that they tell what others will do; true beyond all bins.
    bool told_enough(double first) const;

  private:
    struct Bin {
        double groups = 0;
        std::vector<BinReading> sum;  ///< by flow
        std::vector<double> squares;  ///< by flow, of rates
    };

    BinReading bin(std::size_t flow, std::size_t at) const;
    BinReading between(std::size_t flow, std::size_t first, std::size_t last) const;
    double trusted_beyond(std::size_t flow) const;
    double spread(std::size_t flow, std::size_t at) const;
    void conclude();

    std::size_t flows_;
    Tick unit_;
    Tick swings_;
    bool saturated_ = true;
    Bin origins_;
    std::vector<Bin> bins_;
    double trusted_ = 0;            ///< beyond the bins, ticks
    std::vector<BinReading> tail_;  ///< by flow: the mean of the later half
};

class Calibration {
  public:
    /// The entry of a key, made as it is first seen.
    std::uint32_t find(const ClusterKey& key, std::size_t flows, Tick unit, Tick swings, Tick now);
    /// The same if it is known.
    std::uint32_t known(const ClusterKey& key) const {
        const auto found = index_.find(key);
        return found == index_.end() ? kNone : found->second;
    }
    /// As it was told before `now`.
    const SteadyCurve& curve(std::uint32_t entry, Tick now);
    /// At `now`: as SteadyCurve::add_origin().
    void add_origin(std::uint32_t entry, Tick now, const std::vector<BinReading>& readings);
    /// The same: as SteadyCurve::add().
    void add(std::uint32_t entry, Tick now, std::size_t first, std::vector<BinReading> readings,
             bool saturated);
    /// True if a group that is looked at `now` is to be simulated long, for `lasts` ticks: the key has been seen
    /// before, at twice as many instants for each group that was asked in vain, and nobody else is being
    /// simulated for it but who was asked at this instant.
    bool wants(std::uint32_t entry, Tick now, Tick lasts);
    /// After `now` nothing is added any more.
    void close(std::uint32_t entry, Tick now);
    bool closed(std::uint32_t entry, Tick now) const { return entries_[entry].closed < now; }

  private:
    using Told = std::tuple<std::size_t, bool, std::vector<BinReading>>;
    struct Entry {
        explicit Entry(SteadyCurve made) : curve(std::move(made)) {}

        SteadyCurve curve;
        Tick seen = kNever;           ///< last
        std::uint64_t sightings = 0;  ///< instants, before that
        Tick asked = kNever;          ///< when a group was last asked to be simulated
        Tick free = kNever;           ///< it will have told then
        std::uint64_t enough = 1;     ///< sightings for it to be asked
        Tick closed = kNever;
        Tick told_at = 0;
        std::set<Told> told;                        ///< then
        std::set<std::vector<BinReading>> origins;  ///< then, too
    };

    static void take_up(Entry& entry, Tick now);

    std::map<ClusterKey, std::uint32_t> index_;
    std::vector<Entry> entries_;
};

/// What a group has done since it formed.
struct SteadyRecord {
    bool on = false;
    bool long_run = false;  ///< it is simulated for others, without skips
    bool saturated = true;  ///< every flow was at its NIC's line rate throughout
    std::uint32_t entry = kNone;
    std::int64_t echoes = 0;  ///< of all flows, at the first bin's start
    Tick begin = 0;
    Tick unit = 0;
    Tick swings = 0;
    Tick edge = 0;                  ///< of the open bin, local
    double agreement = 0;           ///< relative difference of rates that are the same
    std::vector<std::int64_t> age;  ///< by flow: class of it, as the group formed
    std::vector<Tick> progress;  ///< by flow, at the open bin's start; none: nothing was read yet
    std::vector<std::int64_t> acked;
    ClusterKey key;              ///< what it is among included, as long as that is the same
    std::vector<double> across;  ///< that, by flow and port of its data: a share of the link
    bool from_begin = false;     ///< that was known as the first bin began, and is the same
    bool tells = false;          ///< what it does is told of
    std::vector<BinReading>
        origin;  ///< by flow, at the first bin's start; rates are the laws', bits/s
    std::vector<BinReading> bins;  ///< all flows', bin by bin
};

}  // namespace sluice::hybrid
