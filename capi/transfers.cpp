// SPDX-License-Identifier: Apache-2.0
#include "capi/transfers.h"

#include <algorithm>
#include <string>
#include <tuple>

#include "core/error.h"

namespace sluice::capi {

namespace {

// A transfer's flow: the top bit, which no usual number has, its id, and its place. So flows of one host that start at one
// instant are in the order of their posts.
constexpr FlowId kPosted = FlowId{1} << 63;
constexpr std::uint32_t kPlaceBits = 24;
constexpr std::uint32_t kPlaces = std::uint32_t{1} << kPlaceBits;

std::uint32_t place_of(FlowId flow) { return static_cast<std::uint32_t>(flow) & (kPlaces - 1); }

}  // namespace

FlowId Transfers::add(const sluice_transfer& transfer, Tick now) {
    std::uint32_t place = 0;
    if (!free_.empty()) {
        place = free_.back();
        free_.pop_back();
    } else if (places_.size() < kPlaces) {
        place = static_cast<std::uint32_t>(places_.size());
        places_.emplace_back();
    } else {
        throw ConfigError("there are " + std::to_string(kPlaces) +
                          " transfers outstanding; allowed: no more");
    }
    Place& taken = places_[place];
    taken.flow = kPosted | static_cast<FlowId>(count_) << kPlaceBits | place;
    taken.so_far = {count_,         transfer.tag, transfer.source, transfer.destination,
                    transfer.bytes, now,          kNever,          kNever};
    ++count_;
    return taken.flow;
}

void Transfers::take_back(FlowId flow) {
    places_[place_of(flow)].flow = kNoFlow;
    free_.push_back(place_of(flow));
    --count_;
}

bool Transfers::has(FlowId flow) const {
    return flow >= kPosted && place_of(flow) < places_.size() &&
           places_[place_of(flow)].flow == flow;
}

void Transfers::finished(const FlowRecord& flow) {
    if (!has(flow.id)) {
        return;
    }
    Place& place = places_[place_of(flow.id)];
    fresh_.push_back({SLUICE_COMPLETED, place.so_far});
    fresh_.back().completion.started_ps = flow.result.start;
    fresh_.back().completion.finished_ps = flow.result.finish;
    place.flow = kNoFlow;
    free_.push_back(place_of(flow.id));
}

void Transfers::settle() {
    if (fresh_.empty()) {
        return;
    }
    std::sort(fresh_.begin(), fresh_.end(), [](const sluice_event& a, const sluice_event& b) {
        return std::tie(a.completion.finished_ps, a.completion.id, a.kind) <
               std::tie(b.completion.finished_ps, b.completion.id, b.kind);
    });
    waiting_.insert(waiting_.end(), fresh_.begin(), fresh_.end());
    fresh_.clear();
}

bool Transfers::take(sluice_event& event) {
    if (waiting_.empty()) {
        return false;
    }
    event = waiting_.front();
    waiting_.pop_front();
    return true;
}

Tick Transfers::signal_lookahead() const {
    return inner_ == nullptr ? kNever : inner_->signal_lookahead();
}

ConnectionId Transfers::connection_count() const {
    return inner_ == nullptr ? 0 : inner_->connection_count();
}

void Transfers::on_begin(NodeId host, HostServices& services) {
    if (inner_ != nullptr) {
        inner_->on_begin(host, services);
    }
}

void Transfers::on_received(NodeId host, FlowId flow, Tick now, HostServices& services) {
    if (!has(flow)) {
        if (inner_ != nullptr) {
            inner_->on_received(host, flow, now, services);
        }
        return;
    }
    if (watches_arrivals_) {
        fresh_.push_back({SLUICE_ARRIVED, places_[place_of(flow)].so_far});
        fresh_.back().completion.started_ps = -1;
        fresh_.back().completion.finished_ps = now;
    }
}

void Transfers::on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) {
    if (inner_ != nullptr && !has(flow)) {
        inner_->on_sent(host, flow, now, services);
    }
}

void Transfers::on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) {
    if (inner_ != nullptr) {
        inner_->on_timer(host, token, now, services);
    }
}

}  // namespace sluice::capi
