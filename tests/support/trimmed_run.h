// SPDX-License-Identifier: Apache-2.0
/// Runs at switches that cut payloads, under selective repeat, in which every flow must end.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "tests/support/clock_support.h"

namespace sluice::test {

/// `given` without PFC, under selective repeat, with switches that trim above 40 kB.
inline Case trimmed(Case given) {
    given.config.pfc = false;
    given.config.nic.transport = Transport::selective_repeat;
    given.config.trim.threshold = 40'000;
    given.stop = kSecond;
    return given;
}

struct TrimmedRun {
    std::vector<Tick> finish;  ///< by flow
    std::int64_t trimmed = 0;  ///< packets
    std::int64_t drops = 0;
    std::int64_t deepest = 0;  ///< queue of a port, bytes
    std::int64_t again = 0;    ///< bytes that were sent again
    std::int64_t late = 0;     ///< of them, after a time-out

    explicit TrimmedRun(const Case& given) {
        Rig rig(given);
        engine::Driver driver(rig.store, {}, {});
        driver.advance(given.stop, rig);
        for (const FlowResult& result : rig.store.results()) {
            CHECK(result.finish != kNever);
            finish.push_back(result.finish);
            again += result.retransmitted;
            late += result.resent_late;
        }
        for (const PortStatistics& port : rig.store.port_statistics(given.stop)) {
            trimmed += port.trimmed;
            drops += port.drops;
            deepest = std::max(deepest, port.max_queue_bytes);
        }
    }
    Tick last() const { return *std::max_element(finish.begin(), finish.end()); }
};

}  // namespace sluice::test
