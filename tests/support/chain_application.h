// SPDX-License-Identifier: Apache-2.0
/// Flows that start when others end.
#pragma once

#include <memory>
#include <vector>

#include "core/flow/application.h"
#include "tests/support/step_random.h"

namespace sluice::test {

/// Starts flows when others are received or sent, at once, after a delay or through a signal to another host.
class ChainApplication final : public Application {
  public:
    struct Link {
        FlowId flow;     ///< the one that is started
        bool on_sent;    ///< else when the parent is received
        Tick delay;      ///< 0: at once
        bool by_signal;  ///< the parent's end is not the child's source
    };
    std::vector<std::vector<Link>> children;  ///< by parent
    std::vector<NodeId> source;               ///< by flow

    void on_begin(NodeId, HostServices&) override {}
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override {
        follow(host, flow, now, services, false);
    }
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override {
        follow(host, flow, now, services, true);
    }
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override {
        if (token < source.size() && source[token] == host) {
            services.start_flow(static_cast<FlowId>(token), now);
        }
    }

  private:
    void follow(NodeId host, FlowId flow, Tick now, HostServices& services, bool on_sent) {
        for (const Link& link : children[flow]) {
            if (link.on_sent != on_sent) {
                continue;
            }
            if (link.by_signal) {
                services.set_timer(source[link.flow], now + services.lookahead() + link.delay,
                                   link.flow);
            } else if (link.delay > 0) {
                services.set_timer(host, now + link.delay, link.flow);
            } else {
                services.start_flow(link.flow, now);
            }
        }
    }
};

/// Makes most flows of a case start when earlier ones end.
inline std::unique_ptr<ChainApplication> chain_flows(Dice& dice, Case& given) {
    auto application = std::make_unique<ChainApplication>();
    application->children.resize(given.flows.size());
    for (FlowId f = 0; f < given.flows.size(); ++f) {
        application->source.push_back(given.flows[f].src);
        if (f == 0 || dice.chance(30)) {
            continue;
        }
        const FlowId parent = dice.below(f);
        ChainApplication::Link link;
        link.flow = f;
        link.on_sent = dice.chance(50);
        link.delay = dice.chance(30) ? 0 : dice.below(1000) * kMicrosecond;
        const NodeId end = link.on_sent ? given.flows[parent].src : given.flows[parent].dst;
        link.by_signal = end != given.flows[f].src;
        given.flows[f].start = kNever;
        application->children[parent].push_back(link);
    }
    return application;
}

}  // namespace sluice::test
