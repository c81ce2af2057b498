// SPDX-License-Identifier: Apache-2.0
/// Pipeline schedules: their orders, what holds for all of them, and the closed forms of their
/// bubbles, compared with an executor that runs the slots with free communication.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tests/support/error_of.h"
#include "tests/support/schedule_forms.h"
#include "workloads/training/schedule.h"

using namespace sluice;

namespace {

constexpr PipelineSchedule kGpipe = PipelineSchedule::gpipe;
constexpr PipelineSchedule kOneFOneB = PipelineSchedule::one_f_one_b;
constexpr PipelineSchedule kInterleaved = PipelineSchedule::interleaved;
constexpr PipelineSchedule kZbH1 = PipelineSchedule::zb_h1;
constexpr PipelineSchedule kDualPipe = PipelineSchedule::dualpipe;

std::string name_of(const PipelineShape& shape) {
    return std::string(to_string(shape.schedule)) + " p=" + std::to_string(shape.ranks) +
           " m=" + std::to_string(shape.micro_batches) + " v=" + std::to_string(shape.chunks);
}

/// "F0 B0": kind and micro-batch, ".c" after it on chunk c > 0, "&" before a slot of a pair.
std::string written(const PipelineShape& shape, std::uint32_t rank) {
    const std::map<SlotKind, char> letters = {{SlotKind::forward, 'F'},
                                              {SlotKind::backward, 'B'},
                                              {SlotKind::backward_input, 'I'},
                                              {SlotKind::backward_weight, 'W'}};
    std::string text;
    for (const PipelineSlot& slot : pipeline_slots(shape, rank)) {
        if (!text.empty()) text += slot.with_previous ? "&" : " ";
        text += letters.at(slot.kind) + std::to_string(slot.micro_batch);
        if (slot.chunk > 0) text += "." + std::to_string(slot.chunk);
    }
    return text;
}

/// Every shape that exists with few ranks, micro-batches and chunks.
void for_each_shape(const std::function<void(const PipelineShape&)>& visit) {
    for (std::uint32_t p = 1; p <= 8; ++p) {
        for (std::uint32_t m = 1; m <= 18; ++m) {
            visit({kGpipe, p, m, 1});
            visit({kOneFOneB, p, m, 1});
            visit({kZbH1, p, m, 1});
            for (std::uint32_t v = 1; v <= 4 && m % p == 0; ++v) visit({kInterleaved, p, m, v});
            if (p % 2 == 0 && m % 2 == 0 && m >= 2 * p) visit({kDualPipe, p, m, 1});
        }
    }
    visit({kOneFOneB, 16, 64, 1});
    visit({kInterleaved, 16, 64, 3});
    visit({kZbH1, 16, 64, 1});
    visit({kDualPipe, 16, 64, 1});
    visit({kDualPipe, 10, 34, 1});
}

/// Runs the slots of all ranks: each rank computes one slot (or pair) at a time in its order, and a
/// slot waits for what slot_peers names, which arrives at once.
class FreeExecution {
  public:
    FreeExecution(const PipelineShape& shape, const SlotTimes& times)
        : shape_(shape),
          times_(times),
          at_(shape.ranks, 0),
          clock_(shape.ranks, 0),
          busy_(shape.ranks, 0) {
        for (std::uint32_t r = 0; r < shape.ranks; ++r) orders_.push_back(pipeline_slots(shape, r));
        const std::size_t results = std::size_t{stage_count(shape)} * shape.micro_batches;
        activations_.assign(results, -1);
        gradients_.assign(results, -1);
        bool progress = true;
        while (progress) {
            progress = false;
            for (std::uint32_t r = 0; r < shape.ranks; ++r) {
                while (step(r)) progress = true;
            }
        }
    }

    bool complete() const {
        for (std::size_t r = 0; r < orders_.size(); ++r) {
            if (at_[r] != orders_[r].size()) return false;
        }
        return true;
    }
    Tick length() const { return *std::max_element(clock_.begin(), clock_.end()); }
    Tick bubble(std::uint32_t rank) const { return length() - busy_[rank]; }

  private:
    std::size_t result(std::uint32_t stage, std::uint32_t micro_batch) const {
        return std::size_t{stage} * shape_.micro_batches + micro_batch;
    }

    /// When what `slot` needs is there; -1: not yet.
    Tick ready(std::uint32_t rank, const PipelineSlot& slot) const {
        const std::uint32_t own = stage_of(shape_, rank, slot.chunk);
        if (slot.kind == SlotKind::backward_weight)
            return gradients_[result(own, slot.micro_batch)];
        Tick when = 0;
        const SlotPeers peers = slot_peers(shape_, rank, slot);
        const bool forward = slot.kind == SlotKind::forward;
        if (peers.from) {
            const std::uint32_t stage = stage_of(shape_, peers.from->rank, peers.from->chunk);
            when = (forward ? activations_ : gradients_)[result(stage, slot.micro_batch)];
            if (when < 0) return -1;
        }
        if (forward) return when;
        const Tick activation = activations_[result(own, slot.micro_batch)];
        return activation < 0 ? -1 : std::max(when, activation);
    }

    Tick duration(const PipelineSlot& slot) const {
        switch (slot.kind) {
            case SlotKind::forward: return times_.forward;
            case SlotKind::backward: return times_.backward_input + times_.backward_weight;
            case SlotKind::backward_input: return times_.backward_input;
            case SlotKind::backward_weight: return times_.backward_weight;
        }
        return 0;
    }

    bool step(std::uint32_t rank) {
        const std::vector<PipelineSlot>& order = orders_[rank];
        if (at_[rank] == order.size()) return false;
        const bool pair = at_[rank] + 1 < order.size() && order[at_[rank] + 1].with_previous;
        const std::size_t end = at_[rank] + (pair ? 2 : 1);
        Tick start = clock_[rank];
        for (std::size_t i = at_[rank]; i < end; ++i) {
            const Tick when = ready(rank, order[i]);
            if (when < 0) return false;
            start = std::max(start, when);
        }
        const Tick lasts = pair ? times_.pair : duration(order[at_[rank]]);
        clock_[rank] = start + lasts;
        busy_[rank] += lasts;
        for (std::size_t i = at_[rank]; i < end; ++i) {
            const std::uint32_t stage = stage_of(shape_, rank, order[i].chunk);
            std::vector<Tick>& results =
                order[i].kind == SlotKind::forward ? activations_ : gradients_;
            if (order[i].kind != SlotKind::backward_weight) {
                results[result(stage, order[i].micro_batch)] = clock_[rank];
            }
        }
        at_[rank] = end;
        return true;
    }

    PipelineShape shape_;
    SlotTimes times_;
    std::vector<std::vector<PipelineSlot>> orders_;
    std::vector<std::size_t> at_;
    std::vector<Tick> clock_;
    std::vector<Tick> busy_;
    std::vector<Tick> activations_;  ///< by stage and micro-batch, -1: not computed yet
    std::vector<Tick> gradients_;
};

SlotTimes times_of(Tick f, Tick b, Tick w) { return {f, b, w, f + b + w}; }

const std::vector<SlotTimes> kTimes = {times_of(1, 1, 1),   times_of(10, 13, 9),
                                       times_of(3, 2, 1),   times_of(1, 1, 5),
                                       times_of(7, 1, 0),   times_of(123'457, 234'567, 111'111),
                                       times_of(0, 11, 13), times_of(5, 7, 4)};

}  // namespace

TEST_CASE("unit.schedule.order.gpipe_and_1f1b") {
    CHECK(written({kGpipe, 4, 3, 1}, 2) == "F0 F1 F2 B2 B1 B0");
    // Rank 1 of 4 with 3 micro-batches: 2 forwards to warm up, one alternation, 2 to drain.
    CHECK(written({kOneFOneB, 4, 3, 1}, 1) == "F0 F1 F2 B0 B1 B2");
    CHECK(written({kOneFOneB, 4, 3, 1}, 3) == "F0 B0 F1 B1 F2 B2");
    // Fewer micro-batches than warm-up slots.
    CHECK(written({kOneFOneB, 8, 2, 1}, 0) == "F0 F1 B0 B1");
}

TEST_CASE("unit.schedule.order.interleaved") {
    // p = 2, v = 2: groups of two micro-batches go through chunk 0, then chunk 1. Rank 0 warms up
    // with 2 (2 - 0 - 1) + (2 - 1) 2 = 4 chunk-forwards, rank 1 with 2.
    CHECK(written({kInterleaved, 2, 4, 2}, 0) ==
          "F0 F1 F0.1 F1.1 F2 B0.1 F3 B1.1 F2.1 B0 F3.1 B1 B2.1 B3.1 B2 B3");
    CHECK(written({kInterleaved, 2, 4, 2}, 1) ==
          "F0 F1 F0.1 B0.1 F1.1 B1.1 F2 B0 F3 B1 F2.1 B2.1 F3.1 B3.1 B2 B3");
    // With one chunk the groups are no groups, but the warm-up is still twice that of 1F1B.
    CHECK(written({kInterleaved, 4, 4, 1}, 2) == "F0 F1 F2 B0 F3 B1 B2 B3");
}

TEST_CASE("unit.schedule.order.zb_h1") {
    // Rank 0 puts no weights off, rank r by r micro-batches.
    CHECK(written({kZbH1, 3, 4, 1}, 0) == "F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3");
    CHECK(written({kZbH1, 3, 4, 1}, 2) == "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3");
    CHECK(written({kZbH1, 4, 2, 1}, 3) == "F0 I0 F1 I1 W0 W1");
}

TEST_CASE("unit.schedule.order.dualpipe") {
    // 4 ranks, 4 micro-batches in each direction (0 to 3 and 4 to 7). The outer rank, one away from
    // the middle, by phases: 2 near forwards; near and far; far split backward, its weights, far
    // forward; 4 - 4 + 0 + 1 double pairs; a far backward and a pair; 2 of the drain, of which the
    // second is split; weights and a split backward; the last weights.
    CHECK(written({kDualPipe, 4, 8, 1}, 0) ==
          "F0 F1 F2 F4.1 I4.1 W4.1 F5.1 F3&B5.1 F6.1&B0 B6.1 F7.1&B1 B7.1 I2 W2 I3 W3");
    // In the middle: twice near and far; 2 double pairs, the very first of which is not one; 4 of
    // the drain, of which the last two are split; their weights.
    CHECK(written({kDualPipe, 4, 8, 1}, 1) ==
          "F0 F4.1 F1 F5.1 F2 B4.1 F6.1&B0 F3&B5.1 F7.1&B1 B6.1 B2 I7.1 I3 W7.1 W3");
    // The other half mirrors it: its own end is the last stage's chunk.
    CHECK(written({kDualPipe, 4, 8, 1}, 2) ==
          "F4.1 F0 F5.1 F1 F6.1 B0 F2&B4.1 F7.1&B1 F3&B5.1 B2 B6.1 I3 I7.1 W3 W7.1");
}

TEST_CASE("unit.schedule.every_stage_computes_every_micro_batch_once") {
    for_each_shape([](const PipelineShape& shape) {
        CAPTURE(name_of(shape));
        REQUIRE_NOTHROW(check_pipeline(shape));
        // (kind of work, stage, micro-batch); a whole backward does both halves.
        std::map<std::tuple<char, std::uint32_t, std::uint32_t>, int> done;
        bool ordered = true;
        bool placed = true;
        bool pairs = true;
        for (std::uint32_t r = 0; r < shape.ranks; ++r) {
            const PipelineSlot* previous = nullptr;
            const std::vector<PipelineSlot> slots = pipeline_slots(shape, r);
            for (const PipelineSlot& slot : slots) {
                const std::uint32_t stage = stage_of(shape, r, slot.chunk);
                const auto seen = [&](char kind) -> int& {
                    return done[{kind, stage, slot.micro_batch}];
                };
                if (slot.kind == SlotKind::forward) ++seen('F');
                if (slot.kind == SlotKind::backward || slot.kind == SlotKind::backward_input) {
                    ordered = ordered && seen('F') == 1 && seen('W') == 0;
                    ++seen('I');
                }
                if (slot.kind == SlotKind::backward || slot.kind == SlotKind::backward_weight) {
                    ordered = ordered && seen('I') == 1;
                    ++seen('W');
                }
                placed = placed && slot.chunk < chunks_per_rank(shape) &&
                         place_of(shape, stage, slot.micro_batch) == PipelinePlace{r, slot.chunk};
                if (slot.with_previous) {
                    pairs = pairs && previous != nullptr && !previous->with_previous &&
                            previous->kind == SlotKind::forward &&
                            slot.kind == SlotKind::backward && previous->chunk != slot.chunk;
                }
                previous = &slot;
            }
        }
        CHECK(ordered);
        CHECK(placed);
        CHECK(pairs);
        CHECK(done.size() == std::size_t{3} * stage_count(shape) * shape.micro_batches);
        CHECK(std::all_of(done.begin(), done.end(), [](auto& entry) { return entry.second == 1; }));
    });
}

TEST_CASE("unit.schedule.what_a_slot_sends_the_other_end_receives") {
    for_each_shape([](const PipelineShape& shape) {
        CAPTURE(name_of(shape));
        std::size_t sent = 0;
        bool agreed = true;
        for (std::uint32_t r = 0; r < shape.ranks; ++r) {
            for (const PipelineSlot& slot : pipeline_slots(shape, r)) {
                const SlotPeers peers = slot_peers(shape, r, slot);
                if (!peers.to) continue;
                ++sent;
                PipelineSlot other = slot;
                other.chunk = peers.to->chunk;
                const SlotPeers back = slot_peers(shape, peers.to->rank, other);
                agreed = agreed && back.from && *back.from == PipelinePlace{r, slot.chunk};
                const std::uint32_t here = stage_of(shape, r, slot.chunk);
                const std::uint32_t there = stage_of(shape, peers.to->rank, peers.to->chunk);
                agreed = agreed &&
                         (slot.kind == SlotKind::forward ? there == here + 1 : there + 1 == here);
            }
        }
        CHECK(agreed);
        // Every boundary is crossed by every micro-batch's activation and gradient.
        CHECK(sent == std::size_t{2} * (stage_count(shape) - 1) * shape.micro_batches);
    });
}

TEST_CASE("unit.schedule.peers_wrap_around_when_interleaved_and_mirror_in_dualpipe") {
    // Stage 3 (rank 3, chunk 0) hands over to stage 4, which is rank 0's chunk 1.
    const PipelineShape interleaved = {kInterleaved, 4, 8, 2};
    const SlotPeers wrap = slot_peers(interleaved, 3, {SlotKind::forward, false, 0, 5});
    CHECK(*wrap.from == PipelinePlace{2, 0});
    CHECK(*wrap.to == PipelinePlace{0, 1});
    const SlotPeers back = slot_peers(interleaved, 0, {SlotKind::backward, false, 1, 5});
    CHECK(*back.from == PipelinePlace{1, 1});
    CHECK(*back.to == PipelinePlace{3, 0});
    CHECK(!slot_peers(interleaved, 3, {SlotKind::forward, false, 1, 5}).to);

    // Chunk 1 of rank 0 is the last stage of the other direction.
    const PipelineShape dual = {kDualPipe, 4, 8, 1};
    CHECK(stage_of(dual, 0, 1) == 3);
    const SlotPeers last = slot_peers(dual, 0, {SlotKind::forward, false, 1, 4});
    CHECK(*last.from == PipelinePlace{1, 1});
    CHECK(!last.to);
    const SlotPeers first = slot_peers(dual, 3, {SlotKind::backward_input, false, 1, 4});
    CHECK(*first.from == PipelinePlace{2, 1});
    CHECK(!first.to);
    const SlotPeers weights = slot_peers(dual, 3, {SlotKind::backward_weight, false, 1, 4});
    CHECK(!weights.from);
    CHECK(!weights.to);
}

TEST_CASE("unit.schedule.bubble.equals_its_closed_form_when_communication_is_free") {
    for_each_shape([](const PipelineShape& shape) {
        for (const SlotTimes& times : kTimes) {
            CAPTURE(name_of(shape));
            CAPTURE(times.forward);
            CAPTURE(times.backward_input);
            CAPTURE(times.backward_weight);
            const FreeExecution run(shape, times);
            REQUIRE(run.complete());
            if (shape.schedule == kDualPipe) continue;
            const Tick work = Tick{shape.micro_batches} * shape.chunks * times.pair;
            CHECK(run.length() == work + bubble_time(shape, times));
            CHECK(run.bubble(0) == bubble_time(shape, times));
        }
    });
}

TEST_CASE("unit.schedule.bubble.published_figures") {
    const SlotTimes times = times_of(10, 13, 9);
    // p = 8, m = 32: 1F1B and GPipe 7 (10 + 22) = 224; share of the time 7 / 39.
    CHECK(bubble_time({kOneFOneB, 8, 32, 1}, times) == 224);
    CHECK(bubble_time({kGpipe, 8, 32, 1}, times) == 224);
    CHECK(FreeExecution({kGpipe, 8, 32, 1}, times).length() == 39 * 32);
    // Four chunks, each a quarter of the stage: a quarter of the bubble.
    CHECK(bubble_time({kInterleaved, 8, 32, 4}, times_of(40, 52, 36)) == 7 * (40 + 88));
    CHECK(4 * bubble_time({kInterleaved, 8, 32, 4}, times) ==
          bubble_time({kOneFOneB, 8, 32, 1}, times_of(40, 52, 36)));
    // ZB-H1: 7 (10 + 13 - 9); equal times: a third of 1F1B's.
    CHECK(bubble_time({kZbH1, 8, 32, 1}, times) == 98);
    CHECK(3 * bubble_time({kZbH1, 8, 32, 1}, times_of(1, 1, 1)) ==
          bubble_time({kOneFOneB, 8, 32, 1}, times_of(1, 1, 1)));
    // DualPipe: (8 / 2 - 1) (c + (13 + 9) - 27), c = 32 without any overlap.
    CHECK(bubble_time({kDualPipe, 8, 32, 1}, times) == 81);
}

TEST_CASE("unit.schedule.bubble.dualpipe_keeps_its_formula_where_forward_equals_input_gradients") {
    for (std::uint32_t p = 2; p <= 16; p += 2) {
        for (std::uint32_t m = 2 * p; m <= 4 * p; m += 6) {
            const PipelineShape shape = {kDualPipe, p, m, 1};
            for (const Tick w : {1, 6, 10}) {
                // c from the longer of the two slots to their sum.
                for (const Tick c : {10 + w, 13 + w, 20 + w}) {
                    CAPTURE(p);
                    CAPTURE(m);
                    CAPTURE(w);
                    CAPTURE(c);
                    const SlotTimes times = {10, 10, w, c};
                    const FreeExecution run(shape, times);
                    REQUIRE(run.complete());
                    CHECK(run.bubble(p / 2 - 1) == bubble_time(shape, times));
                    CHECK(run.bubble(p / 2) == bubble_time(shape, times));
                    // A pair that hides nothing: then every rank has the same work.
                    if (c == 20 + w) CHECK(run.bubble(0) == bubble_time(shape, times));
                }
            }
        }
    }
}

TEST_CASE("unit.schedule.bubble.dualpipe_differs_from_its_formula_elsewhere") {
    // 16 ranks, 32 micro-batches, f = 3, b = 4, w = 2, pairs of 9: the formula says 63, the order
    // needs 60. With f = 4, b = 3 it says 56 and the order needs 63.
    const PipelineShape shape = {kDualPipe, 16, 32, 1};
    CHECK(bubble_time(shape, times_of(3, 4, 2)) == 63);
    CHECK(FreeExecution(shape, times_of(3, 4, 2)).bubble(7) == 60);
    CHECK(bubble_time(shape, times_of(4, 3, 2)) == 56);
    CHECK(FreeExecution(shape, times_of(4, 3, 2)).bubble(7) == 63);
}

TEST_CASE("unit.schedule.peak.activations") {
    for_each_shape([](const PipelineShape& shape) {
        CAPTURE(name_of(shape));
        const std::uint32_t p = shape.ranks;
        const std::uint32_t m = shape.micro_batches;
        const std::uint32_t v = shape.chunks;
        for (std::uint32_t r = 0; r < p; ++r) {
            CAPTURE(r);
            const double awaiting = peak_activations(shape, r, 0);
            const double held = peak_activations(shape, r, 1);
            const double half = peak_activations(shape, r, 0.5);
            CHECK(half >= awaiting);
            CHECK(half <= held);
            switch (shape.schedule) {
                case kGpipe:
                    CHECK(awaiting == m);
                    CHECK(held == m);
                    break;
                case kOneFOneB:
                    CHECK(awaiting == std::min(p - r, m));
                    CHECK(held == awaiting);
                    break;
                case kInterleaved:
                    CHECK(held == std::min(2 * (p - r - 1) + (v - 1) * p + 1, m * v));
                    break;
                case kZbH1:
                    // What ranks put off fills up to what rank 0 holds: as 1F1B's worst rank.
                    CHECK(awaiting == std::min(p - r, m));
                    CHECK(held == std::min(p, m));
                    break;
                case kDualPipe:
                    // The published p + 1.
                    CHECK(awaiting == p + 1);
                    CHECK(held == p + 1);
                    break;
            }
        }
    });
}

TEST_CASE("unit.schedule.peak.interleaving_costs_rank_0_the_published_factor") {
    // In units of a whole rank's layers 1F1B keeps p, interleaved (p v + p - 1) / v of them:
    // 1 + (p - 1) / (p v) times as much.
    for (const std::uint32_t p : {2U, 4U, 8U}) {
        for (const std::uint32_t v : {2U, 3U, 4U}) {
            const double chunks = peak_activations({kInterleaved, p, 4 * p, v}, 0);
            const double plain = peak_activations({kOneFOneB, p, 4 * p, 1}, 0);
            CHECK(chunks / v == doctest::Approx(plain * (1 + (p - 1.0) / (p * v))));
        }
    }
}

TEST_CASE("unit.schedule.names") {
    for (const char* name : {"gpipe", "1f1b", "interleaved", "zb-h1", "dualpipe"}) {
        CHECK(std::string(to_string(find_schedule(name))) == name);
    }
    CHECK(error_of([] { find_schedule("zb-h2"); }) ==
          "unknown pipeline schedule 'zb-h2', allowed are gpipe, 1f1b, interleaved, zb-h1, "
          "dualpipe");
}

TEST_CASE("unit.schedule.shapes_that_do_not_exist_are_refused") {
    const auto error = [](const PipelineShape& shape) {
        return error_of([&] { check_pipeline(shape); });
    };
    CHECK(error({kOneFOneB, 0, 4, 1}) == "a pipeline of 0 ranks, allowed are 1 to 1048576");
    CHECK(error({kOneFOneB, 4, 0, 1}) ==
          "a pipeline needs at least 1 micro-batch and 1 chunk per rank");
    CHECK(error({kInterleaved, 4, 4, 0}) ==
          "a pipeline needs at least 1 micro-batch and 1 chunk per rank");
    CHECK(error({kInterleaved, 4, 6, 2}) ==
          "interleaved: 6 micro-batches are not divisible by the pipeline's 4 ranks");
    CHECK(error({kOneFOneB, 4, 8, 2}) == "2 chunks per rank need schedule interleaved, not 1f1b");
    CHECK(error({kDualPipe, 3, 8, 1}) == "dualpipe needs an even number of pipeline ranks, not 3");
    CHECK(error({kDualPipe, 4, 9, 1}) ==
          "dualpipe on 4 ranks needs an even number of at least 8 micro-batches, not 9");
    CHECK(error({kDualPipe, 4, 6, 1}) ==
          "dualpipe on 4 ranks needs an even number of at least 8 micro-batches, not 6");
    CHECK(error({kInterleaved, 1, 4'000'000'000, 4'000'000'000}) ==
          "4000000000 micro-batches x 4000000000 chunks per rank, allowed are up to 20000000");
}
