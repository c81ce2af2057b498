// SPDX-License-Identifier: Apache-2.0
/// Figures for people.
#pragma once

#include <cstddef>
#include <string>

#include "core/units.h"

namespace sluice {

/// A duration: "742 ns", "1.24 ms", "3.5 s", "12 min 5 s".
std::string human_time(Tick time);
std::string human_seconds(double seconds);
/// "1 switch", "2 switches".
std::string counted(std::size_t number, const char* one, const char* many);
/// "12.3 M", "1.08 G": three digits and a decimal prefix.
std::string human_count(double number);

}  // namespace sluice
