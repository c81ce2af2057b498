// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/chakra_graph.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "workloads/chakra/group_members.h"
#include "workloads/chakra/node_times.h"

namespace sluice::chakra {

namespace {

constexpr RankResourceId kSharedMemory = kResources;
constexpr RankResourceId kFirstQueue = kSharedMemory + 1;

std::optional<Simulated> simulated(CollectiveType type) {
    switch (type) {
        case CollectiveType::all_reduce: return Simulated::all_reduce;
        case CollectiveType::all_gather: return Simulated::all_gather;
        case CollectiveType::reduce_scatter: return Simulated::reduce_scatter;
        case CollectiveType::all_to_all: return Simulated::all_to_all;
        default: return std::nullopt;
    }
}

class JobBuilder {
  public:
    JobBuilder(const std::vector<Trace>& traces, const AstraSystem& system,
               const JobOptions& options, ImportReport& report)
        : traces_(traces),
          system_(system),
          options_(options),
          report_(report),
          job_(std::make_unique<ChakraJob>(
              ChakraJob{JobGraph(static_cast<RankId>(traces.size())), {}, {}})),
          expander_(job_->graph, system, options.expansion, kFirstQueue) {}

    std::unique_ptr<ChakraJob> build() {
        check_ranks();
        check_world(options_.groups, traces_.size(), report_);
        if (misfits() > 0) return nullptr;
        job_->first.resize(traces_.size());
        job_->last.resize(traces_.size());
        for (RankId rank = 0; rank < traces_.size(); ++rank) add_nodes(rank);
        for (RankId rank = 0; rank < traces_.size(); ++rank) gather(rank);
        if (misfits() == 0) match_messages();
        if (misfits() == 0) match_collectives();
        if (misfits() > 0) return nullptr;
        for (RankId rank = 0; rank < traces_.size(); ++rank) add_dependencies(rank);
        job_->graph.finish();
        return std::move(job_);
    }

  private:
    std::size_t misfits() const { return report_.count(ImportNote::Kind::misfit); }
    JobGraph& graph() { return job_->graph; }

    void check_ranks() {
        std::uint64_t npus = 1;
        for (const std::uint32_t dim : options_.expansion.dims) npus *= dim;
        if (npus != traces_.size()) {
            report_.misfit(traces_.empty() ? "traces" : traces_.front().path(),
                           "there are traces of " + std::to_string(traces_.size()) +
                               " ranks; the dimensions have " + std::to_string(npus) + " NPUs");
        }
        const RemoteMemory& memory = options_.memory;
        if (memory.kind == RemoteMemory::Kind::per_node &&
            static_cast<std::uint64_t>(memory.nodes) * memory.npus_per_node < traces_.size()) {
            report_.misfit("remote memory", std::to_string(memory.nodes) + " nodes of " +
                                                std::to_string(memory.npus_per_node) +
                                                " NPUs are fewer than the " +
                                                std::to_string(traces_.size()) + " ranks");
        }
    }

    /// Names are optional in a trace; what is blocked must be told apart all the same.
    NameId name_of(RankId rank, std::uint32_t node) {
        const std::string_view name = traces_[rank].name(node);
        if (!name.empty()) return graph().intern(name);
        return graph().intern("node " + std::to_string(traces_[rank].id(node)));
    }

    Label label(RankId rank, std::uint32_t node, OpClass cls) {
        return {name_of(rank, node), cls, kNone};
    }

    Tick replayed(const Trace& trace, std::uint32_t node) const {
        return replayed_time(trace.duration_us(node));
    }

    Tick computed(const Trace& trace, std::uint32_t node) const {
        return compute_time(system_, trace.on_cpu(node), trace.duration_us(node), trace.work(node),
                            options_.compute_scale);
    }

    /// Operations that wait for a resource, in the order of the nodes' ids: that decides who is
    /// next. A recv has its operation once it is matched.
    void add_nodes(RankId rank) {
        const Trace& trace = traces_[rank];
        std::vector<OpId>& first = job_->first[rank];
        std::vector<OpId>& last = job_->last[rank];
        first.assign(trace.size(), kNone);
        last.assign(trace.size(), kNone);
        for (std::uint32_t node = 0; node < trace.size(); ++node) {
            const NodeType type = trace.type(node);
            if (type == NodeType::comp) {
                first[node] =
                    graph().add_task(rank, trace.on_cpu(node) ? kCpu : kGpuCompute,
                                     computed(trace, node), label(rank, node, OpClass::compute));
                last[node] = first[node];
            } else if (type == NodeType::invalid || type == NodeType::metadata) {
                first[node] = graph().add_delay(rank, 0, label(rank, node, OpClass::other));
                last[node] = first[node];
            } else if (is_memory(type)) {
                add_memory(rank, node);
            } else if (system_.replay_only) {
                add_replayed(rank, node);
            } else if (type != NodeType::comm_recv) {
                const Label name = label(rank, node, OpClass::other);
                first[node] = graph().add_acquire(rank, kGpuComm, name);
                last[node] = graph().add_release(rank, kGpuComm, name);
            }
        }
    }

    void add_replayed(RankId rank, std::uint32_t node) {
        const Tick time = replayed(traces_[rank], node);
        const Label name = label(rank, node, OpClass::other);
        const OpId op = traces_[rank].type(node) == NodeType::comm_recv
                            ? graph().add_delay(rank, time, name)
                            : graph().add_task(rank, kGpuComm, time, name);
        job_->first[rank][node] = op;
        job_->last[rank][node] = op;
    }

    /// A memory of one rank's own serves at once; one that is shared is a resource of the first of
    /// the ranks that share it, and is asked and answers by signals.
    void add_memory(RankId rank, std::uint32_t node) {
        const Trace& trace = traces_[rank];
        const RemoteMemory& memory = options_.memory;
        const RankResourceId resource = trace.on_cpu(node) ? kCpu : kGpuComm;
        const Label name = label(rank, node, OpClass::other);
        if (memory.kind == RemoteMemory::Kind::none && !system_.replay_only) {
            report_.misfit(trace.where(node),
                           "accesses remote memory, and there is none "
                           "(NO_MEMORY_EXPANSION)");
            return;
        }
        const Tick time =
            system_.replay_only
                ? replayed(trace, node)
                : nanoseconds(memory.latency) +
                      nanoseconds(static_cast<double>(trace.value(node)) / memory.bandwidth);
        if (system_.replay_only || memory.kind == RemoteMemory::Kind::per_npu) {
            job_->first[rank][node] = graph().add_task(rank, resource, time, name);
            job_->last[rank][node] = job_->first[rank][node];
            return;
        }
        const RankId server = memory.kind == RemoteMemory::Kind::pool
                                  ? 0
                                  : rank / memory.npus_per_node * memory.npus_per_node;
        const OpId acquire = graph().add_acquire(rank, resource, name);
        OpId answer = kNone;
        if (server == rank) {
            answer = graph().add_task(rank, kSharedMemory, time, name);
            graph().add_dependency(answer, acquire);
        } else {
            const JobGraph::Pair request =
                graph().add_signal(rank, server, options_.signal_delay, name);
            graph().add_dependency(request.from, acquire);
            const OpId access = graph().add_task(server, kSharedMemory, time, name);
            graph().add_dependency(access, request.to);
            const JobGraph::Pair reply =
                graph().add_signal(server, rank, options_.signal_delay, name);
            graph().add_dependency(reply.from, access);
            answer = reply.to;
        }
        const OpId release = graph().add_release(rank, resource, name);
        graph().add_dependency(release, answer);
        graph().add_dependency(release, acquire);
        job_->first[rank][node] = acquire;
        job_->last[rank][node] = release;
    }

    struct End {
        RankId rank;
        std::uint32_t node;
    };
    struct GroupCalls {
        std::vector<RankId> members;
        std::map<RankId, std::vector<std::uint32_t>> nodes;  ///< in issue order
    };

    /// Sorts a rank's communications by whom they are with, in issue order.
    void gather(RankId rank) {
        if (system_.replay_only) return;
        const Trace& trace = traces_[rank];
        rank_groups_.assign(trace.group_names().size() + 1, nullptr);
        for (const std::uint32_t node : trace.issue_order()) {
            const NodeType type = trace.type(node);
            if (type != NodeType::comm_coll && type != NodeType::comm_send &&
                type != NodeType::comm_recv) {
                continue;
            }
            if (trace.value(node) > static_cast<std::uint64_t>(kLargestMessage.count)) {
                report_.misfit(trace.where(node), "has " + std::to_string(trace.value(node)) +
                                                      " bytes: at most 2^50 are allowed");
            } else if (type == NodeType::comm_coll) {
                gather_collective(rank, node);
            } else {
                gather_message(rank, node, type == NodeType::comm_send);
            }
        }
    }

    void gather_message(RankId rank, std::uint32_t node, bool send) {
        const Communication& comm = traces_[rank].communication(node);
        const std::uint32_t src = comm.src == kNone ? rank : comm.src;
        const std::uint32_t dst = comm.dst == kNone ? rank : comm.dst;
        if ((send ? src : dst) != rank) {
            report_.misfit(traces_[rank].where(node),
                           send ? "is a send of rank " + std::to_string(src) + " in the trace of " +
                                      std::to_string(rank)
                                : "is a recv of rank " + std::to_string(dst) + " in the trace of " +
                                      std::to_string(rank));
        } else if ((send ? dst : src) >= traces_.size()) {
            report_.misfit(traces_[rank].where(node),
                           "is with rank " + std::to_string(send ? dst : src) +
                               ": the ranks are 0 to " + std::to_string(traces_.size() - 1));
        } else if (src == dst) {
            report_.misfit(traces_[rank].where(node), "is a message of a rank to itself");
        } else {
            (send ? sends_ : recvs_)[{comm.tag, src, dst}].push_back({rank, node});
        }
    }

    void gather_collective(RankId rank, std::uint32_t node) {
        const Trace& trace = traces_[rank];
        const Communication& comm = trace.communication(node);
        if (!simulated(comm.type)) {
            report_.skipped(trace.where(node), std::string(to_string(comm.type)) +
                                                   " is not simulated: it takes its duration, "
                                                   "without traffic");
            const OpId wait =
                graph().add_delay(rank, replayed(trace, node), label(rank, node, OpClass::other));
            join(wait, job_->first[rank][node], job_->last[rank][node]);
            return;
        }
        if (comm.dims_given && comm.dim_count < options_.expansion.dims.size()) {
            report_.misfit(trace.where(node), "involved_dim has " + std::to_string(comm.dim_count) +
                                                  " entries; the network has " +
                                                  std::to_string(options_.expansion.dims.size()) +
                                                  " dimensions");
            return;
        }
        const std::size_t group = comm.group == kNone ? trace.group_names().size() : comm.group;
        if (rank_groups_[group] == nullptr) {
            const std::optional<std::vector<RankId>> members =
                group_members(traces_[rank], rank, node, traces_.size(), options_.groups, report_);
            if (!members) return;
            const std::string name =
                comm.group == kNone ? std::string() : trace.group_names()[comm.group];
            rank_groups_[group] = &calls_[{name, *members}];
            rank_groups_[group]->members = *members;
        }
        rank_groups_[group]->nodes[rank].push_back(node);
    }

    void join(OpId op, OpId begin, OpId end) {
        graph().add_dependency(op, begin);
        graph().add_dependency(end, op);
        graph().add_dependency(end, begin);
    }

    void match_messages() {
        for (auto& [key, sends] : sends_) {
            std::vector<End>& recvs = recvs_[key];
            for (std::size_t i = 0; i < sends.size(); ++i) {
                if (i >= recvs.size()) {
                    report_unmatched(sends[i], "recv of rank " + std::to_string(std::get<2>(key)),
                                     std::get<0>(key));
                    continue;
                }
                add_message(sends[i], recvs[i]);
            }
        }
        for (const auto& [key, recvs] : recvs_) {
            const auto it = sends_.find(key);
            for (std::size_t i = it == sends_.end() ? 0 : it->second.size(); i < recvs.size();
                 ++i) {
                report_unmatched(recvs[i], "send of rank " + std::to_string(std::get<1>(key)),
                                 std::get<0>(key));
            }
        }
    }

    void report_unmatched(const End& end, const std::string& wanted, std::int64_t tag) {
        report_.misfit(
            traces_[end.rank].where(end.node),
            "has no partner: a " + wanted + " with tag " + std::to_string(tag) + " is missing");
    }

    void add_message(const End& send, const End& recv) {
        const std::uint64_t bytes = traces_[send.rank].value(send.node);
        if (bytes != traces_[recv.rank].value(recv.node)) {
            report_.misfit(traces_[send.rank].where(send.node),
                           "sends " + std::to_string(bytes) + " bytes, " +
                               traces_[recv.rank].where(recv.node) + " receives " +
                               std::to_string(traces_[recv.rank].value(recv.node)));
            return;
        }
        const Label name = label(send.rank, send.node, OpClass::pp);
        // A recv that rendezvous makes ask for its message needs an operation to begin with.
        const OpId posted =
            options_.expansion.rendezvous ? graph().add_delay(recv.rank, 0, name) : kNone;
        const OpId begin = job_->first[send.rank][send.node];
        const OpId end = job_->last[send.rank][send.node];
        const JobGraph::Pair pair = expander_.add_message(
            send.rank, recv.rank, scaled_bytes(bytes, options_.comm_scale), name, begin, posted);
        graph().add_dependency(end, pair.from);
        graph().add_dependency(end, begin);
        job_->first[recv.rank][recv.node] = posted == kNone ? pair.to : posted;
        job_->last[recv.rank][recv.node] = pair.to;
    }

    void match_collectives() {
        for (const auto& [key, calls] : calls_) {
            const std::string group = key.first.empty() ? "the world" : "group " + key.first;
            std::size_t most = 0;
            RankId who = calls.members.front();
            for (const auto& [rank, nodes] : calls.nodes) {
                if (nodes.size() > most) {
                    most = nodes.size();
                    who = rank;
                }
            }
            bool complete = true;
            for (const RankId rank : calls.members) {
                const auto it = calls.nodes.find(rank);
                const std::size_t count = it == calls.nodes.end() ? 0 : it->second.size();
                if (count == most) continue;
                complete = false;
                report_.misfit(traces_[who].where(calls.nodes.at(who)[count]),
                               "has no partner on rank " + std::to_string(rank) + ", which has " +
                                   std::to_string(count) + " collectives of " + group + ", not " +
                                   std::to_string(most));
            }
            for (std::size_t i = 0; complete && i < most; ++i) match_collective(calls, i, group);
        }
    }

    void match_collective(const GroupCalls& calls, std::size_t index, const std::string& group) {
        const RankId leader = calls.members.front();
        const std::uint32_t lead = calls.nodes.at(leader)[index];
        const Communication& comm = traces_[leader].communication(lead);
        const std::uint64_t bytes = traces_[leader].value(lead);
        CollectiveCall call;
        call.kind = *simulated(comm.type);
        call.bytes = scaled_bytes(bytes, options_.comm_scale);
        call.members = calls.members;
        call.world = calls.members.size() == traces_.size();
        call.dims_given = comm.dims_given && call.world && group == "the world";
        call.dims = comm.dims;
        call.node = traces_[leader].id(lead);
        for (const RankId rank : calls.members) {
            const std::uint32_t node = calls.nodes.at(rank)[index];
            const Communication& other = traces_[rank].communication(node);
            if (other.type != comm.type || traces_[rank].value(node) != bytes ||
                other.dims_given != comm.dims_given || other.dims != comm.dims) {
                report_.misfit(traces_[rank].where(node),
                               std::string(to_string(other.type)) + " of " +
                                   std::to_string(traces_[rank].value(node)) + " bytes is number " +
                                   std::to_string(index) + " of " + group + ", as is " +
                                   to_string(comm.type) + " of " + std::to_string(bytes) +
                                   " bytes at " + traces_[leader].where(lead) +
                                   " (type, comm_size and involved_dim must agree)");
                return;
            }
            call.starts.push_back(job_->first[rank][node]);
            call.ends.push_back(job_->last[rank][node]);
        }
        if (misfits() > 0) return;
        Collective collective;
        collective.name = name_of(leader, lead);
        collective.group = graph().intern(group);
        collective.cls = OpClass::other;
        collective.members = static_cast<std::uint32_t>(call.members.size());
        // The convention of nccl-tests: the full tensor of an all-gather, not a rank's share.
        collective.bytes =
            call.bytes * (call.kind == Simulated::all_gather ? collective.members : 1);
        call.label = {collective.name, OpClass::other, graph().add_collective(collective)};
        expander_.expand(call);
        for (std::size_t m = 0; m < call.members.size(); ++m) {
            graph().add_dependency(call.ends[m], call.starts[m]);
        }
    }

    void add_dependencies(RankId rank) {
        const Trace& trace = traces_[rank];
        for (std::uint32_t node = 0; node < trace.size(); ++node) {
            for (const std::uint32_t* on = trace.deps_begin(node); on != trace.deps_end(node);
                 ++on) {
                graph().add_dependency(job_->first[rank][node], job_->last[rank][*on]);
            }
        }
    }

    const std::vector<Trace>& traces_;
    const AstraSystem& system_;
    const JobOptions& options_;
    ImportReport& report_;
    std::unique_ptr<ChakraJob> job_;
    CollectiveExpander expander_;
    using MessageKey = std::tuple<std::int64_t, RankId, RankId>;  ///< tag, source, destination
    std::map<MessageKey, std::vector<End>> sends_;
    std::map<MessageKey, std::vector<End>> recvs_;
    std::map<std::pair<std::string, std::vector<RankId>>, GroupCalls> calls_;
    /// Of the rank that is gathered: its groups in calls_ as far as they are known, the world last.
    std::vector<GroupCalls*> rank_groups_;
};

}  // namespace

std::unique_ptr<ChakraJob> build_job(const std::vector<Trace>& traces, const AstraSystem& system,
                                     const JobOptions& options, ImportReport& report) {
    if (traces.empty()) throw ConfigError("a job needs at least one trace");
    return JobBuilder(traces, system, options, report).build();
}

}  // namespace sluice::chakra
