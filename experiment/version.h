// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace sluice {

/// The program's version: the release, and the commit where it was built from a checkout.
const char* program_version();

}  // namespace sluice
