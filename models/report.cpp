// SPDX-License-Identifier: Apache-2.0
#include "models/report.h"

#include <systemc>

#include "core/error.h"

namespace sluice {

void refuse(const char* type, const std::string& what) {
    SC_REPORT_ERROR(type, what.c_str());
    throw InternalError(what);
}

}  // namespace sluice
