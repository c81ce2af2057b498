// SPDX-License-Identifier: Apache-2.0
/// What a supervisor is asked about copies, and told; without one, nothing is in the way.
#pragma once

#include <vector>

#include "core/clocks/supervisor.h"
#include "core/fold/flow_prints.h"

namespace sluice::step {

class Supervision {
  public:
    /// `supervisor` may be null. All must outlive this.
    Supervision(Supervisor* supervisor, const World& world, const FlowPrints& prints)
        : supervisor_(supervisor), world_(world), prints_(prints) {}

    bool exists() const { return supervisor_ != nullptr; }
    /// Whether the copy's part is to the supervisor what the representative's is (Supervisor::alike).
    bool alike(const Fold& fold, const Image& image, bool fresh) const;
    bool may_fold_inside(const FlowGroup& flows) const;
    /// Whether the sheets of the representative's part may stay folded. Of a fold of several sheets.
    bool holds_together(const Fold& fold) const;
    /// The copy's part is executed by itself from here on.
    void unfolded(const Fold& fold, const Image& image) const;

  private:
    std::vector<FlowPair> pairs_of(const Fold& fold, const Image& image) const;

    Supervisor* supervisor_;
    const World& world_;
    const FlowPrints& prints_;
};

}  // namespace sluice::step
