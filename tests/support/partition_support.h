// SPDX-License-Identifier: Apache-2.0
/// The partition contract, written down the slow way: after every call all partitions are computed
/// from scratch by union-find, and ids are given by the rules of PartitionSet's header.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "core/partition/partition_set.h"

namespace sluice::test {

class PartitionModel {
  public:
    using Part = std::set<FlowSlot>;

    PartitionSet::Entry enter(FlowSlot flow, const std::vector<ResourceId>& resources) {
        uses_[flow] = std::set<ResourceId>(resources.begin(), resources.end());
        PartitionSet::Entry entry;
        for (const Part& part : components()) {
            if (part.count(flow) == 0) {
                continue;
            }
            std::set<PartitionId> old;
            for (const FlowSlot member : part) {
                if (member != flow) {
                    old.insert(id_of(member));
                }
            }
            entry.partition = old.empty() ? lowest_free_id() : *old.begin();
            for (const PartitionId id : old) {
                if (parts_[id].size() > parts_[entry.partition].size()) {
                    entry.partition = id;
                }
            }
            for (const PartitionId id : old) {
                if (id != entry.partition) {
                    entry.absorbed.push_back(id);
                    parts_.erase(id);
                }
            }
            parts_[entry.partition] = part;
        }
        return entry;
    }

    PartitionSet::Exit leave(FlowSlot flow) {
        const PartitionId id = id_of(flow);
        uses_.erase(flow);
        Part before = parts_[id];
        before.erase(flow);
        parts_.erase(id);
        PartitionSet::Exit exit;
        if (before.empty()) {
            return exit;
        }
        std::vector<Part> pieces;  // components() lists them by lowest flow
        for (const Part& part : components()) {
            if (before.count(*part.begin()) != 0) {
                pieces.push_back(part);
            }
        }
        const auto largest =
            std::max_element(pieces.begin(), pieces.end(),
                             [](const Part& a, const Part& b) { return a.size() < b.size(); });
        exit.partition = id;
        parts_[id] = *largest;
        pieces.erase(largest);
        for (const Part& piece : pieces) {
            exit.split_off.push_back(lowest_free_id());
            parts_[exit.split_off.back()] = piece;
        }
        return exit;
    }

    /// Every query of `set` answers as the model does, and the model's labels are the components.
    void check(const PartitionSet& set, std::size_t resource_count) const {
        std::set<Part> labelled;
        std::vector<PartitionId> ids;
        std::size_t largest = 0;
        std::vector<PartitionId> owner(resource_count, kNone);
        for (const auto& [id, part] : parts_) {
            labelled.insert(part);
            ids.push_back(id);
            largest = std::max(largest, part.size());
            REQUIRE(sorted(set.flows(id)) == std::vector<FlowSlot>(part.begin(), part.end()));
            std::set<ResourceId> resources;
            for (const FlowSlot flow : part) {
                REQUIRE(set.contains(flow));
                REQUIRE(set.partition_of(flow) == id);
                const std::set<ResourceId>& uses = uses_.at(flow);
                REQUIRE(sorted(set.resources_of(flow)) ==
                        std::vector<ResourceId>(uses.begin(), uses.end()));
                resources.insert(uses.begin(), uses.end());
            }
            REQUIRE(sorted(set.resources(id)) ==
                    std::vector<ResourceId>(resources.begin(), resources.end()));
            for (const ResourceId r : resources) {
                REQUIRE(owner[r] == kNone);
                owner[r] = id;
            }
        }
        const std::vector<Part> all = components();
        REQUIRE(labelled == std::set<Part>(all.begin(), all.end()));
        REQUIRE(set.partitions() == ids);
        REQUIRE(set.count() == ids.size());
        REQUIRE(set.largest() == largest);
        for (ResourceId r = 0; r < resource_count; ++r) {
            REQUIRE(set.partition_of_resource(r) == owner[r]);
        }
    }

    std::size_t size() const { return uses_.size(); }
    const std::map<PartitionId, Part>& parts() const { return parts_; }

  private:
    static std::vector<std::uint32_t> sorted(std::vector<std::uint32_t> list) {
        std::sort(list.begin(), list.end());
        return list;
    }

    PartitionId id_of(FlowSlot flow) const {
        for (const auto& [id, part] : parts_) {
            if (part.count(flow) != 0) {
                return id;
            }
        }
        return kNone;
    }

    PartitionId lowest_free_id() const {
        PartitionId id = 0;
        while (parts_.count(id) != 0) {
            ++id;
        }
        return id;
    }

    /// By lowest flow.
    std::vector<Part> components() const {
        std::vector<FlowSlot> flows;
        for (const auto& entry : uses_) {
            flows.push_back(entry.first);
        }
        std::vector<std::size_t> parent(flows.size());
        std::iota(parent.begin(), parent.end(), std::size_t{0});
        const auto root = [&parent](std::size_t i) {
            while (parent[i] != i) {
                i = parent[i];
            }
            return i;
        };
        std::map<ResourceId, std::size_t> first_user;
        for (std::size_t i = 0; i < flows.size(); ++i) {
            for (const ResourceId r : uses_.at(flows[i])) {
                const std::size_t a = root(first_user.emplace(r, i).first->second);
                const std::size_t b = root(i);
                parent[std::max(a, b)] = std::min(a, b);
            }
        }
        std::map<std::size_t, Part> parts;  // a root is its component's lowest flow
        for (std::size_t i = 0; i < flows.size(); ++i) {
            parts[root(i)].insert(flows[i]);
        }
        std::vector<Part> result;
        for (auto& entry : parts) {
            result.push_back(std::move(entry.second));
        }
        return result;
    }

    std::map<FlowSlot, std::set<ResourceId>> uses_;
    std::map<PartitionId, Part> parts_;
};

/// Both at once, compared after every call.
class CheckedPartitions {
  public:
    explicit CheckedPartitions(std::size_t resources) : set(0), resource_count_(resources) {}

    void enter(FlowSlot flow, const std::vector<ResourceId>& resources) {
        const PartitionSet::Entry expected = model.enter(flow, resources);
        const PartitionSet::Entry entry = set.enter(flow, resources);
        REQUIRE(entry.partition == expected.partition);
        REQUIRE(entry.absorbed == expected.absorbed);
        model.check(set, resource_count_);
    }

    void leave(FlowSlot flow) {
        const PartitionSet::Exit expected = model.leave(flow);
        const PartitionSet::Exit exit = set.leave(flow);
        REQUIRE(exit.partition == expected.partition);
        REQUIRE(exit.split_off == expected.split_off);
        model.check(set, resource_count_);
    }

    PartitionSet set;
    PartitionModel model;

  private:
    std::size_t resource_count_;
};

}  // namespace sluice::test
