// SPDX-License-Identifier: Apache-2.0
/// Errors of a testbench, reported so that it can catch them.
#pragma once

#include <string>

namespace sluice {

/// Reports an SC_ERROR, which throws an sc_report unless the testbench has said otherwise; an InternalError then. The
/// network is as if the call had not been made.
[[noreturn]] void refuse(const char* type, const std::string& what);

}  // namespace sluice
