// SPDX-License-Identifier: Apache-2.0
/// `sluice simai --analytical`: SimAI_analytical's formulas and its result file.
#pragma once

#include "cli/simai_options.h"
#include "core/text/import_report.h"

namespace sluice {

/// Exit code. With --check everything is read and nothing written.
int run_analytical(const SimaiOptions& options, ImportReport& report);

}  // namespace sluice
