// SPDX-License-Identifier: Apache-2.0
#include "core/fold/copy_finder.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "core/fold/likeness.h"

namespace sluice::step {

namespace {

/// Parts of one signature that are like no representative so far become one themselves, so many times.
constexpr int kLeaders = 16;

}  // namespace

CopyFinder::CopyFinder(WorldStore& store, FoldTable& folds, FoldMembers& members,
                       Materializer& materializer, const Supervision& supervision,
                       const FlowPrints& prints, PartFinder& parts, QuotientFinder& quotients,
                       WaitingParts& waiting)
    : store_(store),
      folds_(folds),
      members_(members),
      materializer_(materializer),
      supervision_(supervision),
      parts_(parts),
      quotients_(quotients),
      waiting_(waiting),
      pairing_(store.world(), folds, prints) {}

void CopyFinder::fold_alike(const FlowGroups& joined, Tick now) {
    // What skipped back goes on within the last window.
    const Tick from = supervision_.exists() ? now - store_.world().lookahead : now;
    const FlowGroups found = parts_.parts(joined);
    std::map<std::uint64_t, std::vector<const FlowGroup*>> alike;
    for (const FlowGroup& part : found) {
        alike[parts_.signature(part)].push_back(&part);
    }
    for (auto& [signature, candidates] : alike) {
        const bool alone = candidates.size() < 2;
        if (alone && (supervision_.exists() || candidates.front()->size() < 2)) {
            continue;
        }
        drop_unfit(candidates, alone, now);
        fold_candidates(std::move(candidates), now, from);
    }
}

void CopyFinder::drop_unfit(std::vector<const FlowGroup*>& candidates, bool alone, Tick now) {
    const auto stands_apart = [&](const FlowGroup* part) {
        const Standing stands = parts_.standing(*part, now);
        if (stands == Standing::among_others && !alone) {
            waiting_.wait(*part);
        }
        return stands == Standing::apart;
    };
    candidates.erase(std::stable_partition(candidates.begin(), candidates.end(), stands_apart),
                     candidates.end());
}

void CopyFinder::fold_candidates(std::vector<const FlowGroup*> candidates, Tick now, Tick from) {
    for (int leaders = 0; leaders < kLeaders && !candidates.empty(); ++leaders) {
        if (quotients_.fold_inside(candidates, now, from)) {
            continue;
        }
        if (candidates.size() < 2) {
            break;
        }
        candidates = fold_first(candidates, from);
    }
}

/// Makes the first one a representative, and those that are like it its copies. Returns the others.
std::vector<const FlowGroup*> CopyFinder::fold_first(
    const std::vector<const FlowGroup*>& candidates, Tick from) {
    const FlowGroup& leader = *candidates.front();
    const std::uint32_t id = members_.lead(leader);
    const Fold& fold = folds_[id];
    std::vector<const FlowGroup*> others;
    for (std::size_t i = 1; i < candidates.size(); ++i) {
        auto image = std::make_unique<Image>();
        if (pairing_.pair_up(fold, leader, *candidates[i], *image) &&
            Likeness(store_, folds_.places(), fold, *image, from).holds() &&
            supervision_.alike(fold, *image, true)) {
            members_.add_copy(id, std::move(image));
        } else {
            others.push_back(candidates[i]);
        }
    }
    if (fold.images == 0) {
        materializer_.dissolve(id);
    } else {
        members_.wake_for_copies(id);
    }
    return others;
}

}  // namespace sluice::step
