// SPDX-License-Identifier: Apache-2.0
/// M/G/1, first come, first served: a link that flows pass one after the other, by Lindley's recursion. The
/// simulator whose tail is known, for judging estimates; and an example of a Simulate.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "eval/importance/flow_source.h"

namespace sluice::eval {

/// `bytes_per_second` of the link. The metric is the response time in seconds.
inline Simulate single_queue(double bytes_per_second) {
    return [=](FlowSource& source, std::uint64_t) {
        std::vector<Finish> finishes;  // in the order of arrival, which is that of finishing
        std::size_t reported = 0;
        double free_at = 0;
        const auto report_until = [&](double time) {
            for (; reported < finishes.size() && finishes[reported].time <= time; ++reported) {
                source.finished(finishes[reported].time, finishes[reported].metric);
            }
        };
        while (const auto flow = source.next()) {
            // Before the next flow is drawn.
            report_until(flow->time);
            free_at = std::max(free_at, flow->time) + flow->size / bytes_per_second;
            finishes.push_back({free_at, free_at - flow->time});
        }
        report_until(std::numeric_limits<double>::infinity());
    };
}

}  // namespace sluice::eval
