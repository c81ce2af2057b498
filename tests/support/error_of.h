// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "core/error.h"

namespace sluice {

/// The message of the ConfigError that `action` throws, or "no error".
inline std::string error_of(const std::function<void()>& action) {
    try {
        action();
    } catch (const ConfigError& error) {
        return error.what();
    }
    return "no error";
}

}  // namespace sluice
