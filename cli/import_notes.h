// SPDX-License-Identifier: Apache-2.0
/// What is done with an importer's report: `--check` prints all of it, a run tells what has no effect
/// and may refuse what does not fit.
#pragma once

#include <string>

#include "core/config/import_report.h"

namespace sluice {

/// Prints the report on standard output. kExitBadInput if something does not fit, else kExitDone.
int print_check(const ImportReport& report);

/// What was skipped and what does not fit, on standard error: a few lines, then how many more there
/// are and which command, `lister`, lists them.
void tell_notes(const ImportReport& report, const std::string& lister);

/// Throws the report's first misfit as a ConfigError, if there is one, and says how many more there
/// are.
void refuse_misfits(const ImportReport& report);

}  // namespace sluice
