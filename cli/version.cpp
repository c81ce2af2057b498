// SPDX-License-Identifier: Apache-2.0
/// The version that the build stamped: release and commit.
#include "cli/commands.h"

#include "sluice_version.h"

namespace sluice {

const char* program_version() { return SLUICE_VERSION; }

}  // namespace sluice
