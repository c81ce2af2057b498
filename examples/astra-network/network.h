// SPDX-License-Identifier: Apache-2.0
/// ASTRA-sim's network interface on libsluice.so: what its system layer sends goes through a network of packets. One
/// SharedNetwork has the time and the events of all ranks; each rank has a RankNetwork, which is what ASTRA-sim calls.
#pragma once

#include <sluice.h>

#include <cmath>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "astra-sim/common/AstraNetworkAPI.hh"

class SharedNetwork {
  public:
    using Call = std::function<void()>;

    /// Throws std::runtime_error if the scenario cannot be opened. Rank r is host r.
    explicit SharedNetwork(const std::string& scenario)
        : network_(sluice_open(scenario.c_str(), nullptr)) {
        require(network_ != nullptr && sluice_watch_arrivals(network_) == 0);
    }
    ~SharedNetwork() { sluice_close(network_); }
    SharedNetwork(const SharedNetwork&) = delete;
    SharedNetwork& operator=(const SharedNetwork&) = delete;

    uint32_t ranks() const { return sluice_hosts(network_); }
    int64_t now() const { return sluice_now(network_); }  ///< ps
    void schedule(int64_t at, Call call) { events_.push({at, scheduled_++, std::move(call)}); }

    void send(int from, int to, uint64_t bytes, int tag, Call sent) {
        const Way way{from, to, tag};
        if (from == to) {
            schedule(now(), [this, way, sent] {
                arrive(way);
                sent();
            });
            return;
        }
        sluice_transfer transfer{};
        transfer.source = static_cast<uint32_t>(from);
        transfer.destination = static_cast<uint32_t>(to);
        transfer.bytes = bytes;
        transfer.queue_pair = SLUICE_OWN_QUEUE_PAIR;
        const int64_t id = sluice_post(network_, &transfer);
        require(id >= 0);
        sending_[id] = {way, std::move(sent)};
    }
    /// Messages of one tag from one rank to another are received in the order of their arrival.
    void receive(int from, int to, int tag, Call received) {
        Mailbox& box = boxes_[{from, to, tag}];
        if (box.arrived > 0) {
            --box.arrived;
            schedule(now(), std::move(received));
        } else {
            box.waiting.push_back(std::move(received));
        }
    }

    /// Until nothing is scheduled, and nothing under way.
    void run() {
        for (;;) {
            const int64_t until = events_.empty() ? SLUICE_FOREVER : events_.top().at;
            sluice_event event;
            const int found = sluice_next_event(network_, until, &event);
            require(found >= 0);
            if (found == 1) {
                happen(event);
            } else if (events_.empty()) {
                return;
            } else {
                const Call call = events_.top().call;
                events_.pop();
                call();
            }
        }
    }

  private:
    using Way = std::tuple<int, int, int>;  // from, to, tag
    struct Event {
        int64_t at;
        uint64_t order;
        Call call;
        bool operator<(const Event& other) const {
            return std::tie(at, order) > std::tie(other.at, other.order);
        }
    };
    struct Sending {
        Way way;
        Call sent;
    };
    struct Mailbox {
        int arrived = 0;
        std::deque<Call> waiting;
    };

    static void require(bool right) {
        if (!right) {
            throw std::runtime_error(sluice_last_error());
        }
    }
    void happen(const sluice_event& event) {
        const auto sending = sending_.find(event.completion.id);
        if (event.kind == SLUICE_ARRIVED) {
            arrive(sending->second.way);
            return;
        }
        const Call sent = std::move(sending->second.sent);
        sending_.erase(sending);
        sent();
    }
    void arrive(const Way& way) {
        Mailbox& box = boxes_[way];
        if (box.waiting.empty()) {
            ++box.arrived;
            return;
        }
        const Call received = std::move(box.waiting.front());
        box.waiting.pop_front();
        received();
    }

    sluice_network* network_;
    std::priority_queue<Event> events_;
    uint64_t scheduled_ = 0;
    std::unordered_map<int64_t, Sending> sending_;  // by the transfer's id
    std::map<Way, Mailbox> boxes_;
};

class RankNetwork : public AstraSim::AstraNetworkAPI {
  public:
    RankNetwork(int of, SharedNetwork& network) : AstraNetworkAPI(of), network_(network) {}

    int sim_send(void* /*buffer*/, uint64_t count, int /*type*/, int dst, int tag,
                 AstraSim::sim_request* /*request*/, void (*msg_handler)(void*),
                 void* fun_arg) override {
        network_.send(rank, dst, count, tag, [=] { msg_handler(fun_arg); });
        return 0;
    }
    int sim_recv(void* /*buffer*/, uint64_t /*count*/, int /*type*/, int src, int tag,
                 AstraSim::sim_request* /*request*/, void (*msg_handler)(void*),
                 void* fun_arg) override {
        network_.receive(src, rank, tag, [=] { msg_handler(fun_arg); });
        return 0;
    }
    void sim_schedule(AstraSim::timespec_t delta, void (*fun_ptr)(void*), void* fun_arg) override {
        network_.schedule(network_.now() + picoseconds(delta), [=] { fun_ptr(fun_arg); });
    }
    AstraSim::timespec_t sim_get_time() override {
        return {AstraSim::NS, static_cast<long double>(network_.now()) / 1000};
    }

  private:
    static int64_t picoseconds(const AstraSim::timespec_t& time) {
        switch (time.time_res) {
            case AstraSim::SE: return std::llround(time.time_val * 1e12L);
            case AstraSim::MS: return std::llround(time.time_val * 1e9L);
            case AstraSim::US: return std::llround(time.time_val * 1e6L);
            case AstraSim::NS: return std::llround(time.time_val * 1e3L);
            case AstraSim::FS: return std::llround(time.time_val * 1e-3L);
        }
        throw std::runtime_error("a time of no unit");
    }
    SharedNetwork& network_;
};
