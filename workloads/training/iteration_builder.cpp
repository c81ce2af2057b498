// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/iteration_builder.h"

#include <algorithm>

#include "core/error.h"

namespace sluice {

namespace {

CollectiveOptions collective_options(const TrainingConfig& config, const RankPlaces& places) {
    CollectiveOptions options;
    options.algorithms = config.algorithms;
    options.server = [&places](RankId rank) { return places.server[rank]; };
    options.rail = [&places](RankId rank) { return places.rail[rank]; };
    options.joined = places.joined;
    options.queue_pairs = places.queue_pairs;
    options.computed_in_server = !config.network_in_server;
    options.intra_node = intra_node_of(config);
    options.nvls = config.nvls;
    options.channels = config.channels;
    options.ring_order = config.ring_order;
    options.chunk = config.chunk;
    options.overhead = config.collective_overhead;
    options.step_overhead = config.step_overhead;
    options.window = config.all_to_all_window;
    return options;
}

bool makes_gradients(SlotKind kind) {
    return kind == SlotKind::backward || kind == SlotKind::backward_weight;
}

}  // namespace

IterationBuilder::IterationBuilder(const TrainingConfig& config, const RankPlaces& places)
    : config_(config),
      places_(places),
      tensor_on_network_(tensor_uses_network(config, places)),
      detail_(training_detail(config, tensor_on_network_)),
      pipeline_(config.pipeline()),
      groups_(config),
      costs_(training_costs(config)),
      lanes_(groups_.lanes()),
      chunks_(chunks_per_rank(pipeline_)),
      graph_(groups_.ranks()),
      library_(graph_, collective_options(config, places)),
      slowdown_(groups_.ranks(), 1.0),
      drawn_(groups_.ranks(), 0),
      programs_(costs_.stages.size(), std::vector<Program>(4)),
      layer_shares_(static_cast<std::size_t>(config.model.layers)),
      member_index_(lanes_) {
    const std::size_t ranks = groups_.ranks();
    const std::size_t slots = ranks * 2 * chunks_ * config.micro_batches;
    first_.assign(slots, kNone);
    last_.assign(slots, kNone);
    for (std::vector<OpId>* by_rank :
         {&previous_, &computed_, &prefetch_, &gather_tail_, &reduce_tail_}) {
        by_rank->assign(ranks, kNone);
    }
    ready_.resize(std::size_t{config.pp} * chunks_);
    uses_.resize(std::size_t{config.pp} * chunks_);
    forward_order_.resize(config.pp);
    gradient_order_.resize(config.pp);
    for (const Straggler& straggler : config.stragglers) {
        slowdown_[straggler.rank] = straggler.factor;
    }
    for (Lane lane = 0; lane < lanes_; ++lane) lane_names_.push_back(groups_.lane_name(lane));
    for (const LaneGroup& group : groups_.experts()) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            member_index_[group[i]] = static_cast<Lane>(i);
        }
    }
}

JobGraph IterationBuilder::build() {
    graph_.set_overlap_slowdown(millionths(config_.overlap_slowdown.matrices));
    reserve();
    for (std::uint32_t device = 0; device < config_.pp; ++device) add_device(device);
    add_boundaries();
    update();
    graph_.finish();
    return std::move(graph_);
}

/// An operation per lane and step, one that opens the slot, and four at its boundaries; exchanges
/// take more. An underestimate costs time only.
void IterationBuilder::reserve() {
    std::size_t steps = 0;
    for (std::uint32_t device = 0; device < config_.pp; ++device) {
        for (const PipelineSlot& slot : pipeline_slots(pipeline_, device)) {
            const std::uint32_t stage = stage_of(pipeline_, device, slot.chunk);
            steps += program(stage, slot.kind).size() + 5;
        }
    }
    graph_.reserve(steps * lanes_, 2 * steps * lanes_);
}

void IterationBuilder::add_device(std::uint32_t device) {
    const std::vector<PipelineSlot> slots = pipeline_slots(pipeline_, device);
    std::vector<std::uint32_t> left(chunks_, 0);
    for (const PipelineSlot& slot : slots) left[slot.chunk] += makes_gradients(slot.kind) ? 1 : 0;
    const auto begin = [&](const PipelineSlot& slot) {
        SlotRun run = begin_slot(device, slot);
        if (makes_gradients(slot.kind) && --left[slot.chunk] == 0) {
            run.last_gradients = true;
            gradient_order_[device].push_back(run.stage);
        }
        return run;
    };
    for (std::size_t i = 0; i < slots.size(); ++i) {
        SlotRun run = begin(slots[i]);
        const bool paired = i + 1 < slots.size() && slots[i + 1].with_previous;
        if (!paired) {
            run_alone(run);
            continue;
        }
        SlotRun second = begin(slots[++i]);
        run_pair(run, second);
    }
}

IterationBuilder::SlotRun IterationBuilder::begin_slot(std::uint32_t device,
                                                       const PipelineSlot& slot) {
    SlotRun run;
    run.device = device;
    run.slot = slot;
    run.stage = stage_of(pipeline_, device, slot.chunk);
    run.suffix = (chunks_ > 1 ? " chunk" + std::to_string(slot.chunk) : std::string()) + " mb" +
                 std::to_string(slot.micro_batch);
    std::vector<std::uint32_t>& begun = forward_order_[device];
    if (slot.kind == SlotKind::forward &&
        std::find(begun.begin(), begun.end(), run.stage) == begun.end()) {
        run.first_forward = true;
        begun.push_back(run.stage);
    }
    run.done.resize(lanes_);
    for (Lane lane = 0; lane < lanes_; ++lane) run.done[lane] = previous_[rank(device, lane)];
    if (config_.zero == 3) {
        run.gathered.assign(costs_.stages[run.stage].layers.size(), {});
    }
    return run;
}

void IterationBuilder::run_alone(SlotRun& run) {
    for (const Step& step : program(run.stage, run.slot.kind)) run_step(run, step);
    end_slot(run, false);
}

/// A pair begins when the messages for both of its slots are there, as the published
/// implementation's does: an operation that takes no time waits for them.
void IterationBuilder::open_pair(SlotRun& first, SlotRun& second) {
    const Label label = {graph_.intern("pair" + first.suffix), OpClass::compute, kNone};
    for (Lane lane = 0; lane < lanes_; ++lane) {
        const OpId both = compute(first, lane, 0, label, 0);
        first.done[lane] = both;
        second.done[lane] = both;
        first_[slot_index(rank(second.device, lane), false, second.slot.chunk,
                          second.slot.micro_batch)] = both;
    }
    first.open = true;
    second.open = true;
}

/// A pair sends what its slots made when both are complete.
void IterationBuilder::end_pair(SlotRun& first, SlotRun& second) {
    for (Lane lane = 0; lane < lanes_; ++lane) {
        const RankId at = rank(first.device, lane);
        const bool computed = graph_.kind(first.done[lane]) == OpKind::compute &&
                              graph_.kind(second.done[lane]) == OpKind::compute;
        const OpId both = computed ? computed_[at] : join(at, first.done[lane], second.done[lane]);
        first.done[lane] = both;
        second.done[lane] = both;
    }
    end_slot(first, true);
    end_slot(second, true);
}

/// A computing step and what follows it up to the next one, of each slot in turn.
void IterationBuilder::run_pair(SlotRun& first, SlotRun& second) {
    open_pair(first, second);
    struct Place {
        SlotRun* run;
        const Program* program;
        std::size_t next = 0;
    };
    const auto computes = [](const Step& step) {
        return step.kind == StepKind::compute || step.kind == StepKind::attention_ring;
    };
    std::vector<Place> places = {{&first, &program(first.stage, first.slot.kind)},
                                 {&second, &program(second.stage, second.slot.kind)}};
    // The second slot's operations follow the first's on the stream wherever both could run.
    while (places[0].next < places[0].program->size() ||
           places[1].next < places[1].program->size()) {
        for (Place& place : places) {
            bool computed = false;
            while (place.next < place.program->size()) {
                const Step& step = (*place.program)[place.next];
                if (computes(step) && computed) break;
                computed = computed || computes(step);
                run_step(*place.run, step);
                ++place.next;
            }
        }
    }
    end_pair(first, second);
}

/// Micro-batches do not overlap: the next slot waits for the communication that ends this one,
/// except after a pair, whose slots hide it from each other.
void IterationBuilder::end_slot(const SlotRun& run, bool paired) {
    const bool forward = run.slot.kind == SlotKind::forward;
    const bool passes_on = run.slot.kind != SlotKind::backward_weight;
    for (Lane lane = 0; lane < lanes_; ++lane) {
        const RankId at = rank(run.device, lane);
        const OpId done = run.done[lane];
        if (passes_on) {
            last_[slot_index(at, forward, run.slot.chunk, run.slot.micro_batch)] = done;
        }
        previous_[at] = paired || done == computed_[at] ? kNone : done;
    }
}

void IterationBuilder::run_step(SlotRun& run, const Step& step) {
    switch (step.kind) {
        case StepKind::compute: add_compute(run, step); break;
        case StepKind::tensor_time: add_tensor_time(run, step); break;
        case StepKind::tensor_gather:
        case StepKind::tensor_reduce:
        case StepKind::expert_gather:
        case StepKind::expert_reduce:
        case StepKind::expert_counts:
        case StepKind::cross_entropy: add_tensor(run, step); break;
        case StepKind::attention_ring: add_attention_ring(run, step); break;
        case StepKind::to_experts:
        case StepKind::from_experts: exchange(run, step); break;
        case StepKind::all_experts: exchange_all(run, step); break;
        case StepKind::gather_parameters: gather_parameters(run, step); break;
        case StepKind::gradients_ready:
            if (config_.zero == 3) scatter_gradients(run, step);
            gradients_ready(run, step);
            break;
    }
}

std::size_t IterationBuilder::slot_index(RankId rank, bool forward, std::uint32_t chunk,
                                         std::uint32_t micro_batch) const {
    return ((std::size_t{rank} * chunks_ + chunk) * 2 + (forward ? 0 : 1)) * config_.micro_batches +
           micro_batch;
}

/// What is complete when both are.
OpId IterationBuilder::join(RankId rank, OpId a, OpId b) {
    if (a == kNone || a == b) return b;
    if (b == kNone) return a;
    const OpId both = graph_.add_delay(rank, 0, {graph_.intern("join"), OpClass::other, kNone});
    graph_.add_dependency(both, a);
    graph_.add_dependency(both, b);
    return both;
}

std::string IterationBuilder::layer_name(const SlotRun& run, const Step& step) const {
    if (detail_ == TrainingDetail::stage) return step.name + run.suffix;
    const std::int64_t layer = costs_.stages[run.stage].range.first + step.layer;
    return std::string(step.name) + " layer" + std::to_string(layer) + run.suffix;
}

}  // namespace sluice
