// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <string>

#include "core/error.h"
#include "core/job/job_checks.h"
#include "core/job/workload.h"
#include "tests/support/error_of.h"
#include "tests/support/fake_engine.h"
#include "tests/support/plain_collectives.h"
#include "tests/workloads/collective/collective_data.h"
#include "workloads/collective/binary_tree.h"
#include "workloads/collective/collective_library.h"

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
    options.nccl = NcclHardware{{true, 370.8e9}, [](RankId) { return 50e9; }, {}};
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
    DataFlow data(trial.ranks, exchange ? trial.bytes * static_cast<std::int64_t>(n) : trial.bytes);
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
            const bool has = trial.kind == Kind::all_gather  ? shares[i][static_cast<size_t>(b)]
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
    {Kind::all_gather, Algorithm::pat},
    {Kind::reduce_scatter, Algorithm::pat},
    {Kind::all_reduce, Algorithm::nccl},
    {Kind::reduce_scatter, Algorithm::nccl},
    {Kind::all_gather, Algorithm::nccl},
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
    {Kind::all_to_all, Algorithm::deepep_dispatch},
    {Kind::all_to_all, Algorithm::deepep_combine},
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
            const bool crosses =
                trial.algorithm == Algorithm::pxn || trial.algorithm == Algorithm::nccl;
            if (crosses) n = std::max<std::size_t>(n, trial.gpus + 1);
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
            if (draw(0, 1) == 1) trial.options.ring_pxn = {trial.kind};
            trial.options.last_first = draw(0, 1) == 1;
            if (draw(0, 1) == 1) trial.options.receipt_notice = 100;
            trial.options.ring_order = draw(0, 1) == 1 ? RingOrder::rail : RingOrder::given;
            if (draw(0, 2) == 0) {
                trial.options.joined = [gpus = trial.gpus](RankId a, RankId b) {
                    return a % gpus == b % gpus;
                };
            }
            trial.options.window = static_cast<std::uint32_t>(draw(0, 2));
            trial.options.overhead = draw(0, 1) == 1 ? 100 : 0;
            trial.options.step_overhead = draw(0, 1) == 1 ? 100 : 0;
            check_data(trial, random());
        }
    }
}

TEST_CASE("unit.collective_library.servers_of_unequal_size") {
    // Every algorithm but the two whose parts are numbered by rail and server, on servers with holes.
    std::mt19937_64 random(7);
    const auto draw = [&](std::uint64_t least, std::uint64_t most) {
        return least + random() % (most - least + 1);
    };
    for (const Pairing& pairing : kPairings) {
        const bool levels = two_level(pairing.algorithm);
        if (levels && pairing.kind != Kind::all_reduce) continue;
        if (pairing.algorithm == Algorithm::halving_doubling && pairing.kind != Kind::all_reduce) {
            continue;  // a power of two of members
        }
        for (int round = 0; round < 20; ++round) {
            Trial trial;
            trial.kind = pairing.kind;
            trial.algorithm = pairing.algorithm;
            trial.gpus = 4;
            std::vector<std::pair<std::uint32_t, std::uint32_t>>
                places;  // server and rail, by rank
            const std::uint64_t servers = draw(2, 4);
            for (std::uint32_t server = 0; server < servers; ++server) {
                const std::uint64_t there = draw(1, 15);
                for (std::uint32_t rail = 0; rail < 4; ++rail) {
                    if ((there >> rail & 1U) != 0) places.emplace_back(server, rail);
                }
            }
            trial.ranks = first_ranks(places.size()).ranks;
            trial.bytes = static_cast<std::int64_t>(draw(1, 90));
            trial.options = options_for(4, !levels && draw(0, 1) == 1);
            trial.options.server = [places](RankId rank) { return places[rank].first; };
            trial.options.rail = [places](RankId rank) { return places[rank].second; };
            trial.options.channels = static_cast<std::uint32_t>(draw(1, 4));
            if (draw(0, 1) == 1) trial.options.chunk = static_cast<std::int64_t>(draw(1, 30));
            check_data(trial, random());
        }
    }
    JobGraph graph(5);
    CollectiveLibrary library(graph, options_for(3, false));
    for (const Kind kind : {Kind::reduce_scatter, Kind::all_gather}) {
        const std::string error = error_of(
            [&] { library.add(kind, spec_of(100), first_ranks(5), Algorithm::hierarchical); });
        CHECK(error.find("members on the same rails in each server") != std::string::npos);
        CHECK(error.find("server 1 has 2 members, server 0 has 3") != std::string::npos);
    }
}

TEST_CASE("unit.collective_library.bytes_on_the_wire_are_the_closed_forms") {
    // Over all members: all-reduce 2 (n - 1) S, reduce-scatter, all-gather, broadcast and reduce
    // (n - 1) S, all-to-all all but what members keep; whatever the channels and chunks.
    for (const std::int64_t bytes : {1001, 4096, 65'537}) {
        for (const std::uint32_t channels : {1U, 3U}) {
            for (const std::int64_t chunk : {0, 100}) {
                CollectiveOptions options = options_for(4, false);
                options.channels = channels;
                options.chunk = chunk;
                const auto n = std::int64_t{8};
                const auto sent = [&](Kind kind, Algorithm algorithm) {
                    return carried(kind, algorithm, 8, bytes, options);
                };
                for (const Pairing& pairing : kPairings) {
                    CAPTURE(to_string(pairing.kind));
                    CAPTURE(to_string(pairing.algorithm));
                    if (pairing.kind == Kind::all_to_all) continue;
                    const std::int64_t times = pairing.kind == Kind::all_reduce ? 2 : 1;
                    CHECK(sent(pairing.kind, pairing.algorithm) == times * (n - 1) * bytes);
                }
                // Each member keeps its own part; the parts of all members are one tensor.
                CHECK(sent(Kind::all_to_all, Algorithm::direct) == (n - 1) * bytes);
                CHECK(sent(Kind::all_to_all, Algorithm::pairwise) == (n - 1) * bytes);
                // Two servers of four: what a member's three mates have for its rail in the other
                // server, and nothing else, travels twice. Rails 0 to 3 of both servers: parts of
                // all members, once for each of the three mates.
                CHECK(sent(Kind::all_to_all, Algorithm::pxn) == (n - 1) * bytes + 3 * bytes);
                CHECK(sent(Kind::all_to_all, Algorithm::hierarchical) ==
                      (n - 1) * bytes + 3 * bytes);
                // What crosses is for three members beside the one on the rail.
                CHECK(sent(Kind::all_to_all, Algorithm::deepep_dispatch) ==
                      (n - 1) * bytes + 3 * bytes);
                CHECK(sent(Kind::all_to_all, Algorithm::deepep_combine) ==
                      (n - 1) * bytes + 3 * bytes);
            }
        }
    }
}

TEST_CASE("unit.collective_library.nccl_sends_what_its_protocol_does") {
    // 2 servers of 2, 64 B of an all-gather by rings: 3 x 64 B, of which LL sends 2 and LL128 128 bytes for each 16 of a part.
    // Between servers a message waits for NCCL's latency less a microsecond, inside its step is the link's.
    const auto messages = [](NcclProtocol protocol) {
        CollectiveOptions options = options_for(2, true);
        options.channels = kUsualChannels;
        options.chunk = kUsualChunk;
        options.ring_order = RingOrder::rail;
        options.nccl->limits = {NcclNetworkAlgorithm::ring, protocol};
        JobGraph graph(4);
        CollectiveLibrary library(graph, options);
        library.add(Kind::all_gather, spec_of(64), first_ranks(4), Algorithm::nccl);
        graph.finish();
        return graph;
    };
    const std::pair<NcclProtocol, std::int64_t> sizes[] = {
        {NcclProtocol::ll, 32}, {NcclProtocol::ll128, 128}, {NcclProtocol::simple, 16}};
    const std::map<NcclProtocol, Tick> steps = {{NcclProtocol::ll, 1'700 * kNanosecond},
                                                {NcclProtocol::ll128, 3'000 * kNanosecond},
                                                {NcclProtocol::simple, 13'000 * kNanosecond}};
    for (const auto& [protocol, size] : sizes) {
        const JobGraph graph = messages(protocol);
        REQUIRE(graph.messages().size() == 6);  // two members send to the other server, three steps
        for (const JobGraph::Message& message : graph.messages()) CHECK(message.bytes == size);
        std::size_t waits = 0;
        for (OpId op = 0; op < graph.op_count(); ++op) {
            const bool wait = graph.kind(op) == OpKind::delay;
            waits += wait && graph.duration(op) == steps.at(protocol) ? 1 : 0;
        }
        CHECK(waits == 6);
        CHECK(graph.name(graph.collectives()[0].choice) ==
              std::string("ring ") + to_string(protocol) + ", 1 channel");
    }
}

TEST_CASE("unit.collective_library.nccl_is_automatic_where_it_has_no_choice") {
    // Inside a server members meet; an all-to-all between servers is direct. Without hardware it is refused.
    CollectiveOptions options = options_for(2, true);
    {
        JobGraph graph(2);
        CollectiveLibrary library(graph, options);
        library.add(Kind::all_reduce, spec_of(1000), first_ranks(2), Algorithm::nccl);
        graph.finish();
        CHECK(graph.messages().empty());
        CHECK(graph.meetings().size() == 1);
    }
    CHECK(carried(Kind::all_to_all, Algorithm::nccl, 4, 400, options) == 3 * 400);
    JobGraph graph(4);
    options.nccl->limits.algorithm = NcclNetworkAlgorithm::pat;
    CollectiveLibrary limited(graph, options);
    CHECK(error_of([&] {
              limited.add(Kind::all_reduce, spec_of(100), first_ranks(4), Algorithm::nccl);
          }).find("allow nothing that NCCL has") != std::string::npos);
    options.nccl.reset();
    CollectiveLibrary unknown(graph, options);
    CHECK(error_of([&] {
              unknown.add(Kind::all_reduce, spec_of(100), first_ranks(4), Algorithm::nccl);
          }).find("needs to know the GPUs") != std::string::npos);
}

TEST_CASE("unit.collective_library.nvls_trees_cross_servers_by_rail") {
    // 3 servers of 2: each rail has half of the tensor, half of that goes up and down each of two trees of two edges. What is
    // inside a server carries no messages.
    CollectiveOptions options = options_for(2, true);
    options.nvls = intra_node();
    JobGraph graph(6);
    CollectiveLibrary library(graph, options);
    library.add(Kind::all_reduce, spec_of(4000), first_ranks(6), Algorithm::nvls_tree);
    graph.finish();
    CHECK(graph.messages().size() == 2 * 2 * 2 * 2);
    std::int64_t sum = 0;
    for (const JobGraph::Message& message : graph.messages()) {
        CHECK(graph.rank(message.send) % 2 == graph.rank(message.recv) % 2);
        sum += message.bytes;
    }
    CHECK(sum == 2 * 2 * 4000);
    CHECK(graph.meetings().size() == 2 * 3);
    CHECK(error_of([&] {
              library.add(Kind::all_reduce, spec_of(4000), first_ranks(2), Algorithm::nvls_tree);
          }).find("needs several servers") != std::string::npos);
}

TEST_CASE("unit.collective_library.pat_takes_log_n_steps") {
    // 13 members: 4 steps, so each sends 4 messages, of at most half of the parts.
    JobGraph graph(13);
    CollectiveLibrary library(graph, options_for(1, false));
    library.add(Kind::all_gather, spec_of(1300), first_ranks(13), Algorithm::pat);
    graph.finish();
    CHECK(graph.messages().size() == 4 * 13);
    std::int64_t largest = 0;
    for (const JobGraph::Message& message : graph.messages()) {
        largest = std::max(largest, message.bytes);
    }
    CHECK(largest == 600);
}

TEST_CASE("unit.collective_library.messages_hold_all_bytes_of_the_pieces") {
    // 8 members, 24 B: no part is empty, so messages add up to the pieces; with 3 B most parts are,
    // and each still notifies with one byte.
    for (const std::int64_t bytes : {24, 3}) {
        JobGraph graph(8);
        CollectiveLibrary library(graph, options_for(1, false));
        library.add(Kind::all_reduce, spec_of(bytes), first_ranks(8), Algorithm::ring);
        graph.finish();
        std::int64_t sum = 0;
        for (const JobGraph::Message& message : graph.messages()) sum += message.bytes;
        CHECK(sum == (bytes == 24 ? 14 * 24 : 14 * 8));
    }
}

TEST_CASE("unit.collective_library.ring_is_that_of_collectives_h") {
    // Same messages in the same order with the same dependencies: 10 B over 4 members.
    JobGraph plain(4);
    plain::ring_all_reduce(plain, spec_of(10), first_ranks(4));
    plain.finish();
    JobGraph graph(4);
    CollectiveLibrary library(graph, options_for(1, false));
    library.add(Kind::all_reduce, spec_of(10), first_ranks(4));
    graph.finish();
    REQUIRE(graph.op_count() == plain.op_count());
    for (OpId op = 0; op < graph.op_count(); ++op) {
        CHECK(graph.kind(op) == plain.kind(op));
        CHECK(graph.rank(op) == plain.rank(op));
        CHECK(graph.dependency_count(op) == plain.dependency_count(op));
        const OpSpan mine = graph.successors(op);
        const OpSpan theirs = plain.successors(op);
        CHECK(std::equal(mine.begin(), mine.end(), theirs.begin(), theirs.end()));
    }
    for (std::size_t i = 0; i < graph.messages().size(); ++i) {
        CHECK(graph.messages()[i].bytes == plain.messages()[i].bytes);
    }
}

TEST_CASE("unit.collective_library.rings_by_rail_cross_servers_on_a_rail") {
    // 4 servers of 4, 4 channels: every message between servers stays on its rail. In the given order
    // a ring leaves a server one rail before the one on which it enters the next.
    for (const RingOrder order : {RingOrder::rail, RingOrder::given}) {
        JobGraph graph(16);
        CollectiveOptions options = options_for(4, false);
        options.channels = 4;
        options.ring_order = order;
        CollectiveLibrary library(graph, options);
        library.add(Kind::all_gather, spec_of(1600), first_ranks(16), Algorithm::ring);
        graph.finish();
        std::vector<std::size_t> crossings(4, 0);
        for (const JobGraph::Message& message : graph.messages()) {
            const RankId from = graph.rank(message.send);
            const RankId to = graph.rank(message.recv);
            if (from / 4 == to / 4) continue;
            CHECK((from % 4 == to % 4) == (order == RingOrder::rail));
            ++crossings[from % 4];
        }
        // 15 steps in which 4 pairs of servers are crossed, on each channel: evenly by rail.
        for (const std::size_t count : crossings) CHECK(count == 15 * 4);
    }
}

TEST_CASE("unit.collective_library.rings_by_rail_use_the_rails_that_all_servers_have") {
    // Three servers of 4 of which the group has all, rails 1 and 3, and rails 0, 1 and 3, listed in any order: two rings, which
    // cross servers on rails 1 and 3 but where the third one meets the first, and as often on either.
    std::vector<RankId> ranks = {0, 1, 2, 3, 5, 7, 8, 9, 11};
    std::mt19937_64 random(7);
    for (int turn = 0; turn < 10; ++turn) {
        std::shuffle(ranks.begin(), ranks.end(), random);
        JobGraph graph(12);
        CollectiveOptions options = options_for(4, false);
        options.ring_order = RingOrder::rail;
        CollectiveLibrary library(graph, options);
        const Members members{ranks, std::vector<OpId>(ranks.size(), kNone)};
        library.add(Kind::all_gather, spec_of(1800), members, Algorithm::ring);
        graph.finish();
        std::map<RankId, std::size_t> left;
        std::size_t changed = 0;
        for (const JobGraph::Message& message : graph.messages()) {
            const RankId from = graph.rank(message.send);
            const RankId to = graph.rank(message.recv);
            if (from / 4 == to / 4) continue;
            changed += from % 4 == to % 4 ? 0 : 1;
            ++left[from % 4];
        }
        // 8 steps on 2 channels, in which each server is left once.
        CHECK(changed == 8 * 2);
        CHECK(left == std::map<RankId, std::size_t>{{1, 24}, {3, 24}});
    }
}

TEST_CASE("unit.collective_library.nothing_leaves_its_rail_where_rails_are_not_joined") {
    // What a ring, chain or tree has for another rail goes there inside the server, and so do all-to-alls.
    for (const Kind kind : {Kind::all_reduce, Kind::broadcast, Kind::all_to_all}) {
        for (const Algorithm algorithm : {Algorithm::automatic, Algorithm::tree}) {
            if (algorithm == Algorithm::tree && kind == Kind::all_to_all) continue;
            JobGraph graph(12);
            CollectiveOptions options = options_for(4, false);
            options.ring_order = RingOrder::rail;
            options.joined = [](RankId a, RankId b) { return a % 4 == b % 4; };
            CollectiveLibrary library(graph, options);
            library.add(kind, spec_of(4800), first_ranks(12), algorithm);
            graph.finish();
            std::size_t across = 0;
            for (const JobGraph::Message& message : graph.messages()) {
                const RankId from = graph.rank(message.send);
                const RankId to = graph.rank(message.recv);
                if (from / 4 == to / 4) continue;
                ++across;
                CHECK(from % 4 == to % 4);
            }
            CHECK(across > 0);
        }
    }
}

TEST_CASE("unit.collective_library.rings_and_trees_leave_servers_by_all_nics") {
    // Channels left open: as many as members in a server, each of which sends its part of the
    // tensor to another server from another rail. One member per server, or one server: one channel.
    constexpr std::int64_t kBytes = 9600;
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::tree}) {
        for (const std::uint32_t gpus : {1U, 2U, 4U, 12U}) {
            CAPTURE(gpus);
            JobGraph graph(12);
            CollectiveLibrary library(graph, options_for(gpus, false));
            library.add(Kind::all_reduce, spec_of(kBytes), first_ranks(12), algorithm);
            graph.finish();
            std::vector<std::int64_t> by_rail(gpus, 0);
            std::size_t messages = 0;
            for (const JobGraph::Message& message : graph.messages()) {
                ++messages;
                const RankId from = graph.rank(message.send);
                if (from / gpus == graph.rank(message.recv) / gpus) continue;
                by_rail[from % gpus] += message.bytes;
            }
            if (algorithm == Algorithm::ring) {
                const std::size_t channels = gpus == 12 ? 1 : gpus;
                CHECK(messages == channels * 12 * 22);
            }
            for (const std::int64_t bytes : by_rail) CHECK(bytes == by_rail.front());
            CHECK((by_rail.front() > 0) == (gpus < 12));
        }
    }
}

TEST_CASE("unit.collective_library.channels_left_open_are_those_of_the_smallest_server") {
    bool inside = false;
    const auto count = [&](const std::vector<RankId>& ranks) {
        JobGraph graph(64);
        CollectiveOptions options = options_for(8, false);
        options.channels_in_server = inside;
        CollectiveLibrary library(graph, options);
        library.add(Kind::all_gather, spec_of(1 << 20), members_of(ranks), Algorithm::ring);
        graph.finish();
        return graph.messages().size() / (ranks.size() * (ranks.size() - 1));
    };
    CHECK(count({0, 1, 2, 3, 8, 9, 10, 11}) == 4);
    CHECK(count({0, 1, 2, 3, 8, 9, 10, 16, 17}) == 2);
    CHECK(count({0, 8, 16, 24}) == 1);
    CHECK(count({0, 1, 2, 3}) == 1);
    // Members of a server that do not stand together have no ring of their own to rotate.
    CHECK(count({0, 8, 1, 9, 2, 10, 3, 11}) == 1);
    inside = true;
    CHECK(count({0, 1, 2, 3}) == 4);
}

TEST_CASE("unit.collective_library.pxn_rings_stay_on_rails") {
    // 2 servers of 4, a channel per member. In 7 steps each ring crosses between servers twice, each
    // time by way of the member of the sender's server on the rail of entry.
    JobGraph graph(8);
    CollectiveOptions options = options_for(4, false);
    options.ring_pxn = {Kind::all_gather};
    CollectiveLibrary library(graph, options);
    library.add(Kind::all_gather, spec_of(3200), first_ranks(8), Algorithm::ring);
    graph.finish();
    CHECK(graph.messages().size() == 4 * 7 * (8 + 2));
    for (const JobGraph::Message& message : graph.messages()) {
        const RankId from = graph.rank(message.send);
        const RankId to = graph.rank(message.recv);
        CHECK((from / 4 == to / 4 || from % 4 == to % 4));
    }
    JobGraph other(8);
    CollectiveLibrary plain(other, options);
    plain.add(Kind::all_reduce, spec_of(3200), first_ranks(8), Algorithm::ring);
    CHECK(other.messages().size() == 4 * 14 * 8);
}

TEST_CASE("unit.collective_library.order_of_what_is_ready_at_once") {
    for (const bool last_first : {false, true}) {
        CollectiveOptions options = options_for(2, false);
        options.last_first = last_first;
        const auto peers = [&](Kind kind, RankId from) {
            JobGraph graph(4);
            CollectiveLibrary library(graph, options);
            library.add(kind, spec_of(400), first_ranks(4));
            graph.finish();
            std::vector<RankId> found;
            for (const JobGraph::Message& message : graph.messages()) {
                if (graph.rank(message.send) == from) found.push_back(graph.rank(message.recv));
            }
            return found;
        };
        using Ranks = std::vector<RankId>;
        CHECK(peers(Kind::all_to_all, 1) == (last_first ? Ranks{3, 2, 0} : Ranks{2, 3, 0}));
        // Member 0's neighbour is 1 on channel 0, and on channel 1, where 1 comes before it, 3.
        const Ranks ring = peers(Kind::all_gather, 0);
        CHECK(ring == (last_first ? Ranks{3, 3, 3, 1, 1, 1} : Ranks{1, 1, 1, 3, 3, 3}));
    }
}

TEST_CASE("unit.collective_library.double_binary_tree_is_nccls") {
    // Of 12 nodes: 0 above 8; 8 above 4 and 10 (12 does not exist); 4 above 2 and 6; ...
    const Tree first = binary_tree(12, false);
    const std::vector<std::uint32_t> parents = {0, 2, 4, 2, 8, 6, 4, 6, 0, 10, 8, 10};
    CHECK(first.parent == parents);
    // n even: the mirror, so that everybody is a leaf in one of the two. n odd: shifted by one.
    for (std::uint32_t n = 1; n < 70; ++n) {
        const Tree one = binary_tree(n, false);
        const Tree two = binary_tree(n, true);
        std::size_t edges = 0;
        for (std::uint32_t node = 0; node < n; ++node) {
            for (const Tree* tree : {&one, &two}) {
                CHECK(tree->children[node].size() <= 2);
                edges += tree->children[node].size();
                std::uint32_t at = node;
                for (std::uint32_t step = 0; step < n && at != tree->root; ++step) {
                    at = tree->parent[at];
                }
                CHECK(at == tree->root);
            }
            if (n % 2 == 0 && n > 2) {
                CHECK((one.children[node].empty() || two.children[node].empty()));
            }
            if (n % 2 == 0) CHECK(two.parent[n - 1 - node] == n - 1 - one.parent[node]);
            if (n % 2 == 1) CHECK(two.parent[(node + 1) % n] == (one.parent[node] + 1) % n);
        }
        CHECK(edges == 2 * (n - 1));
    }
}

namespace {

constexpr Tick kLatency = kMicrosecond;

/// Runs what `add` adds on ranks without contention; the last of what it returns completes then.
Tick time_of(std::size_t ranks, const CollectiveOptions& options,
             const std::function<std::vector<OpId>(CollectiveLibrary&)>& add) {
    JobGraph graph(static_cast<RankId>(ranks));
    CollectiveLibrary library(graph, options);
    const std::vector<OpId> done = add(library);
    graph.finish();
    check_signals(graph, kLatency);
    Workload work = make_workload(std::move(graph), fake::hosts(ranks));
    fake::Engine(*work.application, work.flows, ranks, kLatency).run();
    REQUIRE(work.application->complete());
    Tick last = 0;
    for (const OpId op : done) last = std::max(last, work.application->end(op));
    return last;
}

Tick time_of(Kind kind, Algorithm algorithm, std::size_t n, std::int64_t bytes,
             const CollectiveOptions& options) {
    return time_of(n, options, [&](CollectiveLibrary& library) {
        return library.add(kind, spec_of(bytes), first_ranks(n), algorithm);
    });
}

}  // namespace

TEST_CASE("unit.collective_library.overhead_counts_once_per_collective") {
    // Ring all-reduce of 8 members: 14 steps of 6000 B at 80 ps/B and the latency; 20 us of software
    // once, 1 us per step 14 times.
    CollectiveOptions options = options_for(1, false);
    const Tick steps = 14 * (6000 * fake::kTicksPerByte + kLatency);
    CHECK(time_of(Kind::all_reduce, Algorithm::ring, 8, 48'000, options) == steps);
    options.overhead = 20 * kMicrosecond;
    CHECK(time_of(Kind::all_reduce, Algorithm::ring, 8, 48'000, options) ==
          steps + 20 * kMicrosecond);
    options.step_overhead = kMicrosecond;
    CHECK(time_of(Kind::all_reduce, Algorithm::ring, 8, 48'000, options) ==
          steps + 34 * kMicrosecond);
}

TEST_CASE("unit.collective_library.steps_of_the_algorithms") {
    const CollectiveOptions options = options_for(1, false);
    const auto step = [](std::int64_t bytes) { return bytes * fake::kTicksPerByte + kLatency; };
    // Halving-doubling of 8: S/2, S/4, S/8 and back.
    const Tick halving = step(24'000) + step(12'000) + step(6000);
    CHECK(time_of(Kind::all_reduce, Algorithm::halving_doubling, 8, 48'000, options) ==
          2 * halving);
    CHECK(time_of(Kind::reduce_scatter, Algorithm::halving_doubling, 8, 48'000, options) ==
          halving);
    // 10 members: all of S to a neighbour, then 8 as above, and all of S back.
    CHECK(time_of(Kind::all_reduce, Algorithm::halving_doubling, 10, 48'000, options) ==
          2 * halving + 2 * step(48'000));
    // All pairs at once, without contention: one part each way.
    CHECK(time_of(Kind::all_reduce, Algorithm::direct, 8, 48'000, options) == 2 * step(6000));
    // Pairwise: a step ends with the acknowledgement of what was sent, one latency later.
    CHECK(time_of(Kind::all_to_all, Algorithm::pairwise, 8, 48'000, options) ==
          7 * step(6000) + 6 * kLatency);
    // Tree of 8, half of S each: 0 - 4 - 2 - 1 is the deepest branch, 3 hops up and 3 down.
    CHECK(time_of(Kind::all_reduce, Algorithm::tree, 8, 48'000, options) == 6 * step(24'000));
    // Broadcast by a tree: from the root to the top of a tree of 7, 3 hops deep.
    CHECK(time_of(Kind::broadcast, Algorithm::tree, 8, 48'000, options) == 4 * step(24'000));
    CHECK(time_of(Kind::broadcast, Algorithm::ring, 8, 48'000, options) == 7 * step(48'000));
}

TEST_CASE("unit.collective_library.computed_inside_a_server") {
    // The whole group in a server of 4: a meet by the linear model, here 4 us and 2 x 3/4 x 1 MB at
    // 100 GB/s = 15 us. The software's overhead is in that calibration.
    CollectiveOptions options = options_for(4, true);
    options.overhead = 20 * kMicrosecond;
    CHECK(time_of(Kind::all_reduce, Algorithm::automatic, 4, 1'000'000, options) ==
          19 * kMicrosecond);
    // All-to-all, 130 GB/s: 3/4 x 1.3 MB takes 7.5 us.
    CHECK(time_of(Kind::all_to_all, Algorithm::automatic, 4, 1'300'000, options) ==
          11'500 * kNanosecond);
    options.overhead = 0;
    // As parts by themselves: three of 325 kB leave each member together.
    CHECK(time_of(Kind::all_to_all, Algorithm::direct, 4, 1'300'000, options) ==
          11'500 * kNanosecond);
    // A ring step inside a server: 160 kB at 160 GB/s, and a hop's 3.4 us.
    CHECK(time_of(Kind::all_reduce, Algorithm::ring, 2, 320'000, options) == 8800 * kNanosecond);
    // A sender's links carry one chunk at a time: 10 chunks of 16 kB take 1 us, not 0.1.
    options.chunk = 16'000;
    CHECK(time_of(Kind::broadcast, Algorithm::ring, 2, 160'000, options) == 4400 * kNanosecond);
}

TEST_CASE("unit.collective_library.usual_chunk_is_nccls") {
    constexpr std::int64_t kKi = 1024;
    const auto tree = [](std::int64_t bytes, std::uint32_t depth) {
        return usual_chunk(Kind::all_reduce, Algorithm::tree, bytes, depth);
    };
    CHECK(tree(4096 * kKi, 1) == 512 * kKi);  // 8 chunks, one level
    CHECK(tree(4095 * kKi, 1) == 256 * kKi);  // 7 would be too few
    CHECK(tree(1024 * kKi, 3) == 64 * kKi);   // 8 at 128, fewer than 12, so 64
    CHECK(tree(64 * kKi, 3) == 32 * kKi);     // never less than 32
    CHECK(usual_chunk(Kind::broadcast, Algorithm::ring, 1000, 3) == 512 * kKi);
    CHECK(usual_chunk(Kind::all_reduce, Algorithm::ring, 1000, 3) == 0);
    // 8 servers are 3 levels; half of 2 MiB per tree: 16 chunks of 64 KiB in 28 hops, up and down.
    JobGraph graph(8);
    CollectiveOptions options = options_for(1, false);
    options.chunk = kUsualChunk;
    CollectiveLibrary library(graph, options);
    library.add(Kind::all_reduce, spec_of(2048 * kKi), first_ranks(8), Algorithm::tree);
    graph.finish();
    CHECK(graph.messages().size() == 16 * 28);
}

TEST_CASE("unit.collective_library.hierarchical_phases") {
    // 2 servers of 4. Reduce-scatter of 480 kB inside: 4 us + 3/4 x 480 kB / 110 GB/s = 3.2727 us;
    // each rail all-reduces 120 kB in 2 steps of 60 kB; all-gather inside at 120 GB/s: 4 + 3 us.
    const CollectiveOptions options = options_for(4, true);
    const Tick scatter = options.intra_node.time(Kind::reduce_scatter, 4, 480'000);
    CHECK(scatter == 7'272'728);
    const Tick across = 2 * (60'000 * fake::kTicksPerByte + kLatency);
    CHECK(time_of(Kind::all_reduce, Algorithm::hierarchical, 8, 480'000, options) ==
          scatter + across + 7 * kMicrosecond);
    // In pieces: the second is scattered while the first is on the network.
    CollectiveOptions pieces = options;
    pieces.chunk = 240'000;
    const Tick half_scatter = options.intra_node.time(Kind::reduce_scatter, 4, 240'000);
    const Tick half_across = 2 * (30'000 * fake::kTicksPerByte + kLatency);
    const Tick half_gather = options.intra_node.time(Kind::all_gather, 4, 240'000);
    REQUIRE(half_across > half_gather);
    CHECK(time_of(Kind::all_reduce, Algorithm::hierarchical, 8, 480'000, pieces) ==
          half_scatter + 2 * half_across + half_gather);
}

TEST_CASE("unit.collective_library.receipts_after_the_acknowledgement") {
    // One step of 500 B in 40 ns and 1 us there, 1 us back, and 1 us until the receiver hears of it.
    CollectiveOptions options = options_for(2, false);
    const auto time = [&] { return time_of(Kind::all_gather, Algorithm::ring, 2, 1000, options); };
    const Tick flow = 500 * fake::kTicksPerByte + kLatency;
    CHECK(time() == flow);
    options.receipt_notice = kLatency;
    CHECK(time() == flow + 2 * kLatency);
    // What each message waits for, inside a server and across.
    options.step_overhead = 5 * kLatency;
    CHECK(time() == flow + 7 * kLatency);
    options.server_step_overhead = 3 * kLatency;
    CHECK(time() == flow + 5 * kLatency);
    options.server = [](RankId rank) { return rank; };
    CHECK(time() == flow + 7 * kLatency);
}

TEST_CASE("unit.collective_library.nvswitches_reduce_in_four_chunks") {
    // 4 members and rank 4 for the NVSwitches. A chunk of 1000 B follows the one before when that is
    // acknowledged; the last one's sum goes back alone.
    CollectiveOptions options = options_for(4, false);
    options.nvswitch = [](std::uint32_t) { return RankId{4}; };
    options.nvswitch_step_overhead = 2 * kLatency;
    std::size_t messages = 0;
    const Tick time = time_of(5, options, [&](CollectiveLibrary& library) {
        const auto done =
            library.add(Kind::all_reduce, spec_of(4000), first_ranks(4), Algorithm::nvls);
        CHECK(done.size() == 4);
        return done;
    });
    JobGraph graph(5);
    CollectiveLibrary library(graph, options);
    library.add(Kind::all_reduce, spec_of(4000), first_ranks(4), Algorithm::nvls);
    for (const JobGraph::Message& message : graph.messages()) {
        CHECK(message.bytes == 1000);
        ++messages;
    }
    CHECK(messages == 4 * 2 * 4);
    const Tick chunk = 1000 * fake::kTicksPerByte;
    CHECK(time == 5 * (chunk + 2 * kLatency) + (3 * 2 + 1) * kLatency + kLatency);
}

TEST_CASE("unit.collective_library.nvls") {
    CollectiveOptions options = options_for(4, true);
    options.nvls = IntraNode({{Kind::all_reduce, 2, {25 * kMicrosecond, 475e9}}});
    // 2 x 3/4 x 1.9 MB / 475 GB/s = 6 us.
    CHECK(time_of(Kind::all_reduce, Algorithm::nvls, 4, 1'900'000, options) == 31 * kMicrosecond);
    // Over a network: everybody tells everybody (1 B), then S (n + 1) / n leaves each member.
    options.computed_in_server = false;
    CHECK(time_of(Kind::all_reduce, Algorithm::nvls, 4, 48'000, options) ==
          (1 + 60'000) * fake::kTicksPerByte + 2 * kLatency);
    JobGraph graph(4);
    CollectiveLibrary library(graph, options);
    library.add(Kind::all_reduce, spec_of(1002), first_ranks(4), Algorithm::nvls);
    graph.finish();
    std::int64_t sum = 0;
    for (const JobGraph::Message& message : graph.messages()) sum += message.bytes;
    CHECK(sum == 12 + 4 * 1002 + 1002);
}

TEST_CASE("unit.collective_library.pxn_waits_for_its_servers_members_only") {
    // 2 servers of 2. Rank 0 starts 50 us late. What rank 1 has for rank 2 goes through rank 0, who
    // is there at 50 us; rank 3 hears of ranks 0 and 1 through rank 1.
    const CollectiveOptions options = options_for(2, false);
    JobGraph graph(4);
    CollectiveLibrary library(graph, options);
    Members members = first_ranks(4);
    members.after[0] = graph.add_delay(0, 50 * kMicrosecond, {});
    const std::vector<OpId> done =
        library.add(Kind::all_to_all, spec_of(4000), members, Algorithm::pxn);
    graph.finish();
    Workload work = make_workload(std::move(graph), fake::hosts(4));
    fake::Engine(*work.application, work.flows, 4, kLatency).run();
    const Tick part = 1000 * fake::kTicksPerByte;
    const auto end = [&](std::size_t i) { return work.application->end(done[i]); };
    CHECK(end(2) == 50 * kMicrosecond + 2 * part + kLatency);
    CHECK(end(3) == 50 * kMicrosecond + part + kLatency + 2 * part + kLatency);
    // The other way there is nobody to wait for but the late member itself.
    CHECK(end(1) == 50 * kMicrosecond + part + kLatency);
    CHECK(end(0) == 50 * kMicrosecond);
}

TEST_CASE("unit.collective_library.experts_copies_cross_once_and_on_one_rail") {
    // 2 servers of 4, 800 B from each of 8 members to each. A token that goes to a server has 2 copies there.
    for (const Algorithm algorithm : {Algorithm::deepep_dispatch, Algorithm::deepep_combine}) {
        CollectiveOptions options = options_for(4, false);
        options.server_copies = 2;
        options.chunk = 400;
        JobGraph graph(8);
        CollectiveLibrary library(graph, options);
        library.add(Kind::all_to_all, spec_of(6400), first_ranks(8), algorithm);
        graph.finish();
        std::int64_t across = 0;
        std::int64_t inside = 0;
        for (const JobGraph::Message& message : graph.messages()) {
            const RankId from = graph.rank(message.send);
            const RankId to = graph.rank(message.recv);
            const bool same = from / 4 == to / 4;
            (same ? inside : across) += message.bytes;
            if (same) continue;
            CHECK(from % 4 == to % 4);
            CHECK(message.bytes == 400);
        }
        CHECK(across == 8 * 4 * 800 / 2);
        // To three mates, and what came or goes across for three.
        CHECK(inside == 8 * 3 * 800 + 8 * 3 * 800);
    }
}

TEST_CASE("unit.collective_library.a_chunk_is_handed_on_while_the_next_one_crosses") {
    // 2 servers of 2: member 0 has 2,000 B for the other server, of which member 3 gets half through member 2.
    const auto end = [&](std::int64_t chunk) {
        CollectiveOptions options = options_for(2, false);
        options.chunk = chunk;
        JobGraph graph(4);
        CollectiveLibrary library(graph, options);
        const std::vector<OpId> done = library.add_uneven_all_to_all(
            spec_of(2000), first_ranks(4), {0, 0, 1000, 1000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
            Algorithm::deepep_dispatch);
        graph.finish();
        Workload work = make_workload(std::move(graph), fake::hosts(4));
        fake::Engine(*work.application, work.flows, 4, kLatency).run();
        return work.application->end(done[3]);
    };
    CHECK(end(0) == (2000 + 1000) * fake::kTicksPerByte + 2 * kLatency);
    // All chunks cross at once here; a half of each goes on.
    CHECK(end(500) == (500 + 250) * fake::kTicksPerByte + 2 * kLatency);
}

TEST_CASE("unit.collective_library.a_combine_sends_first_what_crosses") {
    // 2 servers of 2: member 0 has 300 B for member 1, and 700 B for member 3, which leave by member 1.
    const auto first_inside = [&](Algorithm algorithm) {
        JobGraph graph(4);
        CollectiveLibrary library(graph, options_for(2, false));
        library.add_uneven_all_to_all(spec_of(1000), first_ranks(4),
                                      {0, 300, 0, 700, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
                                      algorithm);
        graph.finish();
        for (const JobGraph::Message& message : graph.messages()) {
            if (graph.rank(message.send) == 0 && graph.rank(message.recv) == 1)
                return message.bytes;
        }
        return std::int64_t{0};
    };
    CHECK(first_inside(Algorithm::deepep_combine) == 700);
    // In a dispatch they cross from member 0 to 2, which hands them on.
    CHECK(first_inside(Algorithm::deepep_dispatch) == 300);
}

TEST_CASE("unit.collective_library.uneven_all_to_all") {
    // Member 0 sends 300 B to 1 and nothing else; 2 sends 100 B to 0. Nothing travels for a zero.
    const std::vector<std::int64_t> bytes = {7, 300, 0, 0, 7, 0, 100, 0, 7};
    for (const Algorithm algorithm : {Algorithm::direct, Algorithm::pairwise}) {
        JobGraph graph(3);
        CollectiveLibrary library(graph, options_for(1, false));
        const std::vector<OpId> done =
            library.add_uneven_all_to_all(spec_of(300), first_ranks(3), bytes, algorithm);
        graph.finish();
        REQUIRE(graph.messages().size() == 2);
        CHECK(graph.messages()[0].bytes + graph.messages()[1].bytes == 400);
        // Member 2 receives nothing: it is done when it has sent.
        CHECK(graph.kind(done[2]) == OpKind::send);
        CHECK(graph.kind(done[1]) == OpKind::recv);
    }
    // Computed: the busiest member's 300 B decide, 4 us and 300 B at 130 GB/s, rounded up.
    CHECK(time_of(3, options_for(4, true), [&](CollectiveLibrary& library) {
              return library.add_uneven_all_to_all(spec_of(300), first_ranks(3), bytes);
          }) == 4 * kMicrosecond + 2308);
}

TEST_CASE("unit.collective_library.uneven_blocks_arrive_by_every_algorithm") {
    std::mt19937_64 random(4);
    for (const Algorithm algorithm :
         {Algorithm::direct, Algorithm::pairwise, Algorithm::hierarchical, Algorithm::pxn,
          Algorithm::deepep_dispatch, Algorithm::deepep_combine}) {
        for (int round = 0; round < 20; ++round) {
            constexpr std::size_t n = 6;
            std::vector<std::int64_t> bytes;
            for (std::size_t i = 0; i < n * n; ++i) {
                bytes.push_back(random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % 9));
            }
            const std::int64_t space = std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
            DataFlow data(first_ranks(n).ranks, space);
            JobGraph graph(n);
            CollectiveLibrary library(graph, options_for(3, random() % 2 == 0));
            library.watch(data.watcher());
            library.add_uneven_all_to_all(spec_of(1), first_ranks(n), bytes, algorithm);
            graph.finish();
            const auto each =
                [&](const std::function<void(std::size_t, std::size_t, std::int64_t)>& what) {
                    std::int64_t offset = 0;
                    for (std::size_t i = 0; i < n * n; ++i) {
                        for (std::int64_t b = 0; b < bytes[i]; ++b) what(i / n, i % n, offset++);
                    }
                };
            each([&](std::size_t from, std::size_t, std::int64_t at) {
                data.at(from, at)[from] = 1;
            });
            CHECK(data.run(graph, random(), [](OpId) {}));
            bool right = true;
            each([&](std::size_t from, std::size_t to, std::int64_t at) {
                right = right && data.at(to, at)[from] == 1;
            });
            CHECK(right);
        }
    }
}

TEST_CASE("unit.collective_library.point_to_point") {
    CollectiveOptions options = options_for(2, true);
    options.overhead = 3 * kMicrosecond;
    const auto time = [&](RankId from, RankId to) {
        return time_of(4, options, [&](CollectiveLibrary& library) -> std::vector<OpId> {
            return {library.add_point_to_point(spec_of(160'000), from, to, kNone).to};
        });
    };
    CHECK(time(0, 1) == 5 * kMicrosecond);  // computed: 4 us and 160 kB at 160 GB/s
    CHECK(time(1, 2) == 3 * kMicrosecond + 160'000 * fake::kTicksPerByte + kLatency);
}

TEST_CASE("unit.collective_library.refusals_say_what_is_allowed") {
    const auto refusal = [](Kind kind, Algorithm algorithm, std::size_t n,
                            CollectiveOptions options) {
        JobGraph graph(static_cast<RankId>(n));
        CollectiveLibrary library(graph, std::move(options));
        return error_of([&] { library.add(kind, spec_of(10), first_ranks(n), algorithm); });
    };
    const auto says = [](const std::string& text, const std::string& part) {
        CAPTURE(text);
        CHECK(text.find(part) != std::string::npos);
    };
    says(refusal(Kind::broadcast, Algorithm::halving_doubling, 4, options_for(1, false)),
         "algorithm halving-doubling cannot do broadcast; allowed are automatic, nccl, computed, "
         "ring, "
         "tree");
    says(refusal(Kind::reduce_scatter, Algorithm::halving_doubling, 6, options_for(1, false)),
         "power of two of members, not for 6");
    says(refusal(Kind::all_reduce, Algorithm::computed, 4, options_for(2, true)),
         "members of one server");
    says(refusal(Kind::reduce_scatter, Algorithm::hierarchical, 5, options_for(2, true)),
         "server 2 has 1 members, server 0 has 2");
    says(refusal(Kind::all_to_all, Algorithm::pxn, 4, options_for(4, false)), "several servers");
    says(refusal(Kind::all_reduce, Algorithm::nvls, 4, options_for(4, true)), "GPU type");
    says(refusal(Kind::all_reduce, Algorithm::nvls, 8, options_for(4, false)), "inside one server");
    says(refusal(Kind::send, Algorithm::direct, 3, options_for(1, false)), "needs 2");
    says(refusal(Kind::send, Algorithm::automatic, 3, options_for(4, true)), "needs 2");
    CollectiveOptions chunks = options_for(1, false);
    chunks.chunk = 1;
    JobGraph graph(1024);
    CollectiveLibrary library(graph, chunks);
    says(error_of([&] {
             library.add(Kind::all_reduce, spec_of(std::int64_t{1} << 40), first_ranks(1024));
         }),
         "takes the job's messages above 50000000");
    CHECK(graph.messages().empty());
}

TEST_CASE("unit.collective_library.too_many_messages_are_refused_before_any_is_built") {
    using Kind = CollectiveKind;
    using Algorithm = CollectiveAlgorithm;
    struct Case {
        Kind kind;
        Algorithm algorithm;
        std::uint32_t channels;
    };
    // 8,192 members: 67 million messages a ring or exchange; 4 channels of 2,048 take 16 million each,
    // so that 16 channels are refused and 4 would not be.
    for (const auto& [kind, algorithm, channels] :
         {Case{Kind::all_gather, Algorithm::ring, 1}, Case{Kind::all_to_all, Algorithm::direct, 1},
          Case{Kind::all_to_all, Algorithm::pairwise, 1},
          Case{Kind::all_reduce, Algorithm::direct, 1},
          Case{Kind::all_reduce, Algorithm::ring, 16}}) {
        const std::size_t ranks = channels == 1 ? 8'192 : 2'048;
        CollectiveOptions options = options_for(1, false);
        options.channels = channels;
        JobGraph graph(ranks);
        CollectiveLibrary library(graph, options);
        const std::string refused =
            error_of([&] { library.add(kind, spec_of(1 << 20), first_ranks(ranks), algorithm); });
        CHECK(refused.find("takes the job's messages above 50000000") != std::string::npos);
        CHECK(graph.messages().empty());
    }
}

TEST_CASE("unit.collective_library.connections_are_of_a_group_and_channel") {
    // A ring of 4 in 2 channels: 8 connections, whatever its kind and however often; another group's
    // are others; an all-to-all of the first group uses its rings' and adds the pairs they lack.
    JobGraph graph(8);
    CollectiveOptions options = options_for(1, false);
    options.channels = 2;
    CollectiveLibrary library(graph, options);
    CollectiveSpec spec = spec_of(64);
    library.add(Kind::all_reduce, spec, first_ranks(4), Algorithm::ring);
    CHECK(graph.messages().connection_count() == 8);
    library.add(Kind::all_gather, spec, first_ranks(4), Algorithm::ring);
    CHECK(graph.messages().connection_count() == 8);
    spec.group = "other";
    library.add(Kind::all_reduce, spec, first_ranks(4), Algorithm::ring);
    CHECK(graph.messages().connection_count() == 16);
    library.add(Kind::all_to_all, spec_of(64), first_ranks(4), Algorithm::direct);
    CHECK(graph.messages().connection_count() == 16 + 2 * 4 * 2);
    graph.finish();
    for (std::uint32_t m = 0; m < graph.messages().size(); ++m) {
        CHECK(graph.messages().connection(m) < graph.messages().connection_count());
    }
}
