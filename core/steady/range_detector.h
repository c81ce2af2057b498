// SPDX-License-Identifier: Apache-2.0
/// The detector that holds a metric (core/steady/metrics/) against a range.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/steady/defaults.h"
#include "core/steady/detector.h"
#include "core/steady/history.h"
#include "core/steady/trend.h"

namespace sluice::steady {

/// The range test of a metric, in front of guards that all metrics share: observed span, bounded
/// trend, growing skips. Levels of the history are judged from short to long.
template <class Rule>
class RangeDetector final : public Detector {
  public:
    explicit RangeDetector(const DetectorSettings& settings) : given_(settings) {}

    std::unique_ptr<Detector> clone() const override {
        return std::make_unique<RangeDetector>(*this);
    }
    void reset(const GroupFacts& facts) override;
    void add(Tick now, const std::vector<FlowReading>& flows,
             const std::vector<std::int64_t>& queues) override;
    bool reads_queues() const override { return Rule::kReadsQueues; }
    const Verdict& judge() const override { return verdict_; }
    void resumed(Tick skipped) override;

  private:
    /// Standard errors that an uncertain change or mean is taken to be off by.
    static constexpr double kChangeErrors = 1;
    static constexpr double kMeanErrors = 1;
    /// Bytes in flight may move by this part of their mean while a skip lasts: what fills a queue ends
    /// in marks, pauses or drops, however flat the rates are. By a larger tolerance, if one is given.
    static constexpr double kFlightRange = 0.3;
    /// Base round trips that a skip must be worth, and that a probe lasts.
    static constexpr Tick kShortestSkip = 4;
    static constexpr Tick kProbe = 2;
    static constexpr double kUnlimited = 1e18;

    bool add_flows(const std::vector<FlowReading>& flows);
    bool wide(std::size_t level, std::size_t flow) const;
    const char* range_reason(std::size_t level);
    bool add_rates(std::size_t level, std::size_t flow, std::array<double, kBlocks>& rates,
                   std::array<double, kBlocks>& flights) const;
    double trusted_skip(std::size_t level, std::size_t flow, double limit) const;
    double trusted_skip(std::size_t level);
    bool covers(std::size_t level) const;
    void trust(std::size_t level, double skip);
    void conclude();

    DetectorSettings given_;
    DetectorSettings settings_;
    GroupFacts facts_;
    History history_;
    std::vector<FlowReading> last_;  ///< of metrics that compare
    std::vector<double> value_;      ///< the same
    std::uint64_t samples_ = 0;
    Tick now_ = 0;
    Tick skipped_ = 0;
    int confirmed_ = 0;
    Tick probe_until_ = 0;
    int stable_rounds_ = 0;
    std::size_t worst_flow_ = 0;   ///< the last to fail: asked first
    const char* reason_ = "span";  ///< of the last level judged
    Verdict verdict_;
};

template <class Rule>
void RangeDetector<Rule>::reset(const GroupFacts& facts) {
    facts_ = facts;
    settings_ = resolved(given_, facts);
    history_.reset(facts_.flows, reads_queues() ? facts_.ports : 0,
                   congestion::traits(facts_.congestion.law).reacts_to_marks);
    last_.assign(facts_.flows, FlowReading{});
    value_.assign(facts_.flows, 0);
    samples_ = 0;
    skipped_ = facts.lag;
    confirmed_ = 0;
    probe_until_ = 0;
    stable_rounds_ = 0;
    worst_flow_ = 0;
    verdict_ = Verdict{};
    verdict_.reason = reason_ = "span";
}

/// True if every flow was at its upper end.
template <class Rule>
bool RangeDetector<Rule>::add_flows(const std::vector<FlowReading>& flows) {
    const bool counts_echoes = congestion::traits(facts_.congestion.law).reacts_to_marks;
    bool saturated = true;
    for (std::size_t f = 0; f < history_.flows(); ++f) {
        const FlowReading& reading = flows[f];
        saturated = saturated && reading.rate >= facts_.line_rate;
        const FlowReading* const before = samples_ > 0 ? &last_[f] : nullptr;
        const double value = Rule::value(reading, before, value_[f]);
        if (Rule::kCompares) {
            value_[f] = value;
        }
        history_.add_flow(f, reading.progress, reading.acked, reading.in_flight, value);
        if (counts_echoes) {
            history_.add_echoes(f, reading.echoes);
        }
    }
    if (Rule::kCompares) {
        last_ = flows;
    }
    return saturated;
}

template <class Rule>
void RangeDetector<Rule>::add(Tick now, const std::vector<FlowReading>& flows,
                              const std::vector<std::int64_t>& queues) {
    now_ = now;
    const bool saturated = add_flows(flows);
    for (std::size_t p = 0; p < history_.ports(); ++p) {
        history_.add_port(p, static_cast<double>(queues[p]));
    }
    ++samples_;
    if (history_.end_sample(now, saturated)) {
        conclude();
    }
}

template <class Rule>
void RangeDetector<Rule>::resumed(Tick skipped) {
    skipped_ += skipped;
    ++confirmed_;
    probe_until_ = now_ + kProbe * facts_.base_rtt;
    verdict_ = Verdict{};
    verdict_.reason = "probe";
}

template <class Rule>
bool RangeDetector<Rule>::wide(std::size_t level, std::size_t flow) const {
    double least = history_.mark(level, flow, 1).metric;
    double largest = least;
    double sum = least;
    for (std::size_t b = 2; b <= kBlocks; ++b) {
        const double value = history_.mark(level, flow, b).metric;
        least = std::min(least, value);
        largest = std::max(largest, value);
        sum += value;
    }
    return largest - least >=
           Rule::allowed_range(settings_, facts_, sum / static_cast<double>(kBlocks));
}

/// The range test of one level; why not, or null.
template <class Rule>
const char* RangeDetector<Rule>::range_reason(std::size_t level) {
    if (Rule::kReadsFlows) {
        if (wide(level, worst_flow_)) {
            return "rate range";
        }
        for (std::size_t f = 0; f < history_.flows(); ++f) {
            if (wide(level, f)) {
                worst_flow_ = f;
                return "rate range";
            }
        }
    }
    // Queues only once all flows are stable (HyGra section IV-A).
    for (std::size_t p = 0; p < history_.ports(); ++p) {
        const Extent extent = history_.port_extent(level, p);
        if (extent.largest - extent.least >= settings_.eps_q) {
            return "queue";
        }
    }
    return nullptr;
}

/// Adds a flow's rates (bytes per tick) and bytes in flight, block by block. False: it had too few packets
/// for a rate.
template <class Rule>
bool RangeDetector<Rule>::add_rates(std::size_t level, std::size_t flow,
                                    std::array<double, kBlocks>& rates,
                                    std::array<double, kBlocks>& flights) const {
    for (std::size_t b = 1; b <= kBlocks; ++b) {
        const FlowMark& from = history_.mark(level, flow, b - 1);
        const FlowMark& to = history_.mark(level, flow, b);
        if (to.progress <= from.progress || to.acked <= from.acked) {
            return false;
        }
        rates[b - 1] += static_cast<double>(to.acked - from.acked) /
                        static_cast<double>(to.progress - from.progress);
        flights[b - 1] += to.in_flight;
    }
    return true;
}

/// The longest skip for which the bytes that `flow` is taken to carry stay within the
/// tolerance, ticks; not above `limit`, which it may lower.
template <class Rule>
double RangeDetector<Rule>::trusted_skip(std::size_t level, std::size_t flow, double limit) const {
    std::array<double, kBlocks> rates{};
    std::array<double, kBlocks> flights{};
    if (!add_rates(level, flow, rates, flights)) {
        return 0;
    }
    const auto span = static_cast<double>(history_.span(level));
    const Line rate = fit_line(rates);
    const double tolerance = settings_.tolerance;
    const double room = tolerance - kMeanErrors * rate.mean_error / rate.mean;
    const double drift =
        (std::abs(rate.change) + kChangeErrors * rate.change_error) / rate.mean / span;
    if (room <= 0) {
        return 0;
    }
    // The rate is that of the middle of the span, and what was skipped before left the state
    // behind by as much: bytes are off by drift x (span + skipped + skip) / 2.
    double skip = limit;
    if (drift * kUnlimited > 2 * room) {
        skip = std::min(skip, 2 * room / drift - span - static_cast<double>(skipped_));
    }
    const Line flight = fit_line(flights);
    // Its round trip with all queues, by Little's law: what it has not seen come round it does
    // not know, and with a deep queue that is many base round trips.
    if (span * rate.mean < static_cast<double>(kRoundTrips) * flight.mean) {
        return 0;
    }
    const double flight_drift = (std::abs(flight.change) + flight.change_error) / span;
    const double flight_room =
        std::max(kFlightRange, tolerance) * flight.mean + static_cast<double>(facts_.payload);
    if (flight_drift * kUnlimited > flight_room) {
        skip = std::min(skip, flight_room / flight_drift);
    }
    return skip;
}

template <class Rule>
double RangeDetector<Rule>::trusted_skip(std::size_t level) {
    double limit = settings_.growth * static_cast<double>(history_.span(level)) *
                   std::pow(2.0, std::min(confirmed_, 40));
    limit = std::min(limit, kUnlimited);
    const auto shortest = static_cast<double>(kShortestSkip * facts_.base_rtt);
    limit = trusted_skip(level, worst_flow_, limit);
    for (std::size_t f = 0; f < history_.flows() && limit >= shortest; ++f) {
        const double skip = trusted_skip(level, f, limit);
        if (skip < limit) {
            limit = skip;
            worst_flow_ = skip < shortest ? f : worst_flow_;
        }
    }
    return limit < shortest ? 0 : limit;
}

/// A span must cover what the law can do by itself, unless every flow of it was at its upper
/// end throughout: then only congestion can change anything, and bytes in flight show that.
template <class Rule>
bool RangeDetector<Rule>::covers(std::size_t level) const {
    const Tick span = history_.span(level);
    if (given_.span <= 0 && history_.saturated(level)) {
        return span >= std::min(settings_.span, 4 * facts_.base_rtt);
    }
    return span >= settings_.span;
}

/// Concludes that the group is steady for `skip`, by what `level` holds.
template <class Rule>
void RangeDetector<Rule>::trust(std::size_t level, double skip) {
    verdict_.steady = true;
    verdict_.reason = "";
    verdict_.longest_skip = static_cast<Tick>(skip);
    verdict_.rate.resize(history_.flows());
    verdict_.marked.resize(history_.flows());
    for (std::size_t f = 0; f < history_.flows(); ++f) {
        const FlowMark& from = history_.mark(level, f, 0);
        const FlowMark& to = history_.mark(level, f, kBlocks);
        verdict_.rate[f] = static_cast<double>(to.acked - from.acked) /
                           static_cast<double>(to.progress - from.progress) *
                           static_cast<double>(kSecond);
        verdict_.marked[f] = static_cast<double>(history_.echoes(level, f) * facts_.payload) /
                             static_cast<double>(to.acked - from.acked);
        if (Rule::kIsLawRate) {
            double sum = 0;
            for (std::size_t b = 1; b <= kBlocks; ++b) {
                sum += history_.mark(level, f, b).metric;
            }
            verdict_.law.push_back(sum / static_cast<double>(kBlocks));
        }
    }
}

template <class Rule>
void RangeDetector<Rule>::conclude() {
    verdict_ = Verdict{};
    verdict_.reason = reason_;
    if (history_.flows() == 0) {
        return;
    }
    double best = 0;
    std::size_t best_level = 0;
    bool stable = false;
    bool ranged = false;
    for (std::size_t level = 0; level < history_.levels(); ++level) {
        if (!history_.current(level) || !covers(level)) {
            continue;
        }
        const char* const reason = range_reason(level);
        if (!ranged) {  // rounds of the shortest span that counts
            ranged = true;
            stable = reason == nullptr;
        }
        if (reason != nullptr) {
            verdict_.reason = reason_ = reason;
            continue;
        }
        const double skip = trusted_skip(level);
        if (skip > best) {
            best = skip;
            best_level = level;
        } else if (best == 0) {
            verdict_.reason = reason_ = "trend";
        }
    }
    if (ranged) {
        stable_rounds_ = stable ? stable_rounds_ + 1 : 0;
    }
    if (best == 0) {
        return;
    }
    if (now_ < probe_until_) {
        verdict_.reason = "probe";
    } else if (stable_rounds_ < Rule::rounds(settings_)) {
        verdict_.reason = "rounds";
    } else {
        trust(best_level, best);
    }
}

}  // namespace sluice::steady
