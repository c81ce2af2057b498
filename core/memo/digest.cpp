// SPDX-License-Identifier: Apache-2.0
#include "core/memo/digest.h"

#include <fmt/core.h>

namespace sluice::memo {

std::string Digest::text() const { return fmt::format("{:016x}{:016x}", high, low); }

}  // namespace sluice::memo
