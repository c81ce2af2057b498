// SPDX-License-Identifier: Apache-2.0
#include "core/results/csv.h"

#include <cstdint>

namespace sluice {

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == text.npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted += c;
        if (c == '"') {
            quoted += c;
        }
    }
    return quoted + '"';
}

std::string csv_ratio(WideCount part, WideCount whole) {
    if (whole <= 0) {
        return "";
    }
    std::string decimals = std::to_string(static_cast<int>(part % whole * 1'000'000 / whole));
    decimals.insert(0, 6 - decimals.size(), '0');
    return std::to_string(static_cast<std::int64_t>(part / whole)) + "." + decimals;
}

}  // namespace sluice
