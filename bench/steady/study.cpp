// SPDX-License-Identifier: Apache-2.0
/// Replays recorded series through a detector (open loop): what would have been extrapolated is
/// compared with what was recorded.
///
///   steady_study CASES_DIR --series DIR [--half H] [--law L] [--kind K] [--metric M] [--theta X]
///                [--span TICKS] [--tolerance X] [--growth X] [--lag none|group|flow]
///                [--flows FILE] [--curve FILE]
///
/// Standard output: one row per case for a chain of skips as a controller would make them; after a
/// skip the series goes on where the recording is then, in local time. `flows`: the same by flow;
/// error is the sum of its skips' errors in bytes, relative to its size, which is the relative
/// error of its completion time. `curve`: no skips; at verdicts at least 10 base round trips apart
/// the error of extrapolating for doubling times, whether allowed or not, as long as no flow comes
/// or goes.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <vector>

#include "bench/steady/options.h"
#include "bench/steady/series.h"

namespace {

using namespace sluice;
using steady_bench::Case;
using steady_bench::FlowSample;
using steady_bench::Lag;
using steady_bench::Options;
using steady_bench::Series;

constexpr Tick kShortestSkip = 4;         // base round trips, as a controller's
constexpr Tick kBetweenCurvePoints = 10;  // base round trips

class Replay {
  public:
    Replay(const Series& series, const steady::DetectorSettings& settings, Lag lag)
        : series_(series),
          lag_(lag),
          detector_(steady::make_detector(settings)),
          flow_skipped_(series.flows.size(), 0),
          error_(series.flows.size(), 0) {
        facts_.congestion = series.congestion;
        facts_.payload = series.payload;
        facts_.line_rate = series.line_rate;
        for (const steady_bench::FlowRecord& flow : series.flows) {
            facts_.base_rtt = std::max(facts_.base_rtt, flow.base_rtt);
        }
        find_epochs();
    }

    /// Skips as verdicts allow.
    void chain() {
        for (std::size_t i = 0; i < series_.times.size(); ++i) {
            feed(i);
            const steady::Verdict verdict = detector_->judge();
            if (!verdict.steady) {
                continue;
            }
            const std::size_t end = sample_at(series_.times[i] + verdict.longest_skip, i);
            const Tick skip = series_.times[end] - series_.times[i];
            if (skip < kShortestSkip * facts_.base_rtt) {
                continue;
            }
            for (std::size_t k = 0; k < count(i); ++k) {
                const FlowSample& from = at(i, k);
                const FlowSample& to = at(end, k);
                error_[from.flow] += off(from, to, verdict.rate[k]);
                offset_progress_[k] += to.reading.progress - from.reading.progress;
                offset_acked_[k] += to.reading.acked - from.reading.acked;
                flow_skipped_[from.flow] += skip;
            }
            offset_ += skip;
            skipped_ += skip;
            ++skips_;
            detector_->resumed(lag_ == Lag::none ? 0 : skip);
            i = end;  // which stands where i stood
        }
    }

    /// One row per verdict and time: case, law, kind, time in base round trips, allowed, mean and
    /// largest relative error of bytes.
    void curve(const Case& one, std::ofstream& out) {
        Tick next = 0;
        for (std::size_t i = 0; i < series_.times.size(); ++i) {
            feed(i);
            const steady::Verdict verdict = detector_->judge();
            if (!verdict.steady || series_.times[i] < next) {
                continue;
            }
            next = series_.times[i] + kBetweenCurvePoints * facts_.base_rtt;
            for (Tick trips = 8; trips <= 8192; trips *= 2) {
                const Tick until = series_.times[i] + trips * facts_.base_rtt;
                const std::size_t end = sample_at(until, i);
                if (series_.times[end] + series_.period < until) {
                    break;  // a flow comes or goes before
                }
                double mean = 0;
                double worst = 0;
                for (std::size_t k = 0; k < count(i); ++k) {
                    const FlowSample& from = at(i, k);
                    const FlowSample& to = at(end, k);
                    const double error = std::abs(off(from, to, verdict.rate[k])) /
                                         static_cast<double>(std::max<std::int64_t>(
                                             to.reading.acked - from.reading.acked, 1));
                    mean += error / static_cast<double>(count(i));
                    worst = std::max(worst, error);
                }
                out << one.name << ',' << one.kind << ',' << one.law << ',' << trips << ','
                    << (until - series_.times[i] <= verdict.longest_skip ? 1 : 0) << ',' << mean
                    << ',' << worst << '\n';
            }
        }
    }

    Tick skipped() const { return skipped_; }
    std::uint64_t skips() const { return skips_; }
    Tick length() const { return series_.times.back() - series_.times.front(); }
    /// Bytes that a flow is off by at its end, relative to its size.
    double error(FlowId flow) const {
        return error_[flow] / static_cast<double>(series_.flows[flow].size);
    }

  private:
    std::size_t count(std::size_t i) const { return series_.first[i + 1] - series_.first[i]; }
    const FlowSample& at(std::size_t i, std::size_t k) const {
        return series_.samples[series_.first[i] + k];
    }

    /// Samples with the same flows as their predecessor belong to one epoch; its last one by
    /// sample.
    void find_epochs() {
        epoch_end_.resize(series_.times.size());
        for (std::size_t i = series_.times.size(); i-- > 0;) {
            epoch_end_[i] = i + 1 < series_.times.size() && same(i, i + 1) ? epoch_end_[i + 1] : i;
        }
    }

    bool same(std::size_t i, std::size_t j) const {
        if (count(i) != count(j)) {
            return false;
        }
        for (std::size_t k = 0; k < count(i); ++k) {
            if (at(i, k).flow != at(j, k).flow) {
                return false;
            }
        }
        return true;
    }

    /// The last sample of i's epoch that is not later than `until`. A flow's last two round trips
    /// are left out, as a controller would.
    std::size_t sample_at(Tick until, std::size_t i) const {
        const auto end = series_.times.begin() + static_cast<std::ptrdiff_t>(epoch_end_[i]) + 1;
        const Tick latest = std::min(until, series_.times[epoch_end_[i]] - 2 * facts_.base_rtt);
        const auto after = std::upper_bound(
            series_.times.begin() + static_cast<std::ptrdiff_t>(i) + 1, end, latest);
        return static_cast<std::size_t>(after - series_.times.begin()) - 1;
    }

    /// Extrapolated minus recorded bytes, between two instants of progress.
    static double off(const FlowSample& from, const FlowSample& to, double rate) {
        return rate * static_cast<double>(to.reading.progress - from.reading.progress) /
                   static_cast<double>(kSecond) -
               static_cast<double>(to.reading.acked - from.reading.acked);
    }

    /// On a star flows share a port that have a host in common, at the same end.
    std::size_t sharing(std::size_t i) const {
        std::map<NodeId, std::size_t> from;
        std::map<NodeId, std::size_t> to;
        std::size_t most = 0;
        for (std::size_t k = 0; k < count(i); ++k) {
            const steady_bench::FlowRecord& flow = series_.flows[at(i, k).flow];
            most = std::max({most, ++from[flow.src], ++to[flow.dst]});
        }
        return most;
    }

    void feed(std::size_t i) {
        if (i == 0 || !same(i - 1, i)) {
            steady::GroupFacts facts = facts_;
            facts.flows = count(i);
            facts.ports = series_.ports.size();
            for (std::size_t k = 0; k < count(i); ++k) {
                facts.lag =
                    std::max(facts.lag, lag_ == Lag::flow ? flow_skipped_[at(i, k).flow] : 0);
            }
            facts.sharing = sharing(i);
            detector_->reset(facts);
            offset_progress_.assign(count(i), 0);
            offset_acked_.assign(count(i), 0);
        }
        readings_.clear();
        for (std::size_t k = 0; k < count(i); ++k) {
            readings_.push_back(at(i, k).reading);
            readings_.back().progress -= offset_progress_[k];
            readings_.back().acked -= offset_acked_[k];
        }
        queues_.assign(
            series_.queues.begin() + static_cast<std::ptrdiff_t>(i * series_.ports.size()),
            series_.queues.begin() + static_cast<std::ptrdiff_t>((i + 1) * series_.ports.size()));
        detector_->add(series_.times[i] - offset_, readings_, queues_);
    }

    const Series& series_;
    Lag lag_;
    std::unique_ptr<steady::Detector> detector_;
    steady::GroupFacts facts_;
    std::vector<std::size_t> epoch_end_;
    std::vector<steady::FlowReading> readings_;
    std::vector<std::int64_t> queues_;
    std::vector<Tick> offset_progress_;  ///< skipped so far in this epoch, by the group's order
    std::vector<std::int64_t> offset_acked_;
    std::vector<Tick> flow_skipped_;  ///< by flow
    Tick offset_ = 0;
    Tick skipped_ = 0;
    std::uint64_t skips_ = 0;
    std::vector<double> error_;  ///< bytes, by flow
};

void study_case(const Options& options, const Case& one, std::ofstream& flows,
                std::ofstream& curve) {
    const Series series = steady_bench::read_series(options.series + "/" + one.name + ".series");
    Replay replay(series, options.settings, options.lag);
    replay.chain();
    double mean = 0;
    double worst = 0;
    for (FlowId f = 0; f < series.flows.size(); ++f) {
        const double error = replay.error(f);
        mean += std::abs(error) / static_cast<double>(series.flows.size());
        worst = std::max(worst, std::abs(error));
        if (flows.is_open()) {
            flows << one.name << ',' << one.kind << ',' << one.law << ',' << f << ',' << error
                  << '\n';
        }
    }
    std::printf("%s,%s,%s,%zu,%.6f,%.6f,%.4f,%llu\n", one.name.c_str(), one.kind.c_str(),
                one.law.c_str(), series.flows.size(), mean, worst,
                static_cast<double>(replay.skipped()) / static_cast<double>(replay.length()),
                static_cast<unsigned long long>(replay.skips()));
    if (curve.is_open()) {
        Replay(series, options.settings, options.lag).curve(one, curve);
    }
}

void run(const Options& options) {
    std::ofstream flows;
    if (!options.flows.empty()) {
        flows.open(options.flows);
        flows << "case,kind,law,flow,error\n";
    }
    std::ofstream curve;
    if (!options.curve.empty()) {
        curve.open(options.curve);
        curve << "case,kind,law,round_trips,allowed,mean,worst\n";
    }
    std::printf("case,kind,law,flows,mean,worst,skipped,skips\n");
    for (const Case& one : steady_bench::chosen_cases(options)) {
        study_case(options, one, flows, curve);
    }
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(steady_bench::parse_options(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "steady_study: %s\n", error.what());
        return 2;
    }
    return 0;
}
