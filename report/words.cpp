// SPDX-License-Identifier: Apache-2.0
#include "report/words.h"

#include <cmath>

#include <fmt/core.h>

namespace sluice::report {

std::string with_commas(std::size_t number) {
    std::string text = std::to_string(number);
    for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
    return text;
}

std::string shown_share(double share) {
    const double percent = std::abs(share) * 100;
    const char* const sign = share < 0 ? "-" : "";
    // What is nearly all is not all.
    if (percent >= 99.5 && percent < 100) return fmt::format("{}{:.2f}%", sign, percent);
    if (percent >= 9.95) return fmt::format("{}{:.0f}%", sign, percent);
    if (percent >= 0.095) return fmt::format("{}{:.1f}%", sign, percent);
    return fmt::format("{}{:.2g}%", sign, percent);
}

std::string listing(const std::vector<std::string>& texts) {
    std::string all;
    for (std::size_t i = 0; i < texts.size(); ++i) {
        if (i > 0) all += i + 1 == texts.size() ? " and " : ", ";
        all += texts[i];
    }
    return all;
}

}  // namespace sluice::report
