// SPDX-License-Identifier: Apache-2.0
#include "core/steady/law_courses.h"

#include <cmath>

#include "core/congestion/course.h"
#include "core/steady/rate_units.h"

namespace sluice::steady {

namespace {

/// A law's rate is another one than what was observed was sent at.
constexpr double kMoved = 1e-3;
/// More in flight than this part above rate x base round trip, and two packets, waits in queues: the law does not decide.
constexpr double kQueued = 0.3;

bool is_alone(const LawFacts& facts, const LawFlow& flow) {
    const FlowReading& reading = *flow.reading;
    const double unqueued = static_cast<double>(reading.rate) * static_cast<double>(flow.base_rtt) /
                            kBitsPerByteAndTick;
    return static_cast<double>(reading.in_flight) <=
           (1 + kQueued) * unqueued + 2 * static_cast<double>(facts.payload);
}

}  // namespace

void LawCourses::find(const LawFacts& facts, const std::vector<LawFlow>& flows,
                      const Verdict& verdict, Tick at) {
    parameters_ = facts.parameters;
    from_ = at;
    flows_.clear();
    const Tick period = congestion::slowest_period(*parameters_);
    for (std::size_t f = 0; f < flows.size(); ++f) {
        const congestion::State& law = *flows[f].law;
        const auto rate = static_cast<double>(law.rate);
        const double before = verdict.law.empty() ? rate : verdict.law[f];
        const bool moves = std::abs(before - rate) > kMoved * rate ||
                           congestion::course(law, *parameters_, at, period + 1).changes;
        if (verdict.marked[f] == 0 && moves && is_alone(facts, flows[f])) {
            flows_.resize(flows.size());
            const double share =
                verdict.law.empty()
                    ? 1 / kBitsPerByteAndTick / static_cast<double>(facts.data_bytes)
                    : verdict.rate[f] / static_cast<double>(facts.payload) / kTicksPerSecond /
                          before;
            flows_[f] = {share, law};
        }
    }
}

double LawCourses::rate(std::size_t flow, Tick dt) const {
    return congestion::course(flows_[flow].law, *parameters_, from_, dt).mean * flows_[flow].share;
}

void LawCourses::take(Tick dt, std::vector<double>& rates) const {
    for (std::size_t f = 0; f < flows_.size(); ++f) {
        if (holds(f)) {
            rates[f] = rate(f, dt);
        }
    }
}

}  // namespace sluice::steady
