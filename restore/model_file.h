// SPDX-License-Identifier: Apache-2.0
/// A trained model as a file: one format, which both engines read and `sluice train` writes. It holds
/// numbers and a JSON header, nothing that is executed.
///     8 bytes  "SLUICEQM"
///     u32      version, u32 length of the header
///     header   JSON: format, shape, laws, quantiles, samples_per_base_rtt, weights, linear, training
///     f32      weights, in the order of weight_blocks() (restore/encoder.h)
///     f32      the linear model's: of each law its row, or nothing (header.linear)
///     u64      checksum of everything before (core/checksum.h)
/// Little endian.
#pragma once

#include <string>
#include <string_view>

#include "restore/queue_model.h"

namespace sluice::restore {

/// ConfigError "PATH: ..." if the file cannot be read or is not a whole, sound model of this version:
/// shapes within limits, quantiles and inputs as this build has them, all weights finite. Reads no more
/// than a model within limits can have.
QueueModel load_model(const std::string& path);
/// The same of a file's bytes; `path` names them.
QueueModel parse_model(std::string_view bytes, const std::string& path);

/// Written under a temporary name and renamed. ConfigError if that fails.
void save_model(const QueueModel& model, const std::string& path);
std::string model_bytes(const QueueModel& model);

}  // namespace sluice::restore
