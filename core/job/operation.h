// SPDX-License-Identifier: Apache-2.0
/// What a job's graph is made of (core/job/job_graph.h says what each kind does), as plain data that host and
/// device code share.
#pragma once

#include <cstdint>

#include "core/ids.h"

namespace sluice {

using OpId = std::uint32_t;
using RankId = std::uint32_t;
using NameId = std::uint32_t;
using CollectiveId = std::uint32_t;

/// A resource of each rank, by number.
using RankResourceId = std::uint32_t;
/// Ranks that have queue pairs with each other: JobGraph::communicator().
using CommunicatorId = std::uint32_t;

enum class OpKind : std::uint8_t {
    compute,
    delay,
    send,
    recv,
    signal,
    await,
    meet,
    task,
    acquire,
    release,
};

/// What an operation is for: the parallel group whose traffic it is. `embedding`: the tie of the
/// first and last pipeline stage's embeddings; `collective`: one that is no part of a training job.
enum class OpClass : std::uint8_t { compute, tp, dp, pp, ep, cp, embedding, other, collective };

struct JobMessage {
    OpId send = kNone;
    OpId recv = kNone;
    std::int64_t bytes = 0;
};

struct JobMeeting {
    OpId first = kNone;  ///< the parts are first to first + parts - 1
    std::uint32_t parts = 0;
};

/// How many of a counted resource there are.
struct ResourceCount {
    std::uint32_t first = 0;
    std::uint32_t most = 0;
    bool counted = true;
};

}  // namespace sluice
