// SPDX-License-Identifier: Apache-2.0
/// The list of laws. A law is a header of this folder that defines, in a namespace of its name, its Parameters, its State
/// and its Hooks (LawHooks, types.h); it joins the simulator by its line below. The name is that of the header, the word by
/// which scenarios choose it, and the name of its table there.
#pragma once

#include <cstdint>

#include "core/congestion/types.h"
#include "core/hd.h"

// clang-format off
#define SLUICE_LAWS(LAW) \
    LAW(hpcc)            \
    LAW(dcqcn)           \
    LAW(timely)          \
    LAW(dctcp)           \
    LAW(swift)           \
    LAW(nscc)            \
    LAW(rccc)            \
    LAW(none)
// clang-format on

#include "core/congestion/law_headers.h"

namespace sluice::congestion {

#define SLUICE_LAW(name) name,
enum class Law : std::uint8_t { SLUICE_LAWS(SLUICE_LAW) };
#undef SLUICE_LAW

struct Parameters : CommonParameters {
    Law law = Law::hpcc;
#define SLUICE_LAW(name) congestion::name::Parameters name;
    SLUICE_LAWS(SLUICE_LAW)
#undef SLUICE_LAW
};

/// A flow's congestion state.
struct State : FlowControl {
#define SLUICE_LAW(name) congestion::name::State name;
    union {
        SLUICE_LAWS(SLUICE_LAW)
    };
#undef SLUICE_LAW
    SLUICE_HD State() : none() {}
};

/// Calls f(Hooks{}, its state, its parameters) of the flow's law and returns what f returns: one
/// switch, which the compiler sees through. `State` may be const.
template <class State, class F>
SLUICE_HD inline auto visit_law(State& state, const Parameters& parameters, F&& f) {
    switch (parameters.law) {
#define SLUICE_LAW(name) \
    case Law::name: return f(name::Hooks{}, state.name, parameters.name);
        SLUICE_LAWS(SLUICE_LAW)
#undef SLUICE_LAW
    }
    return f(none::Hooks{}, state.none, parameters.none);
}

/// The same without a state: f(Hooks{}, its parameters).
template <class F>
SLUICE_HD inline auto visit_parameters(const Parameters& parameters, F&& f) {
    switch (parameters.law) {
#define SLUICE_LAW(name) \
    case Law::name: return f(name::Hooks{}, parameters.name);
        SLUICE_LAWS(SLUICE_LAW)
#undef SLUICE_LAW
    }
    return f(none::Hooks{}, parameters.none);
}

/// Calls f(Law, name, Hooks{}, its parameters) for every law. Host only.
template <class Parameters, class F>
void for_each_law(Parameters& parameters, F&& f) {
#define SLUICE_LAW(name) f(Law::name, #name, name::Hooks{}, parameters.name);
    SLUICE_LAWS(SLUICE_LAW)
#undef SLUICE_LAW
}

constexpr Traits traits(Law law) {
    switch (law) {
#define SLUICE_LAW(name) \
    case Law::name: return name::Hooks::traits();
        SLUICE_LAWS(SLUICE_LAW)
#undef SLUICE_LAW
    }
    return {};
}

/// "hpcc", "dcqcn", ...
constexpr const char* law_name(Law law) {
    switch (law) {
#define SLUICE_LAW(name) \
    case Law::name: return #name;
        SLUICE_LAWS(SLUICE_LAW)
#undef SLUICE_LAW
    }
    return "unknown";
}

}  // namespace sluice::congestion
