// SPDX-License-Identifier: Apache-2.0
#include "core/text/quantity.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"

namespace sluice {
namespace {

__extension__ typedef unsigned __int128 Wide;

/// A unit and how many of the base unit (b/s, ps, byte) it holds.
struct Unit {
    std::string_view name;
    std::int64_t factor;
};

constexpr std::int64_t kKilo = 1'000;
constexpr std::int64_t kMega = 1'000'000;
constexpr std::int64_t kGiga = 1'000'000'000;
constexpr std::int64_t kTera = 1'000'000'000'000;
constexpr std::int64_t kKibi = 1024;
constexpr std::int64_t kMebi = kKibi * 1024;
constexpr std::int64_t kGibi = kMebi * 1024;
constexpr std::int64_t kTebi = kGibi * 1024;

// Within a table, the writers below use the first name of a factor.
constexpr Unit kRateUnits[] = {
    {"Tbps", kTera},      {"Gbps", kGiga},      {"Mbps", kMega},      {"kbps", kKilo},
    {"Kbps", kKilo},      {"bps", 1},           {"Tb/s", kTera},      {"Gb/s", kGiga},
    {"Mb/s", kMega},      {"kb/s", kKilo},      {"Kb/s", kKilo},      {"b/s", 1},
    {"TB/s", 8 * kTera},  {"GB/s", 8 * kGiga},  {"MB/s", 8 * kMega},  {"kB/s", 8 * kKilo},
    {"KB/s", 8 * kKilo},  {"B/s", 8},           {"TBps", 8 * kTera},  {"GBps", 8 * kGiga},
    {"MBps", 8 * kMega},  {"kBps", 8 * kKilo},  {"KBps", 8 * kKilo},  {"Bps", 8},
    {"GiB/s", 8 * kGibi}, {"MiB/s", 8 * kMebi}, {"KiB/s", 8 * kKibi},
};
constexpr Unit kTimeUnits[] = {
    {"s", kSecond}, {"ms", kMillisecond}, {"us", kMicrosecond}, {"ns", kNanosecond}, {"ps", 1},
};
constexpr Unit kByteUnits[] = {
    {"TiB", kTebi}, {"GiB", kGibi}, {"MiB", kMebi}, {"KiB", kKibi}, {"TB", kTera},
    {"GB", kGiga},  {"MB", kMega},  {"KB", kKilo},  {"kB", kKilo},  {"B", 1},
};

/// One kind of quantity: its table, what to list in messages, and its base unit.
struct Kind {
    const Unit* first;
    const Unit* last;
    std::string_view allowed;
    std::string_view base;
    std::int64_t bare_factor;  ///< 0: a bare number is refused
};

/// mantissa x 10^exponent, exactly.
struct Decimal {
    std::uint64_t mantissa = 0;
    int exponent = 0;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Text as it may stand in a message: short, printable.
std::string quoted(std::string_view text) {
    constexpr std::size_t kShown = 40;
    std::string shown = "\"";
    for (char c : text.substr(0, kShown)) {
        shown += (c >= ' ' && c <= '~') ? c : '?';
    }
    return shown + (text.size() > kShown ? "...\"" : "\"");
}

[[noreturn]] void refuse(std::string_view text, const Place& place, const std::string& why) {
    fail_at(place, quoted(text) + ": " + why);
}

/// Reads digits[.digits][e[+-]digits] from the front of `rest` and removes it. At most 18
/// significant digits, so that mantissa x any unit fits 128 bits.
Decimal take_decimal(std::string_view text, std::string_view& rest, const Place& place) {
    Decimal value;
    bool any = false;
    bool fraction = false;
    int pending_zeros = 0;  // trailing zeros so far: significant only if another digit follows
    std::size_t at = 0;
    for (; at < rest.size() && (is_digit(rest[at]) || (rest[at] == '.' && !fraction)); ++at) {
        if (rest[at] == '.') {
            fraction = true;
            continue;
        }
        any = true;
        if (fraction) {
            --value.exponent;
        }
        if (rest[at] == '0') {
            ++pending_zeros;
            continue;
        }
        for (; pending_zeros >= 0; --pending_zeros) {
            const int digit = pending_zeros == 0 ? rest[at] - '0' : 0;
            if (value.mantissa >= 100'000'000'000'000'000U) {
                refuse(text, place, "too many digits (at most 18 significant ones)");
            }
            value.mantissa = value.mantissa * 10 + static_cast<std::uint64_t>(digit);
        }
        pending_zeros = 0;
    }
    if (!any) {
        refuse(text, place, "not a number");
    }
    if (value.mantissa == 0) {
        value.exponent = 0;
    } else {
        value.exponent += pending_zeros;
    }
    const bool has_exponent = at < rest.size() && (rest[at] == 'e' || rest[at] == 'E');
    if (has_exponent) {
        std::size_t digits = at + 1;
        if (digits < rest.size() && rest[digits] == '+') {
            ++digits;
        }
        int exponent = 0;
        const char* end = rest.data() + rest.size();
        const auto [stop, status] = std::from_chars(rest.data() + digits, end, exponent);
        if (status != std::errc() || exponent > 1000 || exponent < -1000) {
            refuse(text, place, "bad exponent");
        }
        at = static_cast<std::size_t>(stop - rest.data());
        if (value.mantissa != 0) {
            value.exponent += exponent;
        }
    }
    rest.remove_prefix(at);
    return value;
}

std::int64_t scale(std::string_view text, const Place& place, const Decimal& value,
                   std::int64_t factor, std::string_view base) {
    Wide product = static_cast<Wide>(value.mantissa) * static_cast<Wide>(factor);
    for (int e = value.exponent; e < 0; ++e) {
        if (product % 10 != 0) {
            refuse(text, place, "not a whole number of " + std::string(base));
        }
        product /= 10;
    }
    constexpr auto kLargest = static_cast<Wide>(std::numeric_limits<std::int64_t>::max());
    for (int e = value.exponent; e > 0 && product != 0 && product <= kLargest; --e) {
        product *= 10;
    }
    if (product > kLargest) {
        refuse(text, place, "too large");
    }
    return static_cast<std::int64_t>(product);
}

std::int64_t parse_quantity(std::string_view text, const Place& place, const Kind& kind) {
    std::string_view rest = text;
    if (!rest.empty() && rest.front() == '-') {
        refuse(text, place, "must not be negative");
    }
    if (!rest.empty() && rest.front() == '+') {
        rest.remove_prefix(1);
    }
    const Decimal value = take_decimal(text, rest, place);
    while (!rest.empty() && is_blank(rest.front())) {
        rest.remove_prefix(1);
    }
    while (!rest.empty() && is_blank(rest.back())) {
        rest.remove_suffix(1);
    }
    if (rest.empty()) {
        if (value.mantissa != 0 && kind.bare_factor == 0) {
            refuse(text, place, "unit missing (allowed: " + std::string(kind.allowed) + ")");
        }
        return scale(text, place, value, kind.bare_factor, kind.base);
    }
    for (const Unit* unit = kind.first; unit != kind.last; ++unit) {
        if (unit->name == rest) {
            return scale(text, place, value, unit->factor, kind.base);
        }
    }
    refuse(text, place,
           "unknown unit " + quoted(rest) + " (allowed: " + std::string(kind.allowed) + ")");
}

/// The largest unit among the first `count` of the table that divides `value`.
std::string format_quantity(std::int64_t value, const Unit* units, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
        if (value != 0 && value % units[i].factor == 0) {
            return std::to_string(value / units[i].factor) + std::string(units[i].name);
        }
    }
    return std::to_string(value) + std::string(units[count - 1].name);
}

}  // namespace

void fail_at(const Place& place, const std::string& message) {
    std::string text(place.what);
    text += (text.empty() ? "" : " ") + message;
    if (place.file.empty()) {
        throw ConfigError(text);
    }
    throw ConfigError(std::string(place.file), place.line, text);
}

Rate parse_rate(std::string_view text, const Place& place, BareNumber bare) {
    const Kind kind{std::begin(kRateUnits), std::end(kRateUnits),
                    "bps, kbps, Mbps, Gbps, Tbps, b/s, kb/s, Mb/s, Gb/s, Tb/s, B/s, kB/s, MB/s, "
                    "GB/s, TB/s, KiB/s, MiB/s, GiB/s",
                    "bits per second", bare == BareNumber::ns3 ? 1 : 0};
    return {parse_quantity(text, place, kind)};
}

Tick parse_time(std::string_view text, const Place& place, BareNumber bare) {
    const Kind kind{std::begin(kTimeUnits), std::end(kTimeUnits), "s, ms, us, ns, ps",
                    "picoseconds", bare == BareNumber::ns3 ? kSecond : 0};
    return parse_quantity(text, place, kind);
}

Tick parse_ns3_time(std::string_view text, const Place& place) {
    const Tick exact = parse_time(text, place, BareNumber::ns3);
    double value = 0;
    const std::size_t sign = text.front() == '+' ? 1 : 0;
    const char* const end = text.data() + text.size();
    const char* const unit = std::from_chars(text.data() + sign, end, value).ptr;
    const char first = unit == end ? 's' : *unit;
    constexpr double kLongest = 9e15;  // ns3_duration(): 104 days
    if (first == 'p' || static_cast<double>(exact) > kLongest * kNanosecond) {
        return exact / kNanosecond * kNanosecond;
    }
    return ns3_duration(value, first == 's'   ? 1'000'000'000U
                               : first == 'm' ? 1'000'000U
                               : first == 'u' ? 1'000U
                                              : 1U);
}

Bytes parse_bytes(std::string_view text, const Place& place) {
    const Kind kind{std::begin(kByteUnits), std::end(kByteUnits),
                    "B, kB, KB, MB, GB, TB, KiB, MiB, GiB, TiB", "bytes", 0};
    return {parse_quantity(text, place, kind)};
}

std::int64_t parse_integer(std::string_view text, const Place& place, std::int64_t lowest,
                           std::int64_t highest) {
    std::string_view digits = text;
    if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') {
        digits.remove_prefix(1);
    }
    std::int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, status] = std::from_chars(digits.data(), end, value);
    const std::string range =
        " (allowed: " + std::to_string(lowest) + " to " + std::to_string(highest) + ")";
    if (stop != end || status == std::errc::invalid_argument) {
        refuse(text, place, "not a whole number" + range);
    }
    if (status != std::errc() || value < lowest || value > highest) {
        refuse(text, place, "out of range" + range);
    }
    return value;
}

double parse_real(std::string_view text, const Place& place, double lowest, double highest) {
    std::string_view digits = text;
    if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') {
        digits.remove_prefix(1);
    }
    double value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stop, status] = std::from_chars(digits.data(), end, value);
    const auto shown = [](double x) {
        char text_of[32];
        return std::string(text_of, std::to_chars(text_of, text_of + sizeof text_of, x).ptr);
    };
    const std::string range = " (allowed: " + shown(lowest) + " to " + shown(highest) + ")";
    if (stop != end || status == std::errc::invalid_argument) {
        refuse(text, place, "not a number" + range);
    }
    if (status != std::errc() || !std::isfinite(value) || value < lowest || value > highest) {
        refuse(text, place, "out of range" + range);
    }
    return value;
}

std::string format_rate(Rate rate) { return format_quantity(rate.bits_per_second, kRateUnits, 6); }

std::string format_time(Tick time) { return format_quantity(time, kTimeUnits, 5); }

std::string format_bytes(Bytes bytes) {
    // Binary and decimal prefixes: whichever leaves the smaller number.
    const std::string binary = format_quantity(bytes.count, kByteUnits, 4);
    const std::string decimal = format_quantity(bytes.count, kByteUnits + 4, 6);
    const bool whole = bytes.count != 0 && bytes.count % kKibi == 0;
    return whole && binary.size() <= decimal.size() ? binary : decimal;
}

}  // namespace sluice
