// SPDX-License-Identifier: Apache-2.0
/// What commands tell of files of others that they read.
#pragma once

#include <string>
#include <vector>

#include "core/text/import_report.h"

namespace sluice {

/// Each line on standard error, as the program's own.
void tell(const std::vector<std::string>& lines);

/// `--check`: prints the report on standard output. kExitBadInput if something does not fit, else kExitDone.
int print_check(const ImportReport& report);

}  // namespace sluice
