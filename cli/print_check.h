// SPDX-License-Identifier: Apache-2.0
/// `--check` of every command that reads files of others.
#pragma once

#include "core/text/import_report.h"

namespace sluice {

/// Prints the report on standard output. kExitBadInput if something does not fit, else kExitDone.
int print_check(const ImportReport& report);

}  // namespace sluice
