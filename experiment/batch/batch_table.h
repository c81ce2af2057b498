// SPDX-License-Identifier: Apache-2.0
/// batch.csv: at any time a whole file of what is finished, in the order of the experiments' numbers. It is written
/// anew now and then, and replaced at once: whoever reads it never meets half a row, nor waits for an experiment
/// that takes longer than those after it.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include "experiment/batch/batch_row.h"

namespace sluice {

class BatchTable {
  public:
    /// ConfigError if nothing can be written there.
    BatchTable(const std::string& path, const std::vector<std::string>& keys,
               std::size_t experiments);

    /// In the file with the next writing.
    void add(const BatchRow& row);
    void write();
    /// Writes if there is something new and the last time was long enough ago: a second, and as long as keeps
    /// writing below a hundredth of the time.
    void write_if_due();

  private:
    using Clock = std::chrono::steady_clock;

    std::string path_;
    std::string header_;
    std::vector<std::string> lines_;  ///< by experiment; empty: not finished
    bool is_new_ = true;
    Clock::time_point due_;
};

}  // namespace sluice
