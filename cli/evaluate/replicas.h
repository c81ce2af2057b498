// SPDX-License-Identifier: Apache-2.0
/// How much a scenario itself varies: the same run with cables that are longer by picoseconds and other draws of the
/// network (scenario/perturbation.h), several times.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/results/mode.h"
#include "core/text/config_value.h"
#include "core/topology/topology.h"
#include "eval/intervals/interval.h"

namespace sluice {

struct ReplicaFigure {
    std::string name;            ///< "completion time", "mean flow", "p99 flow"
    std::vector<double> values;  ///< seconds, by replica
    eval::Interval mean;         ///< 95%, Student's t
    double deviation = 0;
};

struct Replicas {
    std::vector<ReplicaFigure> figures;
    std::string failure;  ///< why there are fewer than were asked for
    bool interrupted = false;
};

/// `values`: the scenario, as its file and options have it. At least two replicas.
Replicas run_replicas(const ConfigValue& values, const std::string& path, std::size_t count,
                      unsigned threads, bool quiet);

/// Lines for the summary.
std::string replicas_text(const Replicas& replicas);
/// "replica,perturbation,FIGURE_s,...".
std::string replicas_csv(const Replicas& replicas);

}  // namespace sluice
