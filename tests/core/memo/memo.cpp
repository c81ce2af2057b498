// SPDX-License-Identifier: Apache-2.0
#include "core/memo/memo.h"

#include <doctest/doctest.h>

#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/memo/entry_bytes.h"
#include "core/random.h"
#include "tests/support/memo_support.h"

using namespace sluice;
using namespace sluice::memo;

namespace {

constexpr Digest kKey{1, 2};

void tell(Memo& memo, Tick now, std::int64_t value) {
    memo.add(kKey, now, Kind::episode, {value}, Sample{{value}});
}

/// The only numbers of the entry's samples, repetitions included; empty if there is none.
Numbers seen(Memo& memo, Tick now) {
    Numbers values;
    const Entry* entry = memo.find(kKey, now);
    if (entry == nullptr) return values;
    for (const SampleCount& one : entry->samples) {
        values.insert(values.end(), one.count, one.sample->values.at(0));
    }
    return values;
}

}  // namespace

TEST_CASE("unit.memo.entries_show_after_they_were_told") {
    Memo memo;
    tell(memo, 10, 5);
    tell(memo, 20, 3);
    CHECK(memo.find(kKey, 10) == nullptr);
    const Entry* early = memo.find(kKey, 11);
    REQUIRE(early != nullptr);
    CHECK(seen(memo, 20) == Numbers{5});
    CHECK(seen(memo, 21) == Numbers{3, 5});
    // Another partition's clock may be behind, and what was handed out stays as it was.
    CHECK(seen(memo, 15) == Numbers{5});
    CHECK(early->sample_count() == 1);
    CHECK(*early->facts == Numbers{5});
    CHECK(memo.find(Digest{1, 3}, 100) == nullptr);
    const Memo::Counters counters = memo.counters();
    CHECK(counters.lookups == 6);
    CHECK(counters.hits == 4);
    CHECK(counters.misses == 2);
    CHECK(counters.told == 2);
    CHECK(counters.late == 0);
}

TEST_CASE("unit.memo.repeated_samples_count") {
    Memo memo;
    tell(memo, 10, 5);
    tell(memo, 10, 5);
    tell(memo, 11, 4);
    const Entry* entry = memo.find(kKey, 20);
    REQUIRE(entry != nullptr);
    CHECK(entry->samples.size() == 2);
    CHECK(entry->sample_count() == 3);
    CHECK(seen(memo, 20) == Numbers{4, 5, 5});
}

TEST_CASE("unit.memo.insertion_order_does_not_show") {
    struct Told {
        Tick at;
        std::int64_t value;
        bool audit;
    };
    std::vector<Told> all;
    for (std::uint64_t i = 0; i < 200; ++i) {
        all.push_back({uniform_below(1, 0, i, 40), uniform_below(1, 1, i, 50),
                       uniform_below(1, 2, i, 3) == 0});
    }
    std::vector<std::string> expected;
    for (std::uint64_t round = 0; round < 30; ++round) {
        for (std::uint32_t i = 200; i > 1; --i) {
            std::swap(all[i - 1], all[uniform_below(2 + round, 0, i, i)]);
        }
        Memo memo;
        for (const Told& told : all) {
            if (told.audit) {
                memo.add_audit(kKey, told.at, Audit{{static_cast<double>(told.value)}});
            } else {
                memo.add(kKey, told.at, told.value % 2 == 0 ? Kind::episode : Kind::transient,
                         {told.value, 1}, Sample{{told.value, told.value}});
            }
        }
        std::vector<std::string> views;
        for (Tick now = 0; now < 42; ++now) {
            const Entry* entry = memo.find(kKey, now);
            views.push_back(entry == nullptr ? "" : entry_to_bytes(*entry));
        }
        views.push_back(entry_to_bytes(memo.news().at(0).entry));
        if (round == 0) expected = views;
        CHECK(views == expected);
        CHECK(memo.counters().late == 0);
    }
}

TEST_CASE("unit.memo.the_first_samples_are_kept") {
    Memo memo;
    // Backwards, so that what comes first is told last.
    for (std::int64_t i = 2 * kMostSamples; i > 0; --i) tell(memo, i, i);
    const Numbers values = seen(memo, 1000);
    CHECK(values.size() == kMostSamples);
    CHECK(values.front() == 1);
    CHECK(values.back() == kMostSamples);
    tell(memo, 1000, 7);
    CHECK(seen(memo, 2000) == values);
    for (int i = 0; i < 100; ++i) memo.add_audit(kKey, i, Audit{{static_cast<double>(i)}});
    CHECK(memo.find(kKey, 3000)->audits.size() == kMostAudits);
}

TEST_CASE("unit.memo.what_is_told_late_is_counted_and_changes_no_view_in_use") {
    Memo memo;
    tell(memo, 10, 1);
    const Entry* before = memo.find(kKey, 50);
    tell(memo, 30, 2);
    CHECK(memo.counters().late == 1);
    CHECK(before->sample_count() == 1);
    CHECK(memo.find(kKey, 50)->sample_count() == 2);
    CHECK(memo.find(kKey, 30) == memo.find(kKey, 11));
    // A miss is an answer, too.
    memo.find(Digest{9, 9}, 50);
    memo.add(Digest{9, 9}, 49, Kind::episode, {}, Sample{});
    CHECK(memo.counters().late == 2);
    memo.add(Digest{9, 9}, 50, Kind::episode, {}, Sample{});
    CHECK(memo.counters().late == 2);
}

TEST_CASE("unit.memo.audits_show_with_a_sample") {
    Memo memo;
    memo.add_audit(kKey, 5, Audit{{0.5, 2}});
    CHECK(memo.find(kKey, 10) == nullptr);
    tell(memo, 10, 1);
    const Entry* entry = memo.find(kKey, 11);
    REQUIRE(entry != nullptr);
    CHECK(entry->audits == std::vector<Audit>{Audit{{0.5, 2}}});
}

TEST_CASE("unit.memo.known_entries_show_from_the_beginning_and_are_no_news") {
    const Content known = {test::stored(1, {Sample{{1}}, Sample{{1}}, Sample{{4}}}, {Audit{{1}}}),
                           test::stored(2, {Sample{{2}}})};
    Memo memo(known);
    const Entry* entry = memo.find(known[0].digest, 0);
    REQUIRE(entry != nullptr);
    CHECK(test::same(*entry, known[0].entry));
    CHECK(memo.news().empty());
    // What is added comes whole.
    memo.add(known[1].digest, 5, Kind::transient, {77}, Sample{{3}});
    const Content news = memo.news();
    REQUIRE(news.size() == 1);
    CHECK(news[0].digest == known[1].digest);
    CHECK(news[0].entry.sample_count() == 2);
    CHECK(*news[0].entry.facts == *known[1].entry.facts);
    CHECK(news[0].entry.kind == known[1].entry.kind);
}

TEST_CASE("unit.memo.threads_may_ask_and_tell") {
    Memo memo;
    std::vector<std::thread> threads;
    for (std::int64_t i = 0; i < 4; ++i) {
        threads.emplace_back([&memo, i] {
            for (std::int64_t k = 0; k < 500; ++k) {
                memo.add(Digest{static_cast<std::uint64_t>(k % 50), 0}, 1000 + k % 7, Kind::episode,
                         {k}, Sample{{i, k % 3}});
                memo.find(Digest{static_cast<std::uint64_t>(k % 50), 0}, 1000);
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(memo.counters().lookups == 2000);
    CHECK(memo.counters().told == 2000);
    CHECK(memo.counters().hits == 0);
    CHECK(memo.counters().late == 0);
    CHECK(memo.find(Digest{3, 0}, 2000)->sample_count() == 40);
}

TEST_CASE("unit.memo.entries_as_bytes") {
    const auto extreme = Sample{{std::numeric_limits<std::int64_t>::min(), 0,
                                 std::numeric_limits<std::int64_t>::max(), -1}};
    const Entry entry =
        test::stored(4, {extreme, Sample{}, Sample{{1, 2, 3}}, Sample{{1, 2, 4}}, extreme},
                     {Audit{{0.1, -0.0, std::numeric_limits<double>::infinity()}}, Audit{}})
            .entry;
    const std::string bytes = entry_to_bytes(entry);
    const auto back = entry_from_bytes(bytes);
    REQUIRE(back.has_value());
    CHECK(test::same(*back, entry));
    // No part of it is an entry, and no change crashes.
    for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(!entry_from_bytes(bytes.substr(0, i)));
    CHECK(!entry_from_bytes(bytes + '\0'));
    for (std::uint64_t i = 0; i < 20000; ++i) {
        std::string other = bytes;
        other[uniform_below(3, 0, i, static_cast<std::uint32_t>(bytes.size()))] =
            static_cast<char>(uniform_below(3, 1, i, 256));
        if (const auto read = entry_from_bytes(other)) CHECK(read->sample_count() <= kMostSamples);
    }
}

TEST_CASE("unit.memo.what_fares_alike_takes_next_to_nothing") {
    // Three numbers a flow, the same for all of 4,032 flows.
    Sample sample;
    for (std::int64_t i = 0; i < 3 * 4032; ++i) sample.values.push_back(i % 3 * 1'000'000'007);
    const Entry entry = test::stored(1, {sample}).entry;
    const std::string bytes = entry_to_bytes(entry);
    CHECK(bytes.size() < 400);
    const auto back = entry_from_bytes(bytes);
    REQUIRE(back.has_value());
    CHECK(test::same(*back, entry));
    for (std::size_t i = 0; i < bytes.size(); ++i) CHECK(!entry_from_bytes(bytes.substr(0, i)));
    CHECK(!entry_from_bytes(bytes + '\0'));
    for (std::uint64_t i = 0; i < 2000; ++i) {
        std::string other = bytes;
        other[uniform_below(4, 0, i, static_cast<std::uint32_t>(bytes.size()))] =
            static_cast<char>(uniform_below(4, 1, i, 256));
        if (const auto read = entry_from_bytes(other)) CHECK(read->sample_count() <= kMostSamples);
    }
}

TEST_CASE("unit.memo.similar_samples_take_little") {
    // 4,032 completion times that differ from sample to sample by less than 6 bits: the first
    // takes what its numbers take, the next a byte a number.
    std::vector<Sample> samples(3);
    for (std::uint64_t i = 0; i < 4032; ++i) {
        const std::int64_t time = 40'000'000 + uniform_below(1, 0, i, 1'000'000);
        for (std::uint64_t k = 0; k < 3; ++k) {
            samples[k].values.push_back(time + uniform_below(2, k, i, 32));
        }
    }
    const std::size_t one = entry_to_bytes(test::stored(1, {samples[0]}).entry).size();
    const std::size_t three = entry_to_bytes(test::stored(1, samples).entry).size();
    CHECK(one < 4032 * 4);
    CHECK(three - one < 2 * 4032 + 20);
}

TEST_CASE("unit.memo.several_share_a_snapshot") {
    const auto known = std::make_shared<const Snapshot>(
        Content{test::stored(4, {Sample{{1}}, Sample{{2}}}), test::stored(7, {Sample{{3}}})});
    const Digest four = test::stored(4, {Sample{{1}}}).digest;
    Memo one(known);
    Memo other(known);
    CHECK(one.began_with(Kind::episode, {4, -7}));
    CHECK_FALSE(one.began_with(Kind::episode, {7, -7}));
    REQUIRE(one.find(four, 0) != nullptr);
    CHECK(one.find(four, 0)->sample_count() == 2);
    CHECK(one.news().empty());
    one.add(four, 5, Kind::episode, {4, -7}, Sample{{9}});
    tell(one, 5, 8);
    CHECK(one.find(four, 6)->sample_count() == 3);
    CHECK(other.find(four, 6)->sample_count() == 2);
    CHECK(other.find(kKey, 6) == nullptr);
    // What is told of an entry that nobody has asked for is added to what was known of it.
    other.add(four, 5, Kind::episode, {4, -7}, Sample{{9}});
    CHECK(one.news().size() == 2);
    REQUIRE(other.news().size() == 1);
    CHECK(other.news().front().entry.sample_count() == 3);
}

TEST_CASE("unit.memo.a_digest_is_of_what_entries_say") {
    Content content{test::stored(1, {Sample{{1, 2}}}, {Audit{{0.5}}}),
                    test::stored(2, {Sample{{3}}})};
    const Digest before = digest_of(content);
    content[0].saved = 17;
    CHECK(digest_of(content) == before);
    Content more = content;
    more[1].entry.samples.front().count = 2;
    CHECK(digest_of(more) != before);
    more = content;
    more[0].entry.audits.front().values.front() = 0.25;
    CHECK(digest_of(more) != before);
    more = content;
    more.pop_back();
    CHECK(digest_of(more) != before);
    CHECK(digest_from_bytes(before.bytes()) == before);
    CHECK_FALSE(digest_from_bytes("too short"));
}
