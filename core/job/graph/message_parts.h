// SPDX-License-Identifier: Apache-2.0
/// Messages over several queue pairs (JobGraph::set_queue_pairs): each becomes several, which have arrived, or been
/// acknowledged, together.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/job/graph/job_dependencies.h"
#include "core/job/graph/job_messages.h"
#include "core/job/graph/operation_columns.h"

namespace sluice {

/// Over how many messages from one rank to another go.
using QueuePairs = std::function<std::uint32_t(RankId from, RankId to)>;

class MessageParts {
  public:
    /// No part is smaller.
    static constexpr std::int64_t kLeastBytes = 4096;

    MessageParts(OperationColumns& operations, JobMessages& messages, JobDependencies& dependencies)
        : operations_(operations), messages_(messages), dependencies_(dependencies) {}

    /// Splits all messages that go over several.
    void split_all(const QueuePairs& queue_pairs);

  private:
    std::uint32_t parts_of(const JobMessage& message, const QueuePairs& queue_pairs) const;
    std::vector<OpId> split(std::uint32_t message, std::uint32_t parts);

    OperationColumns& operations_;
    JobMessages& messages_;
    JobDependencies& dependencies_;
};

}  // namespace sluice
