// SPDX-License-Identifier: Apache-2.0
/// Episodes: flows that meet at their hosts, all started before the first of them ends, from idle hosts to idle
/// ones (an all-to-all, an incast, a lone message). An episode that is seen again is not simulated again: its
/// flows end when those of one that was simulated did (docs/models/phases.md#episodes).
///
/// An episode that begins like one that is known is *held*: its packets wait, exactly as they are, until its first
/// flow could end at the soonest. If what has started by then is known well enough, its ends are *told*; they are put
/// into effect at the first of them. If not, or if anything meets it before that, what was held is executed up to that
/// instant as if it had never been held. After Wormhole's memoization (4.2 to 4.4, 6.3), of whole processes instead of
/// ways to a steady state.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/episodes/episode_engine.h"
#include "core/episodes/start_patterns.h"
#include "core/flow/flow.h"
#include "core/ids.h"
#include "core/memo/memo.h"
#include "core/results/phase_record.h"
#include "core/units.h"

namespace sluice::hybrid {

struct EpisodeFlow {
    FlowSlot slot = kNone;  ///< while it is in the network
    FlowId id = kNoFlow;
    FlowSpec spec;
    std::int64_t size = 0;  ///< payload bytes
    std::uint8_t traffic_class = 0;
    Tick base_rtt = 0;
    std::vector<std::int64_t> law;  ///< NetworkView::law_facts()
    Tick least = 0;  ///< from its start to its last byte's arrival, if nothing is in its way
    std::vector<PortId> data;  ///< by which its packets leave
    std::vector<PortId> acks;
    Tick start = 0;
    Tick received = kNever;
    Tick finish = kNever;
    std::int64_t sent = 0;  ///< packets that have left its NIC, of one that is over
};

enum class EpisodeState : std::uint8_t {
    simulated,  ///< by packets
    held,
    told,  ///< held, and its ends are known
    over,  ///< told, and the first has come: its packets are gone, and come back if something meets it
};

/// Ends of an episode's flows, in their order.
struct EpisodeEnd {
    Tick received = 0;
    Tick finish = 0;
};

struct Episode {
    EpisodeState state = EpisodeState::simulated;
    /// From idle, and no flow has started after an end: others may be told of it.
    bool whole = true;
    Tick begin = 0;                    ///< of its first flow
    Tick cut = kNever;                 ///< held: what is known is asked for; told: the first end
    std::uint32_t open = 0;            ///< flows in the network
    std::int64_t skipped = 0;          ///< payload bytes of its flows that were
    bool followed = false;             ///< others were executed by it
    std::uint32_t late = 0;            ///< flows that have started at its hosts since the first end
    std::vector<EpisodeFlow> flows;    ///< while it is whole
    memo::Digest key;                  ///< of one that is told
    std::vector<EpisodeEnd> foreseen;  ///< by flow; of one that is told, or compared with it
    double hops = 0;                   ///< of these, packet-hops
    std::vector<memo::Digest> candidates;  ///< what it probably is, of one that is held
    bool foreign = false;                  ///< a flow has joined it that is of none of these
    bool waited = false;                   ///< its cut is the latest
    Tick joins_until = kNever;             ///< flows may join it, of one that is told
    Group held;
    std::vector<NodeId> hosts;         ///< that were held, of one that is over
    PhaseRecord record;                ///< of what was left out of it
    std::vector<std::uint32_t> parts;  ///< numbers of those that have become one with it
};

struct Shape;

/// What the memo keeps of an episode's flows, by canonical place, so that it can be simulated again: its facts.
memo::Numbers facts_of(const Episode& episode, const std::vector<std::uint32_t>& order);
/// The flows again, the first of them starting at `begin`; none if these are no facts.
std::vector<FlowSpec> flows_of(const memo::Numbers& facts, Tick begin);

/// What is known of episodes: samples of each kind of them, in a memo that other runs may have filled.
class EpisodeMemory {
  public:
    /// `fingerprint` says all else that decides how an episode goes: law, formats, buffers. Means of what is told are
    /// known to within `tolerance` (relative). `seed` draws. `memo` must outlive this.
    EpisodeMemory(memo::Memo& memo, std::vector<std::int64_t> fingerprint, double tolerance,
                  std::uint64_t seed)
        : memo_(memo), fingerprint_(std::move(fingerprint)), tolerance_(tolerance), seed_(seed) {}

    using Describe = std::function<EpisodePort(PortId)>;

    /// Well-known episodes of which a flow like this one was the first, or might have been, before `now`.
    std::vector<memo::Digest> may_belong_to(const EpisodeFlow& flow, const Describe& describe,
                                            Tick now) const;
    /// How long after its begin more flows of an episode may be waited for that will probably be one of its candidates:
    /// well before any of them had its first end, and before what has started would have one if it shared equally. 0: not
    /// known.
    Tick patience(const Episode& episode, const Describe& describe, Tick now) const;
    /// How long after its begin the first flow of any sample of a recalled episode's kind has ended.
    Tick first_end(const Episode& episode, Tick now) const;
    /// An episode that has been simulated from idle to idle is over at `now`.
    void learn(const Episode& episode, const Describe& describe, Tick now);
    /// Ends for the flows of an episode that has begun so; none: too little is known.
    std::optional<std::vector<EpisodeEnd>> recall(Episode& episode, const Describe& describe,
                                                  Tick now);
    /// What came of holding an episode: with `won` its ends were put into effect, else it was simulated after all, from
    /// its beginning or from where it was met. Kinds for which that happens often are held no more.
    void held(const memo::Digest& key, bool won);

  private:
    /// Of a sample, by what its flows would take if they shared equally: the mean completion time of the flows, and the
    /// time from their mean start to the last byte.
    struct Durations {
        double flows = 0;
        double whole = 0;
    };
    /// What was found of an entry: as long as it has so many samples whether all of them say enough.
    struct Known {
        std::uint32_t samples = 0;
        bool well = false;
        std::uint32_t won = 0;
        std::uint32_t lost = 0;
        std::unordered_map<const memo::Sample*, std::size_t> place;  ///< in what follows
        std::vector<Durations> durations;
        StartPatterns patterns;
    };
    Tick first_end_of(const std::vector<memo::Digest>& kinds, Tick now) const;
    static Durations durations_of(const Shape& shape, const std::vector<std::int64_t>& values);
    /// Samples, each as often as it was seen.
    using Samples = std::vector<const memo::Sample*>;
    static Samples samples_of(const memo::Entry& entry);
    static Samples samples_like(const Known& known, const memo::Entry& entry,
                                const std::vector<double>& starts);
    bool well_known(const Known& known, const Samples& samples) const;
    Known& look_at(const memo::Digest& digest, const memo::Entry& entry, const Shape& shape);
    std::uint64_t draw_for(const Episode& episode, const Describe& describe) const;
    std::vector<std::int64_t> words(memo::Kind kind) const;

    memo::Memo& memo_;
    std::vector<std::int64_t> fingerprint_;
    double tolerance_;
    std::uint64_t seed_;
    std::map<memo::Digest, Known> known_;
    Tick told_at_ = kNever;
    std::set<std::pair<memo::Digest, memo::Sample>> told_;  ///< then
};

}  // namespace sluice::hybrid
