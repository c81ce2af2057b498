// SPDX-License-Identifier: Apache-2.0
/// One collective while an algorithm appends it: its members, its label, and transfers between
/// members as the options have them (a flow, or inside a server computed). Internal to this folder.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "workloads/collective/collective_library.h"
#include "workloads/collective/execution.h"

namespace sluice {

/// Members by number: their place in Members::ranks.
using Member = std::uint32_t;

/// The operations of one transfer: what its sender's dependencies are added to, what completes when
/// the sender is done with it, and the receiver's end.
struct Hop {
    OpId first = kNone;
    OpId sent = kNone;
    OpId received = kNone;
    OpId passed_on = kNone;  ///< Schedule::relayed: the same as `first`, at the member between
};

/// Members of each server, in the order in which servers occur among the members; the members of a
/// server are in order of rail.
using Servers = std::vector<std::vector<Member>>;

/// Refuses a collective of no members or no bytes.
void check_size(const CollectiveSpec& spec, const Members& members);
/// Adds an instance to the graph's list; the label of its operations.
Label label_instance(JobGraph& graph, const CollectiveSpec& spec, std::size_t members);

class Schedule {
  public:
    /// Checks members and size, and adds the collective to the graph's list. Where there is one
    /// member nothing may be added. `plan`: as NCCL has chosen; null: as the options have it.
    Schedule(JobGraph& graph, const CollectiveOptions& options, const CollectiveSpec& spec,
             const Members& members, const TransferWatcher* watcher = nullptr,
             const NcclPlan* plan = nullptr);

    /// Where the options leave the number of channels to the library.
    void choose_channels(CollectiveAlgorithm algorithm);
    /// Where the options leave the chunk to the library; after choose_channels().
    void choose_chunk(CollectiveKind kind, CollectiveAlgorithm algorithm);
    const Execution& execution() const { return execution_; }

    /// Delays every member by Execution::overhead.
    void add_overhead();

    Member size() const { return static_cast<Member>(ranks_.size()); }
    Slice tensor() const { return {0, bytes_}; }
    const CollectiveOptions& options() const { return options_; }
    /// What the member starts after; kNone: at once.
    OpId start(Member member) const { return start_[member]; }
    bool same_server(Member a, Member b) const { return server_[a] == server_[b]; }
    std::uint32_t rail(Member member) const { return rail_[member]; }
    /// Whether a transfer between these is computed.
    bool computed(Member a, Member b) const {
        return options_.computed_in_server && same_server(a, b);
    }
    Servers servers() const;
    /// The servers; of each come first the members on rails that all of them have, so many as `rails` then says.
    /// Where there is no such rail: as many as the smallest server has.
    Servers railed_servers(std::size_t& rails) const;
    /// The servers, if all have members on the same rails; else ConfigError.
    Servers equal_servers(const char* algorithm) const;

    /// The channel that transfers belong to from now on: each has connections of its own.
    void use_channel(std::size_t channel) {
        communicator_ = graph_.communicator(group_, static_cast<std::uint32_t>(channel));
    }

    /// At least one byte travels: the notification does.
    Hop transfer(Member from, Member to, Slice slice, bool reduce);
    /// The same through another member, which forwards it whole and keeps none of it.
    Hop relayed(Member from, Member via, Member to, Slice slice, bool reduce);
    /// From server to server as the network joins them: transfer(), or relayed() by a member that can reach `to`.
    Hop pass_on(Member from, Member to, Slice slice, bool reduce);
    /// The member of `from`'s server on the rail of `to`; `from` itself where there is none.
    Member on_rail_of(Member from, Member to) const;
    /// The member of `from`'s server that the network joins to `to`: itself, on_rail_of(), or the first that it does; itself
    /// where there is none.
    Member joined_with(Member from, Member to) const;
    /// When `member` is ready to pass on what it has received (CollectiveOptions::forwarding).
    OpId forward(Member member, OpId received);
    /// When a message whose first operation is `first` has left `from` (CollectiveOptions::departure,
    /// which must be set).
    OpId departed(OpId first, Member from, Member to, std::int64_t bytes);
    /// From a member to its server's NVSwitches and back (CollectiveOptions::nvswitch).
    Hop to_nvswitch(Member from, std::int64_t bytes);
    Hop from_nvswitch(Member to, std::int64_t bytes);
    /// One message with several pieces, of so many bytes: fewer than theirs where pieces are copies in part; 0: theirs.
    Hop transfer(Member from, Member to, const std::vector<Slice>& pieces, bool reduce,
                 std::int64_t bytes = 0);
    /// Inside a server, where bandwidth has been accounted for in `duration`.
    Hop computed_transfer(Member from, Member to, const std::vector<Slice>& pieces, Tick duration);
    /// From member 0 to member 1 as an operation of its own: inside a server, with all its latency.
    Hop send_whole();
    /// A collective of `members`, who take `duration` together. Returns the members' parts.
    std::vector<OpId> meet(const std::vector<Member>& members, Tick duration,
                           const std::vector<OpId>& after);

    void depend(OpId op, OpId on) { graph_.add_dependency(op, on); }
    /// An operation of `member` that completes when all of `ops` have: the only one itself, where
    /// there is one.
    OpId join(Member member, const std::vector<OpId>& ops);

    [[noreturn]] void fail(const std::string& message) const;
    [[noreturn]] void fail_too_many() const;
    /// Refuses a collective that needs too many messages before any is built: there will be
    /// `transfers` of at least `chunks` chunks in this channel, and as many in each of those to come.
    void expect(std::size_t transfers, std::size_t chunks) const;
    void set_channels_to_come(std::size_t channels) { channels_to_come_ = channels; }

  private:
    Hop connect(Member from, Member to, std::int64_t bytes, Tick server_hop);
    Hop message(RankId from, RankId to, std::int64_t bytes, Tick overhead);
    /// How many members of one server stand together, in the given order, which rings keep.
    std::vector<std::size_t> runs() const;
    void tell(const Hop& hop, const std::vector<Slice>& pieces, bool reduce) const;

    JobGraph& graph_;
    const CollectiveOptions& options_;
    const TransferWatcher* watcher_;
    std::string name_;
    std::int64_t bytes_;
    Execution execution_;
    ServerLanes lanes_;
    Label label_;
    NameId group_ = 0;
    CommunicatorId communicator_ = kNone;
    std::size_t channels_to_come_ = 1;  ///< the one that is being built included
    const std::vector<RankId>& ranks_;
    std::vector<OpId> start_;
    std::vector<std::uint32_t> server_;
    std::vector<std::uint32_t> rail_;
};

/// Transfers from one member to another in order: receives complete in order. In a pipeline of
/// chunks at most Execution::in_flight sends are unfinished.
class Lane {
  public:
    /// `ready`: what the receiver may receive after.
    Lane(Schedule& schedule, Member from, Member to, OpId ready, bool pipelined);

    /// Starts after `after` (kNone: at once) has completed at the sender.
    Hop send(Slice slice, bool reduce, OpId after);
    OpId last_received() const { return received_; }
    /// Completes when all sends have.
    OpId all_sent();

  private:
    Schedule& schedule_;
    Member from_;
    Member to_;
    bool pipelined_;
    OpId received_;
    std::vector<OpId> sent_;
};

/// Runs one copy of an algorithm per channel, each on its slice of the tensor, and joins what it
/// returns by member.
std::vector<OpId> add_channels(
    Schedule& schedule,
    const std::function<std::vector<OpId>(std::size_t channel, Slice slice)>& add);

/// How many chunks a slice is sent in.
std::size_t chunk_count(const Schedule& schedule, std::int64_t bytes);
/// Copies of the algorithm that share `bytes`: no more than there are bytes.
std::size_t channel_count(const Schedule& schedule, std::int64_t bytes);

}  // namespace sluice
