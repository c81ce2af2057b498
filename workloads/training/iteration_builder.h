// SPDX-License-Identifier: Apache-2.0
/// Builds the graph of one iteration, a pipeline rank ("device": all lanes at one pp index) at a
/// time, each in its schedule's order. A slot is run as a program: steps that all lanes of the
/// device take, in this order; each lane's next step starts when its last one is complete.
/// Only computing steps occupy the compute stream, so the steps of DualPipe's pairs alternate.
/// Files: iteration_builder (slots), iteration_programs (what a slot consists of), iteration_steps
/// (computing and collectives), iteration_boundaries (between stages), iteration_gradients (after
/// and during the last backward), iteration_experts (token exchange).
#pragma once

#include <string>
#include <vector>

#include "workloads/collective/collective_library.h"
#include "workloads/training/parallel_groups.h"
#include "workloads/training/rank_places.h"
#include "workloads/training/schedule.h"
#include "workloads/training/training.h"
#include "workloads/training/training_costs.h"

namespace sluice {

enum class StepKind : std::uint8_t {
    compute,
    tensor_time,    ///< analytic tensor parallelism of a whole slot
    tensor_gather,  ///< all-gather of tensor_bytes
    tensor_reduce,  ///< reduce-scatter; all-reduce without sequence parallelism
    cross_entropy,  ///< all-reduce over the tensor-parallel group
    expert_gather,  ///< as tensor_*, inside an expert
    expert_reduce,
    attention_ring,  ///< attention of context parallelism: computing and ring
    expert_counts,   ///< all-gather over the expert group
    to_experts,      ///< all-to-all
    from_experts,
    all_experts,        ///< all-to-all: all of a slot's exchanges together
    gather_parameters,  ///< ZeRO-3
    gradients_ready,
};

struct Step {
    StepKind kind = StepKind::compute;
    std::uint32_t layer = 0;  ///< in its stage
    const char* name = "";
    Tick time = 0;
    Tick scores = 0;         ///< attention_ring: the part that keys and values are needed for
    double attention = 0;    ///< compute: the share of it that is scores, without weights
    std::int64_t bytes = 0;  ///< all_experts: a rank's buffer
    double routed = 0;       ///< compute: the share of it that grows with the experts' load
    bool first = false;  ///< compute: of its layer, needs the parameters; gathering: of its slot
    bool forward = true;
};

using Program = std::vector<Step>;

class IterationBuilder {
  public:
    IterationBuilder(const TrainingConfig& config, const RankPlaces& places);

    JobGraph build();

  private:
    /// By lane.
    using Frontier = std::vector<OpId>;

    /// One slot while its steps are added.
    struct SlotRun {
        std::uint32_t device = 0;
        PipelineSlot slot;
        std::uint32_t stage = 0;
        std::string suffix;  ///< of names: " mb3"
        bool last_gradients = false;
        bool first_forward = false;
        bool open = false;
        Frontier done;
        std::vector<Frontier> gathered;  ///< by layer, ZeRO-3
    };

    // iteration_builder.cpp
    void reserve();
    void add_device(std::uint32_t device);
    SlotRun begin_slot(std::uint32_t device, const PipelineSlot& slot);
    void end_slot(const SlotRun& run, bool paired);
    void run_alone(SlotRun& run);
    void run_pair(SlotRun& first, SlotRun& second);
    void open_pair(SlotRun& first, SlotRun& second);
    void end_pair(SlotRun& first, SlotRun& second);
    void run_step(SlotRun& run, const Step& step);
    std::size_t slot_index(RankId rank, bool forward, std::uint32_t chunk,
                           std::uint32_t micro_batch) const;
    RankId rank(std::uint32_t device, Lane lane) const { return groups_.rank(device, lane); }
    OpId join(RankId rank, OpId a, OpId b);
    std::string layer_name(const SlotRun& run, const Step& step) const;

    // iteration_programs.cpp
    const Program& program(std::uint32_t stage, SlotKind kind);
    Program make_program(const StageCosts& stage, SlotKind kind) const;
    Program stage_program(const StageCosts& stage, SlotKind kind) const;
    Program layer_program(const StageCosts& stage, SlotKind kind) const;
    std::int64_t exchanged_bytes(const StageCosts& stage, SlotKind kind) const;

    // iteration_steps.cpp
    void open_slot(SlotRun& run);
    OpId compute(SlotRun& run, Lane lane, Tick time, Label label, double attention);
    void set_slowdown(OpId op, double slowdown);
    void add_compute(SlotRun& run, const Step& step);
    static std::int64_t millionths(double slowdown);
    static Tick slowed(Tick time, double factor);
    Tick on_rank(RankId at, Tick time);
    void use_parameters(const SlotRun& run, const Step& step);
    void add_tensor_time(SlotRun& run, const Step& step);
    void add_over(SlotRun& run, const LaneGroups& groups, const char* group_name,
                  CollectiveKind kind, const CollectiveSpec& spec);
    void add_tensor(SlotRun& run, const Step& step);
    void add_attention_ring(SlotRun& run, const Step& step);
    void pass_blocks(SlotRun& run, const Step& step, const LaneGroup& group, std::size_t index);
    OpId hand_on(RankId from, RankId to, const CollectiveSpec& spec, OpId after);
    void gather_parameters(SlotRun& run, const Step& step);
    void scatter_gradients(SlotRun& run, const Step& step);
    void over_layer_parameters(SlotRun& run, const Step& step, CollectiveKind kind,
                               std::int64_t value_bytes);
    void gradients_ready(SlotRun& run, const Step& step);

    // iteration_experts.cpp
    void exchange(SlotRun& run, const Step& step);
    void exchange_all(SlotRun& run, const Step& step);
    bool exchange_by_server(SlotRun& run, const Step& step, const LaneGroup& group,
                            const CollectiveSpec& spec);
    const std::vector<double>& shares_of(std::int64_t layer);
    double expert_slowdown(std::uint32_t stage, const Step& step, Lane lane);
    Members members_of(const SlotRun& run, const LaneGroup& group) const;
    void take_over(SlotRun& run, const LaneGroup& group, const std::vector<OpId>& done) const;

    // iteration_boundaries.cpp
    void add_boundaries();
    void turn_around();
    void add_boundary(std::uint32_t stage, std::uint32_t micro_batch);
    void connect(PipelinePlace from, PipelinePlace to, bool forward, std::uint32_t micro_batch,
                 Lane lane, const CollectiveSpec& spec);

    // iteration_gradients.cpp
    struct Bucket {
        std::int64_t dense = 0;   ///< parameters
        std::int64_t expert = 0;  ///< parameters
        std::uint32_t stage = 0;
        std::vector<std::uint32_t> layers;  ///< of the stage, in order of computing
    };
    /// Devices that hold the same stages: one; with DualPipe two.
    using DeviceSet = std::vector<std::uint32_t>;

    void update();
    OpId final_of(RankId at) const;
    std::vector<DeviceSet> device_sets() const;
    std::uint32_t chunk_on(std::uint32_t device, std::uint32_t stage) const;
    std::int64_t layer_share(std::int64_t parameters, std::uint32_t stage,
                             std::uint32_t layer) const;
    std::vector<Bucket> whole_buckets(std::uint32_t device, std::int64_t value_bytes) const;
    std::vector<Bucket> layer_buckets(std::uint32_t stage, bool forward,
                                      std::int64_t value_bytes) const;
    void finish_update(const DeviceSet& devices);
    void reduce_gradients(const DeviceSet& devices);
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

    const TrainingConfig& config_;
    const RankPlaces& places_;
    bool tensor_on_network_;
    TrainingDetail detail_;
    PipelineShape pipeline_;
    ParallelGroups groups_;
    TrainingCosts costs_;
    std::uint32_t lanes_;
    std::uint32_t chunks_;
    JobGraph graph_;
    CollectiveLibrary library_;
    std::vector<double> slowdown_;         ///< by rank
    std::vector<std::uint64_t> drawn_;     ///< the same: computations so far
    std::vector<std::string> lane_names_;  ///< in names of groups: ".dp0.tp1"

    std::vector<std::vector<Program>> programs_;     ///< by stage and SlotKind
    std::vector<std::vector<double>> layer_shares_;  ///< by layer, of an expert group's members
    std::vector<Lane> member_index_;                 ///< by lane: place in its expert group
    std::vector<OpId> first_;     ///< by slot_index: what a boundary message releases
    std::vector<OpId> last_;      ///< by slot_index: what completes the slot
    std::vector<OpId> previous_;  ///< by rank: communication that ended the slot before
    std::vector<OpId> computed_;  ///< by rank: its latest compute operation
    std::vector<OpId>
        prefetch_;  ///< by rank, ZeRO-3: what the latest layer to gather for waited for
    std::vector<OpId> gather_tail_;  ///< by rank: latest gathering of parameters
    std::vector<OpId> reduce_tail_;  ///< by rank: latest reduction of gradients
    /// By device x chunks + chunk, layer, lane: what made the gradients, what uses the parameters.
    std::vector<std::vector<Frontier>> ready_;
    std::vector<std::vector<Frontier>> uses_;
    std::vector<std::vector<std::uint32_t>> forward_order_;   ///< by device: stages as begun
    std::vector<std::vector<std::uint32_t>> gradient_order_;  ///< by device: stages as ended
};

}  // namespace sluice
