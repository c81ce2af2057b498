// SPDX-License-Identifier: Apache-2.0
#include "models/host_port/host_port.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "models/host_port/port_application.h"
#include "models/network.h"
#include "models/sim_time.h"

namespace sluice {

namespace {

constexpr std::uint16_t kFirstSourcePort = 10000;
/// Above, source ports of queue pairs repeat.
constexpr std::uint32_t kSourcePorts = 50000;

/// A process that waits for its operation.
struct Waiter final : PostObserver {
    void on_completed(const Completion& made) override {
        completion = made;
        over = true;
        event.notify(sc_core::SC_ZERO_TIME);
    }
    Completion completion;
    bool over = false;
    sc_core::sc_event event;
};

}  // namespace

HostPort::HostPort(const sc_core::sc_module_name& name, Network& network, NodeId host,
                   const HostPortOptions& options)
    : sc_module(name), network_(network), host_(host), options_(options) {
    const auto refuse = [&](const std::string& what) {
        throw ConfigError("HostPort " + std::string(this->name()) + " " + what);
    };
    if (options.depth < 1) {
        refuse("has a depth of 0; allowed: at least 1");
    }
    if (options.doorbell_latency < 0 || options.completion_latency < 0 ||
        !(options.pcie_bandwidth >= 0)) {
        refuse("has a negative latency or bandwidth; allowed: 0 and above");
    }
    if (options.read_request_bytes < 1) {
        refuse("asks for reads by " + std::to_string(options.read_request_bytes) +
               " bytes; allowed: at least 1");
    }
    network_.add(*this);
    SC_METHOD(deliver);
    sensitive << due_;
    dont_initialize();
}

HostPort::~HostPort() { network_.remove(*this); }

void HostPort::check(const Post& post) const {
    const auto refuse = [&](const std::string& what) {
        throw ConfigError("HostPort " + std::string(name()) + ": " + what);
    };
    if (!network_.is_own_host(post.peer) || post.peer == host_) {
        refuse("the peer is node " + std::to_string(post.peer) +
               "; allowed: another host of the network's own");
    }
    if (post.bytes < 1) {
        refuse("an operation of " + std::to_string(post.bytes) + " bytes; allowed: at least 1");
    }
    if (post.priority < 1 || post.priority > 7) {
        refuse("priority " + std::to_string(post.priority) + "; allowed: 1 to 7");
    }
}

std::uint32_t HostPort::queue_pair(NodeId peer, std::uint32_t number) {
    const std::uint64_t key = std::uint64_t{peer} << 32 | number;
    const auto [place, fresh] =
        pair_of_.try_emplace(key, static_cast<std::uint32_t>(pairs_.size()));
    if (fresh) {
        pairs_.emplace_back();
        pairs_.back().peer = peer;
        pairs_.back().number = number;
        pairs_.back().requests = network_.ports().new_connection();
    }
    return place->second;
}

FlowSpec HostPort::answer_to(std::uint32_t pair, const Post& post) {
    QueuePair& queue = pairs_[pair];
    if (queue.responses == kNone) {
        queue.responses = network_.ports().new_connection();
    }
    FlowSpec spec;
    spec.src = post.peer;
    spec.dst = host_;
    spec.size = post.bytes;
    spec.sport = static_cast<std::uint16_t>(kFirstSourcePort + queue.number % kSourcePorts);
    spec.priority = post.priority;
    spec.connection = queue.responses;
    return spec;
}

/// When `bytes` that are there at `from` are on the other side.
Tick HostPort::over_pcie(Tick& free_at, std::int64_t bytes, Tick from) const {
    if (options_.pcie_bandwidth <= 0) {
        return from;
    }
    const double takes =
        static_cast<double>(bytes) / options_.pcie_bandwidth * static_cast<double>(kSecond);
    free_at = std::max(free_at, from) + static_cast<Tick>(std::ceil(takes));
    return free_at;
}

bool HostPort::try_post(const Post& post, PostObserver* observer) {
    check(post);
    if (outstanding_ >= options_.depth) {
        return false;
    }
    const bool reads = post.operation == Operation::read;
    const std::uint32_t pair = queue_pair(post.peer, post.queue_pair);
    QueuePair& queue = pairs_[pair];
    Completion completion;
    completion.post = post;
    completion.sequence = posted_;
    completion.posted = to_ticks_up(sc_core::sc_time_stamp());
    const Tick rung =
        std::max(completion.posted + options_.doorbell_latency, network_.clock().earliest());
    Tick fetched = to_nic_free_;
    completion.effective = reads ? rung : over_pcie(fetched, post.bytes, rung);
    // A read has nothing to fetch, and must not overtake what does.
    completion.effective = std::max(completion.effective, queue.latest);
    FlowSpec spec;
    spec.src = host_;
    spec.dst = post.peer;
    spec.size = reads ? options_.read_request_bytes : post.bytes;
    spec.sport = static_cast<std::uint16_t>(kFirstSourcePort + post.queue_pair % kSourcePorts);
    spec.priority = post.priority;
    spec.connection = queue.requests;
    completion.flow = network_.open_flow(spec, completion.effective);
    network_.ports().opened(completion.flow, *this, pair, completion);
    queue.outstanding.push_back({completion, observer, false, false});
    queue.latest = completion.effective;
    to_nic_free_ = fetched;
    ++posted_;
    ++outstanding_;
    return true;
}

void HostPort::post(const Post& post) {
    while (!try_post(post)) {
        wait(room_);
    }
}

Completion HostPort::post_and_wait(const Post& post) {
    Waiter waiter;
    while (!try_post(post, &waiter)) {
        wait(room_);
    }
    while (!waiter.over) {
        wait(waiter.event);
    }
    return waiter.completion;
}

HostPort::Outstanding& HostPort::QueuePair::find(std::uint64_t sequence, std::size_t likely) {
    if (likely < outstanding.size() && outstanding[likely].completion.sequence == sequence) {
        return outstanding[likely];
    }
    return outstanding[outstanding.partition_point(
        [&](const Outstanding& one) { return one.completion.sequence < sequence; })];
}

void HostPort::reached(std::uint32_t pair, std::uint64_t sequence, Tick at) {
    QueuePair& queue = pairs_[pair];
    queue.find(sequence, queue.announced).reached = true;
    queue.last_reached = std::max(queue.last_reached, at);
    while (queue.announced < queue.outstanding.size() &&
           queue.outstanding[queue.announced].reached) {
        PostObserver* const observer = queue.outstanding[queue.announced++].observer;
        if (observer != nullptr) {
            observer->on_reached(queue.last_reached);
        }
    }
}

void HostPort::over(std::uint32_t pair, std::uint64_t sequence, Tick received, Tick at) {
    QueuePair& queue = pairs_[pair];
    Outstanding& one = queue.find(sequence, 0);
    one.over = true;
    one.completion.received = received;
    one.completion.completed = one.completion.post.operation == Operation::read
                                   ? over_pcie(from_nic_free_, one.completion.post.bytes, at)
                                   : at;
    queue.last_completed = std::max(queue.last_completed, at);
    while (!queue.outstanding.empty() && queue.outstanding.front().over) {
        const Outstanding& front = queue.outstanding.front();
        Notification notification;
        notification.completion = front.completion;
        notification.observer = front.observer;
        queue.last_completed = std::max(queue.last_completed, front.completion.completed);
        notification.at = queue.last_completed + options_.completion_latency;
        notification.completion.completed = notification.at;
        queue.outstanding.pop_front();
        --queue.announced;
        notify(std::move(notification));
    }
}

void HostPort::arrive(const Arrival& arrival) {
    Notification notification;
    notification.is_arrival = true;
    notification.arrival = arrival;
    notification.at =
        over_pcie(from_nic_free_, arrival.bytes, arrival.at) + options_.completion_latency;
    notification.arrival.at = notification.at;
    notify(std::move(notification));
}

void HostPort::notify(Notification notification) {
    notification.order = notified_++;
    const std::size_t count = notifications_.size();
    if (count == 0 || notifications_[count - 1].at <= notification.at) {
        notifications_.push_back(std::move(notification));
    } else {
        overtaking_.push(std::move(notification));
    }
    schedule_delivery();
}

/// Null: there is none.
const HostPort::Notification* HostPort::first_notification() const {
    if (overtaking_.empty()) {
        return notifications_.empty() ? nullptr : &notifications_.front();
    }
    const bool later =
        !notifications_.empty() && Later()(overtaking_.top(), notifications_.front());
    return later ? &notifications_.front() : &overtaking_.top();
}

/// Lets deliver() be called when the first notification is due.
void HostPort::schedule_delivery() {
    const Notification* const first = first_notification();
    if (first == nullptr || first->at >= next_delivery_) {
        return;
    }
    next_delivery_ = first->at;
    due_.notify(until(next_delivery_));
}

/// Everything that is due by now, in the order of time.
void HostPort::deliver() {
    next_delivery_ = kNever;
    const Tick now = to_ticks(sc_core::sc_time_stamp());
    for (const Notification* first = first_notification(); first != nullptr && first->at <= now;
         first = first_notification()) {
        const Notification notification = *first;
        if (!notifications_.empty() && first == &notifications_.front()) {
            notifications_.pop_front();
        } else {
            overtaking_.pop();
        }
        hand_over(notification);
    }
    schedule_delivery();
}

void HostPort::hand_over(const Notification& notification) {
    if (notification.is_arrival) {
        arrivals_.put(notification.arrival);
        return;
    }
    if (outstanding_-- == options_.depth) {
        room_.notify(sc_core::SC_ZERO_TIME);
    }
    if (watcher_ != nullptr) {
        watcher_->on_completed(notification.completion);
    }
    if (notification.observer != nullptr) {
        notification.observer->on_completed(notification.completion);
    } else {
        completions_.put(notification.completion);
    }
}

}  // namespace sluice
