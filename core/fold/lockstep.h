// SPDX-License-Identifier: Apache-2.0
/// Keeps the hosts of copies in step with the representative's hosts within a window. Nothing but a host's applications
/// can make a difference between them:
///
/// - a callback at a representative's host is repeated at the same host of each copy;
/// - what an application orders for later, the start of a flow or a timer, waits in its own host's timers. A
///   representative's host stops at each such instant of its own or of a copy (World::followed): if the copy has the
///   same one, both go on; if not, the copy's host diverges. Of a host whose packets stand still, the copy ends at once.
#pragma once

#include "core/fold/divergence.h"
#include "core/fold/fold_members.h"

namespace sluice::step {

class Lockstep {
  public:
    /// Puts itself in the place of the world's callbacks as long as it lives. Parts that may be folded again are added to
    /// `left`. All must outlive this.
    Lockstep(WorldStore& store, FoldTable& folds, FoldMembers& members, Divergence& divergence,
             const Supervision& supervision, FlowGroups& left);
    ~Lockstep();
    Lockstep(const Lockstep&) = delete;
    Lockstep& operator=(const Lockstep&) = delete;

  private:
    using FlowCall = void (*)(World& world, NodeId host, FlowSlot flow, Tick now);

    static void received(World& world, NodeId host, FlowSlot flow, Tick now);
    static void sent(World& world, NodeId host, FlowSlot flow, Tick now);
    static void meet(World& world, NodeId host, Tick at, bool own);
    static void meet_paused(World& world, NodeId host, Tick at, bool own);
    static void go_on_together(World& world, NodeId host, Tick at);
    void repeat(FlowCall call, World& world, NodeId host, FlowSlot flow, Tick now);
    FlowSlot named_at(const Fold& fold, const Image& image, FlowSlot flow, bool received) const;
    const Timer* first_timer(NodeId host, bool own);
    void meet(NodeId host, Tick at, bool own);
    void meet_paused(NodeId host, Tick at, bool own);
    bool follows(const Fold& fold, const Image& image, NodeId host, Tick at, const Timer* own);
    bool agrees(const Fold& fold, const Image& image, std::uint32_t host, FlowSlot flow,
                FlowSlot other) const;
    void go_on_together(const FoldPlace& place, Tick at, const Timer& own);

    WorldStore& store_;
    World& world_;
    FoldTable& folds_;
    FoldMembers& members_;
    Divergence& divergence_;
    const Supervision& supervision_;
    FlowGroups& left_;
    Callbacks original_;
};

}  // namespace sluice::step
