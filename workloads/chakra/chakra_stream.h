// SPDX-License-Identifier: Apache-2.0
/// Chakra traces as a source of operations (core/job/operation_source.h), each rank's nodes read as
/// the rank gets to them, with the semantics of build_job(). Memory: 24 bytes per rank and its file's name, and what the
/// nodes in the window need.
/// What can be streamed: .et files whose nodes stand in the order of consecutive ids and wait for
/// earlier ones only; computations, sends, recvs, METADATA, and collectives that are not simulated and
/// take their recorded duration. Others are refused when they are reached: collectives that are
/// simulated need their whole groups, memory accesses a memory that ranks share.
/// Errors: ConfigError "FILE:node ID: ..." and as in EtReader.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/job/operation_source.h"
#include "workloads/chakra/astra_config.h"

namespace sluice::chakra {

struct StreamScales {
    double compute = 1;  ///< of the durations of computations
    double comm = 1;     ///< of the bytes of messages
};

/// `files`: by rank (find_traces()).
std::unique_ptr<OperationSource> open_chakra_stream(std::vector<std::string> files,
                                                    const AstraSystem& system,
                                                    const StreamScales& scales);

}  // namespace sluice::chakra
