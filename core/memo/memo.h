// SPDX-License-Identifier: Apache-2.0
/// What was simulated once, by the digest of the situation in which it began
/// (core/memo/canonical_form.h). A run's own entries become visible in simulated-time order, and what
/// is told at one instant is taken up together, in the order of its content: what a lookup finds
/// depends on the instants alone, not on which partition or thread ran first. That holds if all that
/// is told before an instant is told before somebody asks at it; `late` counts where it was not.
/// Safe for threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/memo/digest.h"
#include "core/units.h"

namespace sluice::memo {

/// At most so many samples and so many audits of an entry are kept: the first ones.
inline constexpr std::uint32_t kMostSamples = 256;
inline constexpr std::uint32_t kMostAudits = 64;

enum class Kind : std::uint8_t {
    episode,     ///< from idle to idle
    transient,   ///< from a disturbance to steady rates
    beginning,   ///< the first flow of an episode that is well known
    trajectory,  ///< what the flows of a group did, step by step
};
inline constexpr Kind kKinds[] = {Kind::episode, Kind::transient, Kind::beginning,
                                  Kind::trajectory};
const char* kind_name(Kind kind);
const char* kind_plural(Kind kind);

using Numbers = std::vector<std::int64_t>;

/// How a simulation of the situation ended, by canonical place: what the numbers are is the business
/// of who told them.
struct Sample {
    Numbers values;

    friend bool operator==(const Sample& a, const Sample& b) { return a.values == b.values; }
    friend bool operator<(const Sample& a, const Sample& b) { return a.values < b.values; }
};

/// What an audit of a use of the entry found: weight, error, ... Ordered by content, bit by bit.
struct Audit {
    std::vector<double> values;

    friend bool operator==(const Audit& a, const Audit& b);
    friend bool operator<(const Audit& a, const Audit& b);
};

/// A sample and how often it was seen.
struct SampleCount {
    std::shared_ptr<const Sample> sample;
    std::uint32_t count = 1;
};

struct Entry {
    Kind kind = Kind::episode;
    std::shared_ptr<const Numbers> facts;  ///< what was simulated: enough to do it again
    std::vector<SampleCount> samples;      ///< by content, each content once; never empty
    std::vector<Audit> audits;             ///< by content

    /// With repetitions: 1 to kMostSamples.
    std::uint32_t sample_count() const;
};

/// An entry outside of a run.
struct Stored {
    Digest digest;
    Entry entry;
    std::int64_t saved = 0;  ///< when something was added to it last, seconds since 1970; 0: never
};
/// By digest, each once.
using Content = std::vector<Stored>;

/// Of what an entry says: kind, facts, samples and audits.
Digest digest_of(const Entry& entry);
/// Of all entries, but not of when they were saved.
Digest digest_of(const Content& content);

/// What is known at the beginning: one for any number of memos, on any threads. Never changes.
class Snapshot {
  public:
    explicit Snapshot(const Content& content = {});

    /// nullptr: there is none.
    const Entry* find(const Digest& digest) const;
    /// Whether there is an entry of this kind and with these facts.
    bool has(Kind kind, const Numbers& facts) const { return facts_.count({kind, facts}) != 0; }
    /// Calls visit(facts) for entries of this kind whose facts begin so, in the order of their facts.
    template <class Visit>
    void each(Kind kind, const Numbers& begin, Visit&& visit) const {
        for (auto at = facts_.lower_bound({kind, begin});
             at != facts_.end() && at->first == kind && at->second.size() >= begin.size() &&
             std::equal(begin.begin(), begin.end(), at->second.begin());
             ++at) {
            visit(at->second);
        }
    }

  private:
    std::unordered_map<Digest, Entry> entries_;
    std::set<std::pair<Kind, Numbers>> facts_;
};

class Memo {
  public:
    struct Counters {
        std::uint64_t lookups = 0;
        std::uint64_t hits = 0;  ///< lookups that found an entry
        std::uint64_t misses = 0;
        std::uint64_t told = 0;  ///< samples
        /// Samples and audits told at an instant before one at which somebody had asked for their
        /// entry already.
        std::uint64_t late = 0;
    };

    /// `known` is visible from the beginning.
    explicit Memo(std::shared_ptr<const Snapshot> known);
    explicit Memo(const Content& known = {});

    /// Whether an entry of this kind and with these facts was visible from the beginning.
    bool began_with(Kind kind, const Numbers& facts) const { return known_->has(kind, facts); }
    /// The same of facts that begin so: Snapshot::each().
    template <class Visit>
    void each_known(Kind kind, const Numbers& begin, Visit&& visit) const {
        known_->each(kind, begin, std::forward<Visit>(visit));
    }
    /// The entry as it was told before `now`, nullptr if it was not. What it points to never changes
    /// and lives as long as the memo.
    const Entry* find(const Digest& digest, Tick now);
    /// A simulation that is known at `now`. The kind and facts of an entry are those told first.
    void add(const Digest& digest, Tick now, Kind kind, Numbers facts, Sample sample);
    /// An audit that is known at `now`; it shows once the entry has a sample.
    void add_audit(const Digest& digest, Tick now, Audit audit);

    Counters counters() const;
    /// Entries to which the run added something, whole: what save() takes.
    Content news() const;

  private:
    /// What was told, in the order in which it counts.
    struct Told {
        Tick at;
        Kind kind = Kind::episode;
        std::shared_ptr<const Numbers> facts;  ///< of a sample
        std::shared_ptr<const Sample> sample;  ///< none: an audit
        Audit audit;

        bool operator<(const Told& other) const;
    };
    struct Record {
        std::vector<Told> told;  ///< sorted
        /// Views that were asked for, by how much of `told` they show.
        std::map<std::size_t, std::unique_ptr<const Entry>> views;
        Tick asked = kBefore;  ///< the last instant of a lookup
    };
    /// When what was known at the beginning was told.
    static constexpr Tick kBefore = std::numeric_limits<Tick>::min();

    static std::unique_ptr<const Entry> view(const Record& record, std::size_t shown);
    Record& record_of(const Digest& digest);
    void tell(const Digest& digest, Told told);

    const std::shared_ptr<const Snapshot> known_;
    mutable std::mutex mutex_;
    /// Of what was asked for or told.
    std::unordered_map<Digest, Record> records_;
    /// Views that something told late made wrong: somebody may hold them.
    std::vector<std::unique_ptr<const Entry>> outdated_;
    Counters counters_;
};

}  // namespace sluice::memo
