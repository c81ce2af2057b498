// SPDX-License-Identifier: Apache-2.0
// Phases are told in the order of their ends, whenever they were noted.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "core/results/phase_log.h"

using namespace sluice;

namespace {

using Told = std::vector<std::pair<Tick, std::uint32_t>>;

PhaseRecord ending(Tick end, std::uint32_t partition) {
    PhaseRecord record;
    record.end = end;
    record.partition = partition;
    return record;
}

}  // namespace

TEST_CASE("unit.phase_log.in_order_of_ends_and_of_groups") {
    Told told;
    PhaseLog log;
    log.listen([&](const PhaseRecord& record) { told.emplace_back(record.end, record.partition); });
    log.add(ending(30, 1));
    log.add(ending(10, 2));
    log.add(ending(10, 1));
    log.add(ending(20, 5));
    log.report_until(10);
    CHECK(told.empty());
    log.report_until(21);
    CHECK(told == Told{{10, 1}, {10, 2}, {20, 5}});
    log.add(ending(25, 9));
    log.report_until(kNever);
    CHECK(told == Told{{10, 1}, {10, 2}, {20, 5}, {25, 9}, {30, 1}});
    log.report_until(kNever);
    CHECK(told.size() == 5);
}

TEST_CASE("unit.phase_log.nothing_is_kept_where_nobody_listens") {
    PhaseLog log;
    log.add(ending(1, 1));
    Told told;
    log.listen([&](const PhaseRecord& record) { told.emplace_back(record.end, record.partition); });
    log.report_until(kNever);
    CHECK(told.empty());
}
