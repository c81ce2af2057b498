// SPDX-License-Identifier: Apache-2.0
/// What `sluice astra` is given: ASTRA-sim's options, read and put together.
/// Errors: ConfigError naming the option or the file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/text/import_report.h"
#include "experiment/experiment.h"
#include "flowlevel/analytical_network.h"
#include "workloads/chakra/chakra_graph.h"

namespace sluice {

struct AstraOptions {
    std::string workload;       ///< prefix of the traces, or their folder
    std::string system;         ///< system.json
    std::string network;        ///< network.yml, or an ns-3 config.txt
    std::string remote_memory;  ///< empty: none
    std::string logical;        ///< with an ns-3 config: logical topology
    std::string comm_group = "empty";
    std::string rendezvous = "false";
    std::string backend = "congestion-aware";
    std::string mode = "packet";  ///< with an ns-3 config
    int queues_per_dim = 1;
    double compute_scale = 1;
    double comm_scale = 1;
    double injection_scale = 1;
    bool check = false;
    bool quiet = false;
};

/// Everything that a run needs. Either `analytical` or `experiment`, whose topology, network and
/// events are set, is there.
struct AstraInputs {
    std::vector<chakra::Trace> traces;
    chakra::AstraSystem system;
    chakra::JobOptions job;
    std::optional<flowlevel::AnalyticalConfig> analytical;
    std::optional<Experiment> experiment;
};

/// With options.check, what cannot be read is a misfit of the report, and the rest is read all the
/// same.
AstraInputs read_astra_inputs(const AstraOptions& options, ImportReport& report);

}  // namespace sluice
