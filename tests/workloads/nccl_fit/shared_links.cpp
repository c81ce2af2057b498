// SPDX-License-Identifier: Apache-2.0
/// PCIe: links that all members share, in a table of NCCL's choices and in the fit of one.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/workloads/nccl_fit/nccl_data.h"
#include "workloads/nccl_fit/nccl_fit.h"

using namespace sluice;
using namespace sluice::nccl_data;

namespace {

using Kind = CollectiveKind;

}  // namespace

TEST_CASE("unit.nccl_table.shared_links_hide_what_a_member_does_meanwhile") {
    // Own link 8 B/us, shared by 4: 2 B/us. A block of 8 bytes: 3 + 1 us of its own, 4 us of the shared links.
    NcclChoice choice;
    choice.algorithm = NcclAlgorithm::pairs;
    choice.base_us = 10;
    choice.step_us = 3;
    choice.bandwidth = {{2, 8e6}, {4, 2e6}};
    choice.shared_links = true;
    choice.factor[static_cast<std::size_t>(Kind::all_to_all)] = 1;
    CHECK(time_us(choice, Kind::all_to_all, 4, 32) == doctest::Approx(10 + 3 * 4));
    CHECK(time_us(choice, Kind::all_to_all, 4, 16) == doctest::Approx(10 + 3 * 3.5));
    CHECK(time_us(choice, Kind::all_to_all, 4, 64) == doctest::Approx(10 + 3 * 8));
    CHECK(time_us(choice, Kind::all_to_all, 2, 16) == doctest::Approx(10 + 4));
}

TEST_CASE("unit.nccl_table.a_step_of_a_ring_waits_for_shared_links") {
    // Own link 8 B/us, shared by 4: 2 B/us, of an all-gather 4/3 of it. A block of 8 bytes: 3 + 1 us of its own, 3 us of the shared links.
    NcclChoice choice = ring(NcclProtocol::simple, 10, 3, 8e6);
    choice.bandwidth = {{2, 8e6}, {4, 2e6}};
    choice.shared_links = true;
    choice.shared_factor[static_cast<std::size_t>(Kind::all_gather)] = 4.0 / 3;
    choice.cached_factor = choice.shared_factor;
    CHECK(time_us(choice, Kind::all_gather, 4, 32) == doctest::Approx(10 + 3 * 5));
    // Of other kinds `factor` holds there, too: 3 + 1 us and 4 us. Two members share nothing.
    CHECK(time_us(choice, Kind::reduce_scatter, 4, 32) ==
          doctest::Approx(10 + 3 * 4 * std::sqrt(2.0)));
    CHECK(time_us(choice, Kind::all_gather, 2, 16) == doctest::Approx(10 + 4));
    CHECK(time_us(choice, Kind::all_gather, 3, 24) == doctest::Approx(10 + 2 * 4));
}

TEST_CASE("unit.nccl_table.caches_hold_the_buffers_of_a_ring") {
    // 8 slots of 2 MiB are 16 MiB. Blocks of 0.5 MiB last 1 us on the own link, 16 us on shared links, twice as fast if cached.
    const double rate = (1 << 19) * 1e6;
    NcclChoice choice = ring(NcclProtocol::simple, 0, 0, rate);
    choice.bandwidth = {{2, rate}, {4, rate / 16}};
    choice.shared_links = true;
    choice.cached_factor[static_cast<std::size_t>(Kind::all_gather)] = 2;
    CHECK(time_us(choice, Kind::all_gather, 4, 1 << 21) == doctest::Approx(3 * std::hypot(1, 8)));
    CHECK(time_us(choice, Kind::all_gather, 4, (1 << 21) + 1) ==
          doctest::Approx(3 * std::hypot(1, 16)));
    // LL sends every byte twice over.
    choice.protocol = NcclProtocol::ll;
    CHECK(time_us(choice, Kind::all_gather, 4, 1 << 20) == doctest::Approx(3 * std::hypot(0.5, 4)));
    CHECK(time_us(choice, Kind::all_gather, 4, 1 << 21) == doctest::Approx(3 * std::hypot(1, 16)));
}

TEST_CASE("unit.nccl_fit.pcie_is_shared_by_an_all_to_all") {
    // LL to blocks of 32 KiB on shared links, then Simple.
    std::vector<NcclSample> samples;
    for (const std::uint32_t members : {2U, 4U, 8U}) {
        for (double bytes = 1024; bytes < 1e9; bytes *= 4) {
            const double block = bytes / members;
            const double ll = std::max(0.7 + block / 9e3, block / 9e3 * members / 2);
            const double simple = std::max(1.5 + block / 20e3, block / 20e3 * members / 2);
            samples.push_back({Kind::all_to_all, members, static_cast<std::int64_t>(bytes),
                               8 + (members - 1) * (block <= 32768 ? ll : simple)});
        }
    }
    const NcclTable table = fit_nccl_table(samples, {false, 25.6e9});
    CHECK(table.choose(Kind::all_to_all, 8, 262144)->protocol == NcclProtocol::ll);
    CHECK(table.choose(Kind::all_to_all, 8, 262152)->protocol == NcclProtocol::simple);
    std::vector<double> errors = relative_errors(table, samples);
    for (double& error : errors) error = std::abs(error);
    std::sort(errors.begin(), errors.end());
    CHECK(errors[errors.size() / 2] < 0.02);
}

TEST_CASE("unit.nccl_fit.pcie_is_shared_by_a_ring") {
    // LL and Simple on shared links; reducing slows a member's own part, but not its share. Cached buffers are 1.4 times as fast.
    NcclTable machine = {
        {ring(NcclProtocol::ll, 7, 1.5, 11e9), ring(NcclProtocol::simple, 18, 12, 22e9)}};
    for (NcclChoice& choice : machine.choices) {
        const double rate = choice.bandwidth.front().bytes_per_second;
        choice.bandwidth = {{2, rate}, {4, rate / 4}, {8, rate / 16}};
        choice.shared_links = true;
        choice.factor[static_cast<std::size_t>(Kind::all_reduce)] = 0.9;
        choice.shared_factor.fill(1);
        choice.cached_factor.fill(1.4);
        choice.cost_model = nccl_cost_model({false, 25.6e9}, choice.algorithm, choice.protocol);
    }
    const std::vector<NcclSample> samples = measured_by(machine);
    const NcclTable table = fit_nccl_table(samples, {false, 25.6e9});
    // Factors of shared links are common to the ring's three choices.
    CHECK(parameter_count(table) == 3 * (3 + 3 + 2) + 2 + 3);
    for (const Kind kind : {Kind::all_reduce, Kind::all_gather, Kind::reduce_scatter}) {
        const NcclChoice& simple = table.choices.back();
        const auto at = static_cast<std::size_t>(kind);
        CHECK(simple.cached_factor[at] / simple.shared_factor[at] ==
              doctest::Approx(1.4).epsilon(0.1));
    }
    CHECK(errors_of(relative_errors(table, samples), samples).back().p95 < 0.05);
    CHECK(errors_of(held_out_errors(samples, {false, 25.6e9}), samples).back().median < 0.03);
}
