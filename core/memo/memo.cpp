// SPDX-License-Identifier: Apache-2.0
#include "core/memo/memo.h"

#include <algorithm>
#include <cstring>
#include <tuple>
#include <utility>

#include "core/error.h"

namespace sluice::memo {

namespace {

/// Bits rather than numbers: a total order, NaN and -0 included.
std::uint64_t bits(double value) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    return word;
}

/// Negative, zero or positive, as `a` is before, the same as or after `b`; nothing is before all.
template <typename Content>
int compare(const std::shared_ptr<const Content>& a, const std::shared_ptr<const Content>& b) {
    if (a == b) return 0;
    if (a == nullptr || b == nullptr) return a == nullptr ? -1 : 1;
    if (*a == *b) return 0;
    return *a < *b ? -1 : 1;
}

void take_numbers(Digester& digester, const Numbers& numbers) {
    digester.take(numbers.size());
    for (const std::int64_t number : numbers) digester.take(static_cast<std::uint64_t>(number));
}

}  // namespace

const char* kind_name(Kind kind) {
    switch (kind) {
        case Kind::episode: return "episode";
        case Kind::transient: return "transient";
        case Kind::beginning: return "beginning";
        case Kind::trajectory: return "trajectory";
    }
    throw InternalError("unknown kind of a memo's entry");
}

const char* kind_plural(Kind kind) {
    switch (kind) {
        case Kind::episode: return "episodes";
        case Kind::transient: return "transients";
        case Kind::beginning: return "beginnings";
        case Kind::trajectory: return "trajectories";
    }
    throw InternalError("unknown kind of a memo's entry");
}

bool operator==(const Audit& a, const Audit& b) {
    return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end(),
                      [](double x, double y) { return bits(x) == bits(y); });
}

bool operator<(const Audit& a, const Audit& b) {
    return std::lexicographical_compare(a.values.begin(), a.values.end(), b.values.begin(),
                                        b.values.end(),
                                        [](double x, double y) { return bits(x) < bits(y); });
}

std::uint32_t Entry::sample_count() const {
    std::uint32_t count = 0;
    for (const SampleCount& one : samples) count += one.count;
    return count;
}

Digest digest_of(const Entry& entry) {
    Digester digester;
    digester.take(static_cast<std::uint64_t>(entry.kind));
    take_numbers(digester, *entry.facts);
    digester.take(entry.samples.size());
    for (const SampleCount& one : entry.samples) {
        digester.take(one.count);
        take_numbers(digester, one.sample->values);
    }
    digester.take(entry.audits.size());
    for (const Audit& audit : entry.audits) {
        digester.take(audit.values.size());
        for (const double value : audit.values) digester.take(bits(value));
    }
    return digester.digest();
}

Digest digest_of(const Content& content) {
    Digester digester;
    for (const Stored& stored : content) {
        digester.take(stored.digest);
        digester.take(digest_of(stored.entry));
    }
    return digester.digest();
}

bool Memo::Told::operator<(const Told& other) const {
    if (at != other.at) return at < other.at;
    const int by_sample = compare(sample, other.sample);
    if (by_sample != 0) return by_sample < 0;
    if (kind != other.kind) return kind < other.kind;
    const int by_facts = compare(facts, other.facts);
    return by_facts != 0 ? by_facts < 0 : audit < other.audit;
}

Snapshot::Snapshot(const Content& content) {
    for (const Stored& stored : content) {
        entries_.emplace(stored.digest, stored.entry);
        facts_.insert({stored.entry.kind, *stored.entry.facts});
    }
}

const Entry* Snapshot::find(const Digest& digest) const {
    const auto found = entries_.find(digest);
    return found == entries_.end() ? nullptr : &found->second;
}

Memo::Memo(std::shared_ptr<const Snapshot> known) : known_(std::move(known)) {}

Memo::Memo(const Content& known) : Memo(std::make_shared<const Snapshot>(known)) {}

/// With what was known at the beginning.
Memo::Record& Memo::record_of(const Digest& digest) {
    const auto [place, is_new] = records_.try_emplace(digest);
    Record& record = place->second;
    const Entry* const entry = is_new ? known_->find(digest) : nullptr;
    if (entry == nullptr) return record;
    for (const SampleCount& one : entry->samples) {
        record.told.insert(record.told.end(), one.count,
                           {kBefore, entry->kind, entry->facts, one.sample, {}});
    }
    for (const Audit& audit : entry->audits) {
        record.told.push_back({kBefore, entry->kind, nullptr, nullptr, audit});
    }
    std::sort(record.told.begin(), record.told.end());
    return record;
}

std::unique_ptr<const Entry> Memo::view(const Record& record, std::size_t shown) {
    auto entry = std::make_unique<Entry>();
    std::uint32_t samples = 0;
    for (std::size_t i = 0; i < shown; ++i) {
        const Told& told = record.told[i];
        if (told.sample == nullptr) {
            if (entry->audits.size() < kMostAudits) entry->audits.push_back(told.audit);
            continue;
        }
        if (samples == kMostSamples) continue;
        if (samples++ == 0) {
            entry->kind = told.kind;
            entry->facts = told.facts;
        }
        const auto place = std::lower_bound(
            entry->samples.begin(), entry->samples.end(), told.sample,
            [](const SampleCount& one, const auto& sample) { return *one.sample < *sample; });
        if (place != entry->samples.end() && *place->sample == *told.sample) {
            ++place->count;
        } else {
            entry->samples.insert(place, {told.sample, 1});
        }
    }
    if (samples == 0) return nullptr;
    std::sort(entry->audits.begin(), entry->audits.end());
    return entry;
}

const Entry* Memo::find(const Digest& digest, Tick now) {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counters_.lookups;
    Record& record = record_of(digest);
    record.asked = std::max(record.asked, now);
    const auto end = std::partition_point(record.told.begin(), record.told.end(),
                                          [&](const Told& told) { return told.at < now; });
    const auto shown = static_cast<std::size_t>(end - record.told.begin());
    auto found = record.views.find(shown);
    if (found == record.views.end()) {
        found = record.views.emplace(shown, view(record, shown)).first;
    }
    const Entry* entry = found->second.get();
    ++(entry != nullptr ? counters_.hits : counters_.misses);
    return entry;
}

void Memo::tell(const Digest& digest, Told told) {
    Record& record = record_of(digest);
    if (told.at < record.asked) ++counters_.late;
    // What can never show, because enough was told at earlier instants, need not be kept.
    const bool is_sample = told.sample != nullptr;
    const auto earlier =
        std::count_if(record.told.begin(), record.told.end(), [&](const Told& other) {
            return other.at < told.at && (other.sample != nullptr) == is_sample;
        });
    if (earlier >= static_cast<std::ptrdiff_t>(is_sample ? kMostSamples : kMostAudits)) return;
    const auto place = std::upper_bound(record.told.begin(), record.told.end(), told);
    const auto index = static_cast<std::size_t>(place - record.told.begin());
    record.told.insert(place, std::move(told));
    for (auto outdated = record.views.upper_bound(index); outdated != record.views.end();) {
        if (outdated->second != nullptr) outdated_.push_back(std::move(outdated->second));
        outdated = record.views.erase(outdated);
    }
}

void Memo::add(const Digest& digest, Tick now, Kind kind, Numbers facts, Sample sample) {
    Told told{now,
              kind,
              std::make_shared<const Numbers>(std::move(facts)),
              std::make_shared<const Sample>(std::move(sample)),
              {}};
    const std::lock_guard<std::mutex> lock(mutex_);
    ++counters_.told;
    tell(digest, std::move(told));
}

void Memo::add_audit(const Digest& digest, Tick now, Audit audit) {
    const std::lock_guard<std::mutex> lock(mutex_);
    tell(digest, {now, Kind::episode, nullptr, nullptr, std::move(audit)});
}

Memo::Counters Memo::counters() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return counters_;
}

Content Memo::news() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    Content content;
    for (const auto& [digest, record] : records_) {
        if (record.told.empty() || record.told.back().at == kBefore) continue;
        const std::unique_ptr<const Entry> entry = view(record, record.told.size());
        if (entry != nullptr) content.push_back({digest, *entry, 0});
    }
    std::sort(content.begin(), content.end(),
              [](const Stored& a, const Stored& b) { return a.digest < b.digest; });
    return content;
}

}  // namespace sluice::memo
