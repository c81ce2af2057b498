// SPDX-License-Identifier: Apache-2.0
#include "core/clocks/division.h"

#include <algorithm>
#include <limits>
#include <queue>
#include <set>
#include <utility>

namespace sluice::step {

namespace {

/// What a packet costs that crosses from one worker to another, in sent or received ones: it is copied, and
/// its memory comes from another core's cache.
constexpr double kCrossing = 1.0;

/// What a packet costs that a host sends or receives, in those of a switch: it paces, acknowledges, computes
/// rates. Measured on docs/performance.md's cases: 1.5 and 1.75.
constexpr double kAtHost = 1.6;

/// The work of the node of `port` with what its cable carries.
double work_at(const Topology& topology, NodeId node, double packets) {
    return topology.is_host(node) ? kAtHost * packets : packets;
}

/// With so many leaves a worker, about as many of each worker's have something to do at a time.
constexpr std::size_t kManyLeaves = 16;

NodeId leaf_of(const Topology& topology, NodeId host) {
    return topology.neighbor(topology.first_port(host));
}

/// Adjacency visits of all attempts together: large networks get one, small ones several.
constexpr std::size_t kEffort = 4'000'000;
constexpr int kPasses = 6;

/// Of two sides: the share of all work that side 0 is to have.
class Bisection {
  public:
    Bisection(const Topology& topology, const std::vector<std::uint64_t>& packets,
              const std::vector<NodeId>& nodes, double share)
        : topology_(topology), packets_(packets), nodes_(nodes), share_(share) {
        place_.assign(topology.node_count(), kNone);
        weight_.resize(nodes.size());
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            place_[nodes[i]] = i;
        }
        for (std::uint32_t i = 0; i < nodes.size(); ++i) {
            each_port(i, [&](std::uint32_t, double carried) {
                weight_[i] += work_at(topology, nodes[i], carried);
            });
            total_ += weight_[i];
        }
    }

    /// Side by node of `nodes`.
    std::vector<std::uint8_t> best() {
        std::size_t degrees = 1;
        for (const NodeId node : nodes_) {
            degrees += topology_.port_count(node);
        }
        const std::size_t growths = std::min<std::size_t>(
            {std::max<std::size_t>(kEffort / degrees / kPasses, 1), 3, nodes_.size()});
        const std::uint32_t in_server = std::max(topology_.gpus_per_server, 1U);
        std::vector<std::uint8_t> best;
        double least = std::numeric_limits<double>::max();
        for (std::size_t i = 0; i < growths + 2; ++i) {
            if (i < growths) {
                grow(static_cast<std::uint32_t>(i * nodes_.size() / growths));
            } else {
                spread(i == growths ? 1 : in_server);
            }
            double time = cost();
            for (int pass = 0; pass < kPasses; ++pass) {
                const double before = time;
                time = refine(time);
                if (time >= before) {
                    break;
                }
            }
            if (time < least) {
                least = time;
                best = side_;
            }
        }
        return best;
    }

  private:
    using Entry = std::pair<double, std::uint32_t>;

    /// visit(neighbour's place or kNone, packets both ways).
    template <class Visit>
    void each_port(std::uint32_t i, Visit&& visit) const {
        const NodeId node = nodes_[i];
        for (PortId p = topology_.first_port(node);
             p < topology_.first_port(node) + topology_.port_count(node); ++p) {
            const PortId peer = topology_.peer_of(p);
            visit(place_[topology_.node_of(peer)],
                  static_cast<double>(packets_[p]) + static_cast<double>(packets_[peer]));
        }
    }

    /// Each side's work over its share, the larger one, and what crosses.
    double cost() const {
        const double other = total_ - work_;
        return std::max(work_ / share_, other / (1 - share_)) + kCrossing * crossing_;
    }

    /// Side 0 grows from `seed` until it has its share.
    void grow(std::uint32_t seed) {
        side_.assign(nodes_.size(), 1);
        work_ = crossing_ = 0;
        std::vector<double> joined(nodes_.size(), 0);
        std::priority_queue<Entry> edge;
        std::uint32_t next = 0;
        edge.push({0, seed});
        while (work_ < share_ * total_) {
            while (!edge.empty() && side_[edge.top().second] == 0) {
                edge.pop();
            }
            while (edge.empty() && side_[next] == 0) {
                ++next;
            }
            const std::uint32_t taken = edge.empty() ? next : edge.top().second;
            if (work_ + weight_[taken] / 2 > share_ * total_) {
                break;
            }
            move(taken);
            each_port(taken, [&](std::uint32_t other, double carried) {
                if (other != kNone && side_[other] == 1) {
                    joined[other] += 2 * carried;
                    edge.push({joined[other] - weight_[other], other});
                }
            });
        }
    }

    /// Hosts in order of their places in servers of `in_server`, side 0's share first: pods and segments, or
    /// rails, as networks are numbered. Then, from neighbour to neighbour, what most is joined to.
    void spread(std::uint32_t in_server) {
        side_.assign(nodes_.size(), 1);
        work_ = crossing_ = 0;
        std::vector<std::uint32_t> ready;
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            if (topology_.is_host(nodes_[i])) {
                ready.push_back(i);
            }
        }
        std::stable_sort(ready.begin(), ready.end(), [&](std::uint32_t a, std::uint32_t b) {
            return nodes_[a] % in_server < nodes_[b] % in_server;
        });
        std::vector<std::uint8_t> known(nodes_.size(), 0);
        double hosts = 0;
        for (const std::uint32_t i : ready) {
            known[i] = 1;
            hosts += weight_[i];
        }
        for (const std::uint32_t i : ready) {
            if (work_ + weight_[i] / 2 > share_ * hosts) {
                break;
            }
            move(i);
        }
        while (!ready.empty()) {
            ready = spread_on(ready, known);
        }
    }

    /// From nodes whose side is known to their neighbours, which are returned.
    std::vector<std::uint32_t> spread_on(const std::vector<std::uint32_t>& from,
                                         std::vector<std::uint8_t>& known) {
        std::vector<std::uint32_t> reached;
        for (const std::uint32_t i : from) {
            each_port(i, [&](std::uint32_t other, double) {
                if (other != kNone && known[other] == 0) {
                    known[other] = 2;
                    reached.push_back(other);
                }
            });
        }
        for (const std::uint32_t i : reached) {
            double to_0 = 0;
            each_port(i, [&](std::uint32_t other, double carried) {
                if (other != kNone && known[other] == 1) {
                    to_0 += side_[other] == 0 ? carried : -carried;
                }
            });
            if (to_0 > 0 || (to_0 == 0 && turn_)) {
                move(i);
            }
            turn_ = to_0 == 0 ? !turn_ : turn_;
        }
        for (const std::uint32_t i : reached) {
            known[i] = 1;
        }
        return reached;
    }

    /// What moving a node adds to crossing_.
    double change(std::uint32_t i) const {
        double change = 0;
        each_port(i, [&](std::uint32_t other, double carried) {
            if (other != kNone) {
                change += side_[other] == side_[i] ? carried : -carried;
            }
        });
        return change;
    }

    void move(std::uint32_t i) {
        crossing_ += change(i);
        work_ += side_[i] == 0 ? -weight_[i] : weight_[i];
        side_[i] ^= 1U;
    }

    /// Moves every node once, the best one first, from the side that has too much; goes back to where the
    /// cost was least, and returns it.
    double refine(double least) {
        std::priority_queue<Entry> edge[2];
        std::vector<std::uint8_t> moved(nodes_.size(), 0);
        for (std::uint32_t i = 0; i < nodes_.size(); ++i) {
            edge[side_[i]].push({-change(i), i});
        }
        std::vector<std::uint32_t> moves;
        std::size_t kept = 0;
        const std::size_t patience = std::max<std::size_t>(64, nodes_.size() / 16);
        while (moves.size() - kept < patience) {
            const unsigned from = work_ > share_ * total_ ? 0 : 1;
            std::priority_queue<Entry>& heap = edge[from];
            while (!heap.empty() && (moved[heap.top().second] != 0 ||
                                     heap.top().first != -change(heap.top().second))) {
                heap.pop();
            }
            if (heap.empty()) {
                break;
            }
            const std::uint32_t i = heap.top().second;
            heap.pop();
            move(i);
            moved[i] = 1;
            moves.push_back(i);
            each_port(i, [&](std::uint32_t other, double) {
                if (other != kNone && moved[other] == 0) {
                    edge[side_[other]].push({-change(other), other});
                }
            });
            if (cost() < least) {
                least = cost();
                kept = moves.size();
            }
        }
        while (moves.size() > kept) {
            move(moves.back());
            moves.pop_back();
        }
        return least;
    }

    const Topology& topology_;
    const std::vector<std::uint64_t>& packets_;
    const std::vector<NodeId>& nodes_;
    double share_;
    std::vector<std::uint32_t> place_;  ///< by node of the topology: in nodes_, or kNone
    std::vector<double> weight_;        ///< packets that a node sends and receives
    double total_ = 0;
    std::vector<std::uint8_t> side_;
    double work_ = 0;      ///< of side 0
    double crossing_ = 0;  ///< packets from side to side
    bool turn_ = true;     ///< what is joined to both sides alike goes to side 0
};

void divide(const Topology& topology, const std::vector<std::uint64_t>& packets,
            const std::vector<NodeId>& nodes, std::uint32_t first, std::uint32_t workers,
            std::vector<std::uint16_t>& owner) {
    if (workers == 1 || nodes.size() <= 1) {
        for (const NodeId node : nodes) {
            owner[node] = static_cast<std::uint16_t>(first);
        }
        return;
    }
    const std::uint32_t half = workers / 2;
    const std::vector<std::uint8_t> side =
        Bisection(topology, packets, nodes, static_cast<double>(half) / workers).best();
    std::vector<NodeId> parts[2];
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        parts[side[i]].push_back(nodes[i]);
    }
    divide(topology, packets, parts[0], first, half, owner);
    divide(topology, packets, parts[1], first + half, workers - half, owner);
}

}  // namespace

std::vector<std::uint16_t> divide_nodes(const Topology& topology,
                                        const std::vector<std::uint64_t>& packets,
                                        std::uint32_t workers) {
    std::vector<NodeId> nodes(topology.node_count());
    for (NodeId node = 0; node < nodes.size(); ++node) {
        nodes[node] = node;
    }
    std::vector<std::uint16_t> owner(nodes.size(), 0);
    divide(topology, packets, nodes, 0, workers, owner);
    return owner;
}

std::vector<std::uint16_t> divide_by_leaves(const Topology& topology, std::uint32_t workers) {
    std::vector<std::uint16_t> owner(topology.node_count(), 0);
    std::vector<bool> given(topology.node_count(), false);
    std::uint32_t leaves = 0;
    for (const NodeId host : topology.hosts()) {
        const NodeId leaf = leaf_of(topology, host);
        if (!given[leaf]) {
            given[leaf] = true;
            owner[leaf] = static_cast<std::uint16_t>(leaves++ % workers);
        }
        owner[host] = owner[leaf];
    }
    std::uint32_t others = 0;
    for (NodeId node = 0; node < owner.size(); ++node) {
        if (!topology.is_host(node) && !given[node]) {
            owner[node] = static_cast<std::uint16_t>(others++ % workers);
        }
    }
    return owner;
}

std::vector<std::uint16_t> divide_everywhere(const Topology& topology, std::uint32_t workers) {
    std::vector<std::vector<NodeId>> hosts(topology.node_count());  // by switch
    for (const NodeId host : topology.hosts()) {
        hosts[leaf_of(topology, host)].push_back(host);
    }
    std::vector<std::uint16_t> owner(topology.node_count(), 0);
    std::vector<double> all(workers, 0);
    std::vector<double> here(workers);
    const auto give = [&](NodeId node, double work) {
        const auto less = [&](std::uint32_t a, std::uint32_t b) {
            return std::make_pair(here[a], all[a]) < std::make_pair(here[b], all[b]);
        };
        std::uint32_t least = 0;
        for (std::uint32_t worker = 1; worker < workers; ++worker) {
            least = less(worker, least) ? worker : least;
        }
        owner[node] = static_cast<std::uint16_t>(least);
        here[least] += work;
        all[least] += work;
    };
    for (NodeId node = 0; node < owner.size(); ++node) {
        std::fill(here.begin(), here.end(), 0);
        if (!topology.is_host(node)) {
            give(node, std::max(static_cast<double>(hosts[node].size()), 1.0));
        }
        for (const NodeId host : hosts[node]) {
            give(host, kAtHost);
        }
    }
    return owner;
}

std::vector<std::uint16_t> divide_for_skips(const Topology& topology, std::uint32_t workers) {
    std::set<NodeId> leaves;
    for (const NodeId host : topology.hosts()) {
        leaves.insert(leaf_of(topology, host));
    }
    return leaves.size() >= kManyLeaves * workers ? divide_by_leaves(topology, workers)
                                                  : divide_everywhere(topology, workers);
}

double unevenness(const Topology& topology, const std::vector<std::uint64_t>& packets,
                  const std::vector<std::uint16_t>& owner, std::uint32_t workers) {
    std::vector<double> work(workers, 0);
    double all = 0;
    double crossing = 0;
    for (PortId p = 0; p < topology.port_count(); ++p) {
        const auto sent = static_cast<double>(packets[p]);
        const NodeId node = topology.node_of(p);
        const NodeId neighbor = topology.neighbor(p);
        const double here = work_at(topology, node, sent);
        const double there = work_at(topology, neighbor, sent);
        work[owner[node]] += here;
        work[owner[neighbor]] += there;
        all += here + there;
        crossing += owner[node] == owner[neighbor] ? 0 : sent;
    }
    const double most = *std::max_element(work.begin(), work.end());
    return all > 0 ? (most * workers + kCrossing * crossing) / all : 1;
}

}  // namespace sluice::step
