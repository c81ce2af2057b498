// SPDX-License-Identifier: Apache-2.0
#include "restore/dataset.h"

#include <algorithm>
#include <map>

#include "core/checksum.h"
#include "core/error.h"
#include "core/random.h"
#include "restore/fixed_math.h"

namespace sluice::restore {

namespace {

constexpr std::uint64_t kCutDraws = 0x637574;
constexpr std::uint64_t kSplitDraws = 0x73706c6974;
/// Draws a case, until one is found whose queue was not empty throughout.
constexpr std::size_t kMostTries = 16;
constexpr double kLn2 = 0.69314718055994531;

/// Samples in a row through which a port's flows stay: [begin, end).
struct Stay {
    const PortTrace* port;
    std::size_t begin;
    std::size_t end;
    std::size_t cuts_before;  ///< instants to cut at, of the stays before this one
};

class Drawer {
  public:
    Drawer(const QueueTrace& trace, const ModelShape& shape, std::uint64_t seed)
        : trace_(trace),
          longest_sequence_(static_cast<std::size_t>(shape.steps)),
          scenario_(checksum(trace.scenario)),
          key_(random_key(seed, random_stream(kCutDraws, scenario_))) {
        // A base RTT, in samples: a skip is not shorter.
        shortest_skip_ = static_cast<std::size_t>(
            std::max<Tick>((trace.base_rtt + trace.step - 1) / trace.step, 1));
        for (const PortTrace& port : trace.ports) find_stays(port);
    }

    std::vector<Case> draw(std::size_t count) const {
        std::vector<Case> cases;
        for (std::size_t i = 0; i < count && cuts_ > 0; ++i) {
            for (std::size_t attempt = 0; attempt < kMostTries; ++attempt) {
                Case drawn = draw_one(i * kMostTries + attempt);
                const std::vector<std::int64_t>& depths = drawn.query.depths;
                if (std::any_of(depths.begin(), depths.end(), [](auto d) { return d > 0; })) {
                    cases.push_back(std::move(drawn));
                    break;
                }
            }
        }
        return cases;
    }

  private:
    void find_stays(const PortTrace& port) {
        std::size_t begin = 0;
        const std::size_t samples = trace_.steps.size();
        for (std::size_t i = 1; i <= samples; ++i) {
            const bool goes_on = i < samples && trace_.steps[i] == trace_.steps[i - 1] + 1 &&
                                 port.changes[i] == port.changes[i - 1];
            if (goes_on) continue;
            if (port.flows[begin] > 0) add_stay(port, begin, i);
            begin = i;
        }
    }

    void add_stay(const PortTrace& port, std::size_t begin, std::size_t end) {
        const std::size_t needed = kShortestSequence + shortest_skip_;
        if (end - begin < needed) return;
        stays_.push_back({&port, begin, end, cuts_});
        cuts_ += end - begin - needed + 1;
    }

    double unit(std::size_t number, std::uint64_t which) const {
        return to_unit_interval(random_bits_of_key(key_, 2 * number + which));
    }

    Case draw_one(std::size_t number) const {
        const auto pick = std::min(
            static_cast<std::size_t>(unit(number, 0) * static_cast<double>(cuts_)), cuts_ - 1);
        const auto after = std::upper_bound(
            stays_.begin(), stays_.end(), pick,
            [](std::size_t cut, const Stay& stay) { return cut < stay.cuts_before; });
        const Stay& stay = *(after - 1);
        const std::size_t cut = stay.begin + kShortestSequence - 1 + (pick - stay.cuts_before);
        const auto least = static_cast<double>(shortest_skip_);
        const double most = std::min(static_cast<double>(stay.end - 1 - cut),
                                     least * static_cast<double>(kLongestSkip));
        const double span = fixed_log2(most / least) * kLn2;
        const double skip =
            most * static_cast<double>(fixed_exp(static_cast<float>(-unit(number, 1) * span)));
        const auto samples =
            std::clamp(static_cast<std::size_t>(skip), shortest_skip_, stay.end - 1 - cut);
        return case_of(stay, cut, samples);
    }

    Case case_of(const Stay& stay, std::size_t cut, std::size_t skip) const {
        const PortTrace& port = *stay.port;
        const std::size_t first =
            std::max(stay.begin, cut + 1 >= longest_sequence_ ? cut + 1 - longest_sequence_ : 0);
        Case drawn;
        drawn.query.depths.assign(port.depth.begin() + static_cast<std::ptrdiff_t>(first),
                                  port.depth.begin() + static_cast<std::ptrdiff_t>(cut + 1));
        drawn.depth = port.depth[cut + skip];
        drawn.scenario = scenario_;
        PortContext& context = drawn.query.context;
        context.law = trace_.law;
        context.line_rate = port.line_rate;
        context.mark_bytes = port.mark_bytes;
        context.base_rtt = trace_.base_rtt;
        context.step = trace_.step;
        context.skip = static_cast<Tick>(skip) * trace_.step;
        context.flows = port.flows[cut];
        context.to_host = port.to_host;
        double sent = 0;
        for (std::size_t i = first + 1; i <= cut; ++i) sent += static_cast<double>(port.sent[i]);
        const double seconds = static_cast<double>(cut - first) * static_cast<double>(trace_.step) /
                               static_cast<double>(kSecond);
        context.utilization = sent * 8 / (static_cast<double>(port.line_rate) * seconds);
        return drawn;
    }

    const QueueTrace& trace_;
    std::size_t longest_sequence_;
    std::size_t shortest_skip_ = 1;
    std::uint64_t scenario_;
    std::uint64_t key_;
    std::vector<Stay> stays_;
    std::size_t cuts_ = 0;
};

}  // namespace

std::vector<Case> draw_cases(const QueueTrace& trace, const ModelShape& shape, std::size_t count,
                             std::uint64_t seed) {
    return Drawer(trace, shape, seed).draw(count);
}

std::vector<bool> choose_validation(const std::vector<std::string>& names, double share,
                                    std::uint64_t seed) {
    std::map<std::string, bool> chosen;
    for (const std::string& name : names) chosen[name] = false;
    if (chosen.size() < 2) {
        throw ConfigError(
            "train: a split by scenario needs folders of at least 2 scenarios, by their names");
    }
    std::vector<std::pair<std::uint64_t, std::string>> order;
    for (const auto& [name, taken] : chosen) {
        order.emplace_back(random_bits(seed, random_stream(kSplitDraws, checksum(name)), 0), name);
    }
    std::sort(order.begin(), order.end());
    const auto wanted = static_cast<std::size_t>(share * static_cast<double>(order.size()) + 0.5);
    const std::size_t count = std::clamp<std::size_t>(wanted, 1, order.size() - 1);
    for (std::size_t i = 0; i < count; ++i) chosen[order[i].second] = true;
    std::vector<bool> validation;
    for (const std::string& name : names) validation.push_back(chosen[name]);
    return validation;
}

}  // namespace sluice::restore
