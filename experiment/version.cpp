// SPDX-License-Identifier: Apache-2.0
#include "experiment/version.h"

#include "sluice_version.h"

namespace sluice {

const char* program_version() { return SLUICE_VERSION; }

}  // namespace sluice
