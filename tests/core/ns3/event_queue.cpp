// SPDX-License-Identifier: Apache-2.0
/// The event queue of Arithmetic::ns3 executes in the order (time, order of scheduling), whatever
/// lies in its ring of nanoseconds, in its heap, or is scheduled at a place taken long before.
#include <doctest/doctest.h>

#include <set>
#include <tuple>
#include <vector>

#include "core/ns3/event_queue.h"
#include "core/random.h"

using namespace sluice;
using namespace sluice::ns3;

namespace {

struct Model {
    std::set<std::tuple<Tick, std::uint64_t, EventCode>> events;

    Tick next() const { return events.empty() ? kNever : std::get<0>(*events.begin()); }
};

/// Ahead by nothing, by a frame, by a cable, by more than the ring holds.
Tick ahead(std::uint64_t seed, std::uint64_t draw) {
    const std::uint32_t kind = uniform_below(seed, 2, draw, 20);
    const std::uint32_t bound = kind == 0 ? 1 : kind < 8 ? 90 : kind < 18 ? 1'200 : 2'000'000;
    return Tick{uniform_below(seed, 3, draw, bound)} * kNanosecond;
}

void compare(std::uint64_t seed, Tick reach) {
    EventQueue queue(reach);
    Model model;
    std::uint64_t draw = 0;
    EventCode code = 0;
    std::vector<std::pair<Tick, std::uint64_t>> places;  // taken, not used yet
    const auto schedule = [&](Tick now) {
        const Tick at = now + ahead(seed, ++draw);
        const std::uint64_t order = queue.take_order();
        if (uniform_below(seed, 4, draw, 4) == 0) {
            places.emplace_back(at, order);
            return;
        }
        ++code;
        queue.insert(at, order, code);
        model.events.emplace(at, order, code);
    };
    for (int i = 0; i < 50; ++i) {
        schedule(0);
    }
    std::size_t executed = 0;
    while (model.next() != kNever && executed < 20'000) {
        REQUIRE(queue.next() == model.next());
        const Tick now = model.next();
        queue.run(now, [&](EventCode found) {
            const auto [at, order, expected] = *model.events.begin();
            model.events.erase(model.events.begin());
            REQUIRE(at == now);
            REQUIRE(found == expected);
            REQUIRE(queue.current() == order);
            ++executed;
            const std::uint32_t more = uniform_below(seed, 5, ++draw, 5);
            for (std::uint32_t k = 0; k < (model.events.size() < 400 ? more : more % 2); ++k) {
                schedule(now);
            }
            // A place taken before may be used while it lies ahead.
            if (!places.empty() && uniform_below(seed, 6, ++draw, 2) == 0) {
                const auto [place_at, place_order] = places.back();
                places.pop_back();
                if (place_at > now || (place_at == now && place_order > order)) {
                    ++code;
                    queue.insert(place_at, place_order, code);
                    model.events.emplace(place_at, place_order, code);
                }
            }
        });
    }
    CHECK(executed >= 10'000);
}

}  // namespace

TEST_CASE("unit.ns3.event_queue.keeps_the_order_of_scheduling") {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
        compare(seed, seed % 2 == 0 ? 1'100 * kNanosecond : 100 * kMicrosecond);
    }
}

TEST_CASE("unit.ns3.event_queue.far_and_near_events_of_one_instant") {
    // The far one was scheduled first: its place comes first although it came through the heap.
    EventQueue queue(kMicrosecond);
    queue.push(5 * kMillisecond, 1);
    queue.push(4'999'999 * kNanosecond, 2);
    std::vector<EventCode> order;
    for (Tick now = queue.next(); now != kNever; now = queue.next()) {
        queue.run(now, [&](EventCode code) {
            order.push_back(code);
            if (code == 2) {
                queue.push(5 * kMillisecond, 3);
            }
        });
    }
    CHECK(order == std::vector<EventCode>{2, 1, 3});
}
