// SPDX-License-Identifier: Apache-2.0
/// Weighted max-min fair rates of flows over links, kept exact while flows come and go and
/// capacities change (Bertsekas and Gallager, Data Networks, 6.5; docs/models/flow_level.md).
///
/// A flow's rate follows its *level* x in [-1, inf):
///     rate(x) = minimum (1 + x)    for x <= 0    minimums are given first, in proportion
///     rate(x) = minimum + weight x for x >= 0    then the rest by weight (HyGra, eq. 2-3)
/// A link is loaded by the sum of coefficient x rate of its flows. Max-min: the level of a flow is
/// the least of its cap's and those of its links; a link's level is where its load meets its
/// capacity, infinite if that does not happen. These levels are one fixed point, and it is unique
/// in the rates.
///
/// After a change only links whose equation no longer holds are solved again, from the lowest level
/// up, each against the levels of all others; what moves a flow makes those of its other links
/// dirty whose equations it enters. That ends in the same fixed point (each pass settles at least
/// the lowest level that is not yet right), so nothing else is ever touched.
///
/// Units are the caller's: rates and capacities in one unit of traffic per time, coefficients are
/// what a flow puts on the link per unit of its own rate. Loads are exact to 1e-12 of a link's
/// capacity. Deterministic: results depend on the order of calls only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace sluice::flowlevel {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

/// What a flow puts on a link per unit of its own rate; coefficient > 0.
struct LinkUse {
    std::uint32_t link = 0;
    double coefficient = 1;
};

struct Demand {
    double weight = 1;        ///< > 0, finite
    double minimum = 0;       ///< >= 0, finite
    double cap = kUnlimited;  ///< >= minimum
};

class MaxMin {
  public:
    using Flow = std::uint32_t;
    static constexpr std::uint32_t kNoLink = 0xffffffffU;

    /// Links 0, 1, ... of these capacities, each finite and >= 0.
    explicit MaxMin(const std::vector<double>& capacities);

    /// Adds a flow over different links; it must have a link or a finite cap. Its handle is below
    /// the largest number of flows there have been at a time. Throws InternalError on bad values.
    Flow add(const std::vector<LinkUse>& links, const Demand& demand);
    void remove(Flow flow);
    void set_capacity(std::uint32_t link, double capacity);
    /// One more; returns its number.
    std::uint32_t add_link(double capacity);

    /// Makes rates right again after any number of the calls above.
    void update();
    /// The same by progressive filling of the whole network, for comparison and as a last resort.
    void solve_all();

    /// Valid after update().
    double rate(Flow flow) const { return flows_[flow].rate; }
    double level(Flow flow) const { return flows_[flow].level; }
    /// The link that limits the flow; kNoLink if its cap does.
    std::uint32_t bottleneck(Flow flow) const { return flows_[flow].bottleneck; }
    double capacity(std::uint32_t link) const { return links_[link].capacity; }
    /// Infinite if the link limits no flow.
    double link_level(std::uint32_t link) const { return links_[link].level; }
    double load(std::uint32_t link) const;

    /// Flows whose rate the last update() set anew, each once, those added since included.
    const std::vector<Flow>& changed() const { return changed_; }
    /// Handles are below this.
    std::size_t handle_limit() const { return flows_.size(); }
    std::size_t flow_count() const { return flow_count_; }
    /// How often the whole network was filled.
    std::uint64_t fillings() const { return fillings_; }
    std::size_t memory_bytes() const;

  private:
    struct Link {
        double capacity = 0;
        double level = kUnlimited;
        double load = 0;  ///< of links without a level; a running sum, made exact when solved
        bool dirty = false;
    };
    struct Member {
        Flow flow = 0;
        std::uint32_t hop = 0;  ///< into hops_
        double coefficient = 0;
    };
    struct Hop {
        std::uint32_t link = 0;
        std::uint32_t position = 0;  ///< in members_[link]
        double coefficient = 0;
    };
    /// Where a flow stands among its limits.
    struct Standing {
        double level = kUnlimited;   ///< least of the links' and the cap's
        double second = kUnlimited;  ///< the least without the bottleneck
        std::uint32_t bottleneck = kNoLink;
    };
    /// A flow, one cache line.
    struct alignas(64) State {
        double level = kUnlimited;  ///< as in Standing
        double second = kUnlimited;
        double rate = 0;    ///< at `level`; 0 while that is infinite
        double weight = 0;  ///< 0: no such flow
        double minimum = 0;
        double cap_level = kUnlimited;
        std::uint32_t bottleneck = kNoLink;
        std::uint32_t first_hop = 0;
        std::uint32_t hop_count = 0;
        std::uint32_t changed_in = 0;  ///< the update() that listed it in changed_

        Standing standing() const { return {level, second, bottleneck}; }
    };
    /// A member as a link's solution sees it.
    struct Share {
        double limit;     ///< level that the flow's other links and its cap allow
        double at_limit;  ///< load at that level
        double weight;    ///< load per level
        double minimum;   ///< load at level 0
    };
    struct Waiting {
        double level;
        std::uint32_t link;
        bool operator<(const Waiting& other) const {  // the lowest first in a max-heap
            return level != other.level ? level > other.level : link > other.link;
        }
    };

    static double rate_at(const State& flow, double level) {
        return level <= 0 ? flow.minimum * (1 + level) : flow.minimum + flow.weight * level;
    }
    /// The level that the flow has but for `link`.
    template <class Any>
    static double limit_without(const Any& flow, std::uint32_t link) {
        return flow.bottleneck == link ? flow.second : flow.level;
    }

    std::uint32_t take_hops(std::uint32_t count);
    void give_hops_back(std::uint32_t first, std::uint32_t count);
    void mark(std::uint32_t link, double level);
    void open_changes();
    void close_changes();
    void list_change(Flow flow);
    void scan_levels(State& flow) const;
    void solve_link(std::uint32_t link);
    double solve_shares(double capacity, double guess, double& slope) const;
    void set_level(std::uint32_t link, double level);
    void move_flow(Flow flow, const Standing& before, std::uint32_t except);
    double filling_level(std::uint32_t link, const std::vector<bool>& fixed, bool& any) const;
    void start_filling(const std::vector<bool>& fixed);
    std::vector<Flow> capped_flows() const;
    void fix(Flow flow, double level, std::vector<bool>& fixed);
    void fill(std::vector<bool>& fixed);

    std::vector<Link> links_;
    std::vector<std::vector<Member>> members_;  ///< by link
    std::vector<State> flows_;
    std::vector<Hop> hops_;
    std::vector<std::vector<std::uint32_t>> free_hops_;  ///< by log2 of their number
    std::vector<Flow> free_flows_;
    std::size_t flow_count_ = 0;
    std::size_t calls_since_update_ = 0;
    std::vector<Waiting> waiting_;  ///< heap of dirty links
    std::vector<Share> shares_;     ///< work space of solve_link()
    std::vector<Flow> changed_;
    bool changes_open_ = false;
    std::uint32_t update_count_ = 1;
    std::uint64_t fillings_ = 0;
};

}  // namespace sluice::flowlevel
