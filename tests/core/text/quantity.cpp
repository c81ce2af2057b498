// SPDX-License-Identifier: Apache-2.0
/// Quantities and tokens: exact decimals, refusals, and where errors are said to be.
#include <doctest/doctest.h>

#include <string>

#include "core/text/quantity.h"
#include "core/text/tokens.h"
#include "tests/support/network_support.h"

using namespace sluice;
using namespace sluice::test;

namespace {

const Place kPlace{"f.txt", 7, "value"};

}  // namespace

TEST_CASE("unit.config.quantity.rates_are_decimal_and_exact") {
    CHECK(parse_rate("100Gbps", kPlace) == gigabits_per_second(100));
    CHECK(parse_rate("40Gb/s", kPlace) == gigabits_per_second(40));
    CHECK(parse_rate("12.5GB/s", kPlace) == gigabits_per_second(100));  // 12.5e9 x 8
    CHECK(parse_rate("25 Gbps", kPlace) == gigabits_per_second(25));
    CHECK(parse_rate("615Mb/s", kPlace) == megabits_per_second(615));
    CHECK(parse_rate("9.6Kbps", kPlace).bits_per_second == 9600);
    CHECK(parse_rate("1KiB/s", kPlace).bits_per_second == 8192);
    CHECK(parse_rate("1e3bps", kPlace).bits_per_second == 1000);
    CHECK(parse_rate("0.000000001Gbps", kPlace).bits_per_second == 1);
}

TEST_CASE("unit.config.quantity.times_are_whole_picoseconds") {
    CHECK(parse_time("0.000025ms", kPlace) == 25 * kNanosecond);
    CHECK(parse_time("0.001ms", kPlace) == kMicrosecond);
    CHECK(parse_time("1000ns", kPlace) == kMicrosecond);
    CHECK(parse_time("80ps", kPlace) == 80);
    CHECK(parse_time("0.0000005ms", kPlace) == 500);
}

TEST_CASE("unit.config.quantity.no_rounding_of_binary_fractions") {
    // 2.001 has no exact double; as text it is exactly 2,001,000,000,000 ps.
    CHECK(parse_time("2.001s", kPlace) == 2'001 * kMillisecond);
    CHECK(parse_time("9223372.0368547758s", kPlace) == 9'223'372'036'854'775'800);
}

TEST_CASE("unit.config.quantity.bytes") {
    CHECK(parse_bytes("32MiB", kPlace) == mebibytes(32));
    CHECK(parse_bytes("400KB", kPlace).count == 400'000);
    CHECK(parse_bytes("1.5KiB", kPlace).count == 1536);
    CHECK(parse_bytes("0", kPlace).count == 0);
}

TEST_CASE("unit.config.quantity.refusals_say_where_and_what_is_allowed") {
    const auto rate = [](const char* text) { return error_of([&] { parse_rate(text, kPlace); }); };
    CHECK(rate("10Gpbs") ==
          "f.txt:7: value \"10Gpbs\": unknown unit \"Gpbs\" (allowed: bps, kbps, Mbps, Gbps, Tbps, "
          "b/s, kb/s, Mb/s, Gb/s, Tb/s, B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s)");
    CHECK(contains(rate("-1Gbps"), "must not be negative"));
    CHECK(contains(rate("100"), "unit missing (allowed: bps"));
    CHECK(contains(rate("fast"), "not a number"));
    CHECK(contains(rate(""), "not a number"));
    CHECK(contains(rate("."), "not a number"));
    CHECK(contains(rate("0.5bps"), "not a whole number of bits per second"));
    CHECK(contains(rate("1e30Gbps"), "too large"));
    CHECK(contains(rate("99999999999999999999bps"), "too many digits"));
    CHECK(contains(rate("1e99999999999Gbps"), "bad exponent"));
    CHECK(contains(error_of([] { parse_time("0.1ps", kPlace); }), "not a whole number of pico"));
    CHECK(contains(error_of([] { parse_time("1e-2000s", kPlace); }), "bad exponent"));
    CHECK(
        contains(error_of([] { parse_bytes("1.0001B", kPlace); }), "not a whole number of bytes"));
    CHECK(contains(error_of([] { parse_bytes("9GiBs", kPlace); }), "allowed: B, kB, KB, MB"));
}

TEST_CASE("unit.config.quantity.times_as_ns3_reads_them") {
    // 0.0003 as a double lies below 3e-4: 299.99 ns, truncated; 0.0015 above 1.5e-3.
    CHECK(parse_ns3_time("0.0003ms", kPlace) == 299 * kNanosecond);
    CHECK(parse_ns3_time("0.0015ms", kPlace) == 1500 * kNanosecond);
    CHECK(parse_ns3_time("300ns", kPlace) == 300 * kNanosecond);
    CHECK(parse_ns3_time("0.3us", kPlace) == 299 * kNanosecond);  // 0.299999999999999988
    CHECK(parse_ns3_time("2.001", kPlace) == 2'000'999'999 * kNanosecond);
    CHECK(parse_ns3_time("1500ps", kPlace) == kNanosecond);
    CHECK(parse_ns3_time("0", kPlace) == 0);
    CHECK_THROWS_AS(parse_ns3_time("3 weeks", kPlace), ConfigError);
}

TEST_CASE("unit.config.quantity.bare_numbers_mean_what_ns3_says") {
    CHECK(parse_rate("1000000", kPlace, BareNumber::ns3) == megabits_per_second(1));
    CHECK(parse_time("0.5", kPlace, BareNumber::ns3) == 500 * kMillisecond);
}

TEST_CASE("unit.config.quantity.integers_and_reals_have_ranges") {
    CHECK(parse_integer("42", kPlace, 0, 50) == 42);
    CHECK(parse_real("0.2", kPlace, 0, 1) == 0.2);
    CHECK(error_of([] { parse_integer("51", kPlace, 0, 50); }) ==
          "f.txt:7: value \"51\": out of range (allowed: 0 to 50)");
    CHECK(contains(error_of([] { parse_integer("5x", kPlace, 0, 50); }), "not a whole number"));
    CHECK(contains(error_of([] { parse_integer("99999999999999999999", kPlace, 0, 50); }),
                   "out of range"));
    CHECK(contains(error_of([] { parse_real("nan", kPlace, 0, 1); }), "out of range"));
    CHECK(contains(error_of([] { parse_real("1.5", kPlace, 0, 1); }), "allowed: 0 to 1"));
}

TEST_CASE("unit.config.quantity.formats_read_back") {
    CHECK(format_rate(gigabits_per_second(100)) == "100Gbps");
    CHECK(format_rate({1'500'000'000}) == "1500Mbps");
    CHECK(format_time(25 * kNanosecond) == "25ns");
    CHECK(format_time(0) == "0ps");
    CHECK(format_bytes(mebibytes(32)) == "32MiB");
    CHECK(format_bytes({400'000}) == "400KB");
    for (const std::int64_t n : {1LL, 80LL, 999LL, 1024LL, 6'240'000LL, 123'456'789'012LL}) {
        CHECK(parse_rate(format_rate({n}), kPlace).bits_per_second == n);
        CHECK(parse_time(format_time(n), kPlace) == n);
        CHECK(parse_bytes(format_bytes({n}), kPlace).count == n);
    }
}

TEST_CASE("unit.config.tokens.lines_are_tracked_over_any_blanks") {
    TokenReader reader("t.txt", "\xEF\xBB\xBF 1\t2\r\n\r\n\n3   100Gbps\n1us end");
    CHECK(reader.next_integer("a", 0, 9) == 1);
    CHECK(reader.line() == 1);
    CHECK(reader.next_integer("b", 0, 9) == 2);
    const TokenReader::Mark mark = reader.mark();
    CHECK(reader.peek() == "3");
    CHECK(reader.line() == 1);
    CHECK(reader.next_integer("c", 0, 9) == 3);
    CHECK(reader.line() == 4);
    reader.rewind(mark);
    CHECK(reader.next("c") == "3");
    CHECK(reader.next_rate("d") == gigabits_per_second(100));
    CHECK(reader.next_time("e") == kMicrosecond);
    CHECK(reader.next("f") == "end");
    CHECK(reader.line() == 5);
    CHECK(reader.at_end());
    CHECK(error_of([&] { reader.next("number of links"); }) ==
          "t.txt:5: the file ends where number of links is expected");
}

TEST_CASE("unit.config.tokens.lines_and_fields") {
    TokenReader reader("t.csv", "a, b ,c\r\n\nlast");
    std::string_view line;
    CHECK(reader.next_line(line));
    CHECK(line == "a, b ,c");
    const auto fields = split_fields(line, ',');
    REQUIRE(fields.size() == 3);
    CHECK(fields[1] == "b");
    CHECK(reader.next_line(line));
    CHECK(line.empty());
    CHECK(reader.next_line(line));
    CHECK(line == "last");
    CHECK(reader.line() == 3);
    CHECK(!reader.next_line(line));
}

TEST_CASE("unit.config.tokens.unreadable_files") {
    CHECK(error_of([] { TokenReader::open("/nonexistent/x"); }) == "/nonexistent/x: no such file");
    CHECK(error_of([] { TokenReader::open("/"); }) == "/: is a folder, not a file");
}
