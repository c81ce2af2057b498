// SPDX-License-Identifier: Apache-2.0
/// No law: every flow sends at line rate, within its window.
#pragma once

#include "core/congestion/types.h"

namespace sluice::congestion::none {

struct Parameters {};
struct State {};
/// Has no fields.
template <class Visit>
SLUICE_HD inline bool all_fields(const State&, const State&, Visit&&) {
    return true;
}
template <class Visit>
SLUICE_HD inline void each_field(State&, const State&, Visit&&) {}

struct Hooks : LawHooks {};

}  // namespace sluice::congestion::none
