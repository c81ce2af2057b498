// SPDX-License-Identifier: Apache-2.0
/// Text to quantities and back: "100Gbps", "12.5GB/s", "1us", "32MiB", "400KB", "0.2".
/// Decimals are parsed exactly, as integers in b/s, ps and bytes: a value that is not a whole
/// number of those, is negative or does not fit is refused, never rounded. K, M, G, T are powers
/// of 1000; Ki, Mi, Gi, Ti of 1024. Blanks between number and unit are allowed.
/// Errors: ConfigError naming the place, the text, what is wrong and what is allowed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/units.h"

namespace sluice {

/// Where a value stands and what it is, for messages: `file:line: what "text": ...`. Line 0, and an
/// empty file or name, are left out. Holds views: lives as long as what it points to.
struct Place {
    std::string_view file;
    int line = 0;
    std::string_view what;
};

/// Throws ConfigError at `place`.
[[noreturn]] void fail_at(const Place& place, const std::string& message);

/// What a number without a unit means.
enum class BareNumber : std::uint8_t {
    refuse,  ///< a missing unit is an error (zero needs none)
    ns3,     ///< ns-3's reading: a rate in bits per second, a time in seconds
};

/// bps, kbps, Mbps, Gbps, Tbps; b/s, kb/s, ... Tb/s; B/s, kB/s, ... TB/s; KiB/s, MiB/s, GiB/s.
Rate parse_rate(std::string_view text, const Place& place, BareNumber bare = BareNumber::refuse);
/// s, ms, us, ns, ps.
Tick parse_time(std::string_view text, const Place& place, BareNumber bare = BareNumber::refuse);
/// What ns-3 makes of the same text (a bare number: seconds): whole nanoseconds, truncated from the
/// double that the number is.
Tick parse_ns3_time(std::string_view text, const Place& place);
/// B, kB, KB, MB, GB, TB, KiB, MiB, GiB, TiB.
Bytes parse_bytes(std::string_view text, const Place& place);

/// A decimal integer in [lowest, highest].
std::int64_t parse_integer(std::string_view text, const Place& place, std::int64_t lowest,
                           std::int64_t highest);
/// A finite decimal number in [lowest, highest].
double parse_real(std::string_view text, const Place& place, double lowest, double highest);

/// The shortest exact text that the parsers above read back: "100Gbps", "1us", "32MiB".
std::string format_rate(Rate rate);
std::string format_time(Tick time);
std::string format_bytes(Bytes bytes);

}  // namespace sluice
