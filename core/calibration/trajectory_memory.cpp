// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/trajectory_memory.h"

#include <algorithm>
#include <cmath>

#include "core/memo/number_reader.h"
#include "core/random.h"

namespace sluice::hybrid {

namespace {

/// Units of an advance in a step, and of a law's rate in its aim.
constexpr double kAdvanceUnits = 4096;
constexpr double kLawUnits = 1024;
constexpr std::int64_t kMostStage = 255;
/// No step is longer, ticks, and no group needs more of them to settle.
constexpr std::int64_t kLongestStep = std::int64_t{1} << 40;
constexpr std::int64_t kMostToSettle = 1 << 16;

/// The same for each content, and as good as random.
std::uint64_t order_of(const memo::Numbers& numbers) {
    std::uint64_t order = 0;
    for (const std::int64_t number : numbers) {
        order = mix_bits(order ^ static_cast<std::uint64_t>(number));
    }
    return order;
}

memo::Digest key_of(const memo::Numbers& facts) {
    memo::Digester digester;
    digester.take(static_cast<std::uint64_t>(memo::Kind::trajectory));
    for (const std::int64_t fact : facts) {
        digester.take(static_cast<std::uint64_t>(fact));
    }
    return digester.digest();
}

}  // namespace

memo::Numbers numbers_of(const Trajectory& trajectory) {
    const auto step = static_cast<double>(trajectory.step());
    const auto steps = static_cast<std::size_t>(trajectory.reach() / trajectory.step());
    const Settling& settling = trajectory.settling();
    memo::Numbers numbers = {trajectory.step(), std::llround(settling.convergence), settling.steps,
                             static_cast<std::int64_t>(steps)};
    for (std::size_t flow = 0; flow < trajectory.flows(); ++flow) {
        numbers.push_back(trajectory.keeps_rate(flow) ? 1 : 0);
        for (std::size_t i = 1; i <= steps; ++i) {
            const double advance = trajectory.advance(flow, static_cast<double>(i) * step);
            numbers.push_back(std::llround(advance / step * kAdvanceUnits));
        }
        for (std::size_t i = 1; i <= steps; ++i) {
            const double law = trajectory.law(flow, static_cast<double>(i) * step);
            numbers.push_back(std::llround(law * kLawUnits));
        }
        for (std::size_t i = 1; i <= steps; ++i) {
            numbers.push_back(trajectory.stage(flow, static_cast<double>(i) * step));
        }
    }
    return numbers;
}

std::shared_ptr<Trajectory> trajectory_of(const memo::Numbers& numbers, std::size_t flows) {
    memo::NumberReader reader(numbers);
    const Tick step = reader.take(kLongestStep, 1);
    const auto convergence = static_cast<double>(reader.take());
    const Settling settling{convergence, reader.take(kMostToSettle)};
    const std::int64_t steps = reader.take(static_cast<std::int64_t>(numbers.size()), 1);
    auto made = std::make_shared<Trajectory>(flows, step, settling);
    for (std::size_t flow = 0; flow < flows && reader.is_whole(); ++flow) {
        if (reader.take(1) == 1) {
            made->keep_rate(flow);
        }
        for (std::int64_t i = 0; i < steps && reader.is_whole(); ++i) {
            const auto advance = static_cast<double>(
                reader.take(memo::NumberReader::kMost, -memo::NumberReader::kMost));
            made->add_advance(flow, advance / kAdvanceUnits * static_cast<double>(step));
        }
        std::vector<double> laws;
        for (std::int64_t i = 0; i < steps && reader.is_whole(); ++i) {
            laws.push_back(static_cast<double>(reader.take()) / kLawUnits);
        }
        for (const double law : laws) {
            made->add_law(flow, law, reader.take(kMostStage));
        }
    }
    return reader.is_whole() && reader.at_end() ? made : nullptr;
}

memo::Numbers TrajectoryMemory::facts_of(const GroupKey& kind) const {
    memo::Numbers facts = fingerprint_;
    facts.insert(facts.end(), kind.begin(), kind.end());
    return facts;
}

std::vector<GroupKey> TrajectoryMemory::kinds_alone() const {
    std::vector<GroupKey> kinds;
    memo_.each_known(memo::Kind::trajectory, facts_of({1}), [&](const memo::Numbers& facts) {
        const auto begin = facts.begin() + static_cast<std::ptrdiff_t>(fingerprint_.size());
        kinds.emplace_back(begin, facts.end());
    });
    return kinds;
}

std::vector<std::shared_ptr<Trajectory>> TrajectoryMemory::recall(const GroupKey& kind,
                                                                  std::size_t most) const {
    std::vector<std::shared_ptr<Trajectory>> recalled;
    const memo::Entry* const entry = memo_.find(key_of(facts_of(kind)), 0);
    if (entry == nullptr || entry->kind != memo::Kind::trajectory) {
        return recalled;
    }
    std::vector<std::pair<std::uint64_t, const memo::Numbers*>> samples;
    for (const memo::SampleCount& seen : entry->samples) {
        samples.emplace_back(order_of(seen.sample->values), &seen.sample->values);
    }
    std::sort(samples.begin(), samples.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [order, numbers] : samples) {
        auto found = trajectory_of(*numbers, static_cast<std::size_t>(kind.front()));
        if (found != nullptr && recalled.size() < most) {
            recalled.push_back(std::move(found));
        }
    }
    return recalled;
}

void TrajectoryMemory::learn(const GroupKey& kind, const Trajectory& trajectory, Tick now) {
    memo::Numbers facts = facts_of(kind);
    const memo::Digest key = key_of(facts);
    memo_.add(key, now, memo::Kind::trajectory, std::move(facts),
              memo::Sample{numbers_of(trajectory)});
}

/// They are the sample of a group without flows.
void TrajectoryMemory::recall_facts(NearFacts& facts) const {
    const memo::Entry* const entry = memo_.find(key_of(facts_of({0})), 0);
    if (entry == nullptr || entry->kind != memo::Kind::trajectory) {
        return;
    }
    for (const memo::SampleCount& seen : entry->samples) {
        for (const std::int64_t fact : seen.sample->values) {
            facts.add(fact);
        }
    }
}

void TrajectoryMemory::learn_facts(const NearFacts& facts, Tick now) {
    NearFacts before;
    recall_facts(before);
    if (facts.known() != before.known()) {
        memo::Numbers kind = facts_of({0});
        const memo::Digest key = key_of(kind);
        memo_.add(key, now, memo::Kind::trajectory, std::move(kind),
                  memo::Sample{memo::Numbers(facts.known().begin(), facts.known().end())});
    }
}

}  // namespace sluice::hybrid
