// SPDX-License-Identifier: Apache-2.0
#include "cli/print_check.h"

#include <fmt/core.h>

#include "experiment/exit_codes.h"

namespace sluice {

void tell(const std::vector<std::string>& lines) {
    for (const std::string& line : lines) fmt::print(stderr, "sluice: {}\n", line);
}

int print_check(const ImportReport& report) {
    fmt::print("{}", report.text());
    return report.count(ImportNote::Kind::misfit) > 0 ? kExitBadInput : kExitDone;
}

}  // namespace sluice
