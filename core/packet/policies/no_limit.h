// SPDX-License-Identifier: Apache-2.0
/// The bound of an admission rule that gives none.
#pragma once

namespace sluice::step {

inline constexpr double kNoLimit = 1e300;  ///< bytes

}  // namespace sluice::step
