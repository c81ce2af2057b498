// SPDX-License-Identifier: Apache-2.0
/// How the copies of tokens that a mixture's router makes spread over its experts.
/// Popularity. Expert of place r = 1, 2, ... in a layer's order of popularity is chosen in proportion
/// to r^-exponent (Zipf); the order is a permutation drawn by (seed, layer), the same for all
/// micro-batches. A token chooses k different experts, so none gets more than 1 / k of all copies:
/// what is above goes to the others in proportion. With a capacity no expert takes more than
/// capacity / E of all copies; the rest is dropped.
/// Expected numbers, not draws: all ranks send by the same shares, rounded so that what a rank sends
/// in total is exact.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/training/training.h"

namespace sluice {

/// The share of all copies that each expert of `layer` takes. Without capacity they sum to 1.
std::vector<double> expert_shares(const ExpertLoad& load, std::int64_t experts, std::int64_t top_k,
                                  std::int64_t layer);

/// The shares of the members of an expert group, each of which holds as many consecutive experts.
std::vector<double> member_shares(const std::vector<double>& expert_shares, std::uint32_t members);

/// The part of all tokens that visits each server, by the servers' shares of copies: at most
/// `limit` servers per token, none twice, and no more visits than copies.
std::vector<double> server_visits(const std::vector<double>& shares, std::uint32_t limit,
                                  std::int64_t top_k);

/// `total` in parts of these proportions, rounded so that the parts add up to total x sum of shares.
std::vector<std::int64_t> deal_bytes(std::int64_t total, const std::vector<double>& shares);

}  // namespace sluice
