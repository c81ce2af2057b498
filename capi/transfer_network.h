// SPDX-License-Identifier: Apache-2.0
/// A scenario's network in a plain loop, which carries what is posted while it runs: what the C functions stand on.
/// Errors: ConfigError for the caller's mistakes, which change nothing.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "capi/include/sluice.h"
#include "capi/transfers.h"
#include "core/clocks/cell_step.h"
#include "core/engine/engine.h"
#include "core/routing/routing.h"
#include "core/text/config_value.h"
#include "core/world/world_store.h"
#include "experiment/experiment.h"

namespace sluice::capi {

class TransferNetwork {
  public:
    /// Of a scenario's values; `path` names them. Without [workload] only what is posted runs.
    TransferNetwork(ConfigValue values, const std::string& path);
    TransferNetwork(const TransferNetwork&) = delete;

    std::uint32_t hosts() const { return static_cast<std::uint32_t>(topology().host_count()); }
    Tick now() const { return now_; }
    void set_doorbell_latency(Tick latency);
    void watch_arrivals() { transfers_->watch_arrivals(); }

    /// As sluice.h says of the functions of these names.
    std::int64_t post(const sluice_transfer& transfer);
    void advance(Tick until);
    /// False: there is none before `until`. `arrivals`: also those, if they are watched.
    bool next_event(Tick until, bool arrivals, sluice_event& event);

  private:
    struct PairKey {
        std::uint64_t hosts;
        std::uint32_t number;
        bool operator==(const PairKey& other) const {
            return hosts == other.hosts && number == other.number;
        }
    };
    struct PairHash {
        std::size_t operator()(const PairKey& key) const;
    };

    const Topology& topology() const { return experiment_.topology; }
    void check(const sluice_transfer& transfer) const;
    void check_until(Tick until) const;
    FlowSpec flow_of(const sluice_transfer& transfer);
    bool take(bool arrivals, sluice_event& event);
    void run_to(Tick limit);
    bool run_to_event(Tick limit);
    Tick first_event(Tick end);
    bool may_end(const step::Packet& packet) const;
    void look_for_progress(Tick at);

    Experiment experiment_;
    Transfers* transfers_;  ///< the experiment's application
    Routing routing_;
    step::WorldStore store_;
    engine::Engine engine_;
    step::CellStep step_;
    Tick now_ = 0;
    Tick doorbell_latency_ = 0;
    std::unordered_map<PairKey, ConnectionId, PairHash> queue_pairs_;
    std::unordered_map<std::uint64_t, std::uint32_t>
        own_pairs_;  ///< transfers that had one, by their hosts
    ConnectionId next_connection_ = 0;
    Tick next_look_ = 0;  ///< at progress
    std::int64_t acknowledged_ = -1;
};

}  // namespace sluice::capi
