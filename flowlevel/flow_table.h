// SPDX-License-Identifier: Apache-2.0
/// The flows of a run by slot: those of the list, whose slot is their id and is theirs for the run, and
/// behind them those that are opened while it runs, which give their slot back when they are over.
/// Memory: the list, and the most opened flows that there are at a time.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/flow/flow.h"
#include "core/ids.h"

namespace sluice::flowlevel {

class FlowTable {
  public:
    /// `listed` and `paths` (empty, or one per flow) must outlive it.
    FlowTable(const std::vector<FlowSpec>& listed, const std::vector<FlowPath>& paths)
        : listed_(listed), paths_(paths), results_(listed.size()) {
        if (listed.size() >= kNone) throw ConfigError("a list has at most 4294967294 flows");
        if (!paths.empty() && paths.size() != listed.size()) {
            throw InternalError("paths must be given for every flow or for none");
        }
    }

    /// A slot for `spec`, whose id is set and unlike that of any flow of the list.
    FlowSlot open(const FlowSpec& spec) {
        if (free_.empty()) {
            opened_.emplace_back();
            free_.push_back(static_cast<FlowSlot>(listed_.size() + opened_.size() - 1));
        }
        const FlowSlot slot = free_.back();
        free_.pop_back();
        opened_[slot - listed_.size()] = {spec, FlowResult{}};
        return slot;
    }
    /// The flow is over and nothing refers to it.
    void close(FlowSlot slot) {
        if (slot < listed_.size()) return;
        opened_[slot - listed_.size()].spec.id = kNoFlow;
        free_.push_back(slot);
    }

    FlowId id(FlowSlot slot) const {
        return slot < listed_.size() ? slot : opened_[slot - listed_.size()].spec.id;
    }
    const FlowSpec& spec(FlowSlot slot) const {
        return slot < listed_.size() ? listed_[slot] : opened_[slot - listed_.size()].spec;
    }
    FlowResult& result(FlowSlot slot) {
        return slot < listed_.size() ? results_[slot] : opened_[slot - listed_.size()].result;
    }
    const FlowPath& path(FlowSlot slot) const {
        static const FlowPath kByRouting;
        return slot < paths_.size() ? paths_[slot] : kByRouting;
    }
    /// Of the list, by id.
    const std::vector<FlowResult>& results() const { return results_; }
    std::size_t listed_count() const { return listed_.size(); }
    /// Opened and not closed.
    std::size_t opened_count() const { return opened_.size() - free_.size(); }
    /// Those that have started and are not complete.
    std::vector<FlowSpec> under_way() const {
        std::vector<FlowSpec> flows;
        const auto look = [&](const FlowSpec& spec, const FlowResult& result) {
            if (result.start != kNever && result.finish == kNever) flows.push_back(spec);
        };
        for (std::size_t i = 0; i < listed_.size(); ++i) look(listed_[i], results_[i]);
        for (const Opened& one : opened_) look(one.spec, one.result);
        return flows;
    }
    std::size_t memory_bytes() const {
        return results_.capacity() * sizeof(FlowResult) + opened_.capacity() * sizeof(Opened) +
               free_.capacity() * sizeof(FlowSlot);
    }

  private:
    struct Opened {
        FlowSpec spec;
        FlowResult result;
    };
    const std::vector<FlowSpec>& listed_;
    const std::vector<FlowPath>& paths_;
    std::vector<FlowResult> results_;
    std::vector<Opened> opened_;
    std::vector<FlowSlot> free_;
};

}  // namespace sluice::flowlevel
