// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/phase_report.h"

#include <doctest/doctest.h>

#include <vector>

using namespace sluice;
using namespace sluice::hybrid;

TEST_CASE("unit.phase_report.copies_have_records_of_their_own") {
    PhaseReport report;
    std::vector<std::uint32_t> partitions;
    report.listen([&](const PhaseRecord& record) { partitions.push_back(record.partition); });
    GroupState state{steady::DetectorSettings{}};
    state.id = 4;
    report.begin_copies({9, 2});
    CHECK(report.times() == 3);
    report.end_unsteady(state, 10, PhaseEnd::steady_found);
    report.end_copies();
    state.since = 20;
    report.end_unsteady(state, 20, PhaseEnd::idle);  // of no length
    CHECK(report.times() == 1);
    report.report_until(kNever);
    CHECK(partitions == std::vector<std::uint32_t>{2, 4, 9});
}

TEST_CASE("unit.phase_report.times_of_flows_add_up_in_any_order") {
    FlowTime up;
    FlowTime down;
    for (int i = 0; i < 1000; ++i) {
        up.add(3, 1 + i * kSecond / 7);
        down.add(3, 1 + (999 - i) * kSecond / 7);
    }
    CHECK(up.seconds == down.seconds);
    CHECK(up.ticks == down.ticks);
    CHECK(up.ticks < static_cast<std::uint64_t>(kSecond));
}
