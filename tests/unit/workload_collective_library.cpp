// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "core/error.h"
#include "tests/unit/error_of.h"
#include "tests/unit/workload_collective_data.h"
#include "tests/unit/workload_fake_engine.h"
#include "workloads/collective/binary_tree.h"
#include "workloads/collective/collective_library.h"
#include "workloads/job/workload.h"

using namespace sluice;
using collective_data::Byte;
using collective_data::DataFlow;

namespace {

using Kind = CollectiveKind;
using Algorithm = CollectiveAlgorithm;

/// Bandwidths differ so that a test sees which one was used.
IntraNode intra_node() {
    std::vector<IntraNode::Calibration> calibrations;
    double bandwidth = 100e9;
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
        calibrations.push_back({static_cast<Kind>(kind), 2, {4 * kMicrosecond, bandwidth}});
        bandwidth += 10e9;
    }
    return IntraNode(calibrations);
}

/// Ranks in servers of `gpus`, one rail per place.
CollectiveOptions options_for(std::uint32_t gpus, bool computed) {
    CollectiveOptions options;
    options.server = [gpus](RankId rank) { return rank / gpus; };
    options.rail = [gpus](RankId rank) { return rank % gpus; };
    options.computed_in_server = computed;
    options.intra_node = intra_node();
    return options;
}

Members members_of(std::vector<RankId> ranks) {
    Members members;
    members.after.assign(ranks.size(), kNone);
    members.ranks = std::move(ranks);
    return members;
}

Members first_ranks(std::size_t n) {
    std::vector<RankId> ranks(n);
    std::iota(ranks.begin(), ranks.end(), 0U);
    return members_of(ranks);
}

CollectiveSpec spec_of(std::int64_t bytes) { return {"test", "group", OpClass::dp, bytes}; }

/// One collective of a property test.
struct Trial {
    Kind kind = Kind::all_reduce;
    Algorithm algorithm = Algorithm::ring;
    std::uint32_t gpus = 1;  ///< per server
    std::vector<RankId> ranks;
    std::int64_t bytes = 1;
    CollectiveOptions options;

    std::string text() const {
        std::string members;
        for (const RankId rank : ranks) members += " " + std::to_string(rank);
        return std::string(to_string(kind)) + " " + to_string(algorithm) + " of " +
               std::to_string(bytes) + " B, ranks" + members + " of servers of " +
               std::to_string(gpus) + ", channels " + std::to_string(options.channels) +
               ", chunk " + std::to_string(options.chunk) + ", window " +
               std::to_string(options.window) +
               (options.computed_in_server ? ", computed" : ", network");
    }
};

bool two_level(Algorithm algorithm) {
    return algorithm == Algorithm::hierarchical || algorithm == Algorithm::nvls;
}

/// Bytes of the tensor that member `member` has after a reduce-scatter and before an all-gather.
std::vector<bool> share(const Trial& trial, std::size_t member) {
    const std::size_t n = trial.ranks.size();
    std::vector<bool> mine(static_cast<std::size_t>(trial.bytes), false);
    const auto mark = [&](Slice slice) {
        for (std::int64_t i = 0; i < slice.bytes; ++i) {
            mine[static_cast<std::size_t>(slice.offset + i)] = true;
        }
    };
    const Slice whole{0, trial.bytes};
    if (!two_level(trial.algorithm)) {
        const auto channels = std::min<std::int64_t>(trial.options.channels, trial.bytes);
        for (std::int64_t channel = 0; channel < channels; ++channel) {
            mark(part_of(part_of(whole, static_cast<std::size_t>(channels),
                                 static_cast<std::size_t>(channel)),
                         n, member));
        }
        return mine;
    }
    // Numbered by (rail, server); members are in order of server and rail here.
    const std::size_t servers = n / trial.gpus;
    const std::size_t part = member % trial.gpus * servers + member / trial.gpus;
    const std::int64_t chunk = trial.options.chunk;
    const auto pieces =
        static_cast<std::size_t>(chunk == 0 ? 1 : (trial.bytes + chunk - 1) / chunk);
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        mark(part_of(part_of(whole, pieces, piece), n, part));
    }
    return mine;
}

/// Runs the trial in random orders; whenever a member is done it must have what it is to have.
void check_data(const Trial& trial, std::uint64_t seed) {
    CAPTURE(trial.text());
    CAPTURE(seed);
    const std::size_t n = trial.ranks.size();
    const bool exchange = trial.kind == Kind::all_to_all;
    DataFlow data(trial.ranks,
                  exchange ? trial.bytes * static_cast<std::int64_t>(n) : trial.bytes);
    JobGraph graph(*std::max_element(trial.ranks.begin(), trial.ranks.end()) + 1);
    CollectiveLibrary library(graph, trial.options);
    library.watch(data.watcher());
    const std::vector<OpId> done =
        library.add(trial.kind, spec_of(trial.bytes), members_of(trial.ranks), trial.algorithm);
    graph.finish();
    REQUIRE(done.size() == n);

    const auto block = [&](std::size_t from, std::size_t to) {
        return part_of({static_cast<std::int64_t>(from) * trial.bytes, trial.bytes}, n, to);
    };
    const auto only = [&](std::size_t who) {
        Byte byte(n, 0);
        byte[who] = 1;
        return byte;
    };
    std::vector<std::vector<bool>> shares;
    for (std::size_t i = 0; i < n; ++i) shares.push_back(share(trial, i));
    const Byte all(n, 1);
    // What everybody begins with.
    for (std::size_t i = 0; i < n; ++i) {
        if (exchange) {
            for (std::int64_t b = 0; b < trial.bytes; ++b) {
                data.at(i, static_cast<std::int64_t>(i) * trial.bytes + b) = only(i);
            }
            continue;
        }
        for (std::int64_t b = 0; b < trial.bytes; ++b) {
            const bool has = trial.kind == Kind::all_gather ? shares[i][static_cast<size_t>(b)]
                             : trial.kind == Kind::broadcast ? i == 0
                                                             : true;
            if (has) data.at(i, b) = only(i);
        }
    }
    // What member i must have when it is done.
    const auto complete = [&](std::size_t i) {
        if (exchange) {
            for (std::size_t from = 0; from < n; ++from) {
                const Slice slice = block(from, i);
                for (std::int64_t b = 0; b < slice.bytes; ++b) {
                    if (data.at(i, slice.offset + b) != only(from)) return false;
                }
            }
            return true;
        }
        for (std::int64_t b = 0; b < trial.bytes; ++b) {
            const auto index = static_cast<std::size_t>(b);
            const Byte& byte = data.at(i, b);
            if (trial.kind == Kind::all_reduce && byte != all) return false;
            if (trial.kind == Kind::reduce && i == 0 && byte != all) return false;
            if (trial.kind == Kind::broadcast && byte != only(0)) return false;
            if (trial.kind == Kind::reduce_scatter && shares[i][index] && byte != all) return false;
            if (trial.kind != Kind::all_gather) continue;
            const auto owner = std::find_if(shares.begin(), shares.end(),
                                            [&](const auto& mine) { return mine[index]; });
            if (byte != only(static_cast<std::size_t>(owner - shares.begin()))) return false;
        }
        return true;
    };
    bool right = true;
    const bool finished = data.run(graph, seed, [&](OpId op) {
        for (std::size_t i = 0; i < n; ++i) {
            if (done[i] == op && !complete(i)) right = false;
        }
    });
    CHECK(finished);
    CHECK(right);
}

std::int64_t bytes_carried(const DataFlow& data) {
    std::int64_t sum = 0;
    for (const Transfer& transfer : data.transfers()) {
        for (const Slice& piece : transfer.pieces) sum += piece.bytes;
    }
    return sum;
}

std::int64_t carried(Kind kind, Algorithm algorithm, std::size_t n, std::int64_t bytes,
                     CollectiveOptions options) {
    JobGraph graph(static_cast<RankId>(n));
    DataFlow data(first_ranks(n).ranks, 0);
    CollectiveLibrary library(graph, std::move(options));
    library.watch(data.watcher());
    library.add(kind, spec_of(bytes), first_ranks(n), algorithm);
    graph.finish();
    return bytes_carried(data);
}

struct Pairing {
    Kind kind;
    Algorithm algorithm;
};

const std::vector<Pairing> kPairings = {
    {Kind::all_reduce, Algorithm::ring},
    {Kind::all_reduce, Algorithm::tree},
    {Kind::all_reduce, Algorithm::halving_doubling},
    {Kind::all_reduce, Algorithm::direct},
    {Kind::all_reduce, Algorithm::hierarchical},
    {Kind::reduce_scatter, Algorithm::ring},
    {Kind::reduce_scatter, Algorithm::halving_doubling},
    {Kind::reduce_scatter, Algorithm::direct},
    {Kind::reduce_scatter, Algorithm::hierarchical},
    {Kind::all_gather, Algorithm::ring},
    {Kind::all_gather, Algorithm::halving_doubling},
    {Kind::all_gather, Algorithm::direct},
    {Kind::all_gather, Algorithm::hierarchical},
    {Kind::broadcast, Algorithm::ring},
    {Kind::broadcast, Algorithm::tree},
    {Kind::reduce, Algorithm::ring},
    {Kind::reduce, Algorithm::tree},
    {Kind::all_to_all, Algorithm::direct},
    {Kind::all_to_all, Algorithm::pairwise},
    {Kind::all_to_all, Algorithm::hierarchical},
    {Kind::all_to_all, Algorithm::pxn},
};

}  // namespace

TEST_CASE("unit.collective_library.every_member_gets_what_it_needs") {
    // Random sizes, groups and options. A byte of a sum must hold each contribution exactly once
    // when its member is done, in whatever order messages complete.
    std::mt19937_64 random(20);
    const auto draw = [&](std::uint64_t least, std::uint64_t most) {
        return least + random() % (most - least + 1);
    };
    for (const Pairing& pairing : kPairings) {
        for (int round = 0; round < 40; ++round) {
            Trial trial;
            trial.kind = pairing.kind;
            trial.algorithm = pairing.algorithm;
            trial.gpus = static_cast<std::uint32_t>(draw(1, 4));
            std::size_t n = draw(2, 13);
            const bool levels = two_level(trial.algorithm);
            if (levels) n = trial.gpus * draw(trial.gpus == 1 ? 2 : 1, 4);
            if (trial.algorithm == Algorithm::pxn) n = std::max<std::size_t>(n, trial.gpus + 1);
            if (trial.algorithm == Algorithm::halving_doubling && trial.kind != Kind::all_reduce) {
                n = std::size_t{1} << draw(1, 3);
            }
            trial.ranks = first_ranks(n).ranks;
            if (!levels && draw(0, 1) == 1) {
                std::shuffle(trial.ranks.begin(), trial.ranks.end(), random);
            }
            trial.bytes = static_cast<std::int64_t>(draw(1, 90));
            // The hierarchical algorithms in one server copies of which nothing crosses a network
            // carry data by meets only, which a test cannot follow.
            const bool followed = !(levels && trial.kind != Kind::all_to_all);
            trial.options = options_for(trial.gpus, followed && draw(0, 1) == 1);
            trial.options.channels = static_cast<std::uint32_t>(draw(1, 4));
            if (draw(0, 1) == 1) trial.options.chunk = static_cast<std::int64_t>(draw(1, 30));
            trial.options.window = static_cast<std::uint32_t>(draw(0, 2));
            trial.options.overhead = draw(0, 1) == 1 ? 100 : 0;
            trial.options.step_overhead = draw(0, 1) == 1 ? 100 : 0;
            check_data(trial, random());
        }
    }
}
