// SPDX-License-Identifier: Apache-2.0
#include "core/text/shell.h"

namespace sluice {

bool is_plain_word(const std::string& text) {
    return text.find_first_not_of(
               "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=,+@%^-") ==
           std::string::npos;
}

std::string shell_word(const std::string& text) {
    if (!text.empty() && is_plain_word(text)) return text;
    std::string word = "'";
    for (const char letter : text) word += letter == '\'' ? "'\\''" : std::string(1, letter);
    return word + "'";
}

}  // namespace sluice
