// SPDX-License-Identifier: Apache-2.0
#include "workloads/collective/schedule.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "core/error.h"
#include "workloads/collective/algorithms.h"

namespace sluice {

void check_size(const CollectiveSpec& spec, const Members& members) {
    if (members.ranks.empty() || members.ranks.size() != members.after.size()) {
        throw InternalError("a collective needs members, each with an operation to start after");
    }
    if (spec.bytes < 1) {
        throw ConfigError("collective \"" + spec.name + "\" has " + std::to_string(spec.bytes) +
                          " bytes: it must have at least 1");
    }
}

namespace {

void check_unlike(const CollectiveSpec& spec, const Members& members) {
    std::vector<RankId> sorted = members.ranks;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
        throw ConfigError("collective \"" + spec.name + "\" lists rank " + std::to_string(*twice) +
                          " twice: members must differ");
    }
}

}  // namespace

Label label_instance(JobGraph& graph, const CollectiveSpec& spec, std::size_t members) {
    Collective collective;
    collective.name = graph.intern(spec.name);
    collective.group = graph.intern(spec.group);
    collective.cls = spec.cls;
    collective.members = static_cast<std::uint32_t>(members);
    collective.bytes = spec.bytes;
    if (!spec.choice.empty()) collective.choice = graph.intern(spec.choice);
    return {collective.name, spec.cls, graph.add_collective(collective)};
}

Slice part_of(Slice whole, std::size_t parts, std::size_t index) {
    const auto count = static_cast<std::int64_t>(parts);
    const auto i = static_cast<std::int64_t>(index);
    const std::int64_t each = whole.bytes / count;
    const std::int64_t more = whole.bytes % count;
    return {whole.offset + i * each + std::min(i, more), each + (i < more ? 1 : 0)};
}

Schedule::Schedule(JobGraph& graph, const CollectiveOptions& options, const CollectiveSpec& spec,
                   const Members& members, const TransferWatcher* watcher, const NcclPlan* plan)
    : graph_(graph),
      options_(options),
      watcher_(watcher != nullptr && *watcher ? watcher : nullptr),
      name_(spec.name),
      bytes_(spec.bytes),
      execution_(usual_execution(options)),
      ranks_(members.ranks),
      start_(members.after) {
    check_size(spec, members);
    check_unlike(spec, members);
    if (ranks_.size() == 1) return;
    label_ = label_instance(graph, spec, ranks_.size());
    group_ = graph.collectives()[label_.collective].group;
    use_channel(0);
    std::unordered_map<std::uint32_t, std::uint32_t> places;
    for (const RankId rank : ranks_) {
        server_.push_back(options.server ? options.server(rank) : rank);
        rail_.push_back(options.rail ? options.rail(rank) : places[server_.back()]++);
    }
    if (plan != nullptr) execution_ = nccl_execution(*plan, options, size(), servers().size());
}

void Schedule::choose_channels(CollectiveAlgorithm algorithm) {
    if (options_.channels != kUsualChannels) return;
    std::vector<std::size_t> members;
    const bool in_order = algorithm_type(algorithm).channels == UsualChannels::per_member_in_order;
    if (in_order && options_.ring_order == RingOrder::given) {
        members = runs();
    } else {
        for (const std::vector<Member>& server : servers()) members.push_back(server.size());
    }
    // A second server like it: as if the ring went on there.
    if (options_.channels_in_server && members.size() == 1) members.push_back(members.front());
    execution_.channels = usual_channels(algorithm, members);
}

void Schedule::choose_chunk(CollectiveKind kind, CollectiveAlgorithm algorithm) {
    if (options_.chunk != kUsualChunk) return;
    const std::size_t nodes = servers().size();
    auto depth = static_cast<std::uint32_t>(size() / nodes - 1);
    for (std::size_t reached = 1; reached < nodes; reached *= 2) ++depth;
    const auto trees = 2 * static_cast<std::int64_t>(execution_.channels);
    execution_.chunk = usual_chunk(kind, algorithm, bytes_ / trees, depth);
}

void Schedule::add_overhead() {
    if (execution_.overhead == 0) return;
    for (Member member = 0; member < size(); ++member) {
        const OpId software = graph_.add_delay(ranks_[member], execution_.overhead, label_);
        depend(software, start_[member]);
        start_[member] = software;
    }
}

std::vector<std::size_t> Schedule::runs() const {
    std::vector<std::size_t> runs;
    for (Member member = 0; member < size(); ++member) {
        if (member == 0 || !same_server(member - 1, member)) runs.push_back(0);
        ++runs.back();
    }
    return runs;
}

Servers Schedule::servers() const {
    Servers servers;
    std::unordered_map<std::uint32_t, std::size_t> places;
    for (Member member = 0; member < size(); ++member) {
        const auto [place, fresh] = places.try_emplace(server_[member], servers.size());
        if (fresh) servers.emplace_back();
        servers[place->second].push_back(member);
    }
    for (std::vector<Member>& server : servers) {
        std::stable_sort(server.begin(), server.end(),
                         [&](Member a, Member b) { return rail_[a] < rail_[b]; });
    }
    return servers;
}

Servers Schedule::railed_servers(std::size_t& rails) const {
    Servers groups = servers();
    std::unordered_map<std::uint32_t, std::size_t> count;
    for (Member member = 0; member < size(); ++member) ++count[rail_[member]];
    std::size_t smallest = size();
    for (std::vector<Member>& server : groups) {
        const auto common = std::stable_partition(server.begin(), server.end(), [&](Member member) {
            return count[rail_[member]] == groups.size();
        });
        rails = static_cast<std::size_t>(common - server.begin());
        smallest = std::min(smallest, server.size());
    }
    if (rails == 0) rails = smallest;
    return groups;
}

Servers Schedule::equal_servers(const char* algorithm) const {
    Servers groups = servers();
    for (const std::vector<Member>& server : groups) {
        const bool equal =
            std::equal(server.begin(), server.end(), groups.front().begin(), groups.front().end(),
                       [&](Member a, Member b) { return rail_[a] == rail_[b]; });
        if (equal) continue;
        fail(std::string("algorithm ") + algorithm +
             " needs members on the same rails in each server; server " +
             std::to_string(server_[server.front()]) + " has " + std::to_string(server.size()) +
             " members, server " + std::to_string(server_[groups.front().front()]) + " has " +
             std::to_string(groups.front().size()) +
             ", or their rails differ; other algorithms, and hierarchical for all-reduce, do not");
    }
    return groups;
}

Hop Schedule::transfer(Member from, Member to, Slice slice, bool reduce) {
    const Hop hop = connect(from, to, slice.bytes, execution_.server_hop);
    if (watcher_ != nullptr) tell(hop, {slice}, reduce);
    return hop;
}

Hop Schedule::transfer(Member from, Member to, const std::vector<Slice>& pieces, bool reduce,
                       std::int64_t bytes) {
    if (bytes == 0) {
        for (const Slice& piece : pieces) bytes += piece.bytes;
    }
    const Hop hop = connect(from, to, bytes, execution_.server_hop);
    tell(hop, pieces, reduce);
    return hop;
}

Hop Schedule::send_whole() {
    const Tick latency =
        computed(0, 1) ? options_.intra_node.cost(CollectiveKind::send, 2).latency : 0;
    const Hop hop = connect(0, 1, bytes_, latency);
    tell(hop, {tensor()}, false);
    return hop;
}

Hop Schedule::computed_transfer(Member from, Member to, const std::vector<Slice>& pieces,
                                Tick duration) {
    const JobGraph::Pair pair = graph_.add_signal(ranks_[from], ranks_[to], duration, label_);
    const Hop hop{pair.from, pair.from, pair.to};
    tell(hop, pieces, false);
    return hop;
}

Hop Schedule::connect(Member from, Member to, std::int64_t bytes, Tick server_hop) {
    const RankId source = ranks_[from];
    const Tick overhead =
        same_server(from, to) ? execution_.server_step_overhead : execution_.step_overhead;
    bytes = wire_bytes(execution_.protocol, bytes);
    if (!computed(from, to)) return message(source, ranks_[to], bytes, overhead);
    if (execution_.lane_rate > 0) {
        const OpId transfer = lanes_.add(graph_, {communicator_, source, ranks_[to]},
                                         static_cast<double>(bytes) / execution_.lane_rate, label_);
        const JobGraph::Pair pair = graph_.add_signal(source, ranks_[to], server_hop, label_);
        depend(pair.from, transfer);
        return {transfer, pair.from, pair.to};
    }
    OpId first = kNone;
    if (overhead > 0) first = graph_.add_delay(source, overhead, label_);
    const LinearCost cost = options_.intra_node.cost(CollectiveKind::send, 2);
    const Tick wire = options_.intra_node.time(CollectiveKind::send, 2, bytes) - cost.latency;
    const OpId task = graph_.add_task(source, options_.server_links, wire, label_);
    depend(task, first);
    const JobGraph::Pair pair = graph_.add_signal(source, ranks_[to], server_hop, label_);
    depend(pair.from, task);
    return {first == kNone ? task : first, pair.from, pair.to};
}

Hop Schedule::message(RankId from, RankId to, std::int64_t bytes, Tick overhead) {
    if (graph_.messages().size() >= kMostMessages) fail_too_many();
    OpId first = kNone;
    // departed() needs an operation that is complete when the message starts.
    if (overhead > 0 || options_.departure) first = graph_.add_delay(from, overhead, label_);
    const JobGraph::Pair pair =
        graph_.add_message(from, to, std::max<std::int64_t>(1, bytes), label_, communicator_);
    depend(pair.from, first);
    Hop hop{first == kNone ? pair.from : first, pair.from, pair.to};
    if (options_.receipt_notice) {
        const JobGraph::Pair notice = graph_.add_signal(from, to, *options_.receipt_notice, label_);
        depend(notice.from, pair.from);
        depend(notice.to, pair.to);
        hop.received = notice.to;
    }
    return hop;
}

OpId Schedule::forward(Member member, OpId received) {
    if (options_.forwarding == 0) return received;
    const OpId ready = graph_.add_delay(ranks_[member], options_.forwarding, label_);
    depend(ready, received);
    return ready;
}

OpId Schedule::departed(OpId first, Member from, Member to, std::int64_t bytes) {
    const Tick leaving = options_.departure(ranks_[from], ranks_[to], bytes);
    const OpId left = graph_.add_delay(ranks_[from], leaving, label_);
    depend(left, first);
    return left;
}

Member Schedule::on_rail_of(Member from, Member to) const {
    if (rail_[from] == rail_[to]) return from;
    for (Member member = 0; member < size(); ++member) {
        if (same_server(member, from) && rail_[member] == rail_[to]) return member;
    }
    return from;
}

Member Schedule::joined_with(Member from, Member to) const {
    const auto joins = [&](Member member) { return options_.joined(ranks_[member], ranks_[to]); };
    if (!options_.joined || same_server(from, to) || joins(from)) return from;
    if (const Member member = on_rail_of(from, to); joins(member)) return member;
    for (Member member = 0; member < size(); ++member) {
        if (same_server(member, from) && joins(member)) return member;
    }
    return from;
}

Hop Schedule::pass_on(Member from, Member to, Slice slice, bool reduce) {
    const Member via = joined_with(from, to);
    return via == from ? transfer(from, to, slice, reduce) : relayed(from, via, to, slice, reduce);
}

Hop Schedule::relayed(Member from, Member via, Member to, Slice slice, bool reduce) {
    const Hop inside = connect(from, via, slice.bytes, execution_.server_hop);
    const Hop across = connect(via, to, slice.bytes, execution_.server_hop);
    depend(across.first, forward(via, inside.received));
    const Hop hop{inside.first, inside.sent, across.received, across.first};
    if (watcher_ != nullptr) tell(hop, {slice}, reduce);
    return hop;
}

Hop Schedule::to_nvswitch(Member from, std::int64_t bytes) {
    return message(ranks_[from], options_.nvswitch(server_[from]), bytes,
                   options_.nvswitch_step_overhead.value_or(options_.step_overhead));
}

Hop Schedule::from_nvswitch(Member to, std::int64_t bytes) {
    return message(options_.nvswitch(server_[to]), ranks_[to], bytes,
                   options_.nvswitch_step_overhead.value_or(options_.step_overhead));
}

void Schedule::tell(const Hop& hop, const std::vector<Slice>& pieces, bool reduce) const {
    if (watcher_ != nullptr) (*watcher_)({hop.first, hop.received, reduce, pieces});
}

std::vector<OpId> Schedule::meet(const std::vector<Member>& members, Tick duration,
                                 const std::vector<OpId>& after) {
    std::vector<RankId> ranks;
    ranks.reserve(members.size());
    for (const Member member : members) ranks.push_back(ranks_[member]);
    const OpId first = graph_.add_meet(ranks, duration, label_);
    std::vector<OpId> parts;
    for (std::size_t i = 0; i < members.size(); ++i) {
        parts.push_back(first + static_cast<OpId>(i));
        depend(parts.back(), after[i]);
    }
    return parts;
}

OpId Schedule::join(Member member, const std::vector<OpId>& ops) {
    if (ops.size() == 1) return ops.front();
    const OpId done = graph_.add_delay(ranks_[member], 0, label_);
    for (const OpId op : ops) depend(done, op);
    return done;
}

void Schedule::fail(const std::string& message) const {
    throw ConfigError("collective \"" + name_ + "\": " + message);
}

void Schedule::expect(std::size_t transfers, std::size_t chunks) const {
    // Shares of other channels may be a byte shorter, and then have a chunk less.
    const std::size_t others =
        transfers * std::max<std::size_t>(1, chunks - 1) * (channels_to_come_ - 1);
    if (transfers * chunks + others > kMostMessages - graph_.messages().size()) fail_too_many();
}

void Schedule::fail_too_many() const {
    fail("takes the job's messages above " + std::to_string(kMostMessages) +
         ": fewer members or channels, or longer chunks are needed");
}

Lane::Lane(Schedule& schedule, Member from, Member to, OpId ready, bool pipelined)
    : schedule_(schedule), from_(from), to_(to), pipelined_(pipelined), received_(ready) {}

Hop Lane::send(Slice slice, bool reduce, OpId after) {
    const Hop hop = schedule_.pass_on(from_, to_, slice, reduce);
    schedule_.depend(hop.first, after);
    const std::size_t in_flight = schedule_.execution().in_flight;
    if (pipelined_ && sent_.size() >= in_flight) {
        schedule_.depend(hop.first, sent_[sent_.size() - in_flight]);
    }
    sent_.push_back(hop.sent);
    schedule_.depend(hop.received, received_);
    received_ = hop.received;
    return hop;
}

OpId Lane::all_sent() { return schedule_.join(from_, sent_); }

std::vector<OpId> add_channels(
    Schedule& schedule,
    const std::function<std::vector<OpId>(std::size_t channel, Slice slice)>& add) {
    const std::size_t channels = channel_count(schedule, schedule.tensor().bytes);
    std::vector<std::vector<OpId>> ends(schedule.size());
    for (std::size_t turn = 0; turn < channels; ++turn) {
        const std::size_t channel = schedule.options().last_first ? channels - 1 - turn : turn;
        schedule.use_channel(channel);
        schedule.set_channels_to_come(channels - turn);
        const std::vector<OpId> by_member =
            add(channel, part_of(schedule.tensor(), channels, channel));
        for (Member member = 0; member < schedule.size(); ++member) {
            ends[member].push_back(by_member[member]);
        }
    }
    schedule.set_channels_to_come(1);
    std::vector<OpId> done;
    for (Member member = 0; member < schedule.size(); ++member) {
        done.push_back(schedule.join(member, ends[member]));
    }
    return done;
}

std::size_t chunk_count(const Schedule& schedule, std::int64_t bytes) {
    const std::int64_t chunk = schedule.execution().chunk;
    if (chunk == 0 || bytes <= chunk) return 1;
    const auto chunks = static_cast<std::size_t>(bytes / chunk + (bytes % chunk > 0 ? 1 : 0));
    // Each chunk reaches every member: refused before anything of that size is allocated.
    if (chunks > kMostMessages / schedule.size()) schedule.fail_too_many();
    return chunks;
}

std::size_t channel_count(const Schedule& schedule, std::int64_t bytes) {
    const auto wanted = static_cast<std::int64_t>(schedule.execution().channels);
    return static_cast<std::size_t>(std::max<std::int64_t>(1, std::min(wanted, bytes)));
}

}  // namespace sluice
