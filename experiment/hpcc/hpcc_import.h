// SPDX-License-Identifier: Apache-2.0
/// Reads an experiment of the HPCC ns-3 simulator, unchanged: config.txt and the topology, flow and
/// trace files that it names. Keys, defaults and behaviours are that simulator's
/// (docs/models/hpcc_import.md), its arithmetic included. Relative paths are tried from the working
/// directory, then from the config's own folder, then as a file name beside the config.
/// Errors: ConfigError with file and line. What is skipped or not modelled is listed in `notes`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/text/import_report.h"
#include "experiment/experiment.h"

namespace sluice {

/// The queue-length monitor: samples every 100 ns in [from, to], one more if `to` falls between.
struct HpccQueueMonitor {
    std::string file;  ///< base name; empty: off
    Tick from = 0;
    Tick to = 0;
};

struct HpccImport {
    Experiment experiment;
    std::string fct_file;  ///< base names for the outputs
    std::string pfc_file;
    HpccQueueMonitor queue_monitor;
    std::vector<NodeId> traced_nodes;  ///< of TRACE_FILE
    std::vector<std::string> notes;    ///< one line each, for the user
    std::string config_json;           ///< every key in effect, a JSON object as text
};

/// `paths_csv`: src,dst,sport,path rows (core/routing/paths.h), empty for ECMP. A row from a flow's
/// receiver to its sender with the flow's dport gives the way of its ACKs. `seed` 0: the config's
/// RANDOM_SEED, else 1.
HpccImport import_hpcc(const std::string& config, const std::string& paths_csv, std::uint64_t seed);

/// Reads the same files for what they hold only: everything read, skipped and not fitting. A file
/// that would make import_hpcc() throw is a misfit, and what depends on it is not read.
ImportReport check_hpcc(const std::string& config, const std::string& paths_csv);

}  // namespace sluice
