// SPDX-License-Identifier: Apache-2.0
#include "eval/evaluation/trial_queue.h"

namespace sluice::eval {

void TrialQueue::begun(const CandidateTrial& trial) {
    Candidate& candidate = candidates_[trial.first];
    if (candidate.begun.size() <= trial.second) candidate.begun.resize(trial.second + 1);
    candidate.begun[trial.second] = true;
    while (candidate.next < candidate.begun.size() && candidate.begun[candidate.next]) {
        ++candidate.next;
    }
}

std::optional<CandidateTrial> TrialQueue::next(
    std::size_t limit, const std::function<bool(std::size_t candidate)>& wanted) {
    if (!again_.empty()) {
        const CandidateTrial trial = again_.back();
        again_.pop_back();
        return trial;
    }
    std::optional<CandidateTrial> behind;
    for (std::size_t c = 0; c < candidates_.size(); ++c) {
        const std::size_t number = candidates_[c].next;
        if (number >= limit || !wanted(c)) continue;
        if (!behind || number < behind->second) behind = {c, number};
    }
    if (behind) begun(*behind);
    return behind;
}

}  // namespace sluice::eval
