// SPDX-License-Identifier: Apache-2.0
/// The entry points of core/congestion/congestion.h, each one switch over the laws (visit_law). Include that
/// header, not this one.
#pragma once

#include "core/congestion/arithmetic.h"
#include "core/congestion/laws.h"
#include "core/memory_space.h"

namespace sluice::congestion {

SLUICE_HD inline void start(State& state, const Parameters& parameters, std::int64_t line_rate,
                            std::int64_t max_window, Tick base_rtt, double products) {
    state.rate = line_rate;
    state.line_rate = line_rate;
    state.max_window = parameters.window ? max_window : 0;
    state.products = static_cast<float>(products);
    state.base_rtt = base_rtt;
    state.retime = false;
    visit_law(state, parameters,
              [&](auto law, auto& own, const auto& p) { law.start(state, own, p); });
}

SLUICE_DEVICE_NOINLINE SLUICE_HD inline bool on_ack(State& state, const Parameters& parameters,
                                                    const IntRates& rates, const Ack& ack) {
    is_in_global_memory(state);
    is_in_global_memory(parameters);
    is_in_shared_memory(rates);
    return visit_law(state, parameters, [&](auto law, auto& own, const auto& p) {
        return law.on_ack(state, own, parameters, p, rates, ack);
    });
}

SLUICE_HD inline void on_loss(State& state, const Parameters& parameters, const Loss& loss) {
    visit_law(state, parameters, [&](auto law, auto& own, const auto& p) {
        law.on_loss(state, own, parameters, p, loss);
    });
}

SLUICE_HD inline Tick next_timer(const State& state, const Parameters& parameters) {
    return visit_law(state, parameters, [](auto law, const auto& own, const auto&) -> Tick {
        return law.next_timer(own);
    });
}

SLUICE_DEVICE_NOINLINE SLUICE_HD inline void on_timer(State& state, const Parameters& parameters,
                                                      Tick now) {
    is_in_global_memory(state);
    is_in_global_memory(parameters);
    visit_law(state, parameters, [&](auto law, auto& own, const auto& p) {
        law.on_timer(state, own, parameters, p, now);
    });
}

SLUICE_HD inline void shift(State& state, const Parameters& parameters, Tick dt) {
    visit_law(state, parameters, [&](auto, auto& own, const auto&) { shift_fields(own, dt); });
}

SLUICE_HD inline void advance(State& state, const Parameters& parameters, Tick dt,
                              const Observed& seen) {
    visit_law(state, parameters, [&](auto law, auto& own, const auto& p) {
        law.advance(state, own, parameters, p, dt, seen);
    });
}

SLUICE_HD inline void rescale(State& state, const Parameters& parameters, double factor) {
    visit_law(state, parameters, [&](auto law, auto& own, const auto& p) {
        law.rescale(state, own, parameters, p, factor);
    });
}

SLUICE_HD inline void resume(State& state, const Parameters& parameters, double factor, Tick now) {
    visit_law(state, parameters, [&](auto law, auto& own, const auto& p) {
        law.settle_in(state, own, p, now);
        law.rescale(state, own, parameters, p, factor);
    });
}

SLUICE_HD inline std::int64_t echoes(const State& state, const Parameters& parameters) {
    return visit_law(state, parameters,
                     [](auto law, const auto& own, const auto&) { return law.echoes(own); });
}

inline std::int64_t increase_stage(const State& state, const Parameters& parameters) {
    return visit_law(state, parameters, [](auto law, const auto& own, const auto&) {
        return law.increase_stage(own);
    });
}

inline void set_increase_stage(State& state, const Parameters& parameters, std::int64_t stage,
                               std::int64_t next) {
    visit_law(state, parameters,
              [&](auto law, auto& own, const auto&) { law.set_increase_stage(own, stage, next); });
}

inline void forget_records(State& state, const Parameters& parameters) {
    visit_law(state, parameters, [](auto law, auto& own, const auto&) { law.forget_records(own); });
}

SLUICE_HD inline void rewind(State& state, const Parameters& parameters, std::int64_t acked,
                             std::int64_t bytes) {
    visit_law(state, parameters,
              [&](auto law, auto& own, const auto&) { law.rewind(own, acked, bytes); });
}

inline bool same(const State& a, const State& b, const Parameters& parameters) {
    const bool alike = same_fields<FlowControl>(a, b);
    switch (parameters.law) {
#define SLUICE_LAW(law) \
    case Law::law: return alike && same_fields(a.law, b.law);
        SLUICE_LAWS(SLUICE_LAW)
#undef SLUICE_LAW
    }
    return false;
}

inline void renumber_hop(State& state, const Parameters& parameters, int hop, std::uint64_t units) {
    visit_law(state, parameters,
              [&](auto law, auto& own, const auto&) { law.renumber_hop(own, hop, units); });
}

SLUICE_HD inline std::int64_t window(const State& state, const Parameters& parameters) {
    constexpr std::int64_t kUnbounded = std::int64_t{1} << 62;
    if (state.max_window == 0) {
        return kUnbounded;
    }
    const bool whole_line = !parameters.variable_window || state.rate == state.line_rate;
    std::int64_t window =
        whole_line ? state.max_window : scaled(state.max_window, state.rate, state.line_rate);
    if (state.products != 1 && !parameters.rate_is_window) {
        window = static_cast<std::int64_t>(static_cast<double>(state.products) *
                                           static_cast<double>(window));
    }
    return larger(parameters.whole_packets ? window - (parameters.payload - 1) : window, 1);
}

SLUICE_HD inline Tick slowest_period(const Parameters& parameters) {
    return visit_parameters(parameters,
                            [](auto law, const auto& p) -> Tick { return law.slowest_period(p); });
}

}  // namespace sluice::congestion
