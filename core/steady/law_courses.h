// SPDX-License-Identifier: Apache-2.0
/// Rates of flows whose laws raise them by themselves, by timers (core/congestion/course.h): what was observed is behind what
/// comes, and no rate tells how far they have recovered. So their rates in a skip are what their laws do in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/congestion/congestion.h"
#include "core/steady/detector.h"
#include "core/steady/reading.h"
#include "core/units.h"

namespace sluice::steady {

/// What a group's flows and their law have in common.
struct LawFacts {
    const congestion::Parameters* parameters = nullptr;
    std::int64_t payload = 0;     ///< bytes of a full packet
    std::int64_t data_bytes = 0;  ///< the same on the wire
};

/// A flow as its law has it.
struct LawFlow {
    const congestion::State* law = nullptr;
    const FlowReading* reading = nullptr;
    Tick base_rtt = 0;
};

/// Of the flows of a group, by their order.
class LawCourses {
  public:
    /// Timers raise rates under this law.
    static bool concern(const congestion::Parameters& parameters) {
        return congestion::slowest_period(parameters) > 0;
    }
    /// Keeps the laws, as they are at `at`, of flows that nothing but their laws holds, and which those are going to change
    /// or have changed since the verdict's span began.
    void find(const LawFacts& facts, const std::vector<LawFlow>& flows, const Verdict& verdict,
              Tick at);
    void clear() { flows_.clear(); }
    /// No flow is one.
    bool empty() const { return flows_.empty(); }
    bool holds(std::size_t flow) const { return flow < flows_.size() && flows_[flow].share > 0; }
    /// Of a flow that is one: packets per tick in the mean over the first `dt` ticks, above 0.
    double rate(std::size_t flow, Tick dt) const;
    /// rate(), of all that are.
    void take(Tick dt, std::vector<double>& rates) const;

  private:
    struct Kept {
        double share = 0;  ///< payload packets per tick of a law's bit/s; 0: the flow is none
        congestion::State law;
    };
    const congestion::Parameters* parameters_ = nullptr;
    Tick from_ = 0;
    std::vector<Kept> flows_;
};

}  // namespace sluice::steady
