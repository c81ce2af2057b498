// SPDX-License-Identifier: Apache-2.0
// INT records: layout, units, truncation and wraparound.
#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

#include "core/congestion/int_record.h"

using namespace sluice;
using namespace sluice::congestion;

TEST_CASE("unit.congestion.int_record.fields_lie_where_the_reference_puts_them") {
    // Multiplier 4: bytes in 512, queue in 320. 5,999 ps is 5 whole ns; 1,535 B are 2 units;
    // 959 B queued are 2 units. 5 | 5 << 3 | 2 << 27 | 2 << 47 by the bit positions.
    const IntRecord record = pack_int(5'999, 1'535, 959, 5, int_units(4));
    CHECK(record == (std::uint64_t{5} | (std::uint64_t{5} << 3) | (std::uint64_t{2} << 27) |
                     (std::uint64_t{2} << 47)));
    CHECK(int_rate_index(record) == 5);
    CHECK(int_queue_bytes(record, 4) == 640);
}

TEST_CASE("unit.congestion.int_record.exact_multiples_are_not_rounded_down") {
    for (const int multiplier : {1, 2, 3, 4, 7, 16, 1000, kMaxIntMultiplier}) {
        const IntUnits units = int_units(multiplier);
        for (std::int64_t n = 0; n < 1000; ++n) {
            const std::int64_t bytes = n * 128 * multiplier;
            const std::int64_t queue = n * 80 * multiplier;
            const IntRecord at = pack_int(0, bytes, queue, 0, units);
            const IntRecord zero = pack_int(0, 0, 0, 0, units);
            CHECK(int_bytes_delta(at, zero, multiplier) == bytes);
            CHECK(int_queue_bytes(at, multiplier) == queue);
            if (n > 0) {
                const IntRecord below = pack_int(0, bytes - 1, queue - 1, 0, units);
                CHECK(int_bytes_delta(at, below, multiplier) == 128 * multiplier);
                CHECK(int_queue_bytes(below, multiplier) == queue - 80 * multiplier);
            }
        }
    }
}

TEST_CASE("unit.congestion.int_record.reciprocal_equals_division") {
    // Around every multiple of the unit near powers of two, up to counts that take the division.
    for (const int multiplier : {1, 3, 4, 5, 16, 4095, kMaxIntMultiplier}) {
        const IntUnits units = int_units(multiplier);
        for (int bit = 8; bit < 62; ++bit) {
            const std::uint64_t base = (std::uint64_t{1} << bit) / units.bytes_unit;
            for (std::uint64_t k = base; k < base + 3; ++k) {
                for (const std::uint64_t count :
                     {k * units.bytes_unit, k * units.bytes_unit + units.bytes_unit - 1}) {
                    CHECK(whole_units(count, units.bytes_unit, units.bytes_reciprocal) ==
                          count / units.bytes_unit);
                }
            }
        }
    }
}

TEST_CASE("unit.congestion.int_record.time_wraps_after_16_777_216_ns") {
    const IntUnits units = int_units(1);
    const Tick wrap = Tick{1 << 24} * kNanosecond;
    const IntRecord before = pack_int(wrap - 100 * kNanosecond, 0, 0, 0, units);
    const IntRecord after = pack_int(wrap + 23 * kNanosecond, 0, 0, 0, units);
    CHECK(int_time_delta(after, before) == 123);
    // A whole wrap between two records cannot be seen.
    CHECK(int_time_delta(pack_int(wrap, 0, 0, 0, units), pack_int(0, 0, 0, 0, units)) == 0);
}

TEST_CASE("unit.congestion.int_record.bytes_wrap_after_2_to_the_20_units") {
    const IntUnits units = int_units(4);
    const std::int64_t wrap = std::int64_t{512} << 20;
    const IntRecord before = pack_int(0, wrap - 512, 0, 0, units);
    const IntRecord after = pack_int(0, wrap + 1024, 0, 0, units);
    CHECK(int_bytes_delta(after, before, 4) == 1536);
}

TEST_CASE("unit.congestion.int_record.queue_wraps_as_in_the_reference") {
    // 2^17 units of 80 B are 10,485,760 B: the field shows 0 again.
    CHECK(int_queue_bytes(pack_int(0, 0, 10'485'759, 0, int_units(1)), 1) == 10'485'680);
    CHECK(int_queue_bytes(pack_int(0, 0, 10'485'760, 0, int_units(1)), 1) == 0);
}

TEST_CASE("unit.congestion.int_record.steps_between_two_records") {
    // Time and sent bytes wrap around, the queue shrinks; four steps, whatever the phase.
    const IntUnits units = int_units(4);
    const Tick wrap = (Tick{1} << kIntTimeBits) * kNanosecond;
    const std::int64_t lap = std::int64_t{512} << kIntBytesBits;
    const IntRecord earlier = pack_int(wrap - 100 * kNanosecond, lap - 512, 3'200, 3, units);
    const IntRecord later = pack_int(wrap + 300 * kNanosecond, lap + 4 * 512, 320, 3, units);
    for (std::uint32_t phase = 0; phase < 4; ++phase) {
        std::int64_t time = 0;
        std::int64_t bytes = 0;
        for (std::uint32_t part = 1; part <= 4; ++part) {
            const IntRecord at = record_between(earlier, later, part, 4, phase);
            CHECK(int_rate_index(at) == 3);
            CHECK(int_time_delta(at, earlier) == 100 * part);
            const std::int64_t sent = int_bytes_delta(at, earlier, 4);
            CHECK(sent - bytes >= 512);
            CHECK(sent - bytes <= 1'024);
            time = int_time_delta(at, earlier);
            bytes = sent;
            CHECK(int_queue_bytes(at, 4) <= 3'200);
            CHECK(int_queue_bytes(at, 4) >= 320);
        }
        CHECK(time == 400);
        CHECK(bytes == 5 * 512);
        CHECK(record_between(earlier, later, 4, 4, phase) == later);
    }
}
