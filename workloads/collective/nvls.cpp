// SPDX-License-Identifier: Apache-2.0
/// NVLink SHARP: the server's NVSwitches add up what they read from all GPUs and send one copy to
/// all of them, so that a GPU's links carry S (n + 1) / n each way in an all-reduce.
#include "core/error.h"
#include "workloads/collective/algorithms.h"

namespace sluice {

namespace {

/// Of an all-reduce in one server whose links are part of the network. Switches of a network add
/// nothing up, so messages stand for the load: S (n + 1) / n from each member to the next one is
/// what leaves and enters each GPU. Before that every member tells every other that its data is
/// there, as the kernels do.
std::vector<OpId> add_link_load(Schedule& schedule) {
    const Member n = schedule.size();
    const std::int64_t bytes = schedule.tensor().bytes;
    std::vector<std::vector<OpId>> present(n);
    for (Member from = 0; from < n; ++from) {
        for (Member step = 1; step < n; ++step) {
            const Member to = (from + step) % n;
            const Hop hop = schedule.transfer(from, to, Slice{}, false);
            schedule.depend(hop.first, schedule.start(from));
            schedule.depend(hop.received, schedule.start(to));
            present[to].push_back(hop.received);
        }
    }
    std::vector<OpId> ready;
    for (Member member = 0; member < n; ++member) {
        ready.push_back(schedule.join(member, present[member]));
    }
    std::vector<OpId> done(n);
    for (Member from = 0; from < n; ++from) {
        const Member to = (from + 1) % n;
        // The whole tensor, and the member's part of it once more: the parts add up to one tensor.
        const Slice load{0, bytes + part_of(schedule.tensor(), n, from).bytes};
        const Hop hop = schedule.transfer(from, to, load, false);
        schedule.depend(hop.first, ready[from]);
        schedule.depend(hop.received, ready[to]);
        done[to] = hop.received;
    }
    return done;
}

/// The same where a rank stands for the switches: in each of four chunks every member sends its
/// part of the tensor there, one chunk behind the other, and when all members' parts have come the
/// sum goes back to each. (S / 4 each way at a time, the last chunk's way back alone: S x 5 / 4 and
/// five latencies. SimAI, MockNcclGroup.cc, genAllreduceNVLSFlowModels.)
std::vector<OpId> add_switch_reduction(Schedule& schedule) {
    constexpr std::size_t kChunks = 4;
    const Member n = schedule.size();
    std::vector<std::vector<OpId>> ends(n);
    std::vector<OpId> sent;
    for (Member member = 0; member < n; ++member) sent.push_back(schedule.start(member));
    for (std::size_t chunk = 0; chunk < kChunks; ++chunk) {
        const std::int64_t bytes = part_of(schedule.tensor(), kChunks, chunk).bytes;
        std::vector<OpId> summed;
        for (Member member = 0; member < n; ++member) {
            const Hop up = schedule.to_nvswitch(member, bytes);
            schedule.depend(up.first, sent[member]);
            sent[member] = up.sent;
            summed.push_back(up.received);
        }
        for (Member member = 0; member < n; ++member) {
            const Hop down = schedule.from_nvswitch(member, bytes);
            for (const OpId part : summed) schedule.depend(down.first, part);
            schedule.depend(down.received, schedule.start(member));
            ends[member].push_back(down.received);
        }
    }
    std::vector<OpId> done;
    for (Member member = 0; member < n; ++member) {
        ends[member].push_back(sent[member]);
        done.push_back(schedule.join(member, ends[member]));
    }
    return done;
}

/// In one server, as a whole: the calibration contains the software.
bool is_computed(const Schedule& schedule) {
    return schedule.options().computed_in_server && schedule.servers().size() == 1;
}

std::vector<OpId> add_nvls(Schedule& schedule, CollectiveKind kind) {
    const CollectiveOptions& options = schedule.options();
    const Servers servers = schedule.equal_servers("nvls");
    if (servers.front().size() == 1) {
        schedule.fail("algorithm nvls needs several members in each server");
    }
    if (!options.computed_in_server) {
        if (servers.size() > 1 || kind != CollectiveKind::all_reduce) {
            schedule.fail(
                "algorithm nvls over a simulated network does all-reduce inside one server; for "
                "more, traffic inside servers must be computed");
        }
        return options.nvswitch ? add_switch_reduction(schedule) : add_link_load(schedule);
    }
    if (!options.nvls) {
        schedule.fail("algorithm nvls needs a GPU type that has NVLS");
    }
    if (servers.size() > 1) {
        return add_two_level(schedule, kind, servers, servers.front().size(), *options.nvls,
                             AcrossServers::ring);
    }
    std::vector<OpId> after;
    for (const Member member : servers.front()) after.push_back(schedule.start(member));
    const std::vector<OpId> parts = schedule.meet(
        servers.front(), options.nvls->time(kind, schedule.size(), schedule.tensor().bytes), after);
    std::vector<OpId> done(schedule.size());
    for (std::size_t i = 0; i < parts.size(); ++i) done[servers.front()[i]] = parts[i];
    return done;
}

/// NCCL's NVLSTree: the same inside, a double binary tree of servers on each rail.
std::vector<OpId> add_nvls_tree(Schedule& schedule, CollectiveKind kind) {
    const CollectiveOptions& options = schedule.options();
    const Servers servers = schedule.equal_servers("nvls-tree");
    if (servers.size() == 1 || servers.front().size() == 1) {
        schedule.fail("algorithm nvls-tree needs several servers with several members each");
    }
    if (!options.computed_in_server || !options.nvls) {
        schedule.fail(
            "algorithm nvls-tree needs a GPU type that has NVLS, and traffic inside servers that "
            "is computed");
    }
    return add_two_level(schedule, kind, servers, servers.front().size(), *options.nvls,
                         AcrossServers::tree);
}

}  // namespace

extern const AlgorithmType kNvlsTreeAlgorithm{
    "nvls-tree",
    "NVSwitches add and multicast, trees of servers across; else as nvls",
    {CollectiveKind::all_reduce},
    add_nvls_tree};

extern const AlgorithmType kNvlsAlgorithm{
    "nvls",
    "NVSwitches add and multicast; needs a GPU that has NVLS, and the same rails in all servers",
    {CollectiveKind::all_reduce, CollectiveKind::reduce_scatter, CollectiveKind::all_gather},
    add_nvls,
    nullptr,
    UsualChannels::one,
    nullptr,
    is_computed};

}  // namespace sluice
