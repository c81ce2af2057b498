// SPDX-License-Identifier: Apache-2.0
#include "gpu/lane/variant_gate.h"

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

using namespace sluice;

TEST_CASE("unit.variant_gate.one_kind_then_all") {
    std::vector<int> launched;
    gpu::VariantGate gate([&](int variant) { launched.push_back(variant); });
    for (const int kind : {2, 2, 2}) {
        const auto pass = gate.enter(kind);
    }
    CHECK(launched == std::vector<int>{2});
    for (const int kind : {3, 2, 1, 3}) {
        const auto pass = gate.enter(kind);
    }
    CHECK(launched == std::vector<int>{2, gpu::VariantGate::kGeneral});
}

TEST_CASE("unit.variant_gate.nobody_is_inside_when_it_switches") {
    std::atomic<int> inside{0};
    std::atomic<int> variant{-2};
    std::atomic<int> wrong{0};
    std::atomic<int> launches{0};
    gpu::VariantGate gate([&](int launched) {
        wrong += inside != 0 ? 1 : 0;
        variant = launched;
        ++launches;
    });
    std::vector<std::thread> threads;
    for (int kind = 0; kind < 6; ++kind) {
        threads.emplace_back([&, kind] {
            for (int round = 0; round < 500; ++round) {
                // The first half come with one kind, and keep it busy while the others want in.
                const int mine = round < 250 ? 0 : kind;
                const auto pass = gate.enter(mine);
                ++inside;
                wrong += variant != mine && variant != gpu::VariantGate::kGeneral ? 1 : 0;
                --inside;
            }
        });
    }
    for (std::thread& thread : threads) {
        thread.join();
    }
    CHECK(wrong == 0);
    CHECK(launches == 2);
}

TEST_CASE("unit.variant_gate.what_cannot_be_launched_is_told") {
    int calls = 0;
    gpu::VariantGate gate([&](int) {
        if (++calls == 1) throw std::runtime_error("no");
    });
    CHECK_THROWS_AS(gate.enter(1), std::runtime_error);
    const auto pass = gate.enter(1);
    CHECK(calls == 2);
}
