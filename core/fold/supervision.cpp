// SPDX-License-Identifier: Apache-2.0
#include "core/fold/supervision.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sluice::step {

bool Supervision::alike(const Fold& fold, const Image& image, bool fresh) const {
    if (notes_ == nullptr) {
        return true;
    }
    const FlowPairs flows = pairs_of(fold, image);
    if (!is_ordered(flows)) {
        return false;
    }
    const std::map<PartitionId, PartitionId> partitions = paired_partitions(flows);
    return !partitions.empty() &&
           std::all_of(partitions.begin(), partitions.end(), [&](const auto& pair) {
               const PartitionPhase& lead = *notes_->phase[pair.first];
               const PartitionPhase& copy = *notes_->phase[pair.second];
               // What a detector has seen of flows is forgotten when they are listed anew.
               return lead.whole && copy.whole &&
                      lead.what_copies_share() == copy.what_copies_share() &&
                      (!fresh || lead.dirty);
           });
}

/// Whether the copy's flows and ports are in the order of those that they are copies of.
bool Supervision::is_ordered(const FlowPairs& flows) const {
    const bool sorted =
        std::is_sorted(flows.begin(), flows.end(), [&](const FlowPair& a, const FlowPair& b) {
            return world_.id[a.image] < world_.id[b.image];
        });
    const Names ports = port_names_.of(notes_->partitions, flows);
    return sorted && std::adjacent_find(ports.begin(), ports.end(), [](auto& a, auto& b) {
                         return a.second >= b.second;
                     }) == ports.end();
}

std::map<PartitionId, PartitionId> Supervision::paired_partitions(const FlowPairs& flows) const {
    const PartitionSet& set = notes_->partitions.set();
    std::map<PartitionId, PartitionId> pairs;
    std::map<PartitionId, PartitionId> back;
    for (const FlowPair& pair : flows) {
        const PartitionId lead = set.partition_of(pair.leader);
        const PartitionId image = set.partition_of(pair.image);
        const bool first = pairs.insert({lead, image}).second;
        const bool first_back = back.insert({image, lead}).second;
        if (first != first_back || pairs[lead] != image || back[image] != lead ||
            (lead == kNone) != (image == kNone)) {
            return {};
        }
    }
    pairs.erase(kNone);
    const bool whole = std::all_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
        return set.flows(pair.first).size() == set.flows(pair.second).size();
    });
    return whole ? pairs : std::map<PartitionId, PartitionId>{};
}

bool Supervision::may_fold_inside(const FlowGroup& flows) const {
    if (notes_ == nullptr) {
        return true;
    }
    FlowGroup in_service;
    std::copy_if(flows.begin(), flows.end(), std::back_inserter(in_service),
                 [&](FlowSlot flow) { return prints_.in_service(flow); });
    if (!notes_->inside || in_service.empty()) {
        return false;
    }
    const PartitionSet& set = notes_->partitions.set();
    const PartitionId id = set.partition_of(in_service.front());
    return id != kNone && notes_->phase[id]->dirty && is_whole(id) &&
           std::all_of(in_service.begin(), in_service.end(),
                       [&](FlowSlot flow) { return set.partition_of(flow) == id; });
}

bool Supervision::holds_together(const Fold& fold) const {
    if (notes_ == nullptr) {
        return true;
    }
    const PartitionSet& set = notes_->partitions.set();
    for (const Image* const sheet : *fold.self->part) {
        for (std::size_t i = 0; i < fold.flow.size(); ++i) {
            if (fold.flow[i] == kNone || !prints_.in_service(fold.flow[i])) {
                continue;
            }
            const PartitionId id = set.partition_of(fold.flow[i]);
            if (id == kNone || set.partition_of(sheet->flow[i]) != id || !is_whole(id)) {
                return false;
            }
        }
    }
    return true;
}

void Supervision::unfolded(const Fold& fold, const Image& image) const {
    if (notes_ != nullptr) {
        notes_->separated.push_back(pairs_of(fold, image));
    }
}

void Supervision::take_released(const FoldTable& folds, FlowGroups& left) const {
    if (notes_ == nullptr) {
        return;
    }
    for (FlowGroup& flows : std::exchange(notes_->released, {})) {
        flows.erase(std::remove_if(flows.begin(), flows.end(),
                                   [&](FlowSlot flow) { return folds.of_flow(flow).folded(); }),
                    flows.end());
        if (!flows.empty()) {
            left.push_back(std::move(flows));
        }
    }
}

/// Of all flows in service of the copy's part, with those of the representative's.
FlowPairs Supervision::pairs_of(const Fold& fold, const Image& image) const {
    FlowPairs pairs;
    const std::size_t sheets = fold.turned() ? image.part->size() : 1;
    for (std::size_t i = 0; i < fold.flow.size(); ++i) {
        if (fold.flow[i] == kNone || !prints_.in_service(fold.flow[i])) {
            continue;
        }
        for (std::size_t sheet = 0; sheet < sheets; ++sheet) {
            pairs.push_back(fold.turned() ? FlowPair{(*fold.self->part)[sheet]->flow[i],
                                                     (*image.part)[sheet]->flow[i]}
                                          : FlowPair{fold.flow[i], image.flow[i]});
        }
    }
    std::sort(pairs.begin(), pairs.end(), [&](const FlowPair& a, const FlowPair& b) {
        return world_.id[a.leader] < world_.id[b.leader];
    });
    return pairs;
}

}  // namespace sluice::step
