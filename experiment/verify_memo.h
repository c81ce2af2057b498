// SPDX-License-Identifier: Apache-2.0
/// Whether what a memo tells is what packets do: entries are simulated again, one after the other in one run, with
/// their flows' starts moved by less than a nanosecond, and compared with what a run would have told of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/memo/memo.h"
#include "experiment/experiment.h"

namespace sluice {

struct VerifiedEntry {
    memo::Digest digest;
    std::size_t flows = 0;
    std::uint32_t samples = 0;
    double fct_error = 0;   ///< mean over flows, of what would be told of them, relative to it
    double last_error = 0;  ///< of the time to the last byte, the same
};

struct VerifiedMemo {
    std::vector<VerifiedEntry> entries;
    std::size_t drawn = 0;  ///< episodes that were to be simulated again
    std::size_t foreign =
        0;  ///< of these, whose hosts this network does not have, or that are kept without their flows
    /// Whose kind is another one on this network or under its configuration, or too little is known of to tell it.
    std::size_t untold() const { return drawn - foreign - entries.size(); }
};

/// `experiment` has the network that the memo is of, and no flows; `config_json` is the effective configuration. Of the
/// episodes in `content` a `share` is drawn by `seed`. Runs the experiment: once in a process.
VerifiedMemo verify_memo(Experiment experiment, const std::string& config_json,
                         const memo::Content& content, double share, std::uint64_t seed);

}  // namespace sluice
