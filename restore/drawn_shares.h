// SPDX-License-Identifier: Apache-2.0
/// Shares at the end of a skip, drawn from the learned process (share_process.h) by counter-based random
/// numbers: by the seed, the skip's occasion and the flow's place among those that share full ports.
#pragma once

#include <cstdint>
#include <memory>

#include "core/hybrid/phase_config.h"
#include "core/hybrid/share_restorer.h"
#include "restore/share_process.h"

namespace sluice::restore {

class DrawnShares final : public hybrid::ShareRestorer {
  public:
    /// `least_packets`: of what a flow has in flight at its fair share, for this to know its port.
    DrawnShares(const congestion::Parameters& law, const ShareCoefficients& learned,
                std::uint64_t seed, double least_packets = 0)
        : law_(law), learned_(learned), seed_(seed), least_packets_(least_packets) {}

    bool knows(const hybrid::SharePast& flow) const override;
    Tick longest(Tick base_rtt) const override;
    double most(const hybrid::SharePast& flow, Tick length) const override;
    std::vector<hybrid::ShareDrawn> draw(const std::vector<hybrid::SharePast>& flows, Tick length,
                                         std::uint64_t occasion) override;

  private:
    ShareForecast forecast_of(const hybrid::SharePast& flow, Tick length) const;

    congestion::Parameters law_;
    ShareCoefficients learned_;
    std::uint64_t seed_;
    double least_packets_;
};

/// That of config.shares; null if shares are held, or nothing is known of the law's.
std::unique_ptr<hybrid::ShareRestorer> make_share_restorer(const PhaseConfig& config,
                                                           const congestion::Parameters& law,
                                                           std::uint64_t seed);

}  // namespace sluice::restore
