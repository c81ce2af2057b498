// SPDX-License-Identifier: Apache-2.0
/// An Experiment in mode packet by the device's program, whoever executes that. Results are those of every
/// other engine, byte for byte.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "core/routing/routing.h"
#include "core/world/world_store.h"
#include "experiment/modes/mode_run.h"
#include "gpu/lane/image.h"
#include "gpu/lane/lane_devices.h"

namespace sluice::step {
class HookRunner;
}

namespace sluice::gpu {

class LaneRun : public ModeRun {
  public:
    /// The experiment and the devices must outlive this. ConfigError as of step::WorldStore, or if the experiment has what a
    /// device does not know: ns-3's order of events, an application that is no graph of operations, somebody who
    /// is told of every ACK.
    LaneRun(const Experiment& experiment, LaneDevices& devices, const LaneMemory& memory);
    ~LaneRun() override;

    /// ConfigError if a hook wants to sample queues or to be told of PFC frames; DeviceError.
    void run(const RunHooks& hooks) override;
    bool cut_off() const override { return ending_ == Ending::cut_off; }
    Tick now() const override;
    const std::vector<FlowResult>& results() const override;
    std::vector<FlowSpec> under_way() const override;
    std::int64_t progress() const override;
    std::vector<PortId> paused_cycle() const override;
    RunCounters counters() const override;
    std::vector<PortStatistics> port_statistics() const override;
    double elaboration_seconds() const override { return elaboration_.count(); }
    std::size_t memory_bytes() const override { return bytes_; }

  private:
    enum class Ending : std::uint8_t { none, cut_off, at_rest };
    /// What the store has of the lane.
    struct Saved {
        bool all = true;
        std::uint64_t windows = 0;
    };

    bool execute(Tick until);
    bool advance(Tick until);
    bool needs_tables() const;
    std::unique_ptr<step::WorldStore> new_store() const;
    void keep_opening();
    void load();
    void begin_again(const Arena& full);
    void save() const;
    void leave();
    std::vector<FlowRecord> take_finished();

    const Experiment& experiment_;
    std::vector<const JobApplication*> jobs_;
    LaneDevices& devices_;
    LaneMemory plan_;
    std::chrono::steady_clock::time_point begin_;
    mutable Routing routing_;  ///< what a store may change by link events
    mutable std::unique_ptr<step::WorldStore>
        store_;  ///< as of the last save(); LaneMemory::alone: or none
    std::vector<std::pair<NodeId, step::Timer>>
        opening_;  ///< by host: timers with which all begins
    bool digest_hops_ = false;
    std::function<bool()> go_on_;
    std::chrono::duration<double> elaboration_;
    std::unique_ptr<LaneStay> stay_;
    std::unique_ptr<LaneImage> image_;  ///< in the stay's memory
    bool tables_;                       ///< the device needs next hops, too
    mutable Saved saved_;
    std::vector<bool> told_;  ///< by flow: it is finished
    std::size_t bytes_ = 0;
    std::uint64_t windows_ = 0;  ///< before the lane's
    Tick now_ = 0;
    Ending ending_ = Ending::none;
};

}  // namespace sluice::gpu
