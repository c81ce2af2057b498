// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/schedule.h"

#include <algorithm>
#include <array>
#include <deque>

#include "core/error.h"

namespace sluice {

namespace {

struct NamedSchedule {
    PipelineSchedule schedule;
    const char* name;
};

constexpr std::array<NamedSchedule, 5> kSchedules = {{
    {PipelineSchedule::gpipe, "gpipe"},
    {PipelineSchedule::one_f_one_b, "1f1b"},
    {PipelineSchedule::interleaved, "interleaved"},
    {PipelineSchedule::zb_h1, "zb-h1"},
    {PipelineSchedule::dualpipe, "dualpipe"},
}};

constexpr std::uint32_t kMostRanks = 1 << 20;
/// Chunks of micro-batches on a rank; their slots take less than a gigabyte.
constexpr std::uint64_t kMostChunkForwards = 20'000'000;

std::string number(std::uint64_t value) { return std::to_string(value); }

std::vector<PipelineSlot> gpipe_slots(const PipelineShape& shape) {
    const std::uint32_t m = shape.micro_batches;
    std::vector<PipelineSlot> slots;
    slots.reserve(std::size_t{2} * m);
    for (std::uint32_t k = 0; k < m; ++k) slots.push_back({SlotKind::forward, false, 0, k});
    for (std::uint32_t k = m; k-- > 0;) slots.push_back({SlotKind::backward, false, 0, k});
    return slots;
}

/// 1F1B over a sequence of chunk-forwards: `forward_at(i)` and `backward_at(i)` are the i-th ones.
template <typename ForwardAt, typename BackwardAt>
std::vector<PipelineSlot> alternate(std::uint32_t count, std::uint32_t warm_up,
                                    ForwardAt forward_at, BackwardAt backward_at) {
    std::vector<PipelineSlot> slots;
    slots.reserve(std::size_t{2} * count);
    for (std::uint32_t i = 0; i < warm_up; ++i) slots.push_back(forward_at(i));
    for (std::uint32_t i = warm_up; i < count; ++i) {
        slots.push_back(forward_at(i));
        slots.push_back(backward_at(i - warm_up));
    }
    for (std::uint32_t i = count - warm_up; i < count; ++i) slots.push_back(backward_at(i));
    return slots;
}

std::vector<PipelineSlot> one_f_one_b_slots(const PipelineShape& shape, std::uint32_t rank) {
    const std::uint32_t warm_up = std::min(shape.ranks - 1 - rank, shape.micro_batches);
    return alternate(
        shape.micro_batches, warm_up,
        [](std::uint32_t i) {
            return PipelineSlot{SlotKind::forward, false, 0, i};
        },
        [](std::uint32_t i) {
            return PipelineSlot{SlotKind::backward, false, 0, i};
        });
}

/// p micro-batches go through chunk 0, then the same ones through chunk 1 and so on, then the next
/// p; backwards the same with the chunks in reverse order.
std::vector<PipelineSlot> interleaved_slots(const PipelineShape& shape, std::uint32_t rank) {
    const std::uint32_t p = shape.ranks;
    const std::uint32_t v = shape.chunks;
    const std::uint32_t count = shape.micro_batches * v;
    const std::uint32_t warm_up = std::min(2 * (p - 1 - rank) + (v - 1) * p, count);
    const auto chunk_of = [p, v](std::uint32_t i) { return i / p % v; };
    const auto micro_batch_of = [p, v](std::uint32_t i) { return i / (p * v) * p + i % p; };
    return alternate(
        count, warm_up,
        [&](std::uint32_t i) {
            return PipelineSlot{SlotKind::forward, false, chunk_of(i), micro_batch_of(i)};
        },
        [&](std::uint32_t i) {
            return PipelineSlot{SlotKind::backward, false, v - 1 - chunk_of(i), micro_batch_of(i)};
        });
}

std::vector<PipelineSlot> zb_h1_slots(const PipelineShape& shape, std::uint32_t rank) {
    const std::uint32_t m = shape.micro_batches;
    const std::uint32_t warm_up = std::min(shape.ranks - 1 - rank, m);
    const std::uint32_t lag = std::min(rank, m);
    std::vector<PipelineSlot> slots;
    slots.reserve(std::size_t{3} * m);
    for (std::uint32_t k = 0; k < warm_up; ++k) slots.push_back({SlotKind::forward, false, 0, k});
    for (std::uint32_t k = 0; k < m; ++k) {
        if (k < m - warm_up) slots.push_back({SlotKind::forward, false, 0, warm_up + k});
        slots.push_back({SlotKind::backward_input, false, 0, k});
        if (k >= lag) slots.push_back({SlotKind::backward_weight, false, 0, k - lag});
    }
    for (std::uint32_t k = m - lag; k < m; ++k) {
        slots.push_back({SlotKind::backward_weight, false, 0, k});
    }
    return slots;
}

/// DualPipe's eight phases. "Near" micro-batches are those that entered at the rank's own end of
/// the pipeline, "far" ones come from the other end. `depth` counts ranks from the nearer end.
class DualPipeOrder {
  public:
    DualPipeOrder(const PipelineShape& shape, std::uint32_t rank)
        : ranks_(shape.ranks),
          per_direction_(shape.micro_batches / 2),
          depth_(std::min(rank, shape.ranks - 1 - rank)),
          near_(rank < shape.ranks / 2 ? 0 : 1) {
        slots_.reserve(std::size_t{6} * per_direction_);
    }

    std::vector<PipelineSlot> build() {
        const std::uint32_t half = ranks_ / 2;
        const std::uint32_t to_middle = half - 1 - depth_;
        const std::uint32_t near = near_;
        const std::uint32_t far = 1 - near_;
        for (std::uint32_t i = 0; i < 2 * to_middle; ++i) forward(near);
        for (std::uint32_t i = 0; i < depth_ + 1; ++i) {
            forward(near);
            forward(far);
        }
        for (std::uint32_t i = 0; i < to_middle; ++i) {
            split_backward(far);
            weights();
            forward(far);
        }
        for (std::uint32_t i = 0; i < per_direction_ - ranks_ + depth_ + 1; ++i) {
            // The first pair of the two ranks in the middle is not one: the forward need not wait
            // for the gradient, so the other half of the pipeline gets it earlier.
            forward(near);
            backward(far, i > 0 || to_middle > 0);
            pair(far, near);
        }
        for (std::uint32_t i = 0; i < to_middle; ++i) {
            backward(far, false);
            pair(far, near);
        }
        drain(near, far);
        for (std::uint32_t i = 0; i < to_middle; ++i) {
            weights();
            split_backward(near);
        }
        while (!waiting_.empty()) weights();
        return std::move(slots_);
    }

  private:
    /// The last depth + 1 backwards of the far direction and as many of the near one; the second
    /// half of them puts its weight gradients off.
    void drain(std::uint32_t near, std::uint32_t far) {
        for (std::uint32_t i = 0; i < 2 * (depth_ + 1); ++i) {
            const std::uint32_t chunk = i % 2 == 0 ? far : near;
            if (i <= depth_) {
                backward(chunk, false);
            } else {
                split_backward(chunk);
            }
        }
    }

    std::uint32_t next(std::array<std::uint32_t, 2>& count, std::uint32_t chunk) const {
        return chunk * per_direction_ + count[chunk]++;
    }

    void forward(std::uint32_t chunk) {
        slots_.push_back({SlotKind::forward, false, chunk, next(forwards_, chunk)});
    }

    void backward(std::uint32_t chunk, bool with_previous) {
        slots_.push_back({SlotKind::backward, with_previous, chunk, next(backwards_, chunk)});
    }

    void pair(std::uint32_t forward_chunk, std::uint32_t backward_chunk) {
        forward(forward_chunk);
        backward(backward_chunk, true);
    }

    void split_backward(std::uint32_t chunk) {
        slots_.push_back({SlotKind::backward_input, false, chunk, next(backwards_, chunk)});
        waiting_.push_back(slots_.back());
    }

    /// Gradients of weights are computed first in, first out.
    void weights() {
        PipelineSlot slot = waiting_.front();
        waiting_.pop_front();
        slot.kind = SlotKind::backward_weight;
        slots_.push_back(slot);
    }

    std::uint32_t ranks_;
    std::uint32_t per_direction_;
    std::uint32_t depth_;
    std::uint32_t near_;
    std::array<std::uint32_t, 2> forwards_{};
    std::array<std::uint32_t, 2> backwards_{};
    std::deque<PipelineSlot> waiting_;
    std::vector<PipelineSlot> slots_;
};

void check_dualpipe(const PipelineShape& shape) {
    const std::uint32_t p = shape.ranks;
    if (p % 2 != 0) {
        throw ConfigError("dualpipe needs an even number of pipeline ranks, not " + number(p));
    }
    if (shape.micro_batches % 2 != 0 || shape.micro_batches < 2 * p) {
        throw ConfigError("dualpipe on " + number(p) + " ranks needs an even number of at least " +
                          number(std::uint64_t{2} * p) + " micro-batches, not " +
                          number(shape.micro_batches));
    }
}

}  // namespace

const char* to_string(PipelineSchedule schedule) {
    for (const NamedSchedule& known : kSchedules) {
        if (known.schedule == schedule) return known.name;
    }
    throw InternalError("unknown pipeline schedule");
}

PipelineSchedule find_schedule(const std::string& name) {
    std::string names;
    for (const NamedSchedule& known : kSchedules) {
        if (name == known.name) return known.schedule;
        names += (names.empty() ? "" : ", ") + std::string(known.name);
    }
    throw ConfigError("unknown pipeline schedule '" + name + "', allowed are " + names);
}

const char* to_string(SlotKind kind) {
    switch (kind) {
        case SlotKind::forward: return "forward";
        case SlotKind::backward: return "backward";
        case SlotKind::backward_input: return "backward-input";
        case SlotKind::backward_weight: return "backward-weight";
    }
    throw InternalError("unknown kind of slot");
}

void check_pipeline(const PipelineShape& shape) {
    if (shape.ranks == 0 || shape.ranks > kMostRanks) {
        throw ConfigError("a pipeline of " + number(shape.ranks) + " ranks, allowed are 1 to " +
                          number(kMostRanks));
    }
    if (shape.micro_batches == 0 || shape.chunks == 0) {
        throw ConfigError("a pipeline needs at least 1 micro-batch and 1 chunk per rank");
    }
    const std::uint64_t forwards = std::uint64_t{shape.micro_batches} * shape.chunks;
    if (forwards > kMostChunkForwards) {
        throw ConfigError(number(shape.micro_batches) + " micro-batches x " + number(shape.chunks) +
                          " chunks per rank, allowed are up to " + number(kMostChunkForwards));
    }
    if (shape.chunks > 1 && shape.schedule != PipelineSchedule::interleaved) {
        throw ConfigError(number(shape.chunks) +
                          " chunks per rank need schedule interleaved, not " +
                          to_string(shape.schedule));
    }
    if (shape.schedule == PipelineSchedule::interleaved && shape.micro_batches % shape.ranks != 0) {
        throw ConfigError("interleaved: " + number(shape.micro_batches) +
                          " micro-batches are not divisible by the pipeline's " +
                          number(shape.ranks) + " ranks");
    }
    if (shape.schedule == PipelineSchedule::dualpipe) check_dualpipe(shape);
}

std::vector<PipelineSlot> pipeline_slots(const PipelineShape& shape, std::uint32_t rank) {
    switch (shape.schedule) {
        case PipelineSchedule::gpipe: return gpipe_slots(shape);
        case PipelineSchedule::one_f_one_b: return one_f_one_b_slots(shape, rank);
        case PipelineSchedule::interleaved: return interleaved_slots(shape, rank);
        case PipelineSchedule::zb_h1: return zb_h1_slots(shape, rank);
        case PipelineSchedule::dualpipe: return DualPipeOrder(shape, rank).build();
    }
    throw InternalError("unknown pipeline schedule");
}

std::uint32_t chunks_per_rank(const PipelineShape& shape) {
    return shape.schedule == PipelineSchedule::dualpipe ? 2 : shape.chunks;
}

std::uint32_t stage_count(const PipelineShape& shape) { return shape.ranks * shape.chunks; }

std::uint32_t stage_of(const PipelineShape& shape, std::uint32_t rank, std::uint32_t chunk) {
    if (shape.schedule == PipelineSchedule::dualpipe) {
        return chunk == 0 ? rank : shape.ranks - 1 - rank;
    }
    return chunk * shape.ranks + rank;
}

PipelinePlace place_of(const PipelineShape& shape, std::uint32_t stage, std::uint32_t micro_batch) {
    if (shape.schedule == PipelineSchedule::dualpipe) {
        if (micro_batch < shape.micro_batches / 2) return {stage, 0};
        return {shape.ranks - 1 - stage, 1};
    }
    return {stage % shape.ranks, stage / shape.ranks};
}

ActivationPeak activation_peak(const PipelineShape& shape, std::uint32_t rank,
                               const std::vector<ChunkLoad>& loads) {
    ActivationPeak now;
    now.whole.assign(loads.size(), 0);
    now.weights_only.assign(loads.size(), 0);
    ActivationPeak peak = now;
    for (const PipelineSlot& slot : pipeline_slots(shape, rank)) {
        std::uint32_t& whole = now.whole[slot.chunk];
        std::uint32_t& weights_only = now.weights_only[slot.chunk];
        switch (slot.kind) {
            case SlotKind::forward: ++whole; break;
            case SlotKind::backward: --whole; break;
            case SlotKind::backward_input:
                --whole;
                ++weights_only;
                break;
            case SlotKind::backward_weight: --weights_only; break;
        }
        now.load = 0;
        for (std::size_t c = 0; c < loads.size(); ++c) {
            now.load += loads[c].whole * now.whole[c] + loads[c].weights_only * now.weights_only[c];
        }
        if (now.load > peak.load) peak = now;
    }
    return peak;
}

}  // namespace sluice
