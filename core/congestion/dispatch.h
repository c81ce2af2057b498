// SPDX-License-Identifier: Apache-2.0
/// The entry points of core/congestion/congestion.h, each one switch over the law. Include that
/// header, not this one.
#pragma once

#include "core/congestion/arithmetic.h"
#include "core/congestion/dcqcn.h"
#include "core/congestion/dctcp.h"
#include "core/congestion/hpcc.h"
#include "core/congestion/timely.h"
#include "core/congestion/types.h"

namespace sluice::congestion {

SLUICE_HD inline void start(State& state, const Parameters& parameters, std::int64_t line_rate,
                            std::int64_t max_window, Tick base_rtt) {
    state.rate = line_rate;
    state.line_rate = line_rate;
    state.max_window = parameters.window ? max_window : 0;
    state.base_rtt = base_rtt;
    state.retime = false;
    switch (parameters.law) {
        case Law::none: break;
        case Law::hpcc: hpcc::start(state, parameters); break;
        case Law::dcqcn: dcqcn::start(state); break;
        case Law::timely: timely::start(state); break;
        case Law::dctcp: dctcp::start(state); break;
    }
}

SLUICE_HD inline bool on_ack(State& state, const Parameters& parameters, const IntRates& rates,
                             const Ack& ack) {
    switch (parameters.law) {
        case Law::none: break;
        case Law::hpcc: return hpcc::on_ack(state, parameters, rates, ack);
        case Law::dcqcn:
            if (ack.echo) {
                dcqcn::on_echo(state, parameters, ack.now);
            }
            break;
        case Law::timely: timely::on_ack(state, parameters, ack); break;
        case Law::dctcp: dctcp::on_ack(state, parameters, ack); break;
    }
    return false;
}

SLUICE_HD inline Tick next_timer(const State& state, const Parameters& parameters) {
    return parameters.law == Law::dcqcn ? dcqcn::next_timer(state) : kNever;
}

SLUICE_HD inline void on_timer(State& state, const Parameters& parameters, Tick now) {
    if (parameters.law == Law::dcqcn) {
        dcqcn::on_timer(state, parameters, now);
    }
}

SLUICE_HD inline void shift(State& state, const Parameters& parameters, Tick dt) {
    if (parameters.law == Law::dcqcn) {
        dcqcn::shift(state, dt);
    }
}

SLUICE_HD inline void rewind(State& state, const Parameters& parameters, std::int64_t acked,
                             std::int64_t bytes) {
    const auto earlier = [&](std::int64_t& mark) {
        if (mark > acked) {
            mark = larger(mark - bytes, acked);
        }
    };
    switch (parameters.law) {
        case Law::none:
        case Law::dcqcn: break;
        case Law::hpcc: earlier(state.hpcc.last_update); break;
        case Law::timely: earlier(state.timely.last_update); break;
        case Law::dctcp:
            earlier(state.dctcp.last_update);
            earlier(state.dctcp.high_seq);
            break;
    }
}

SLUICE_HD inline std::int64_t window(const State& state, const Parameters& parameters) {
    constexpr std::int64_t kUnbounded = std::int64_t{1} << 62;
    if (state.max_window == 0) {
        return kUnbounded;
    }
    if (!parameters.variable_window || state.rate == state.line_rate) {
        return state.max_window;
    }
    return larger(scaled(state.max_window, state.rate, state.line_rate), 1);
}

SLUICE_HD inline Tick slowest_period(const Parameters& parameters) {
    return parameters.law == Law::dcqcn ? dcqcn::slowest_period(parameters.dcqcn) : 0;
}

}  // namespace sluice::congestion
