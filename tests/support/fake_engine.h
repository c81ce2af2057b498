// SPDX-License-Identifier: Apache-2.0
/// A network without contention for tests of applications: a flow of n bytes started at t is
/// received at t + n x 80 ps (100 Gb/s) + latency and acknowledged a latency later.
/// Two drivers with the same answers: one global event order, or windows of one latency in which
/// hosts run one after the other in any order, or on two threads.
#pragma once

#include <algorithm>
#include <memory>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "core/error.h"
#include "core/flow/application.h"
#include "core/flow/flow.h"

namespace sluice::fake {

inline constexpr Tick kTicksPerByte = 80;

struct Event {
    Tick at;
    enum Kind { received, sent, timer } kind;
    std::uint64_t id;
    friend bool operator<(const Event& a, const Event& b) {
        if (a.at != b.at) return a.at < b.at;
        if (a.kind != b.kind) return a.kind < b.kind;
        return a.id < b.id;
    }
};

class Engine {
  public:
    Engine(Application& application, const std::vector<FlowSpec>& flows, std::size_t hosts,
           Tick latency = kMicrosecond)
        : application_(application), flows_(flows), latency_(latency) {
        for (NodeId host = 0; host < hosts; ++host) {
            hosts_.push_back(std::make_unique<Host>(*this, host));
        }
    }

    std::set<FlowId> lost;  ///< flows that are never received

    void run() {
        for (auto& host : hosts_) application_.on_begin(host->id, *host);
        deliver();
        for (Host* host = earliest(); host != nullptr; host = earliest()) {
            host->step(kNever, 1);
            deliver();
        }
    }

    /// Hosts in decreasing order within each window, or half of them on a second thread.
    void run_windows(bool threads) {
        for (auto& host : hosts_) application_.on_begin(host->id, *host);
        deliver();
        for (Host* first = earliest(); first != nullptr; first = earliest()) {
            const Tick end = first->queue.begin()->at + latency_;
            const auto part = [&](std::size_t from, std::size_t to) {
                for (std::size_t i = to; i > from; --i) hosts_[i - 1]->step(end, kAll);
            };
            if (threads) {
                std::thread other(part, 0, hosts_.size() / 2);
                part(hosts_.size() / 2, hosts_.size());
                other.join();
            } else {
                part(0, hosts_.size());
            }
            deliver();
        }
    }

  private:
    static constexpr std::size_t kAll = static_cast<std::size_t>(-1);

    struct Host final : HostServices {
        Host(Engine& e, NodeId n) : engine(e), id(n) {}

        FlowId open_flow(const FlowSpec& spec, Tick at) override {
            const FlowId flow = spec.id != kNoFlow ? spec.id : opened_flow_id(id, opened++);
            send(flow, spec, at);
            return flow;
        }
        void start_flow(FlowId flow, Tick at) override { send(flow, engine.flows_.at(flow), at); }
        void send(FlowId flow, const FlowSpec& spec, Tick at) {
            if (spec.src != id || at < now) throw InternalError("flow of another host or the past");
            if (engine.lost.count(flow) != 0) return;
            const Tick received = at + spec.size * kTicksPerByte + engine.latency_;
            outbox.push_back({spec.dst, {received, Event::received, flow}});
            outbox.push_back({id, {received + engine.latency_, Event::sent, flow}});
        }
        void set_timer(NodeId host, Tick at, std::uint64_t token) override {
            if (at < now + (host == id ? 0 : lookahead())) throw InternalError("timer too early");
            if (host == id) {
                queue.insert({at, Event::timer, token});
            } else {
                outbox.push_back({host, {at, Event::timer, token}});
            }
        }
        Tick lookahead() const override { return engine.latency_; }

        void step(Tick end, std::size_t count) {
            for (; count > 0 && !queue.empty() && queue.begin()->at < end; --count) {
                const Event event = *queue.begin();
                queue.erase(queue.begin());
                now = event.at;
                if (event.kind == Event::timer) {
                    engine.application_.on_timer(id, event.id, now, *this);
                } else if (event.kind == Event::received) {
                    engine.application_.on_received(id, event.id, now, *this);
                } else {
                    engine.application_.on_sent(id, event.id, now, *this);
                }
            }
        }

        Engine& engine;
        NodeId id;
        Tick now = 0;
        std::uint32_t opened = 0;
        std::multiset<Event> queue;
        std::vector<std::pair<NodeId, Event>> outbox;
    };

    void deliver() {
        for (auto& host : hosts_) {
            for (const auto& [to, event] : host->outbox) hosts_.at(to)->queue.insert(event);
            host->outbox.clear();
        }
    }

    Host* earliest() {
        Host* best = nullptr;
        for (auto& host : hosts_) {
            if (host->queue.empty()) continue;
            if (best == nullptr || host->queue.begin()->at < best->queue.begin()->at) {
                best = host.get();
            }
        }
        return best;
    }

    Application& application_;
    const std::vector<FlowSpec>& flows_;
    Tick latency_;
    std::vector<std::unique_ptr<Host>> hosts_;
};

/// Hosts 0 .. n - 1.
inline std::vector<NodeId> hosts(std::size_t n) {
    std::vector<NodeId> ids(n);
    for (NodeId i = 0; i < n; ++i) ids[i] = i;
    return ids;
}

}  // namespace sluice::fake
