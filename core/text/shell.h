// SPDX-License-Identifier: Apache-2.0
/// Words of a shell's command line.
#pragma once

#include <string>

namespace sluice {

/// Nothing in it means something to a shell: letters, digits and _./:=,+@%^-.
bool is_plain_word(const std::string& text);

/// `text` as one word, quoted if it has to be.
std::string shell_word(const std::string& text);

}  // namespace sluice
