// SPDX-License-Identifier: Apache-2.0
/// The resources of one rank of a streamed job, and who waits for them: the least number is next.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "core/job/operation_source.h"

namespace sluice {

class StreamResources {
  public:
    void set_count(std::uint16_t count) { resources_.resize(count); }

    void wait_for(std::uint16_t resource, StreamOp op) {
        std::vector<StreamOp>& waiting = resources_[resource].waiting;
        waiting.push_back(op);
        std::push_heap(waiting.begin(), waiting.end(), std::greater<>());
        claimed_ = true;
    }
    void free(std::uint16_t resource) {
        resources_[resource].taken = false;
        claimed_ = true;
    }
    /// Somebody waits for a resource that may be free.
    bool claimed() const { return claimed_; }
    bool taken(std::uint16_t resource) const { return resources_[resource].taken; }

    /// Gives each free resource to the next that waits for it; `start(op)` may free it again, for the next time.
    template <class Start>
    void grant(Start&& start) {
        if (!claimed_) return;
        claimed_ = false;
        for (Resource& resource : resources_) {
            if (resource.taken || resource.waiting.empty()) continue;
            std::pop_heap(resource.waiting.begin(), resource.waiting.end(), std::greater<>());
            const StreamOp op = resource.waiting.back();
            resource.waiting.pop_back();
            resource.taken = true;
            start(op);
        }
    }

  private:
    struct Resource {
        bool taken = false;
        std::vector<StreamOp> waiting;  ///< a heap, the least number on top
    };

    std::vector<Resource> resources_;
    bool claimed_ = false;
};

}  // namespace sluice
