// SPDX-License-Identifier: Apache-2.0
/// JSON of others' files that cannot be read.
#pragma once

#include <exception>
#include <string>

namespace sluice::chakra {

/// What the JSON library said of `text`, as a ConfigError with file and line: it is none, or has a number
/// beyond what a double holds.
[[noreturn]] void refuse_json(const std::string& text, const std::string& file,
                              const std::exception& error);

}  // namespace sluice::chakra
