// SPDX-License-Identifier: Apache-2.0
/// Fits the process of shares (restore/share_process.h) to recorded crowds, and judges it.
///
///   share_study [--fit] CASES_DIR SERIES_DIR [CASES_DIR SERIES_DIR]...
///
/// Cases and their halves are those of CASES_DIR/cases.csv, their series those of bench/steady/record
/// (bench/restore/shares makes all). --fit: to the halves "tune"; prints the coefficients. Else the shipped
/// ones. Then, on the halves "judge", the continuous ranked probability score of a flow's mean share over
/// the skip and of that at its end, and the energy score of all flows' ends together, of
///
///   hold      the share of the last four round trips, as it is
///   fluid     the law's own equation: shares come together by n AI / C per round trip
///   ou        an Ornstein-Uhlenbeck process fitted to what was seen of the flows before
///   learned   this
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

#include "bench/restore/share_cases.h"
#include "bench/steady/series.h"
#include "core/random.h"
#include "restore/share_process.h"

namespace {

using namespace sluice;
using restore::ShareCoefficients;
using restore::ShareForecast;
using share_bench::Crowd;
using share_bench::ShareCase;

constexpr std::size_t kCount = restore::kPullTerms + restore::kNoiseTerms + 3;
constexpr int kInstants = 40;  ///< of a crowd
constexpr int kSteps = 400;

struct Data {
    std::vector<Crowd> crowds;
    congestion::Parameters law;
    std::vector<double> scale;  ///< by flow of all crowds: what shares move by in cases like it
};

double* coefficient(ShareCoefficients& c, std::size_t i) {
    if (i < c.pull.size()) {
        return &c.pull[i];
    }
    i -= c.pull.size();
    if (i < c.noise.size()) {
        return &c.noise[i];
    }
    double* const others[] = {&c.exponent, &c.start, &c.start_slope};
    return others[i - c.noise.size()];
}

/// Of a normal forecast; of a point where there is no deviation.
double score(double mean, double deviation, double truth) {
    if (deviation < 1e-9) {
        return std::abs(truth - mean);
    }
    const double z = (truth - mean) / deviation;
    const double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
    return deviation * (z * std::erf(z / std::sqrt(2.0)) + 2 * density - 1 / std::sqrt(M_PI));
}

void find_scales(Data& data) {
    std::map<std::pair<long, long>, std::pair<double, double>> moved;
    const auto key = [](const ShareCase& one) {
        return std::pair{std::lround(std::log2(restore::packets_per_flow(one.past))),
                         std::lround(std::log2(one.trips))};
    };
    for (const Crowd& crowd : data.crowds) {
        for (const ShareCase& one : crowd) {
            auto& [sum, count] = moved[key(one)];
            sum += std::abs(one.end - one.before);
            count += 1;
        }
    }
    for (const Crowd& crowd : data.crowds) {
        for (const ShareCase& one : crowd) {
            const auto& [sum, count] = moved[key(one)];
            data.scale.push_back(std::max(sum / count, 0.002));
        }
    }
}

Data read_half(int count, char** folders, const std::string& half) {
    Data data;
    for (int i = 0; i + 1 < count; i += 2) {
        std::ifstream index(std::string(folders[i]) + "/cases.csv");
        std::string line;
        std::getline(index, line);
        while (std::getline(index, line)) {
            std::istringstream fields(line);
            std::string name;
            std::string its_half;
            std::string kind;
            std::string law;
            std::getline(fields, name, ',');
            std::getline(fields, its_half, ',');
            std::getline(fields, kind, ',');
            std::getline(fields, law, ',');
            const std::string path = std::string(folders[i + 1]) + "/" + name + ".series";
            if (its_half != half || law != "hpcc" || !std::ifstream(path)) {
                continue;
            }
            const steady_bench::Series series = steady_bench::read_series(path);
            data.law = series.congestion;
            for (Crowd& crowd : share_bench::draw_crowds(series, name, kInstants)) {
                data.crowds.push_back(std::move(crowd));
            }
        }
    }
    find_scales(data);
    return data;
}

/// As in the crowd's own scenario: by default a step is the same part of every line rate.
congestion::Parameters law_of(const Data& data, const hybrid::SharePast& past) {
    congestion::Parameters law = data.law;
    const double bits = past.line * 8e12 * static_cast<double>(law.payload);
    law.hpcc.additive_rate = std::llround(bits * 0.0005);
    return law;
}

double loss(const Data& data, const ShareCoefficients& c) {
    double sum = 0;
    std::size_t i = 0;
    for (const Crowd& crowd : data.crowds) {
        const congestion::Parameters law = law_of(data, crowd.front().past);
        for (const ShareCase& one : crowd) {
            const ShareForecast told =
                restore::forecast(restore::share_process(one.past, law, c), one.trips);
            sum +=
                (score(told.mean, told.mean_sd, one.mean) + score(told.end, told.end_sd, one.end)) /
                data.scale[i++];
        }
    }
    return sum / static_cast<double>(i);
}

/// Adam on differences; the same numbers every time.
ShareCoefficients fit(const Data& data) {
    ShareCoefficients c;
    c.pull[0] = 0;
    c.noise[0] = -5;
    c.exponent = 0.5;
    c.start = -5;
    std::vector<double> first(kCount, 0);
    std::vector<double> second(kCount, 0);
    for (int step = 1; step <= kSteps; ++step) {
        constexpr double kDelta = 1e-4;
        const double rate = 0.1 * (1 - static_cast<double>(step - 1) / kSteps) + 1e-3;
        const double here = loss(data, c);
        std::vector<double> slope(kCount);
        for (std::size_t i = 0; i < kCount; ++i) {
            ShareCoefficients moved = c;
            *coefficient(moved, i) += kDelta;
            slope[i] = (loss(data, moved) - here) / kDelta;
        }
        for (std::size_t i = 0; i < kCount; ++i) {
            first[i] = 0.9 * first[i] + 0.1 * slope[i];
            second[i] = 0.99 * second[i] + 0.01 * slope[i] * slope[i];
            const double mean = first[i] / (1 - std::pow(0.9, step));
            const double square = second[i] / (1 - std::pow(0.99, step));
            *coefficient(c, i) -= rate * mean / (std::sqrt(square) + 1e-9);
        }
        if (step % 20 == 0) {
            std::fprintf(stderr, "step %d: %.5f\n", step, here);
        }
    }
    return c;
}

void print(const ShareCoefficients& c) {
    const auto row = [](const auto& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            std::printf("%s%.4f", i == 0 ? "    {" : ", ", values[i]);
        }
        std::printf("},\n");
    };
    row(c.pull);
    row(c.noise);
    std::printf("    %.4f,\n    %.4f,\n    %.4f\n", c.exponent, c.start, c.start_slope);
}

ShareForecast told_by(const std::string& who, const ShareCase& one,
                      const congestion::Parameters& law, const ShareCoefficients& learned) {
    restore::ShareProcess process;
    if (who == "learned") {
        return restore::forecast(restore::share_process(one.past, law, learned), one.trips);
    }
    process.share = who == "fluid" ? one.past.rate : one.before;
    if (who == "fluid") {
        process.pull = static_cast<double>(law.hpcc.additive_rate) / 8e12 /
                       static_cast<double>(law.payload) * static_cast<double>(one.past.flows) /
                       one.past.line;
    } else if (who == "ou") {
        process.pull = one.pull;
        process.noise = one.noise;
    }
    return restore::forecast(process, one.trips);
}

/// Ends of a crowd, drawn and scaled to the sum.
std::vector<double> draw_ends(const std::vector<ShareForecast>& told, std::uint64_t which) {
    std::vector<double> ends;
    double sum = 0;
    const auto count = static_cast<double>(told.size());
    for (std::size_t k = 0; k < told.size(); ++k) {
        double normal = -6;
        for (std::uint64_t i = 0; i < 12; ++i) {
            normal += uniform(which, k, i);
        }
        ends.push_back(
            std::max(told[k].end + normal * told[k].end_sd * std::sqrt(count / (count - 1)), 1e-3));
        sum += ends.back();
    }
    for (double& end : ends) {
        end *= count / sum;
    }
    return ends;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
    double squares = 0;
    for (std::size_t k = 0; k < a.size(); ++k) {
        squares += (a[k] - b[k]) * (a[k] - b[k]);
    }
    return std::sqrt(squares / static_cast<double>(a.size()));
}

/// Energy score of the ends, by 16 draws.
double joint_score(const Crowd& crowd, const std::vector<ShareForecast>& told) {
    constexpr std::uint64_t kDraws = 16;
    std::vector<double> truth;
    for (const ShareCase& one : crowd) {
        truth.push_back(one.end);
    }
    std::vector<std::vector<double>> drawn;
    for (std::uint64_t d = 0; d < kDraws; ++d) {
        drawn.push_back(draw_ends(told, d));
    }
    double sum = 0;
    for (std::uint64_t d = 0; d < kDraws; ++d) {
        sum += distance(drawn[d], truth) / kDraws -
               distance(drawn[d], drawn[(d + 1) % kDraws]) / 2 / kDraws;
    }
    return sum;
}

struct Scores {
    double mean = 0;
    double end = 0;
    double joint = 0;
    double within = 0;  ///< ends between the forecast's 10 and 90%
    double flows = 0;
    double crowds = 0;
};

void judge(const Data& data, const ShareCoefficients& learned) {
    std::printf(
        "| packets per flow | flows | predictor | mean | end | joint | in 10-90%% |\n"
        "| --- | --- | --- | --- | --- | --- | --- |\n");
    const double edges[] = {0, 10, 40, 1e9, 0};
    const char* const names[] = {"under 10", "10 to 40", "40 and more", "all"};
    for (int bin = 0; bin < 4; ++bin) {
        const double low = bin < 3 ? edges[bin] : 0;
        const double high = bin < 3 ? edges[bin + 1] : 1e9;
        for (const char* const who : {"hold", "fluid", "ou", "learned"}) {
            Scores scores;
            for (const Crowd& crowd : data.crowds) {
                const double packets = restore::packets_per_flow(crowd.front().past);
                if (packets < low || packets >= high) {
                    continue;
                }
                const congestion::Parameters law = law_of(data, crowd.front().past);
                std::vector<ShareForecast> told;
                for (const ShareCase& one : crowd) {
                    told.push_back(told_by(who, one, law, learned));
                    scores.mean += score(told.back().mean, told.back().mean_sd, one.mean);
                    scores.end += score(told.back().end, told.back().end_sd, one.end);
                    scores.within +=
                        std::abs(one.end - told.back().end) < 1.2816 * told.back().end_sd ? 1 : 0;
                    scores.flows += 1;
                }
                scores.joint += joint_score(crowd, told);
                scores.crowds += 1;
            }
            std::printf("| %s | %.0f | `%s` | %.5f | %.5f | %.5f | %.0f%% |\n", names[bin],
                        scores.flows, who, scores.mean / scores.flows, scores.end / scores.flows,
                        scores.joint / scores.crowds, 100 * scores.within / scores.flows);
        }
    }
}

void run(int argc, char** argv) {
    int at = 1;
    const bool fits = argc > 1 && std::strcmp(argv[1], "--fit") == 0;
    at += fits ? 1 : 0;
    if (argc - at < 2 || (argc - at) % 2 != 0) {
        throw std::runtime_error("usage: share_study [--fit] CASES_DIR SERIES_DIR [...]");
    }
    ShareCoefficients learned = *restore::learned_shares(congestion::Law::hpcc);
    if (fits) {
        const Data data = read_half(argc - at, argv + at, "tune");
        std::fprintf(stderr, "%zu crowds to fit to\n", data.crowds.size());
        learned = fit(data);
        print(learned);
    }
    judge(read_half(argc - at, argv + at, "judge"), learned);
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "share_study: %s\n", error.what());
        return 2;
    }
    return 0;
}
