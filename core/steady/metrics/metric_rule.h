// SPDX-License-Identifier: Apache-2.0
/// What a metric may say of itself. A metric (a struct in a file beside this one) derives from this
/// and hides what it wants otherwise.
#pragma once

#include "core/steady/reading.h"
#include "core/units.h"

namespace sluice::steady {

struct MetricRule {
    /// Is a flow's value, value(), held against its range?
    static constexpr bool kReadsFlows = true;
    /// Are queues, against DetectorSettings::eps_q?
    static constexpr bool kReadsQueues = false;
    /// Is value() the law's rate, bits/s?
    static constexpr bool kIsLawRate = false;
    /// Does value() need the reading before?
    static constexpr bool kCompares = false;

    /// Of a flow's reading; `before` is the last one (kCompares; null at first), `last` the value
    /// that it gave.
    static double value(const FlowReading&, const FlowReading* /*before*/, double /*last*/) {
        return 0;
    }
    /// The range from which on a flow is not steady, given the mean of its values over the span.
    static double allowed_range(const DetectorSettings& settings, const GroupFacts&, double mean) {
        return settings.theta * mean;
    }
    /// Judgements in a row that must find the shortest span steady; 0: none beside the last.
    static int rounds(const DetectorSettings&) { return 0; }
};

/// Bits/s since the reading before; `last` while nothing was acknowledged.
inline double acknowledged_rate(const FlowReading& reading, const FlowReading* before,
                                double last) {
    if (before == nullptr || reading.progress <= before->progress) {
        return last;
    }
    return static_cast<double>(reading.acked - before->acked) /
           static_cast<double>(reading.progress - before->progress) * (8.0 * kSecond);
}

}  // namespace sluice::steady
