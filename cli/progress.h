// SPDX-License-Identifier: Apache-2.0
/// What a run shows while it runs, on standard error: a bar that redraws itself on a terminal,
/// a plain line every few seconds elsewhere, nothing when quiet.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "cli/time_left.h"
#include "core/units.h"

namespace sluice {

struct ProgressSample {
    Tick now = 0;
    std::size_t flows_finished = 0;
    std::size_t flows = 0;
    std::uint64_t packet_hops = 0;  ///< so far; 0: not known
    /// Expected at the end; 0: not known, then the share of finished flows tells the time left.
    double packet_hops_expected = 0;
    std::uint64_t hops_saved = 0;   ///< of the expected ones, by skipping
    double steady_share = -1;       ///< fraction of flow-time in steady phases; < 0: has no phases
    std::uint64_t hops_folded = 0;  ///< of packet_hops
    std::uint64_t folds = 0;        ///< parts that have followed another one
    std::uint64_t episodes = 0;     ///< that were told
    std::size_t partitions = 0;     ///< at most at one time
    /// Of a streamed job, instead of its flows: operations so far, and all as far as is known.
    std::uint64_t operations_done = 0;
    std::uint64_t operations = 0;
};

class Progress {
  public:
    explicit Progress(bool quiet);
    /// As clear().
    ~Progress() { clear(); }
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Calls `sample` and shows the result if it is time to; cheap otherwise.
    void tick(const std::function<ProgressSample()>& sample);
    /// The same of other work: the share of it that is done, and a text given the seconds so far.
    void tick(double share, const std::function<std::string(double seconds)>& text);
    /// Removes the bar from the terminal.
    void clear();

  private:
    using Clock = std::chrono::steady_clock;

    bool due();
    double seconds() const;
    void show(double share, const std::string& text);
    std::string line(const ProgressSample& sample, double seconds);

    bool quiet_;
    bool terminal_;
    bool drawn_ = false;
    Clock::time_point begin_;
    Clock::time_point next_;
    TimeLeft time_left_;
};

}  // namespace sluice
