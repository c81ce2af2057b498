// SPDX-License-Identifier: Apache-2.0
/// Takes devices that are not the network's own through skips (core/hybrid/outside.h).
#include "core/hybrid/outside.h"
#include "core/hybrid/skip_stage.h"
#include "core/hybrid/stages/stage_list.h"

namespace sluice::hybrid {

namespace {

class OutsideStage final : public SkipStage {
  public:
    /// `view` must outlive this.
    explicit OutsideStage(const NetworkView& view) : view_(view) {}

    void fall_asleep(GroupState& state, Tick at) override { move(state, state.until - at); }
    void shorten(GroupState& state, Tick dt) override {
        move(state, state.since + dt - state.until);
    }

  private:
    void move(const GroupState& state, Tick dt) {
        if (view_.outside() != nullptr) {
            view_.outside()->advance(state.group, dt);
        }
    }

    const NetworkView& view_;
};

}  // namespace

std::unique_ptr<SkipStage> make_outside_stage(StageContext& context) {
    return std::make_unique<OutsideStage>(context.view());
}

}  // namespace sluice::hybrid
