// SPDX-License-Identifier: Apache-2.0
/// Folding: parts of the network that are copies of each other are executed once. Exact: every flow, port
/// and callback is what it would be without.
///
/// When flows come into service, the parts that they join (flows that share a port or a host) are
/// compared: a part that is another one renamed, in all that decides what happens (Likeness), becomes its
/// image (Fold). From then on the two live through the same as long as the same happens to both. Nothing
/// but a host's applications can make a difference, and flows that come from elsewhere:
///
/// - a callback at a host of the leader is repeated at the same host of each image;
/// - what an application orders for later, the start of a flow or a timer, waits in its own host's timers.
///   A host that others follow stops at each such instant of its own or of a follower (meet()): if the
///   follower has the same one, both go on; if not, that host of the image is executed by itself from this
///   instant on, and the rest of the image from the window's end on, where what it does arrives;
/// - flows that reach ports or hosts that are not in the fold end it, and those that can be folded again
///   are, at once.
///
/// Ports meet in a switch's buffer besides. Such parts are folded whose switches stay quiet whatever their
/// flows have in the network (OccupancyBounds); of others, whose flows have no windows, queues are looked at, and a
/// fold ends before a buffer could matter.
///
/// Who comes while others are at its ports, as the next step of a ring does while the last ACKs of the one before are on
/// their way, waits for them to leave, and is compared then.
///
/// A supervisor's partitions are parts, or lie in one, for then cables join flows, too. It is asked whether they
/// are alike to it, and learns of flows from elsewhere when the fold that they meet has ended.
///
/// Never folded: flows that are sprayed, cut off or cross cables that lose packets. Ports that mark at random
/// draw by themselves: a fold ends before one of its queues comes to that.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "core/clocks/folding.h"
#include "core/clocks/occupancy_bounds.h"
#include "core/clocks/supervisor.h"
#include "core/fold/copy_writer.h"
#include "core/fold/fold.h"
#include "core/fold/symmetry.h"

namespace sluice::step {

class Folds final : public Folding {
  public:
    /// After WorldStore::begin() and before the first window, of a network on one clock whose nodes are all
    /// stepped by core/packet/. `supervisor`: the driver's, may be null. Both must outlive this.
    explicit Folds(WorldStore& store, Supervisor* supervisor = nullptr);
    ~Folds() override;
    Folds(const Folds&) = delete;
    Folds& operator=(const Folds&) = delete;

    void after_window(Tick now) override;
    void after_cut(Tick now) override;
    void entered(FlowSlot flow) override;
    void leaving(FlowSlot flow) override;
    void settle(Tick now, bool may_fold) override;
    bool folded() const override { return fold_count_ > 0 || !forks_.empty(); }
    void unfold() override;
    void reconsider(std::vector<FlowSlot> flows) override;
    FlowSlot leader_of(FlowSlot flow) const override;
    void list_followers(FlowSlot flow, std::vector<FlowSlot>& followers) const override;
    std::uint64_t generation() const override { return generation_; }
    PortId leader_of_port(PortId port) const override;
    void meet_paused(NodeId host, Tick at, bool own) override;
    void go_on_together(NodeId host, Tick at) override;

    FoldCounters counters() const;

  private:
    using FlowCall = void (*)(World& world, NodeId host, FlowSlot flow, Tick now);
    /// Flows that share ports or hosts.
    struct Part {
        std::vector<FlowSlot> flows;  ///< by id
        std::uint64_t signature = 0;
    };

    /// Whether a part can be folded.
    enum class Standing : std::uint8_t {
        apart,
        among_others,  ///< others are at its ports or hosts, who may leave before it does
        unfit,
    };
    /// What is known of a switch while parts are compared: stays_calm().
    enum class Calmness : std::uint8_t { unknown, calm, crowded };
    /// Flows of a part that has copies, among others as it came.
    struct Waiting {
        std::vector<FlowSlot> flows;
        std::vector<FlowId> ids;
    };

    // Leaders' hosts and those that follow (fold_meeting.cpp).
    static void received(World& world, NodeId host, FlowSlot flow, Tick now);
    static void sent(World& world, NodeId host, FlowSlot flow, Tick now);
    static void meet(World& world, NodeId host, Tick at, bool own);
    void repeat(FlowCall call, World& world, NodeId host, FlowSlot flow, Tick now);
    FlowSlot named_at(const Fold& fold, const Image& image, FlowSlot flow, bool received) const;
    void update_due(NodeId host);
    void meet(NodeId host, Tick at, bool own);
    bool follows(const Fold& fold, const Image& image, NodeId host, Tick at, const Timer* own);
    bool agrees(const Fold& fold, const Image& image, std::uint32_t host, FlowSlot flow,
                FlowSlot other) const;
    void go_on_together(const FoldPlace& place, Tick at, const Timer& own);
    void fork(std::uint32_t id, std::uint32_t number, std::uint32_t host);
    void finish_host(const CopyWriter& writer, const HostFork& fork);
    void finish_fork(std::uint32_t id, std::uint32_t number, Tick now);
    void finish_units(std::uint32_t id, std::uint32_t number);

    // What can be folded (fold_parts.cpp).
    bool only_way(NodeId node, PortId port, NodeId to) const;
    FlowPrint print_of(FlowSlot flow) const;
    const Footprint& footprint(const FlowPrint& print);
    bool inside(std::uint32_t id, FlowSlot flow);
    bool all_inside(std::uint32_t id, FlowSlot flow) const;
    bool meets_by_cable(PortId port, std::uint32_t id, std::uint32_t image) const;
    bool foldable(PortId port, Tick now);
    bool is_calm(NodeId node, Tick now);
    bool draws(PortId port) const;
    /// True if there are more now.
    bool add_feeders(const FlowPrint& print, FeedersOf& feeders) const;
    Backlogs unmarked_backlogs(const FeedersOf& feeders) const;
    bool may_mark(const Fold& fold) const;
    void end_marking();
    std::vector<Part> parts(const std::vector<std::vector<FlowSlot>>& joined);
    Standing standing(const Part& part, Tick now);
    std::uint64_t signature(const Part& part) const;
    void fold_alike(std::vector<Part>& found, Tick now);
    std::uint32_t new_fold();
    void lead_unit(std::uint32_t id, PortId port);
    void lead_host(std::uint32_t id, NodeId host);
    std::uint32_t make_leader(const Part& part);
    bool pair_units(Image& image, const FlowPrint& leader, const FlowPrint& other) const;
    bool pair_hosts(Image& image, NodeId leader, NodeId other) const;
    bool pair_up(const Fold& fold, Image& image, const Part& leader, const Part& part) const;
    void add_image(std::uint32_t id, std::unique_ptr<Image> image);
    void claim(std::uint32_t id, std::uint32_t number);
    void count_anew(const Fold& fold);
    void still(const Fold& fold, const Image& image);
    void wake_for_followers(const Fold& fold);

    // Parts that wait for others to leave (fold_waiting.cpp).
    template <class Visit>
    void visit_places(const FlowPrint& print, Visit&& visit) const;
    void wait(const Part& part);
    void stop_waiting(std::uint32_t number);
    void stop_waiting();
    void note_leaving(const FlowPrint& print);
    void look_again(std::vector<std::vector<FlowSlot>>& joined);

    // Switches whose buffers could matter (fold_crowding.cpp).
    Tick calm_for(PortId in, std::int64_t bytes) const;
    Tick calm_for(PortId in) const;
    std::vector<Tick> calm_if_empty() const;
    Tick calm_until(NodeId node, Tick now) const;
    bool stays_calm(NodeId node, Tick now);
    void add_folds_at(NodeId node, std::set<std::uint32_t>& folds) const;
    void list_entrances();
    void end_crowded(Tick now);

    // Parts that are folded upon themselves (fold_turns.cpp).
    bool fold_turned(std::vector<const Part*>& candidates, Tick now, Tick from);
    bool may_fold_inside(const std::vector<FlowSlot>& flows) const;
    bool holds_together(const Fold& fold) const;
    bool add_copy(std::uint32_t id, const PartShape& leader, const FirstSheet& first,
                  const std::vector<Isomorphism>& group, const Part& part, Tick from);
    std::uint32_t lead_sheet(const PartShape& shape, const FirstSheet& first);
    std::shared_ptr<const Sheets> add_sheets(std::uint32_t id, const PartShape& leader,
                                             const PartShape& part, const FirstSheet& first,
                                             const std::vector<Isomorphism>& names);
    bool free_to_follow(const Image& image) const;
    void drop_sheets(std::uint32_t id, const std::shared_ptr<const Sheets>& sheets);
    void begin_turns(std::uint32_t id);
    bool take_turns(std::uint32_t id);
    bool takes_turns(std::uint32_t id, const Sheets& part) const;
    FlowPrint known_print(FlowSlot flow) const;
    bool find_turn(std::uint32_t id, std::uint32_t index, Turn& turn) const;
    bool find_place(std::uint32_t id, std::uint32_t index, std::uint32_t place, Turn& turn) const;
    const Image* sheet_at(std::uint32_t id, const Sheets& part, const FlowPrint& print,
                          std::uint32_t place, std::uint32_t& index) const;
    bool leads_on(const Turn& turn) const;
    bool sheets_alike(const Fold& fold, const Sheets& sheets, Tick from);
    bool enters_alike(const Fold& fold, const Sheets& sheets) const;
    bool meets_part_by_cable(std::uint32_t id, PortId port, const Sheets& part) const;
    bool keeps_order(const Fold& fold) const;
    bool keeps_order(const Fold& fold, const Sheets& sheets) const;
    bool turn_up(std::uint32_t id, FlowSlot flow);
    void turn_route(FlowSlot flow, Turn& turn);
    void turn_back(Fold& fold, std::uint32_t index);
    const FlowPrint& print_in(const Fold& fold, std::uint32_t index) const;
    std::vector<std::uint32_t> part_of(const Fold& fold, std::uint32_t number) const;

    // Folds as flows come and go (folds.cpp).
    void reserve_slots();
    void place_unit(PortId port, const FoldPlace& place);
    void use(const FlowPrint& print, bool enter);
    void take_up(FlowSlot flow, std::set<std::uint32_t>& disturbed,
                 std::vector<std::vector<FlowSlot>>& joined);
    void disturb(const FlowPrint& print, std::set<std::uint32_t>& disturbed) const;
    void find_loud(std::set<std::uint32_t>& disturbed, Tick now);
    void disturb_with(FlowSlot flow, std::set<std::uint32_t>& disturbed) const;
    void end_disturbed();
    void end_unlike(std::vector<std::vector<FlowSlot>>& joined);
    std::vector<FlowPair> pairs_of(const Fold& fold, const Image& image) const;

    // What belongs to a fold (fold_members.cpp).
    std::uint64_t sent_since(const Fold& fold, std::uint32_t index) const;
    std::uint32_t add_flow(std::uint32_t id, FlowSlot flow);
    void use_in_fold(Fold& fold, std::uint32_t index);
    void change_uses(Fold& fold, const FlowPrint& print, std::uint32_t more);
    void drop_flow(std::uint32_t id, std::uint32_t index);
    void drop_unused(std::uint32_t id);
    void drop_unit(std::uint32_t id, std::uint32_t index);
    void drop_host(std::uint32_t id, std::uint32_t index);
    void forget_unit(Fold& fold, std::uint32_t index);
    void forget_host(Fold& fold, std::uint32_t index);
    void write_image(std::uint32_t id, std::uint32_t number);
    void write_part(std::uint32_t id, const std::vector<std::uint32_t>& numbers);
    bool is_own(const Fold& fold, std::uint32_t number) const;
    void end_part(std::uint32_t id, const std::vector<std::uint32_t>& numbers);
    void end_image(std::uint32_t id, std::uint32_t number);
    bool part_alike(std::uint32_t id, std::uint32_t number, bool fresh) const;
    static std::vector<FlowSlot> members_of(const std::vector<FlowSlot>& flows);
    static std::vector<std::vector<FlowSlot>> members(const Fold& fold);
    std::vector<std::vector<FlowSlot>> take_apart(std::uint32_t id);
    void reconsider(std::vector<std::vector<FlowSlot>> members);
    void dissolve(std::uint32_t id);

    WorldStore& store_;
    World& world_;
    Supervisor* supervisor_;
    Callbacks original_;
    OccupancyBounds leases_;
    FoldPlaces places_;
    std::vector<std::unique_ptr<Fold>> folds_;  ///< null: the number is free
    std::vector<std::uint32_t> free_folds_;
    std::vector<Tick> followed_;                ///< World::followed
    std::vector<std::uint32_t> unit_uses_;      ///< by port: flows in service
    std::vector<std::uint32_t> host_uses_;      ///< by node
    std::vector<FlowPrint> prints_;             ///< by slot, of flows in service
    std::vector<FlowSlot> entered_;             ///< since the last settle()
    std::vector<std::uint32_t> thinned_;        ///< folds that flows have left since
    std::set<std::uint32_t> grown_;             ///< folds that flows have come to since
    std::vector<std::vector<FlowSlot>> left_;   ///< by folds that have ended since
    std::map<std::uint32_t, Waiting> waiting_;  ///< by number
    std::vector<std::uint32_t> waits_at_;  ///< by port, then by node: the number of who waits there
    std::set<std::uint32_t> thinner_;      ///< numbers of those among whom somebody has left
    std::uint32_t waited_ = 0;             ///< parts; the number of the next one
    std::uint64_t won_by_waiting_ = 0;     ///< images
    std::vector<std::pair<std::uint32_t, std::uint32_t>> forks_;  ///< images, of this window
    std::uint32_t strange_ = 0;              ///< flows in service whose way is not known whole
    bool draws_ = false;                     ///< a fold has had a port that does
    bool may_crowd_ = false;                 ///< folds are at switches that are not divisible
    Tick calm_until_ = 0;                    ///< those switches' buffers do not matter before
    std::vector<Tick> empty_calm_for_;       ///< by node: calm_if_empty()
    std::vector<Tick> calm_for_;             ///< by node, scratch
    std::vector<Calmness> calmness_;         ///< by node, while parts are compared
    std::vector<NodeId> switches_of_folds_;  ///< as list_entrances() found them
    std::vector<PortId> entrances_;          ///< the same
    bool entrances_listed_ = false;          ///< and nothing has changed since
    std::uint64_t generation_ = 0;           ///< of what is in folds, and of flows in service
    std::uint32_t fold_count_ = 0;
    FoldCounters counters_;
    std::vector<std::uint32_t> owner_;  ///< scratch: by port, then by node
    Footprint footprint_;               ///< scratch of footprint()
};

}  // namespace sluice::step
