// SPDX-License-Identifier: Apache-2.0
/// Makers of the outputs, each in a file of its own.
#pragma once

#include <memory>
#include <string>

#include "core/results/run_output.h"

namespace sluice {

std::unique_ptr<RunOutput> make_flows_csv(const std::string& path, const OutputContext& context);
std::unique_ptr<RunOutput> make_collectives_csv(const std::string& path,
                                                const OutputContext& context);
std::unique_ptr<RunOutput> make_ports_csv(const std::string& path, const OutputContext& context);
std::unique_ptr<RunOutput> make_phases_csv(const std::string& path, const OutputContext& context);
std::unique_ptr<RunOutput> make_trace_json(const std::string& path, const OutputContext& context);
std::unique_ptr<RunOutput> make_fct_txt(const std::string& path, const OutputContext& context);

}  // namespace sluice
