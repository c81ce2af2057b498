// SPDX-License-Identifier: Apache-2.0
/// Reduction of gradients, update, gathering of parameters. A rank's reductions follow one another
/// in one order, as on one communication stream; so do its gatherings.
#pragma once

#include <string>
#include <vector>

#include "workloads/collective/collective_library.h"
#include "workloads/training/compute_streams.h"
#include "workloads/training/slot_run.h"

namespace sluice {

class GradientUpdate {
  public:
    GradientUpdate(const IterationPlan& plan, JobGraph& graph, CollectiveLibrary& library,
                   ComputeStreams& streams);

    /// A forward pass of a stage begins on a device; whether it is the first one.
    bool begin_forward(std::uint32_t device, std::uint32_t stage);
    /// The pass begins that makes a stage's last gradients on a device.
    void begin_last_gradients(std::uint32_t device, std::uint32_t stage);
    /// What the lanes have just added is the first to use a layer's parameters.
    void use_parameters(const SlotRun& run, std::uint32_t layer);
    /// What the lanes have just added made a layer's gradients.
    void gradients_ready(const SlotRun& run, std::uint32_t layer);

    /// Adds it all, when all slots are there. By rank: the latest reduction so far, and what completes the last slot.
    void add(std::vector<OpId> reduced, const std::vector<OpId>& ends);

  private:
    struct Bucket {
        std::int64_t dense = 0;   ///< parameters
        std::int64_t expert = 0;  ///< parameters
        std::uint32_t stage = 0;
        std::vector<std::uint32_t> layers;  ///< of the stage, in order of computing
    };
    /// Devices that hold the same stages: one; with DualPipe two.
    using DeviceSet = std::vector<std::uint32_t>;
    /// By device x chunks + chunk, layer, lane.
    using LayerFrontiers = std::vector<std::vector<Frontier>>;

    void keep(LayerFrontiers& frontiers, const SlotRun& run, std::uint32_t layer) const;
    std::vector<DeviceSet> device_sets() const;
    std::uint32_t chunk_on(std::uint32_t device, std::uint32_t stage) const;
    std::vector<Bucket> whole_buckets(std::uint32_t device, std::int64_t value_bytes) const;
    std::vector<Bucket> layer_buckets(std::uint32_t stage, bool forward,
                                      std::int64_t value_bytes) const;
    void finish_update(const DeviceSet& devices);
    void reduce_gradients(const DeviceSet& devices, const std::vector<OpId>& ends);
    void reduce_as_made(const DeviceSet& devices, CollectiveKind kind);
    void gather_after_update(const DeviceSet& devices);
    void gather_before_forward(const DeviceSet& devices);
    void over_copies(const DeviceSet& devices, const std::vector<Bucket>& buckets,
                     CollectiveKind kind);
    void over_groups(const DeviceSet& devices, const LaneGroups& groups, const char* prefix,
                     CollectiveKind kind, std::int64_t bytes);
    std::string group_name(const DeviceSet& devices, const LaneGroup& group) const;
    void sum_tied_embeddings();
    void sum_small();
    void reduce_over(const std::vector<RankId>& ranks, const CollectiveSpec& spec,
                     CollectiveAlgorithm algorithm);

    const IterationPlan& plan_;
    JobGraph& graph_;
    CollectiveLibrary& library_;
    ComputeStreams& streams_;
    std::vector<OpId> reduce_tail_;  ///< by rank: latest reduction of gradients
    LayerFrontiers ready_;           ///< what made the gradients
    LayerFrontiers uses_;            ///< what uses the parameters
    std::vector<std::vector<std::uint32_t>> forward_order_;   ///< by device: stages as begun
    std::vector<std::vector<std::uint32_t>> gradient_order_;  ///< by device: stages as ended
};

}  // namespace sluice
