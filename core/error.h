// SPDX-License-Identifier: Apache-2.0
/// The user's mistake: one line saying where it is, what is wrong and what is allowed. The CLI
/// prints what() and exits with code 2.
#pragma once

#include <stdexcept>
#include <string>

namespace sluice {

class ConfigError : public std::runtime_error {
  public:
    explicit ConfigError(const std::string& message) : std::runtime_error(message) {}
    /// "file:line: message"; line 0 leaves the line out.
    ConfigError(const std::string& file, int line, const std::string& message)
        : std::runtime_error(line > 0 ? file + ":" + std::to_string(line) + ": " + message
                                      : file + ": " + message) {}
};

/// What was asked for is described well, and does not fit the memory of the GPUs that it would run on.
class OutOfMemoryError : public ConfigError {
  public:
    using ConfigError::ConfigError;
};

/// A broken invariant of the program itself, never the user's fault.
class InternalError : public std::logic_error {
  public:
    using std::logic_error::logic_error;
};

}  // namespace sluice
