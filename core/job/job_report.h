// SPDX-License-Identifier: Apache-2.0
/// What a job's run shows afterwards: when each collective ran, and why operations did not finish.
#pragma once

#include <string>
#include <vector>

#include "core/job/job_application.h"

namespace sluice {

/// When a collective ran, over the whole group or on one rank. A recv or an await is posted early
/// and waits, so it extends only the end; everything else extends both.
struct CollectiveSpan {
    CollectiveId collective = kNone;
    RankId rank = kNone;    ///< kNone: over the whole group
    Tick start = kNever;    ///< first operation started; kNever: none did
    Tick end = kNever;      ///< last operation completed; kNever: some have not
    std::int64_t sent = 0;  ///< bytes of the messages that the rank (the group) sends
};

/// One span per collective, by collective id.
std::vector<CollectiveSpan> collective_spans(const JobApplication& application);

/// The spans of `rank`'s parts, in order of their first operation's addition.
std::vector<CollectiveSpan> rank_spans(const JobApplication& application, RankId rank);

/// An operation that has not completed and what it waits for, in one line.
struct BlockedOperation {
    OpId op = kNone;
    std::string text;
};

/// Operations left undone, at most `limit`. Those that wait for something else than operations of
/// their own rank (a message, a signal, an end in the future) come first: they are what holds the
/// rest up.
std::vector<BlockedOperation> unfinished(const JobApplication& application, std::size_t limit = 20);

}  // namespace sluice
