// SPDX-License-Identifier: Apache-2.0
/// Computing while communication goes on: both want the GPU's processors and its memory.
#pragma once

namespace sluice {

/// By how much longer operators take while their GPU communicates: 1 + this times as long. By kind of operator, as
/// Multiverse has it (NSDI 2025, 4.1).
struct OverlapSlowdown {
    double matrices = 0;   ///< products with weights
    double attention = 0;  ///< scores and what is made of them, without weights
    double memory = 0;     ///< bound by memory's bandwidth: the optimizer
};

}  // namespace sluice
