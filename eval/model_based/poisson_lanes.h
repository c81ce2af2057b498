// SPDX-License-Identifier: Apache-2.0
/// Poisson traffic of a scenario as eval/importance draws it: trials whose flows are given, run by the simulator.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "eval/importance/flow_source.h"
#include "eval/trials/metric.h"
#include "experiment/batch/batch_file.h"

namespace sluice::eval {

class PoissonLanes {
  public:
    /// Of a candidate: one [workload] of type "poisson", mode packet, no stop time; else ConfigError. `metric` is of fct or
    /// slowdown, of all flows. The batch outlives it.
    PoissonLanes(const Batch& scenarios, std::size_t candidate, const Metric& metric,
                 SizeKind sizes, std::uint64_t seed);

    /// Arrivals of all hosts together: the superposition of their Poisson processes.
    const Traffic& traffic() const { return *traffic_; }

    /// Runs these flows; who sends which to whom is a function of (seed, trial, flow). From any thread. Throws Stopped where
    /// `go_on` says so.
    std::vector<Finish> run(const std::vector<Arrival>& flows, std::uint64_t trial,
                            const std::function<bool()>& go_on) const;

    struct Stopped {};

  private:
    const Batch& scenarios_;
    std::size_t candidate_;
    bool slowdown_;
    std::uint64_t seed_;
    std::unique_ptr<Traffic> traffic_;
};

}  // namespace sluice::eval
