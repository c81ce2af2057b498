// SPDX-License-Identifier: Apache-2.0
#include "core/fold/supervision.h"

#include <algorithm>
#include <iterator>

namespace sluice::step {

bool Supervision::alike(const Fold& fold, const Image& image, bool fresh) const {
    return supervisor_ == nullptr || supervisor_->alike(pairs_of(fold, image), fresh);
}

bool Supervision::may_fold_inside(const FlowGroup& flows) const {
    if (supervisor_ == nullptr) {
        return true;
    }
    FlowGroup in_service;
    std::copy_if(flows.begin(), flows.end(), std::back_inserter(in_service),
                 [&](FlowSlot flow) { return prints_.in_service(flow); });
    return supervisor_->may_fold_inside(in_service);
}

bool Supervision::holds_together(const Fold& fold) const {
    if (supervisor_ == nullptr) {
        return true;
    }
    std::vector<FlowPair> pairs;
    for (const Image* const sheet : *fold.self->part) {
        for (std::size_t i = 0; i < fold.flow.size(); ++i) {
            if (fold.flow[i] != kNone && prints_.in_service(fold.flow[i])) {
                pairs.push_back({fold.flow[i], sheet->flow[i]});
            }
        }
    }
    return supervisor_->may_stay_folded(pairs);
}

void Supervision::unfolded(const Fold& fold, const Image& image) const {
    if (supervisor_ != nullptr) {
        supervisor_->unfolded(pairs_of(fold, image));
    }
}

/// Of all flows in service of the copy's part, with those of the representative's.
std::vector<FlowPair> Supervision::pairs_of(const Fold& fold, const Image& image) const {
    std::vector<FlowPair> pairs;
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
