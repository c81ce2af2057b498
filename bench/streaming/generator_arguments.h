// SPDX-License-Identifier: Apache-2.0
/// The arguments that both writers of generated streams take.
#pragma once

#include <string>

#include "workloads/generated/operation_generator.h"

namespace sluice {

/// argv[i], or `fallback` where there are fewer.
inline std::string argument_or(int argc, char** argv, int i, const char* fallback) {
    return i < argc ? argv[i] : fallback;
}

/// From "... RANKS OPERATIONS [ring|pairs|shift] [BYTES] [COMPUTE]", RANKS being argv[2]; `compute` is
/// COMPUTE where it is not given, in `unit`s.
inline GeneratorOptions generator_options(int argc, char** argv, const char* compute, Tick unit) {
    const std::string pattern = argument_or(argc, argv, 4, "ring");
    GeneratorOptions options;
    options.ranks = static_cast<RankId>(std::stoul(argv[2]));
    options.operations = std::stoull(argv[3]);
    options.pattern = pattern == "shift"   ? StreamPattern::shift
                      : pattern == "pairs" ? StreamPattern::pairs
                                           : StreamPattern::ring;
    options.bytes = std::stoll(argument_or(argc, argv, 5, "16000"));
    options.compute = std::stoll(argument_or(argc, argv, 6, compute)) * unit;
    options.jitter = 0.5;
    return options;
}

}  // namespace sluice
