// SPDX-License-Identifier: Apache-2.0
#include "workloads/nccl_fit/nccl_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "core/fit/least_squares.h"
#include "core/random.h"

namespace sluice {

namespace {

constexpr int kStarts = 12;
constexpr int kMostEvaluations = 4000;
constexpr std::uint64_t kSeed = 50;
constexpr std::size_t kFewestRows = 3;

struct Noise {
    /// Errors beyond this count linearly, so that single rows that NCCL measured badly do not bend all.
    double usual_error;
    /// What the rows are believed to scatter by; priors are weighed against it.
    double scatter;
};
constexpr Noise kOverNvlink = {0.05, 0.03};
/// The two measurements of a row of 8 members are 10 to 18% from their mean there.
constexpr Noise kOverPcie = {0.1, 0.05};

/// What is expected of a figure before any row is seen, and the spread of its logarithm.
struct Parameter {
    double expected = 1;
    double spread = 1;
};

/// What is expected of one choice. Latencies: of a family's first choice in us, of the others as a
/// multiple of the first's; bandwidth as a part of the largest observed, over PCIe of the link's. Spreads: of the logarithms.
struct Expected {
    NcclAlgorithm algorithm;
    NcclProtocol protocol;
    Parameter base;
    Parameter step;
    Parameter overlap;  ///< less kLeastOverlap
    Parameter bandwidth;
    double of_members;   ///< spread of what a number of members differs by from the mean
    bool grows = false;  ///< the bandwidth is expected to grow with the other members
};

constexpr NcclAlgorithm kAlongRing = NcclAlgorithm::ring;
constexpr NcclAlgorithm kNvls = NcclAlgorithm::nvls;
constexpr NcclAlgorithm kInPairs = NcclAlgorithm::pairs;
constexpr NcclProtocol kLl = NcclProtocol::ll;
constexpr NcclProtocol kLl128 = NcclProtocol::ll128;
constexpr NcclProtocol kSimple = NcclProtocol::simple;

// NCCL's cost model decides which choice is taken (nccl_cost_model.h), but does not tell how long it takes.
// Medians of the fits of A100, H100, B200 and GB200 (NVIDIA's aiconfigurator, NCCL 2.27 and 2.29) and
// their spreads, widened by 0.2. LL has two: one channel, and the many that larger messages get, which
// cost a step more (enqueue.cc); the faster one holds.
constexpr std::array<Expected, 5> kRing = {{
    {kAlongRing, kLl, {7.2, 0.3}, {1.1, 0.3}, {0.6, 0.1}, {0.02, 0.25}, 0.1},
    {kAlongRing, kLl, {1.17, 0.2}, {1.18, 0.2}, {1.3, 0.25}, {0.28, 0.2}, 0.1},
    {kAlongRing, kLl128, {1.55, 0.2}, {1.53, 0.2}, {0.5, 0.4}, {0.4, 0.27}, 0.1},
    {kAlongRing, kSimple, {2.5, 0.3}, {7.9, 0.23}, {0.6, 0.4}, {0.73, 0.2}, 0.1},
    {kNvls, kSimple, {5.9, 0.3}, {1, 0.2}, {1.1, 0.15}, {0.4, 0.2}, 0.1},
}};
// Sends to all others start at once: a step costs little. LL has a channel for each other member.
constexpr std::array<Expected, 3> kPairs = {{
    {kInPairs, kLl, {8.9, 0.3}, {0.42, 0.23}, {0.6, 0.1}, {0.011, 0.34}, 0.1, true},
    {kInPairs, kSimple, {1.7, 0.26}, {1.08, 0.2}, {1.15, 0.15}, {0.5, 0.3}, 0.25},
    {kInPairs, kSimple, {3.4, 0.23}, {2.5, 0.2}, {1.1, 0.15}, {0.69, 0.22}, 0.25},
}};
// Over PCIe the first step costs more, as in NCCL's cost model: 5.7 us for 3.4, 1.0 for 0.6. LL carries half of what the link
// does, Simple most of it. Few channels fill it, so that one choice of Simple stands for two of an all-to-all (the
// mean of their logarithms). A ring's overlap is the same of all. All else is what NVLink showed.
constexpr std::array<Expected, 3> kPcieRing = {{
    {kAlongRing, kLl, {7.2, 0.3}, {1.84, 0.3}, {1, 0.2}, {0.45, 0.3}, 0.1},
    {kAlongRing, kLl, {1.17, 0.2}, {1.18, 0.2}, {1, 0.2}, {0.45, 0.3}, 0.1},
    {kAlongRing, kSimple, {2.5, 0.3}, {7.9, 0.23}, {1, 0.2}, {0.9, 0.2}, 0.1},
}};
constexpr std::array<Expected, 2> kPciePairs = {{
    {kInPairs, kLl, {8.9, 0.3}, {0.7, 0.23}, {0.6, 0.1}, {0.45, 0.3}, 0.1},
    {kInPairs, kSimple, {2.4, 0.3}, {1.65, 0.3}, {1.15, 0.15}, {0.9, 0.2}, 0.1},
}};
/// What is common to a ring's choices: links and channels, and what reducing costs.
constexpr Parameter kOfMembers = {1, 0.25};
constexpr Parameter kOfKinds = {1, 0.15};
constexpr Parameter kOfKindsOfOne = {1, 0.05};  ///< how a single choice differs from that
constexpr Parameter kHeldAtOne = {1, 1e-3};     ///< choices of all-to-all share nothing
/// Over PCIe, relative to two members: all share what leads through switches and processors.
constexpr double kOfPcieMembers = 0.8;
/// How much more those links carry while buffers are cached: whether they do is not known.
constexpr Parameter kOfCaches = {1, 0.3};
/// Reducing costs the GPUs, not those links: kinds differ little there.
constexpr Parameter kOfSharedKinds = {1, 0.03};
constexpr Parameter kOfCachedKinds = {1, 0.05};

/// How the bandwidth of all choices goes with members.
Parameter links_of(std::uint32_t members, bool ring, const NcclLink& link) {
    if (!link.nvlink) return {2.0 / members, kOfPcieMembers};
    return ring ? kOfMembers : kHeldAtOne;
}

double largest_rate(const std::vector<NcclSample>& samples) {
    double most = 0;
    for (const NcclSample& sample : samples) {
        most = std::max(most, static_cast<double>(sample.bytes) / sample.us);
    }
    return most * 1e6;
}

/// The choices of some operations as a vector of logarithms: first what all choices share.
class Family {
  public:
    Family(const std::vector<Expected>& choices, const std::vector<NcclSample>& samples,
           const NcclLink& link) {
        for (const NcclSample& sample : samples) {
            kinds_.insert(sample.kind);
            members_.insert(sample.members);
        }
        const bool ring = choices.front().algorithm != NcclAlgorithm::pairs;
        nvlink_ = link.nvlink;
        shared_ring_ = ring && !nvlink_;
        for (const std::uint32_t members : members_) {
            parameters_.push_back(links_of(members, ring, link));
        }
        parameters_.insert(parameters_.end(), kinds_.size(), ring ? kOfKinds : kHeldAtOne);
        if (shared_ring_) {
            parameters_.insert(parameters_.end(), kinds_.size(), kOfSharedKinds);
            parameters_.insert(parameters_.end(), kinds_.size(), kOfCachedKinds);
            parameters_.push_back(kOfCaches);
        }
        const double rate = nvlink_ ? largest_rate(samples) : link.bytes_per_second;
        for (const Expected& expected : choices) {
            const auto model = nccl_cost_model(link, expected.algorithm, expected.protocol);
            if (!model && expected.algorithm != NcclAlgorithm::pairs) continue;
            choices_.emplace_back(expected, model);
            parameters_.insert(parameters_.end(), {expected.base, expected.step, expected.overlap});
            parameters_.push_back({expected.bandwidth.expected * rate, expected.bandwidth.spread});
            for (const std::uint32_t members : members_) {
                parameters_.push_back({expected.grows ? members - 1.0 : 1, expected.of_members});
            }
            parameters_.insert(parameters_.end(), kinds_.size(), ring ? kOfKindsOfOne : kHeldAtOne);
        }
    }

    const std::vector<Parameter>& parameters() const { return parameters_; }

    /// `values`: the logarithm of each parameter.
    NcclTable table(const double* values) const {
        NcclTable table;
        const auto next = [&] { return std::exp(std::clamp(*values++, -30.0, 60.0)); };
        const auto several = [&](std::size_t count) {
            std::vector<double> factors(count);
            for (double& factor : factors) factor = next();
            return factors;
        };
        const std::vector<double> of_members = several(members_.size());
        const std::vector<double> of_kinds = several(kinds_.size());
        const std::vector<double> of_shared_kinds = several(shared_ring_ ? kinds_.size() : 0);
        std::vector<double> of_cached_kinds = several(of_shared_kinds.size());
        const double gain = shared_ring_ ? next() : 1;
        for (double& factor : of_cached_kinds) factor *= gain;
        for (const auto& [expected, model] : choices_) {
            NcclChoice choice;
            choice.algorithm = expected.algorithm;
            choice.protocol = expected.protocol;
            choice.cost_model = model;
            choice.shared_links = !nvlink_;
            if (!model && !nvlink_ && choice.protocol == kLl) {
                choice.most_block = kLargestPcieLlBlock;
            }
            const bool first = table.choices.empty();
            choice.base_us = next() * (first ? 1 : table.choices.front().base_us);
            choice.step_us = next() * (first ? 1 : table.choices.front().step_us);
            choice.overlap = std::min(16.0, kLeastOverlap + next());
            const double mean = next();
            auto shared = of_members.begin();
            for (const std::uint32_t members : members_) {
                choice.bandwidth.push_back({members, mean * next() * *shared++});
            }
            shared = of_kinds.begin();
            for (const CollectiveKind kind : kinds_) {
                choice.factor[static_cast<std::size_t>(kind)] = next() * *shared++;
            }
            set_factors(choice.shared_factor, of_shared_kinds);
            set_factors(choice.cached_factor, of_cached_kinds);
            if (choice.algorithm == NcclAlgorithm::nvls) restrict_nvls(choice);
            table.choices.push_back(std::move(choice));
        }
        return table;
    }

    const Noise& noise() const { return nvlink_ ? kOverNvlink : kOverPcie; }

  private:
    /// By kinds; none if `values` is empty.
    void set_factors(std::array<double, kCollectiveKinds>& factors,
                     const std::vector<double>& values) const {
        auto kind = kinds_.begin();
        for (const double value : values) factors[static_cast<std::size_t>(*kind++)] = value;
    }

    /// NCCL's cost model never prefers it for the other operations.
    static void restrict_nvls(NcclChoice& choice) {
        choice.fewest_members = kFewestOfNvls;
        for (const CollectiveKind kind :
             {CollectiveKind::all_gather, CollectiveKind::reduce_scatter}) {
            choice.factor[static_cast<std::size_t>(kind)] = 0;
        }
    }

    std::vector<std::pair<Expected, std::optional<NcclChoice::CostModel>>> choices_;
    std::set<CollectiveKind> kinds_;
    std::set<std::uint32_t> members_;
    bool nvlink_ = true;
    bool shared_ring_ = false;  ///< a ring whose members share links
    std::vector<Parameter> parameters_;
};

std::vector<Expected> choices_of(bool all_to_all, const NcclLink& link) {
    if (all_to_all && link.nvlink) return {kPairs.begin(), kPairs.end()};
    if (all_to_all) return {kPciePairs.begin(), kPciePairs.end()};
    if (link.nvlink) return {kRing.begin(), kRing.end()};
    return {kPcieRing.begin(), kPcieRing.end()};
}

/// Rows, then priors.
void residuals_of(const Family& family, const std::vector<NcclSample>& samples, const double* x,
                  double* residuals) {
    const NcclTable table = family.table(x);
    const Noise& noise = family.noise();
    for (const NcclSample& sample : samples) {
        const auto bytes = static_cast<double>(sample.bytes);
        const NcclChoice* choice = table.choose(sample.kind, sample.members, bytes);
        const double error =
            std::log(time_us(*choice, sample.kind, sample.members, bytes) / sample.us) /
            noise.usual_error;
        // Its square is 2 (sqrt(1 + error^2) - 1): error^2 when small, linear when large.
        *residuals++ = error * std::sqrt(2 / (1 + std::sqrt(1 + error * error)));
    }
    for (const Parameter& parameter : family.parameters()) {
        const double off = *x++ - std::log(parameter.expected);
        *residuals++ = noise.scatter / noise.usual_error * off / parameter.spread;
    }
}

/// Uniform in [-1, 1].
double draw(int start, std::size_t index) {
    const std::uint64_t bits =
        mix_bits(mix_bits(kSeed + static_cast<std::uint64_t>(start)) + index);
    return static_cast<double>(bits >> 11) * 0x1p-52 - 1;
}

/// The best of several starts around what is expected: the minimum over choices has valleys.
std::pair<double, NcclTable> best_table(const Family& family,
                                        const std::vector<NcclSample>& samples) {
    const std::vector<Parameter>& parameters = family.parameters();
    LeastSquares problem;
    problem.parameters = parameters.size();
    problem.residuals = samples.size() + parameters.size();
    problem.evaluate = [&](const double* x, double* residuals) {
        residuals_of(family, samples, x, residuals);
    };
    problem.most_evaluations = kMostEvaluations;
    std::pair<double, NcclTable> best{0, {}};
    for (int start = 0; start < kStarts; ++start) {
        std::vector<double> x(parameters.size());
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const double off = start == 0 ? 0 : draw(start, i) * parameters[i].spread;
            x[i] = std::log(parameters[i].expected) + off;
        }
        const double cost = minimize(problem, x);
        if (start == 0 || cost < best.first) best = {cost, family.table(x.data())};
    }
    return best;
}

std::vector<NcclSample> of_kinds(const std::vector<NcclSample>& samples, bool all_to_all) {
    std::vector<NcclSample> chosen;
    std::copy_if(samples.begin(), samples.end(), std::back_inserter(chosen),
                 [&](const NcclSample& sample) {
                     return (sample.kind == CollectiveKind::all_to_all) == all_to_all;
                 });
    return chosen;
}

void check(const std::vector<NcclSample>& samples) {
    if (samples.empty()) throw ConfigError("no rows to fit");
    std::map<CollectiveKind, std::size_t> rows;
    for (const NcclSample& sample : samples) ++rows[sample.kind];
    for (const auto& [kind, count] : rows) {
        if (!supports(NcclAlgorithm::ring, kind) && !supports(NcclAlgorithm::pairs, kind)) {
            throw ConfigError(std::string(to_string(kind)) +
                              " has no table; all-reduce, all-gather, reduce-scatter and "
                              "all-to-all have");
        }
        if (count >= kFewestRows) continue;
        throw ConfigError(std::string(to_string(kind)) + " has " + std::to_string(count) +
                          " rows; a fit needs at least 3");
    }
}

bool before(const NcclSample& a, const NcclSample& b) {
    return std::tie(a.kind, a.members, a.bytes, a.us) < std::tie(b.kind, b.members, b.bytes, b.us);
}

}  // namespace

NcclTable fit_nccl_table(std::vector<NcclSample> samples, const NcclLink& link) {
    check(samples);
    std::sort(samples.begin(), samples.end(), before);
    NcclTable table;
    if (const auto rows = of_kinds(samples, false); !rows.empty()) {
        table = best_table(Family(choices_of(false, link), rows, link), rows).second;
    }
    if (const auto rows = of_kinds(samples, true); !rows.empty()) {
        const Family family(choices_of(true, link), rows, link);
        for (NcclChoice& choice : best_table(family, rows).second.choices) {
            table.choices.push_back(std::move(choice));
        }
    }
    return table;
}

std::size_t parameter_count(const NcclTable& table) {
    const auto kinds_of = [](const std::array<double, kCollectiveKinds>& factors) {
        return static_cast<std::size_t>(std::count_if(factors.begin(), factors.end(),
                                                      [](double factor) { return factor > 0; }));
    };
    std::size_t count = 0;
    std::size_t of_shared_links = 0;  // the same for all choices
    for (const NcclChoice& choice : table.choices) {
        // One kind's factor only scales the bandwidths, also of shared links.
        count += 3 + choice.bandwidth.size() + kinds_of(choice.factor) - 1;
        const std::size_t shared = kinds_of(choice.shared_factor);
        if (shared > 0) of_shared_links = shared - 1 + kinds_of(choice.cached_factor);
    }
    return count + of_shared_links;
}

std::vector<double> relative_errors(const NcclTable& table,
                                    const std::vector<NcclSample>& samples) {
    std::vector<double> errors;
    for (const NcclSample& sample : samples) {
        const auto bytes = static_cast<double>(sample.bytes);
        const NcclChoice* choice = table.choose(sample.kind, sample.members, bytes);
        if (choice == nullptr) {
            throw ConfigError(std::string("the table has no choice for ") + to_string(sample.kind));
        }
        errors.push_back(time_us(*choice, sample.kind, sample.members, bytes) / sample.us - 1);
    }
    return errors;
}

std::vector<double> held_out_errors(const std::vector<NcclSample>& samples, const NcclLink& link) {
    std::map<std::pair<CollectiveKind, std::uint32_t>, std::set<std::int64_t>> sizes;
    for (const NcclSample& sample : samples) {
        sizes[{sample.kind, sample.members}].insert(sample.bytes);
    }
    std::vector<double> errors(samples.size());
    for (const std::ptrdiff_t half : {0, 1}) {
        std::vector<NcclSample> fitted;
        std::vector<std::size_t> judged;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            const auto& own = sizes[{samples[i].kind, samples[i].members}];
            const auto place = std::distance(own.begin(), own.find(samples[i].bytes));
            if (place % 2 == half) {
                fitted.push_back(samples[i]);
            } else {
                judged.push_back(i);
            }
        }
        const NcclTable table = fit_nccl_table(fitted, link);
        for (const std::size_t i : judged) errors[i] = relative_errors(table, {samples[i]}).front();
    }
    return errors;
}

std::array<NcclErrors, kNcclBands> errors_of(const std::vector<double>& relative,
                                             const std::vector<NcclSample>& samples) {
    std::array<std::vector<double>, kNcclBands> bands;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::int64_t bytes = samples[i].bytes;
        const std::size_t band = bytes <= (1 << 16)   ? 0
                                 : bytes <= (1 << 22) ? 1
                                 : bytes <= (1 << 26) ? 2
                                                      : 3;
        for (const std::size_t into : {band, kNcclBands - 1}) {
            bands[into].push_back(std::abs(relative[i]));
        }
    }
    std::array<NcclErrors, kNcclBands> result{};
    for (std::size_t band = 0; band < kNcclBands; ++band) {
        std::vector<double>& errors = bands[band];
        if (errors.empty()) continue;
        std::sort(errors.begin(), errors.end());
        const std::size_t n = errors.size();
        result[band] = {n, (errors[(n - 1) / 2] + errors[n / 2]) / 2,
                        errors[(n * 95 + 99) / 100 - 1]};
    }
    return result;
}

}  // namespace sluice
