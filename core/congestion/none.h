// SPDX-License-Identifier: Apache-2.0
/// No law: every flow sends at line rate, within its window.
#pragma once

#include "core/congestion/types.h"

namespace sluice::congestion::none {

struct Parameters {};
struct State {};
SLUICE_DESCRIBE_EMPTY(State)

struct Hooks : LawHooks {};

}  // namespace sluice::congestion::none
