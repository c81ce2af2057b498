// SPDX-License-Identifier: Apache-2.0
/// Queues at the end of a skip: looked at while a group is unsteady, and set to what a restorer says when packets go on.
#pragma once

#include <cstdint>
#include <vector>

#include "core/hybrid/phase_engine.h"
#include "core/hybrid/phase_report.h"
#include "core/hybrid/restorer.h"
#include "core/hybrid/skip_stage.h"

namespace sluice::hybrid {

class QueueStage final : public SkipStage {
  public:
    /// All must outlive this. `restorer` null: queues stay as they are, and nothing is looked at.
    QueueStage(PhaseEngine& engine, Restorer* restorer, PhaseReport& report)
        : engine_(engine), view_(engine.view()), restorer_(restorer), report_(report) {}

    void list(GroupState& state, const steady::GroupFacts& facts) override;
    void observe(GroupState& state, Tick at) override;
    /// InternalError if the restorer gives a depth that is none.
    std::int64_t restore(GroupState& state) override;
    void rename(GroupState& state, const Names& flows, const Names& ports) override;

  private:
    std::vector<PortPast> pasts_of(const GroupState& state) const;

    PhaseEngine& engine_;
    const NetworkView& view_;
    Restorer* restorer_;
    PhaseReport& report_;
};

}  // namespace sluice::hybrid
