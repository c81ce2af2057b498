// SPDX-License-Identifier: Apache-2.0
#include "cli/print_check.h"

#include "cli/output/terminal.h"
#include "core/text/printable.h"
#include "experiment/exit_codes.h"

namespace sluice {

void tell(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) print_error("sluice: {}\n", printable_line(line));
}

int print_check(const ImportReport& report) {
    print_message(report.text());
    return report.count(ImportNote::Kind::misfit) > 0 ? kExitBadInput : kExitDone;
}

}  // namespace sluice
