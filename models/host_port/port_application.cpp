// SPDX-License-Identifier: Apache-2.0
#include "models/host_port/port_application.h"

#include <optional>

namespace sluice {

void PortApplication::opened(FlowId flow, HostPort& port, std::uint32_t pair,
                             const Completion& completion) {
    const bool reads = completion.post.operation == Operation::read;
    running_.add(flow, Running{reads ? Part::request : Part::message, &port, pair,
                               completion.sequence, completion.post, kNever});
}

void PortApplication::remove(const HostPort& port) {
    ports_[port.host()] = nullptr;
    for (auto& [flow, running] : running_) {
        running.port = running.port == &port ? nullptr : running.port;
    }
}

void PortApplication::on_begin(NodeId host, HostServices& services) {
    if (inner_ != nullptr) {
        inner_->on_begin(host, services);
    }
}

void PortApplication::on_received(NodeId host, FlowId flow, Tick now, HostServices& services) {
    Running* const found = running_.find(flow);
    if (found == nullptr) {
        if (inner_ != nullptr) {
            inner_->on_received(host, flow, now, services);
        }
        return;
    }
    Running& running = *found;
    running.received = now;
    if (running.port == nullptr) {
        return;
    }
    HostPort& port = *running.port;
    if (running.part == Part::answer) {
        port.over(running.pair, running.sequence, now, now);
        return;
    }
    port.reached(running.pair, running.sequence, now);
    if (running.part == Part::request) {
        Running answer = running;
        answer.part = Part::answer;
        const FlowId id = services.open_flow(port.answer_to(running.pair, running.post), now);
        running_.add(id, answer);
    } else if (running.post.operation == Operation::send && ports_[host] != nullptr) {
        ports_[host]->arrive(
            {port.host(), running.post.bytes, running.post.queue_pair, running.post.tag, now});
    }
}

void PortApplication::on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) {
    const std::optional<Running> running = running_.take(flow);
    if (!running) {
        if (inner_ != nullptr) {
            inner_->on_sent(host, flow, now, services);
        }
        return;
    }
    if (running->part == Part::message && running->port != nullptr) {
        running->port->over(running->pair, running->sequence, running->received, now);
    }
}

void PortApplication::on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) {
    if (inner_ != nullptr) {
        inner_->on_timer(host, token, now, services);
    }
}

}  // namespace sluice
