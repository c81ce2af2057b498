// SPDX-License-Identifier: Apache-2.0
// The series' memory (blocks at doubling lengths) and the straight line through eight blocks.
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "core/steady/history.h"
#include "core/steady/trend.h"

using namespace sluice;
using namespace sluice::steady;

namespace {

/// Sample n of one flow and one port: 10 bytes per tick, n in flight, metric 2 n, queue n.
void sample(History& history, int n, bool saturated = false) {
    history.add_flow(0, n, 10 * n, n, 2.0 * n);
    history.add_port(0, n);
    history.end_sample(n, saturated);
}

}  // namespace

TEST_CASE("unit.steady.history.a_level_is_current_as_a_block_ends_and_its_span_is_full") {
    History history;
    history.reset(1, 1);
    for (int n = 0; n <= 16; ++n) {
        CHECK_FALSE(history.current(0));
        sample(history, n);
    }
    // 8 base blocks of 2 samples: 0..16 at level 0; level 1 has half of its blocks.
    CHECK(history.base_blocks() == 8);
    CHECK(history.current(0));
    CHECK_FALSE(history.current(1));
    CHECK(history.span(0) == 16);
    CHECK(history.mark(0, 0, 0).acked == 0);
    CHECK(history.mark(0, 0, 8).acked == 160);
    CHECK(history.mark(0, 0, 1).in_flight == doctest::Approx(1.5));  // samples 1 and 2
    CHECK(history.mark(0, 0, 8).metric == doctest::Approx(31));      // samples 15 and 16
    CHECK(history.port_extent(0, 0).least == 1);
    CHECK(history.port_extent(0, 0).largest == 16);
}

TEST_CASE("unit.steady.history.echoes_are_kept_if_asked_for_at_every_length") {
    History history;
    history.reset(1, 1, true);
    for (int n = 0; n <= 36; ++n) {
        history.add_echoes(0, n * n);
        sample(history, n);
    }
    CHECK(history.echoes(0, 0) == 36 * 36 - 20 * 20);
    CHECK(history.echoes(1, 0) == 36 * 36 - 4 * 4);
    history.reset(1, 1);
    for (int n = 0; n <= 36; ++n) {
        sample(history, n);
    }
    CHECK(history.echoes(0, 0) == 0);
}

TEST_CASE("unit.steady.history.spans_slide_and_longer_ones_join_blocks_of_shorter_ones") {
    History history;
    history.reset(1, 1);
    for (int n = 0; n <= 36; ++n) {
        sample(history, n);
    }
    REQUIRE(history.current(1));
    CHECK(history.span(0) == 16);
    CHECK(history.end_time(0, 0) == 20);
    CHECK(history.span(1) == 32);
    CHECK(history.end_time(1, 0) == 4);
    CHECK(history.mark(1, 0, 0).acked == 40);
    CHECK(history.mark(1, 0, 1).in_flight == doctest::Approx(6.5));  // samples 5 to 8
    CHECK(history.port_extent(1, 0).least == 5);
    sample(history, 37);
    sample(history, 38);  // an odd base block: level 1's last block is old
    CHECK(history.current(0));
    CHECK_FALSE(history.current(1));
}

TEST_CASE("unit.steady.history.a_span_is_saturated_if_every_sample_was") {
    History history;
    history.reset(1, 1);
    for (int n = 0; n <= 32; ++n) {
        sample(history, n, n != 5);
    }
    CHECK(history.saturated(0));        // samples 17 to 32
    CHECK_FALSE(history.saturated(1));  // samples 1 to 32
    for (int n = 33; n <= 40; ++n) {
        sample(history, n, true);
    }
    CHECK(history.saturated(1));  // samples 9 to 40
    history.reset(1, 1);
    CHECK(history.base_blocks() == 0);
    CHECK(history.levels() == 0);
}

TEST_CASE("unit.steady.history.trend_a_straight_line_is_found_exactly") {
    std::array<double, kBlocks> blocks{};
    for (std::size_t i = 0; i < kBlocks; ++i) {
        blocks[i] = 5 + 2 * static_cast<double>(i);
    }
    const Line line = fit_line(blocks);
    CHECK(line.mean == doctest::Approx(12));
    CHECK(line.change == doctest::Approx(16));
    CHECK(line.change_error == doctest::Approx(0));
    CHECK(line.mean_error == doctest::Approx(0));
}

TEST_CASE("unit.steady.history.trend_errors_of_an_alternating_series_by_hand") {
    // +1, -1, ...: mean 0. Sum of (i - 3.5) x: -3.5 x 1 ... = -4, over 42 = -0.095238 per block.
    // Residual squares: 8 - 4 x 4 / 42 = 7.619048; / 6 = 1.269841; root 1.126872.
    const Line line = fit_line({1, -1, 1, -1, 1, -1, 1, -1});
    CHECK(line.mean == doctest::Approx(0));
    CHECK(line.change == doctest::Approx(-0.0952381 * 8));
    CHECK(line.change_error == doctest::Approx(1.126872 / std::sqrt(42.0) * 8));
    CHECK(line.mean_error == doctest::Approx(1.126872 / std::sqrt(8.0)));
}
