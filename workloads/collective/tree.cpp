// SPDX-License-Identifier: Apache-2.0
/// Double binary tree: half of the data up and down each of two trees. The nodes of the trees are
/// servers; inside a server members form a chain below the one that speaks for it.
#include <algorithm>

#include "workloads/collective/algorithms.h"
#include "workloads/collective/binary_tree.h"

namespace sluice {

namespace {

/// Parent of node > 0 in the first tree.
std::uint32_t first_parent(std::uint32_t nodes, std::uint32_t node) {
    const std::uint32_t lowest = node & (~node + 1);
    const std::uint64_t up = std::uint64_t{node ^ lowest} | std::uint64_t{lowest} << 1;
    return up < nodes ? static_cast<std::uint32_t>(up) : node ^ lowest;
}

/// A tree over all members, the root's parent being itself.
Tree make_tree(std::vector<std::uint32_t> parent) {
    Tree tree;
    tree.parent = std::move(parent);
    tree.children.resize(tree.parent.size());
    for (std::uint32_t node = 0; node < tree.parent.size(); ++node) {
        if (tree.parent[node] == node) {
            tree.root = node;
        } else {
            tree.children[tree.parent[node]].push_back(node);
        }
    }
    return tree;
}

/// Members that take part, in the order of a tree's nodes, and what each starts after.
struct Nodes {
    std::vector<Member> members;
    std::vector<OpId> held;
};

/// One copy of the algorithm: up the tree, down the tree, or both, chunk by chunk. All below goes by node.
class TreePass {
  public:
    TreePass(Schedule& schedule, const Tree& tree, const Nodes& nodes, Slice slice, bool up,
             bool down)
        : schedule_(schedule), tree_(tree), nodes_(nodes), up_(up), down_(down) {
        const std::size_t chunks = chunk_count(schedule, slice.bytes);
        for (std::uint32_t node = 0; node < nodes.members.size(); ++node) {
            const Member member = nodes.members[node];
            const std::uint32_t above = tree.parent[node];
            const Member parent = nodes.members[above];
            up_lanes_.emplace_back(schedule, member, parent, nodes.held[above], chunks > 1);
            down_lanes_.emplace_back(schedule, parent, member, nodes.held[node], chunks > 1);
        }
        order_by_depth();
        for (std::size_t chunk = 0; chunk < chunks; ++chunk) {
            add(part_of(slice, chunks, chunk));
        }
    }

    std::vector<OpId> done() {
        std::vector<OpId> done;
        for (std::uint32_t node = 0; node < nodes_.members.size(); ++node) {
            done.push_back(end(node));
        }
        return done;
    }

  private:
    void order_by_depth() {
        order_ = {tree_.root};
        for (std::size_t i = 0; i < order_.size(); ++i) {
            const std::vector<std::uint32_t>& below = tree_.children[order_[i]];
            order_.insert(order_.end(), below.begin(), below.end());
        }
    }

    void add(Slice slice) {
        OpId at_root = nodes_.held[tree_.root];
        if (up_) {
            for (auto node = order_.rbegin(); node != order_.rend(); ++node) {
                const OpId gathered = gather(*node);
                if (*node == tree_.root) {
                    at_root = gathered;
                } else {
                    up_lanes_[*node].send(slice, true, gathered);
                }
            }
        }
        if (!down_) return;
        for (const std::uint32_t node : order_) {
            const OpId held = node == tree_.root ? at_root : down_lanes_[node].last_received();
            for (const std::uint32_t child : tree_.children[node]) {
                down_lanes_[child].send(slice, false, held);
            }
        }
    }

    /// Complete when a node has the chunk from all its children, and its own.
    OpId gather(std::uint32_t node) {
        std::vector<OpId> parts;
        for (const std::uint32_t child : tree_.children[node]) {
            parts.push_back(up_lanes_[child].last_received());
        }
        return parts.empty() ? nodes_.held[node] : schedule_.join(nodes_.members[node], parts);
    }

    OpId end(std::uint32_t node) {
        if (node != tree_.root) {
            return down_ ? down_lanes_[node].last_received() : up_lanes_[node].all_sent();
        }
        if (up_) return gather(node);
        std::vector<OpId> sent;
        for (const std::uint32_t child : tree_.children[node]) {
            sent.push_back(down_lanes_[child].all_sent());
        }
        return schedule_.join(nodes_.members[node], sent);
    }

    Schedule& schedule_;
    const Tree& tree_;
    const Nodes& nodes_;
    bool up_;
    bool down_;
    std::vector<Lane> up_lanes_;        ///< by the lower node
    std::vector<Lane> down_lanes_;      ///< by the lower node
    std::vector<std::uint32_t> order_;  ///< the root first, parents before children
};

/// The trees' nodes: each with its members, the one that speaks for it first. A group that is in
/// one server has a node per member.
Servers tree_nodes(const Schedule& schedule, std::size_t channel) {
    Servers nodes = schedule.servers();
    if (nodes.size() == 1) {
        const std::vector<Member> members = nodes.front();
        nodes.clear();
        for (const Member member : members) nodes.push_back({member});
    }
    for (std::vector<Member>& node : nodes) {
        const auto shift = static_cast<std::ptrdiff_t>(channel % node.size());
        std::rotate(node.begin(), node.begin() + shift, node.end());
    }
    return nodes;
}

void add_chain(std::vector<std::uint32_t>& parent, const std::vector<Member>& node) {
    for (std::size_t i = 1; i < node.size(); ++i) parent[node[i]] = node[i - 1];
}

/// A binary tree over nodes [first, nodes.size()); its root is its own parent.
void connect(std::vector<std::uint32_t>& parent, const Servers& nodes, std::size_t first,
             bool second) {
    const Tree tree = binary_tree(static_cast<std::uint32_t>(nodes.size() - first), second);
    for (std::size_t node = first; node < nodes.size(); ++node) {
        add_chain(parent, nodes[node]);
        parent[nodes[node].front()] = nodes[first + tree.parent[node - first]].front();
    }
}

Tree all_reduce_tree(const Schedule& schedule, std::size_t channel, bool second) {
    const Servers nodes = tree_nodes(schedule, channel);
    std::vector<std::uint32_t> parent(schedule.size());
    connect(parent, nodes, 0, second);
    return make_tree(std::move(parent));
}

/// Member 0 on top of a binary tree over the other nodes.
Tree rooted_tree(const Schedule& schedule, std::size_t channel, bool second) {
    Servers nodes = tree_nodes(schedule, channel);
    std::vector<Member>& root = nodes.front();
    std::rotate(root.begin(), std::find(root.begin(), root.end(), Member{0}), root.end());
    std::vector<std::uint32_t> parent(schedule.size(), 0);
    add_chain(parent, root);
    if (nodes.size() > 1) {
        connect(parent, nodes, 1, second);
        for (std::size_t node = 1; node < nodes.size(); ++node) {
            const Member top = nodes[node].front();
            if (parent[top] == top) parent[top] = 0;
        }
    }
    parent[0] = 0;
    return make_tree(std::move(parent));
}

}  // namespace

Tree binary_tree(std::uint32_t nodes, bool second) {
    const auto place = [&](std::uint32_t node) {
        if (!second) return node;
        return nodes % 2 == 0 ? nodes - 1 - node : (node + 1) % nodes;
    };
    std::vector<std::uint32_t> parent(nodes);
    parent[place(0)] = place(0);
    for (std::uint32_t node = 1; node < nodes; ++node) {
        parent[place(node)] = place(first_parent(nodes, node));
    }
    return make_tree(std::move(parent));
}

std::vector<OpId> tree_all_reduce_phase(Schedule& schedule, const std::vector<Member>& members,
                                        Slice slice, const std::vector<OpId>& held) {
    const Nodes nodes{members, held};
    std::vector<std::vector<OpId>> ends(members.size());
    for (std::size_t half = 0; half < 2; ++half) {
        const Slice part = part_of(slice, 2, half);
        if (part.bytes == 0 && half == 1) continue;
        schedule.use_channel(half);
        const Tree tree = binary_tree(static_cast<std::uint32_t>(members.size()), half == 1);
        const std::vector<OpId> done = TreePass(schedule, tree, nodes, part, true, true).done();
        for (std::size_t node = 0; node < done.size(); ++node) ends[node].push_back(done[node]);
    }
    std::vector<OpId> done;
    for (std::size_t node = 0; node < members.size(); ++node) {
        done.push_back(schedule.join(members[node], ends[node]));
    }
    return done;
}

namespace {

std::vector<OpId> add_tree(Schedule& schedule, CollectiveKind kind) {
    const bool up = kind != CollectiveKind::broadcast;
    const bool down = kind != CollectiveKind::reduce;
    Nodes all;
    for (Member member = 0; member < schedule.size(); ++member) {
        all.members.push_back(member);
        all.held.push_back(schedule.start(member));
    }
    return add_channels(schedule, [&](std::size_t channel, Slice slice) {
        std::vector<std::vector<OpId>> ends(schedule.size());
        for (std::size_t half = 0; half < 2; ++half) {
            const Slice part = part_of(slice, 2, half);
            if (part.bytes == 0) continue;
            // Where channels share links, as NCCL's do, each tree has a channel of its own.
            if (schedule.execution().lane_rate > 0) schedule.use_channel(2 * channel + half);
            const Tree tree = up && down ? all_reduce_tree(schedule, channel, half == 1)
                                         : rooted_tree(schedule, channel, half == 1);
            const std::vector<OpId> done = TreePass(schedule, tree, all, part, up, down).done();
            for (Member member = 0; member < schedule.size(); ++member) {
                ends[member].push_back(done[member]);
            }
        }
        std::vector<OpId> done;
        for (Member member = 0; member < schedule.size(); ++member) {
            done.push_back(schedule.join(member, ends[member]));
        }
        return done;
    });
}

std::int64_t tree_chunk(std::int64_t bytes, std::uint32_t depth) {
    std::int64_t chunk = kForwardedChunk;
    const auto halve = [&](std::int64_t chunks, std::int64_t least) {
        while (bytes / chunk < chunks && chunk > least) chunk /= 2;
    };
    halve(std::int64_t{8} * depth, 128 * 1024);
    halve(std::int64_t{4} * depth, 64 * 1024);
    halve(depth, 32 * 1024);
    return chunk;
}

}  // namespace

extern const AlgorithmType kTreeAlgorithm{
    "tree",
    "double binary tree of servers, chains inside them",
    {CollectiveKind::all_reduce, CollectiveKind::broadcast, CollectiveKind::reduce},
    add_tree,
    nullptr,
    UsualChannels::per_member_of_server,
    tree_chunk};

}  // namespace sluice
