// SPDX-License-Identifier: Apache-2.0
/// What a layer of an AICB workload adds to the ranks of a stage: computations, collectives that the
/// next step waits for, and such that nothing waits for. aicb_graph.cpp puts them into their order.
/// Internal to this folder.
#pragma once

#include <array>
#include <map>
#include <utility>
#include <vector>

#include "workloads/aicb/aicb_graph.h"

namespace sluice {

class AicbLayers {
  protected:
    /// All that is referred to must outlive this.
    AicbLayers(const AicbWorkload& workload, const AicbLayout& layout,
               const AicbGraphConfig& config);

    /// Ranks that wait for something else than their cursor; empty: for nothing.
    using Done = std::vector<OpId>;

    void compute(RankId stage, std::uint32_t layer, AicbPhase phase);
    /// Starts on every rank of the stage when `after` is complete there. Empty: there is none.
    Done start_communication(RankId stage, std::uint32_t layer, AicbPhase phase, const Done& after,
                             bool blocking = false);
    void communicate(RankId stage, std::uint32_t layer, AicbPhase phase);
    void communicate_unawaited(RankId stage, std::uint32_t layer, AicbPhase phase);
    /// Other policies do not run on SimAI's network.
    bool takes_turns() const;
    /// Who waits for a rank's turn gets it in order of addition: the layer that is issued last is
    /// added first.
    void reserve_turns(const std::vector<std::uint32_t>& layers);
    void await(const Done& done);

    const AicbWorkload& workload_;
    const AicbLayout& layout_;
    const AicbGraphConfig& config_;
    AicbGraph result_;
    CollectiveLibrary library_;
    Done cursor_;  ///< by rank: what its next blocking step waits for

  private:
    /// The resource of a rank for which communications that nothing waits for take turns.
    static constexpr RankResourceId kTurn = 1;

    NameId name(std::uint32_t layer, AicbPhase phase);
    /// Takes its turn on each rank; turns_ has who goes first.
    void queue_communication(RankId stage, std::uint32_t layer, AicbPhase phase);
    OpId join(RankId rank, OpId a, OpId b);

    std::array<Done, 6> last_unawaited_;  ///< by group kind, then rank
    /// By layer and phase, then rank: what takes the turn (AicbQueue::last_issued).
    std::map<std::pair<std::uint32_t, AicbPhase>, std::vector<OpId>> turns_;
    std::vector<std::vector<NameId>> names_;  ///< by name and phase
};

}  // namespace sluice
