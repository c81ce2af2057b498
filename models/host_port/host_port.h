// SPDX-License-Identifier: Apache-2.0
/// A host's door to the network for a testbench: operations are posted at any time, from any SystemC process, on queue pairs
/// that last, and complete in SystemC's time. What a NIC's work queues are to the host's software (RDMA verbs).
///
/// An operation takes effect a doorbell latency after it was posted, or at NetworkClock::earliest(), if that is later. So it
/// is exact where the latency is at least the network's lookahead (WorldStore::world().lookahead, the least link delay) and
/// the TLM global quantum; else it may be later, by less than the larger of the two.
///
/// Operations of a queue pair leave in the order in which they were posted, and complete in it.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <systemc>
#include <unordered_map>
#include <vector>

#include "core/flow/flow.h"
#include "core/ids.h"
#include "core/ring_queue.h"
#include "core/units.h"
#include "models/host_port/mailbox.h"

namespace sluice {

class Network;

struct HostPortOptions {
    /// Operations that may be outstanding, over all queue pairs.
    std::size_t depth = 128;
    Tick doorbell_latency = 0;    ///< from the post to its effect at the NIC
    Tick completion_latency = 0;  ///< from the NIC's completion to its notification
    /// Between host and NIC, bytes/s; 0: without limit. A message is fetched whole, one after the other, before its first
    /// packet leaves; what is read is written back likewise before it completes.
    double pcie_bandwidth = 0;
    /// Payload of the packet that asks for a read.
    std::int64_t read_request_bytes = 16;
    /// In modes with phases: what the port has under way is skipped, too, as flows of a job are. Its operations then complete
    /// within the mode's error, not to the tick.
    bool may_skip = false;
};

enum class Operation : std::uint8_t {
    write,  ///< RDMA write: completes as its last ACK comes back
    read,   ///< RDMA read: completes as the last byte of the answer arrives
    send,   ///< as write, and the peer's port is notified of its arrival
};

struct Post {
    Operation operation = Operation::write;
    NodeId peer = kNone;
    std::int64_t bytes = 0;        ///< payload, at least 1
    std::uint32_t queue_pair = 0;  ///< of this port and peer, by number
    std::uint8_t priority = 3;     ///< traffic class, 1 to 7
    std::uint64_t tag = 0;         ///< the caller's own
};

struct Completion {
    Post post;
    FlowId flow = kNoFlow;       ///< of its data, as hooks and files name it
    Tick posted = 0;             ///< in SystemC's time
    Tick effective = 0;          ///< when it took effect at the NIC
    Tick received = kNever;      ///< the last byte arrived, at the peer or, of a read, here
    Tick completed = 0;          ///< when it is notified
    std::uint64_t sequence = 0;  ///< posts of this port, from 0
};

/// A message that a peer's send() has brought.
struct Arrival {
    NodeId from = kNone;
    std::int64_t bytes = 0;
    std::uint32_t queue_pair = 0;
    std::uint64_t tag = 0;
    Tick at = 0;
};

/// Told of one operation, for which nothing comes to the mailbox then: see HostPort::try_post().
class PostObserver {
  public:
    virtual ~PostObserver() = default;
    /// In the network's time, when SystemC's is not past `at` yet: at `at` the last byte of a write or send, or the
    /// request of a read, is at the peer, and so are those of all operations before it on its queue pair.
    virtual void on_reached(Tick /*at*/) {}
    /// At its SystemC time.
    virtual void on_completed(const Completion& completion) = 0;
};

class HostPort : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(HostPort);
    /// Of a host of ours that has no port yet, before the simulation starts. ConfigError if the host is none, foreign, or
    /// has one, if the network is free running, or if options are not possible. `network` must outlive it.
    HostPort(const sc_core::sc_module_name& name, Network& network, NodeId host,
             const HostPortOptions& options = {});
    ~HostPort() override;

    NodeId host() const { return host_; }
    /// False if `depth` operations are outstanding: nothing was posted. ConfigError if it cannot be carried.
    /// `observer`, which may be null, must live until its operation is complete.
    bool try_post(const Post& post, PostObserver* observer = nullptr);
    /// Waits until there is room. From an SC_THREAD.
    void post(const Post& post);
    /// Posts, and waits until this operation is complete.
    Completion post_and_wait(const Post& post);
    std::size_t outstanding() const { return outstanding_; }
    /// Nothing that it has under way may be skipped (HostPortOptions::may_skip).
    bool holds_awake() const { return outstanding_ > 0 && !options_.may_skip; }
    /// Notified in the next delta cycle after there is room again.
    const sc_core::sc_event& room() const { return room_; }

    /// `watcher` is told of every completion, too, before whoever waits for it. It must outlive the last one.
    void watch(PostObserver& watcher) { watcher_ = &watcher; }
    /// Completions, at their SystemC time.
    Mailbox<Completion>& completions() { return completions_; }
    /// What peers' sends have brought, likewise.
    Mailbox<Arrival>& arrivals() { return arrivals_; }

    // For PortApplication, in the network's time.
    /// The data that a read of this queue pair has asked for.
    FlowSpec answer_to(std::uint32_t pair, const Post& post);
    /// An operation's last byte, or its request, is at the peer.
    void reached(std::uint32_t pair, std::uint64_t sequence, Tick at);
    /// An operation is over.
    void over(std::uint32_t pair, std::uint64_t sequence, Tick received, Tick at);
    void arrive(const Arrival& arrival);

  private:
    /// In the order of posts; operations before it that are not complete hold it back.
    struct Outstanding {
        Completion completion;
        PostObserver* observer = nullptr;
        bool reached = false;
        bool over = false;
    };
    struct QueuePair {
        NodeId peer = kNone;
        std::uint32_t number = 0;
        ConnectionId requests = kNone;   ///< to the peer
        ConnectionId responses = kNone;  ///< from it, of reads
        RingQueue<Outstanding> outstanding;
        Tick latest = 0;            ///< when the last one posted took effect
        std::size_t announced = 0;  ///< of these, as reached
        Tick last_reached = 0;
        Tick last_completed = 0;
        /// `likely`: its place if messages finish in order.
        Outstanding& find(std::uint64_t sequence, std::size_t likely);
    };
    struct Notification {
        Tick at = 0;
        std::uint64_t order = 0;
        bool is_arrival = false;
        PostObserver* observer = nullptr;
        Completion completion;
        Arrival arrival;
    };
    struct Later {
        bool operator()(const Notification& a, const Notification& b) const {
            return a.at != b.at ? a.at > b.at : a.order > b.order;
        }
    };

    std::uint32_t queue_pair(NodeId peer, std::uint32_t number);
    void check(const Post& post) const;
    Tick over_pcie(Tick& free_at, std::int64_t bytes, Tick from) const;
    void notify(Notification notification);
    const Notification* first_notification() const;
    void schedule_delivery();
    void deliver();
    void hand_over(const Notification& notification);

    Network& network_;
    NodeId host_;
    HostPortOptions options_;
    std::deque<QueuePair> pairs_;  ///< an observer may post to a new one while another is at work
    std::unordered_map<std::uint64_t, std::uint32_t> pair_of_;  ///< by peer and number
    std::uint64_t posted_ = 0;
    std::size_t outstanding_ = 0;
    Tick to_nic_free_ = 0;
    Tick from_nic_free_ = 0;
    /// Nearly all are added in the order of their times: these are a queue. Others overtake, such as completions while
    /// arrivals wait for PCIe, and are a heap.
    RingQueue<Notification> notifications_;
    std::priority_queue<Notification, std::vector<Notification>, Later> overtaking_;
    std::uint64_t notified_ = 0;
    sc_core::sc_event due_;
    Tick next_delivery_ = kNever;  ///< when due_ calls deliver(); kNever: not scheduled
    sc_core::sc_event room_;
    PostObserver* watcher_ = nullptr;  ///< may be null
    Mailbox<Completion> completions_;
    Mailbox<Arrival> arrivals_;
};

}  // namespace sluice
