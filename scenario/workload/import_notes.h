// SPDX-License-Identifier: Apache-2.0
/// What a run does with an importer's report: it tells what has no effect and may refuse what does not
/// fit.
#pragma once

#include <string>
#include <vector>

#include "core/text/import_report.h"

namespace sluice {

/// What was skipped and what does not fit: a few lines, then how many more there are and which
/// command, `lister`, lists them.
std::vector<std::string> note_lines(const ImportReport& report, const std::string& lister);

/// Throws the report's first misfit as a ConfigError, if there is one, and says how many more there
/// are.
void refuse_misfits(const ImportReport& report);

}  // namespace sluice
