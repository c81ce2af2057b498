// SPDX-License-Identifier: Apache-2.0
/// NCCL's choice between servers, against its formulae worked out by hand: n members in N servers of g, GB/s and us.
#include "workloads/model/nccl_plan.h"

#include <doctest/doctest.h>

#include <string>

using namespace sluice;
using doctest::Approx;

namespace {

using Kind = CollectiveKind;

NcclGroup h100(std::uint32_t servers, std::uint32_t per_server) {
    NcclGroup group;
    group.members = servers * per_server;
    group.servers = servers;
    group.least_per_server = per_server;
    group.link = {true, 370.8e9};
    group.nic_bytes_per_second = 50e9;
    group.nvls = true;
    return group;
}

double model_us(const NcclGroup& group, Kind kind, std::int64_t bytes,
                NcclNetworkAlgorithm algorithm, NcclProtocol protocol) {
    const auto plan = plan_nccl(group, kind, bytes, {algorithm, protocol});
    REQUIRE(plan);
    return plan->model_us;
}

}  // namespace

TEST_CASE("unit.nccl_plan.rings_take_what_nccls_formulae_say") {
    // 8 NICs: the search finds 8 channels of 48, since a GPU sends 7 of them through its 370.8. Of an all-reduce of 16:
    // 30 steps, 2 of them between servers, 28 inside at no less than the NIC's post.
    const NcclGroup group = h100(2, 8);
    const double mb = 1 << 20;
    CHECK(
        model_us(group, Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::ring, NcclProtocol::ll) ==
        Approx(6.6 + 28 * 1.0 + 2 * 2.7 + mb / 1e3 / (39 * 16 / 30.0)));
    CHECK(model_us(group, Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::ring,
                   NcclProtocol::ll128) ==
          Approx(14 + 28 * 1.9 + 2 * 4.0 + mb / 1e3 / (8 * 36.7 * 16 / 30.0)));
    CHECK(model_us(group, Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::ring,
                   NcclProtocol::simple) ==
          Approx(1.4 * (8.4 + 28 * 3.4 + 2 * 14) + mb / 1e3 / (384 * 16 / 30.0)));
    // An all-gather has half of the steps and no plateau.
    CHECK(model_us(group, Kind::all_gather, 1 << 20, NcclNetworkAlgorithm::ring,
                   NcclProtocol::simple) ==
          Approx(8.4 + 14 * 3.4 + 14 + mb / 1e3 / (384 * 16 / 15.0)));
    // With four servers LL gets less.
    CHECK(model_us(h100(4, 8), Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::ring,
                   NcclProtocol::ll) ==
          Approx(6.6 + 56 * 1.0 + 6 * 2.7 + mb / 1e3 / (20.4 * 32 / 62.0)));
}

TEST_CASE("unit.nccl_plan.trees_are_corrected_by_size") {
    // 1 MiB is 64 B x 2^14: 0.5, 0.6 and 0.5 of the bandwidth. Two servers: one level; inside, 7 steps of a chain.
    const NcclGroup group = h100(2, 8);
    const double kb = (1 << 20) / 1e3;
    CHECK(model_us(group, Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::tree,
                   NcclProtocol::ll) == Approx(6.8 + 2 * (7 * 0.6 + 5) + kb / (39 / 2.0 * 0.5)));
    CHECK(model_us(group, Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::tree,
                   NcclProtocol::ll128) ==
          Approx(14 + 2 * (7 * 1.25 + 8.5) + kb / (8 * 36.7 / 2 * 0.6)));
    CHECK(model_us(group, Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::tree,
                   NcclProtocol::simple) ==
          Approx(8.4 + 2 * (7 * 4.0 + 14) + kb / (8 * 41.4 / 2 * 0.5)));
    // Eight servers: three levels.
    CHECK(model_us(h100(8, 8), Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::tree,
                   NcclProtocol::simple) ==
          Approx(8.4 + 2 * (7 * 4.0 + 3 * 14) + kb / (8 * 36 / 2.0 * 0.5)));
}

TEST_CASE("unit.nccl_plan.nvls_trees_need_nvswitches_that_add") {
    // Heads of 45 inside (8 x 45 <= 370.8): 45 x 0.85 x 7 / 8 x 2 = 66.9, NICs 2 x 48; the cap of 57.7 counts.
    NcclGroup group = h100(2, 8);
    const double kb = (1 << 20) / 1e3;
    CHECK(model_us(group, Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::nvls_tree,
                   NcclProtocol::simple) == Approx(25 + 2 * 20.9 + kb / (8 * 57.7 * 16 / 30)));
    CHECK(plan_nccl(group, Kind::all_reduce, 1 << 28)->algorithm ==
          NcclNetworkAlgorithm::nvls_tree);
    CHECK(!plan_nccl(group, Kind::all_gather, 1 << 28, {NcclNetworkAlgorithm::nvls_tree, {}}));
    CHECK(!plan_nccl(h100(2, 2), Kind::all_reduce, 1 << 28, {NcclNetworkAlgorithm::nvls_tree, {}}));
    group.nvls = false;
    CHECK(plan_nccl(group, Kind::all_reduce, 1 << 28)->algorithm == NcclNetworkAlgorithm::ring);
    // A100's do not add.
    group = h100(2, 8);
    group.link.bytes_per_second = 240e9;
    CHECK(plan_nccl(group, Kind::all_reduce, 1 << 28)->algorithm == NcclNetworkAlgorithm::ring);
}

TEST_CASE("unit.nccl_plan.one_gpu_per_server") {
    // One NIC of 48, which is searched as two channels of 24. PAT: 4 levels of 16 servers.
    const NcclGroup group = h100(16, 1);
    const double kb = (1 << 20) / 1e3;
    CHECK(model_us(group, Kind::all_gather, 1 << 20, NcclNetworkAlgorithm::pat,
                   NcclProtocol::simple) == Approx(8 + 4 * 14 / 3.5 + 16 * 2.8 + kb / (0.75 * 48)));
    // Nothing hides a ring's steps there; a tree has the plain pattern.
    CHECK(model_us(group, Kind::all_gather, 1 << 20, NcclNetworkAlgorithm::ring,
                   NcclProtocol::ll) == Approx(6.6 + 15 * 5 + kb / (20.4 * 16 / 15)));
    CHECK(model_us(group, Kind::all_reduce, 1 << 20, NcclNetworkAlgorithm::tree,
                   NcclProtocol::ll128) ==
          Approx(14 + 2 * 4 * 8.5 + kb / (0.92 * 48 * 120 / 128 * 0.85 / 2 * 0.6)));
    CHECK(!plan_nccl(h100(2, 8), Kind::all_gather, 1 << 20, {NcclNetworkAlgorithm::pat, {}}));
    CHECK(!plan_nccl(group, Kind::all_reduce, 1 << 20, {NcclNetworkAlgorithm::pat, {}}));
}

TEST_CASE("unit.nccl_plan.links_and_nics_bound_the_channels") {
    // A100 with NICs of 25: 8 x 24. PCIe carries a ring and its NIC: one channel of 24 through 25.6.
    NcclGroup group = h100(4, 8);
    group.link = {true, 240e9};
    group.nic_bytes_per_second = 25e9;
    const double kb = (1 << 20) / 1e3;
    CHECK(model_us(group, Kind::all_gather, 1 << 20, NcclNetworkAlgorithm::ring,
                   NcclProtocol::simple) ==
          Approx(8.4 + 28 * 3.4 + 3 * 14 + kb / (8 * 24 * 32 / 31.0)));
    group.link = {false, 25.6e9};
    CHECK(model_us(group, Kind::all_gather, 1 << 20, NcclNetworkAlgorithm::ring,
                   NcclProtocol::simple) ==
          Approx(8.4 + 28 * 5.7 + 3 * 14 + kb / (24 * 32 / 31.0)));
    CHECK(!plan_nccl(group, Kind::all_gather, 1 << 20, {{}, NcclProtocol::ll128}));
}

TEST_CASE("unit.nccl_plan.channels_and_chunks_grow_with_size") {
    const NcclGroup group = h100(2, 8);
    const auto plan = [&](std::int64_t bytes, NcclNetworkAlgorithm algorithm,
                          NcclProtocol protocol) {
        return *plan_nccl(group, Kind::all_reduce, bytes, {algorithm, protocol});
    };
    // A ring's LL: a channel for each 512 threads x 8 B x 16 members. 16 channels on 8 NICs.
    CHECK(plan(1 << 16, NcclNetworkAlgorithm::ring, NcclProtocol::ll).nccl_channels == 1);
    CHECK(plan(3 << 16, NcclNetworkAlgorithm::ring, NcclProtocol::ll).nccl_channels == 3);
    CHECK(plan(1 << 26, NcclNetworkAlgorithm::ring, NcclProtocol::ll).nccl_channels == 16);
    CHECK(plan(1 << 26, NcclNetworkAlgorithm::ring, NcclProtocol::ll).channels == 8);
    CHECK(plan(1 << 26, NcclNetworkAlgorithm::ring, NcclProtocol::ll).text() ==
          "ring LL, 16 channels");
    CHECK(plan(1 << 16, NcclNetworkAlgorithm::tree, NcclProtocol::simple).nccl_channels == 2);
    CHECK(plan(1 << 26, NcclNetworkAlgorithm::ring, NcclProtocol::simple).chunk == 1 << 20);
    CHECK(plan(1 << 26, NcclNetworkAlgorithm::ring, NcclProtocol::simple).in_flight == 4);
    CHECK(plan(1 << 26, NcclNetworkAlgorithm::ring, NcclProtocol::ll).chunk == 1 << 15);
    // A tree's LL128 has more chunks in flight of small tensors.
    CHECK(plan(1 << 20, NcclNetworkAlgorithm::tree, NcclProtocol::ll128).chunk == 18'000);
    CHECK(plan(std::int64_t{1} << 32, NcclNetworkAlgorithm::tree, NcclProtocol::ll128).chunk ==
          576'000);
    // 16 channels x 8 heads x 128 KiB.
    CHECK(plan(1 << 30, NcclNetworkAlgorithm::nvls_tree, NcclProtocol::simple).chunk == 1 << 24);
}

TEST_CASE("unit.nccl_plan.flags_travel_with_the_data") {
    CHECK(wire_bytes(NcclProtocol::ll, 1000) == 2000);
    CHECK(wire_bytes(NcclProtocol::ll128, 120) == 128);
    CHECK(wire_bytes(NcclProtocol::ll128, 121) == 256);
    CHECK(wire_bytes(NcclProtocol::simple, 1000) == 1000);
    CHECK(is_planned(Kind::all_reduce));
    CHECK(!is_planned(Kind::all_to_all));
    CHECK(!is_planned(Kind::broadcast));
}
