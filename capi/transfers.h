// SPDX-License-Identifier: Apache-2.0
/// What callers have posted and is not complete, and what they have not been told yet. Runs beside the scenario's own
/// application, to which all else is passed on.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "capi/include/sluice.h"
#include "core/flow/application.h"

namespace sluice::capi {

class Transfers final : public Application {
  public:
    /// `inner` may be null.
    explicit Transfers(std::unique_ptr<Application> inner) : inner_(std::move(inner)) {}

    /// Takes a transfer that is posted at `now`, and gives it an id. Returns that of its flow. ConfigError if too many are
    /// outstanding.
    FlowId add(const sluice_transfer& transfer, Tick now);
    /// The last one that was added could not be opened.
    void take_back(FlowId flow);
    void watch_arrivals() { watches_arrivals_ = true; }
    bool watches_arrivals() const { return watches_arrivals_; }

    /// The id of the last one that was added.
    std::int64_t last_id() const { return count_ - 1; }
    std::size_t outstanding() const { return places_.size() - free_.size(); }
    bool has(FlowId flow) const;
    /// A flow of the network is complete.
    void finished(const FlowRecord& flow);

    /// Everything before some instant has been executed: what has happened is put in order.
    void settle();
    bool something_waits() const { return !waiting_.empty(); }
    /// The next one that has not been taken, which then is. False: there is none.
    bool take(sluice_event& event);

    bool for_one_thread() const override { return true; }
    Tick signal_lookahead() const override;
    ConnectionId connection_count() const override;
    bool waits_at(NodeId host) const override {
        return inner_ != nullptr && inner_->waits_at(host);
    }
    void on_begin(NodeId host, HostServices& services) override;
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override;

  private:
    struct Place {
        FlowId flow = kNoFlow;  ///< kNoFlow: free
        sluice_completion so_far{};
    };

    std::unique_ptr<Application> inner_;
    std::vector<Place> places_;
    std::vector<std::uint32_t> free_;  ///< of the places
    std::int64_t count_ = 0;
    std::vector<sluice_event> fresh_;
    std::deque<sluice_event> waiting_;  ///< in order of time
    bool watches_arrivals_ = false;
};

}  // namespace sluice::capi
