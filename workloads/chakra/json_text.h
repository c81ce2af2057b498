// SPDX-License-Identifier: Apache-2.0
/// JSON of others' files that is refused.
#pragma once

#include <exception>
#include <string>

namespace sluice::chakra {

/// ConfigError if `text` is nested more than 200 deep: checked before it is parsed.
void check_json_depth(const std::string& text, const std::string& file);

/// What the JSON library said of `text`, as a ConfigError with file and line: it is none, or has a number
/// beyond what a double holds.
[[noreturn]] void refuse_json(const std::string& text, const std::string& file,
                              const std::exception& error);

}  // namespace sluice::chakra
