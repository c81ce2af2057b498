// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/iteration_builder.h"

#include <utility>

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
    options.nccl = config.nccl;
    options.channels = config.channels;
    options.ring_order = config.ring_order;
    options.chunk = config.chunk;
    options.plans_chunk = config.chunk == 0;
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
    : plan_(config, places),
      graph_(plan_.groups.ranks()),
      library_(graph_, collective_options(config, places)),
      programs_(plan_),
      streams_(config, graph_),
      boundaries_(plan_, graph_, library_),
      update_(plan_, graph_, library_, streams_),
      steps_(plan_, graph_, library_, streams_, boundaries_, update_),
      previous_(plan_.groups.ranks(), kNone) {}

JobGraph IterationBuilder::build() {
    reserve();
    for (std::uint32_t device = 0; device < plan_.config.pp; ++device) add_device(device);
    boundaries_.add();
    std::vector<OpId> ends = previous_;
    for (RankId at = 0; at < ends.size(); ++at) {
        if (ends[at] == kNone) ends[at] = streams_.last(at);
    }
    update_.add(steps_.scattered(), ends);
    graph_.finish();
    return std::move(graph_);
}

/// An operation per lane and step, one that opens the slot, and four at its boundaries; exchanges
/// take more. An underestimate costs time only.
void IterationBuilder::reserve() {
    std::size_t steps = 0;
    for (std::uint32_t device = 0; device < plan_.config.pp; ++device) {
        for (const PipelineSlot& slot : pipeline_slots(plan_.pipeline, device)) {
            const std::uint32_t stage = stage_of(plan_.pipeline, device, slot.chunk);
            steps += programs_.of(stage, slot.kind).size() + 5;
        }
    }
    graph_.reserve(steps * plan_.lanes, 2 * steps * plan_.lanes);
}

void IterationBuilder::add_device(std::uint32_t device) {
    const std::vector<PipelineSlot> slots = pipeline_slots(plan_.pipeline, device);
    std::vector<std::uint32_t> left(plan_.chunks, 0);
    for (const PipelineSlot& slot : slots) left[slot.chunk] += makes_gradients(slot.kind) ? 1 : 0;
    const auto begin = [&](const PipelineSlot& slot) {
        SlotRun run = begin_slot(device, slot);
        if (makes_gradients(slot.kind) && --left[slot.chunk] == 0) {
            run.last_gradients = true;
            update_.begin_last_gradients(device, run.stage);
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

SlotRun IterationBuilder::begin_slot(std::uint32_t device, const PipelineSlot& slot) {
    SlotRun run;
    run.device = device;
    run.slot = slot;
    run.stage = stage_of(plan_.pipeline, device, slot.chunk);
    run.suffix = (plan_.chunks > 1 ? " chunk" + std::to_string(slot.chunk) : std::string()) +
                 " mb" + std::to_string(slot.micro_batch);
    run.first_forward = slot.kind == SlotKind::forward && update_.begin_forward(device, run.stage);
    run.done.resize(plan_.lanes);
    for (Lane lane = 0; lane < plan_.lanes; ++lane)
        run.done[lane] = previous_[plan_.rank(device, lane)];
    if (plan_.config.zero == 3) {
        run.gathered.assign(plan_.costs.stages[run.stage].layers.size(), {});
    }
    return run;
}

void IterationBuilder::run_alone(SlotRun& run) {
    for (const Step& step : programs_.of(run.stage, run.slot.kind)) steps_.add(run, step);
    end_slot(run, false);
}

/// A pair begins when the messages for both of its slots are there, as the published
/// implementation's does: an operation that takes no time waits for them.
void IterationBuilder::open_pair(SlotRun& first, SlotRun& second) {
    const Label label = {graph_.intern("pair" + first.suffix), OpClass::compute, kNone};
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        const OpId both = steps_.compute(first, lane, 0, label, 0);
        first.done[lane] = both;
        second.done[lane] = both;
        boundaries_.begins(plan_.rank(second.device, lane), second.slot, both);
    }
    first.open = true;
    second.open = true;
}

/// A pair sends what its slots made when both are complete.
void IterationBuilder::end_pair(SlotRun& first, SlotRun& second) {
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        const RankId at = plan_.rank(first.device, lane);
        const bool computed = graph_.kind(first.done[lane]) == OpKind::compute &&
                              graph_.kind(second.done[lane]) == OpKind::compute;
        const OpId both =
            computed ? streams_.last(at) : join(graph_, at, first.done[lane], second.done[lane]);
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
    std::vector<Place> places = {{&first, &programs_.of(first.stage, first.slot.kind)},
                                 {&second, &programs_.of(second.stage, second.slot.kind)}};
    // The second slot's operations follow the first's on the stream wherever both could run.
    while (places[0].next < places[0].program->size() ||
           places[1].next < places[1].program->size()) {
        for (Place& place : places) {
            bool computed = false;
            while (place.next < place.program->size()) {
                const Step& step = (*place.program)[place.next];
                if (computes(step) && computed) break;
                computed = computed || computes(step);
                steps_.add(*place.run, step);
                ++place.next;
            }
        }
    }
    end_pair(first, second);
}

/// Micro-batches do not overlap: the next slot waits for the communication that ends this one,
/// except after a pair, whose slots hide it from each other.
void IterationBuilder::end_slot(const SlotRun& run, bool paired) {
    for (Lane lane = 0; lane < plan_.lanes; ++lane) {
        const RankId at = plan_.rank(run.device, lane);
        const OpId done = run.done[lane];
        boundaries_.ends(at, run.slot, done);
        previous_[at] = paired || done == streams_.last(at) ? kNone : done;
    }
}

}  // namespace sluice
