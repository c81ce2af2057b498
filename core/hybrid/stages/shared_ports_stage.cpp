// SPDX-License-Identifier: Apache-2.0
/// Ports that a skip's flows share: they have settled on what they have of them, and links can carry it.
#include "core/hybrid/phase_config.h"
#include "core/hybrid/skip_stage.h"
#include "core/hybrid/stages/port_loads.h"
#include "core/hybrid/stages/stage_list.h"

namespace sluice::hybrid {

namespace {

class SharedPortsStage final : public SkipStage {
  public:
    /// Both must outlive this.
    SharedPortsStage(PortLoads& loads, const PhaseConfig& config)
        : loads_(loads), config_(config) {}

    void list(GroupState& state, const steady::GroupFacts& /*facts*/) override {
        state.data_ports = DataPorts{};
    }
    /// Packets would change nothing of the rates that a skip holds. Whoever predicts rates knows better, and who allows
    /// errors of this part does not ask.
    bool accepts(const SkipPlan& plan, Tick /*dt*/) override {
        constexpr double kAnything = 1;
        GroupState& state = plan.state;
        if (plan.rates_are_known || config_.detector.tolerance >= kAnything) {
            return true;
        }
        return state.sharing > 1 ? loads_.are_fair(state.group, state.rate, state.data_ports)
                                 : !loads_.is_above_aim(state.group, state.rate);
    }
    void settle(GroupState& state, Tick /*dt*/) override { loads_.fit(state.group, state.rate); }
    void rename(GroupState& state, const Names& /*flows*/, const Names& /*ports*/) override {
        state.data_ports = DataPorts{};
    }

  private:
    PortLoads& loads_;
    const PhaseConfig& config_;
};

}  // namespace

std::unique_ptr<SkipStage> make_shared_ports_stage(StageContext& context) {
    return std::make_unique<SharedPortsStage>(context.loads, context.parts.config);
}

}  // namespace sluice::hybrid
