// SPDX-License-Identifier: Apache-2.0
#include "bench/restore/share_cases.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace sluice::share_bench {

namespace {

using steady_bench::FlowSample;
using steady_bench::Series;

// Base round trips.
constexpr double kShortest = 4;
constexpr double kLongest = 1024;
constexpr double kBlock = 4;        ///< over which a share is measured
constexpr double kFirst = 24;       ///< after a flow has come or gone
constexpr double kFullCrowd = 400;  ///< a crowd that lasts so long has all its instants
constexpr std::size_t kPastBlocks = 32;

/// Samples with the same flows, to one host.
class Epoch {
  public:
    Epoch(const Series& series, std::size_t first, std::size_t last)
        : series_(series), first_(first), last_(last) {
        for (std::size_t k = 0; k < flows(); ++k) {
            base_rtt_ = std::max(base_rtt_, series.flows[at(0, k).flow].base_rtt);
        }
        bytes_.resize(size() * flows());
        for (std::size_t k = 0; k < flows(); ++k) {
            interpolate(k);
        }
    }

    std::size_t size() const { return last_ - first_; }
    std::size_t flows() const { return series_.first[first_ + 1] - series_.first[first_]; }
    double trip() const {  ///< in samples
        return static_cast<double>(base_rtt_) / static_cast<double>(series_.period);
    }
    bool one_port() const {
        const NodeId to = series_.flows[at(0, 0).flow].dst;
        for (std::size_t k = 1; k < flows(); ++k) {
            if (series_.flows[at(0, k).flow].dst != to) {
                return false;
            }
        }
        return flows() > 1;
    }
    const FlowSample& at(std::size_t i, std::size_t k) const {
        return series_.samples[series_.first[first_ + i] + k];
    }

    std::vector<double> shares(std::size_t from, std::size_t to) const {
        std::vector<double> shares(flows());
        double sum = 0;
        for (std::size_t k = 0; k < flows(); ++k) {
            shares[k] = bytes_[to * flows() + k] - bytes_[from * flows() + k];
            sum += shares[k];
        }
        return of_fair(shares, sum);
    }
    std::vector<double> law_shares(std::size_t i) const {
        std::vector<double> shares(flows());
        double sum = 0;
        for (std::size_t k = 0; k < flows(); ++k) {
            shares[k] = static_cast<double>(at(i, k).reading.rate);
            sum += shares[k];
        }
        return of_fair(shares, sum);
    }
    hybrid::SharePast past() const {
        hybrid::SharePast past;
        past.fair = 1;
        past.flows = flows();
        past.line =
            static_cast<double>(series_.line_rate) / 8e12 / static_cast<double>(series_.payload);
        past.base_rtt = base_rtt_;
        return past;
    }

  private:
    std::vector<double> of_fair(std::vector<double> shares, double sum) const {
        for (double& share : shares) {
            share *= static_cast<double>(flows()) / sum;
        }
        return shares;
    }

    /// Bytes acknowledged at the instants of the samples, on a line between those of ACKs.
    void interpolate(std::size_t k) {
        std::size_t next = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            const Tick now = series_.times[first_ + i];
            while (next + 1 < size() && at(next, k).reading.progress < now) {
                ++next;
            }
            std::size_t before = std::min(next, i);
            while (before > 0 && at(before, k).reading.progress >= at(next, k).reading.progress) {
                --before;
            }
            const steady::FlowReading& a = at(before, k).reading;
            const steady::FlowReading& b = at(next, k).reading;
            const double part =
                b.progress > a.progress
                    ? std::min(std::max(static_cast<double>(now - a.progress) /
                                            static_cast<double>(b.progress - a.progress),
                                        0.0),
                               1.0)
                    : 1;
            bytes_[i * flows() + k] =
                static_cast<double>(a.acked) + part * static_cast<double>(b.acked - a.acked);
        }
    }

    const Series& series_;
    std::size_t first_;
    std::size_t last_;
    Tick base_rtt_ = 0;
    std::vector<double> bytes_;  ///< samples x flows
};

/// Fits dx = pull (1 - x) dt + noise dW to what was seen before `i`: one pull, a noise for each flow.
void fit_observed(const Epoch& epoch, std::size_t i, Crowd& crowd) {
    const auto block = static_cast<std::size_t>(kBlock * epoch.trip());
    const std::size_t blocks = std::min(kPastBlocks, i / block);
    std::vector<std::vector<double>> past;
    for (std::size_t b = blocks; b > 0; --b) {
        past.push_back(epoch.shares(i - b * block, i - (b - 1) * block));
    }
    double moved = 0;
    double distance = 1e-12;
    for (std::size_t b = 1; b < past.size(); ++b) {
        for (std::size_t k = 0; k < crowd.size(); ++k) {
            moved += (1 - past[b - 1][k]) * (past[b][k] - past[b - 1][k]);
            distance += (1 - past[b - 1][k]) * (1 - past[b - 1][k]);
        }
    }
    const double pull = std::max(moved / distance, 0.0);
    for (std::size_t k = 0; k < crowd.size(); ++k) {
        double squares = 0;
        for (std::size_t b = 1; b < past.size(); ++b) {
            const double step = past[b][k] - past[b - 1][k] - pull * (1 - past[b - 1][k]);
            squares += step * step;
        }
        crowd[k].pull = pull / kBlock;
        crowd[k].noise = std::sqrt(squares / static_cast<double>(past.size() - 1) / kBlock);
    }
}

Crowd crowd_at(const Epoch& epoch, std::size_t i, std::size_t length) {
    const auto block = static_cast<std::size_t>(kBlock * epoch.trip());
    const std::vector<double> now = epoch.law_shares(i);
    const std::vector<double> before = epoch.shares(i - block, i);
    const std::vector<double> mean = epoch.shares(i, i + length);
    const std::vector<double> end = epoch.law_shares(i + length);
    Crowd crowd(epoch.flows());
    for (std::size_t k = 0; k < crowd.size(); ++k) {
        crowd[k].past = epoch.past();
        crowd[k].past.rate = now[k];
        crowd[k].trips = static_cast<double>(length) / epoch.trip();
        crowd[k].before = before[k];
        crowd[k].mean = mean[k];
        crowd[k].end = end[k];
    }
    fit_observed(epoch, i, crowd);
    return crowd;
}

bool same_flows(const Series& series, std::size_t i, std::size_t j) {
    const auto begin = series.samples.begin();
    const auto at = [&](std::size_t s) {
        return begin + static_cast<std::ptrdiff_t>(series.first[s]);
    };
    return series.first[i + 1] - series.first[i] == series.first[j + 1] - series.first[j] &&
           std::equal(at(i), at(i + 1), at(j),
                      [](const FlowSample& a, const FlowSample& b) { return a.flow == b.flow; });
}

std::uint64_t number_of(const std::string& name) {
    std::uint64_t number = 0;
    for (const char letter : name) {
        number = mix_bits(number) ^ static_cast<unsigned char>(letter);
    }
    return number;
}

}  // namespace

std::vector<Crowd> draw_crowds(const Series& series, const std::string& name, int most) {
    constexpr std::uint64_t kPurpose = 0x63726f776473ULL;
    std::vector<Crowd> crowds;
    const std::uint64_t seed = number_of(name);
    std::uint64_t draw = 0;
    for (std::size_t first = 0, last = 0; first < series.times.size(); first = last) {
        last = first + 1;
        while (last < series.times.size() && same_flows(series, first, last)) {
            ++last;
        }
        if (last - first < 64) {
            continue;
        }
        const Epoch epoch(series, first, last);
        if (!epoch.one_port()) {
            continue;
        }
        const double trips = static_cast<double>(epoch.size()) / epoch.trip();
        const int wanted = static_cast<int>(most * std::min(trips / kFullCrowd, 1.0)) + 2;
        for (int n = 0; n < wanted; ++n) {
            const double part = uniform(seed, random_stream(kPurpose, 0), draw++);
            const double place = uniform(seed, random_stream(kPurpose, 0), draw++);
            const double length = kShortest * std::exp(part * std::log(kLongest / kShortest));
            const auto from = static_cast<std::size_t>(kFirst * epoch.trip());
            const auto steps = static_cast<std::size_t>(length * epoch.trip());
            if (from + steps + 2 >= epoch.size()) {
                continue;
            }
            const auto room = static_cast<double>(epoch.size() - 1 - from - steps);
            crowds.push_back(crowd_at(epoch, from + static_cast<std::size_t>(place * room), steps));
        }
    }
    return crowds;
}

}  // namespace sluice::share_bench
