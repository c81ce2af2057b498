// SPDX-License-Identifier: Apache-2.0
/// Executes skips: a group's flows are advanced by rate x dt, and its instants are moved by dt. A skip is a plan: it may end
/// earlier (skip-back), recomputed from where it began, for nothing of the group was executed meanwhile.
#pragma once

#include "core/hybrid/group_table.h"
#include "core/hybrid/host_timers.h"
#include "core/hybrid/phase_engine.h"
#include "core/hybrid/phase_report.h"
#include "core/hybrid/skip_stage.h"

namespace sluice::hybrid {

class SkipExecutor {
  public:
    /// All must outlive this.
    SkipExecutor(PhaseEngine& engine, GroupTable& groups, HostTimers& timers, PhaseReport& report,
                 const SkipStages& stages)
        : engine_(engine),
          view_(engine.view()),
          groups_(groups),
          timers_(timers),
          report_(report),
          stages_(stages) {}

    /// Skips `dt` from `at` on, as planned.
    void begin(GroupState& state, Tick dt, Tick at);
    /// The skip ends as planned.
    void commit(GroupState& state) { end(state, state.planned_end); }
    /// The skip ends at `now`, for this reason, and packets go on.
    void skip_back(GroupState& state, Tick now, PhaseEnd why);
    /// The same where a flow comes at `now`. It meets what the group has under way by then: the end is earlier by what stages want
    /// to be executed before (SkipStage::executed_before()).
    void make_way(GroupState& state, Tick now);
    /// From here to the skip's end the group's timers of hosts come up at the controller.
    void pause_hosts(const GroupState& state);

  private:
    void end_early(GroupState& state, Tick until, PhaseEnd why);
    void end(GroupState& state, PhaseEnd why);

    PhaseEngine& engine_;
    NetworkView& view_;
    GroupTable& groups_;
    HostTimers& timers_;
    PhaseReport& report_;
    const SkipStages& stages_;
};

}  // namespace sluice::hybrid
