// SPDX-License-Identifier: Apache-2.0
/// Runs the experiments of a batch in one process, each on one thread, as many at a time as there are
/// threads (lanes). What comes of each does not depend on the others, nor on how many run at a time. One
/// that fails fails alone.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/results/output_file.h"
#include "core/results/output_folder.h"
#include "experiment/batch/batch_check.h"
#include "experiment/batch/batch_file.h"
#include "experiment/batch/batch_row.h"
#include "experiment/batch/batch_store.h"
#include "experiment/run.h"

namespace sluice {

inline constexpr const char* kBatchTable = "batch.csv";
inline constexpr const char* kBatchDatabase = "batch.db";
inline constexpr const char* kCheckTable = "check.csv";

struct BatchSettings {
    std::string directory;  ///< batch.csv, batch.db, and runs/NUMBER/ if folders are wanted
    unsigned threads = 1;
    bool folders = false;    ///< each experiment leaves all that `sluice run` leaves
    bool resume = false;     ///< what is known is not run again
    bool anew = false;       ///< what is there may be replaced
    bool allow_oom = false;  ///< jobs that do not fit their GPUs are run all the same
    /// So many experiments, drawn at random, are run in mode packet, too, when all are done: check.csv.
    std::size_t checks = 0;
    /// Empty: every mode's own engine. Else what executes mode packet, and no other mode is run.
    RunMaker maker;
};

/// How far a batch has come.
struct BatchPosition {
    std::size_t experiments = 0;
    std::size_t finished = 0;  ///< known ones included
    std::size_t known = 0;
    std::array<std::size_t, 6> by_status{};  ///< of the finished ones
    std::int64_t packet_hops = 0;            ///< of those that ran now
    double cpu_s = 0;                        ///< of the threads, so far in finished experiments
    std::size_t checks = 0;                  ///< that are wanted, once it has come to them
    std::size_t checked = 0;

    std::size_t count(BatchStatus status) const {
        return by_status[static_cast<std::size_t>(status)];
    }
};

class BatchRun {
  public:
    using MayGoOn = std::function<bool()>;
    using OnRow = std::function<void(const BatchPosition&)>;

    /// Opens the outputs. `batch` must outlive it. ConfigError if the folder holds rows, and nothing was said
    /// of them.
    BatchRun(const Batch& batch, const BatchSettings& settings);

    /// Runs what is not known. `go_on` is asked now and then, from any thread: false interrupts it, and what
    /// was under way is not in the results. `on_row` is called after each experiment, by one thread at a time.
    /// Once.
    void run(const MayGoOn& go_on, const OnRow& on_row);

    const BatchPosition& position() const { return position_; }
    /// Rows with a jct_s, the least ones first, at most so many.
    const std::vector<BatchRow>& quickest() const { return quickest_; }
    /// The first of those that are neither done nor cut off, with its reason; null: there is none.
    const BatchRow* not_done() const { return not_done_ ? &*not_done_ : nullptr; }
    bool interrupted() const { return interrupted_; }
    /// Of the experiments, without checks.
    double wall_s() const { return wall_s_; }
    /// Null: nothing was checked.
    const BatchCheck* check() const { return check_ ? &*check_ : nullptr; }

    static constexpr std::size_t kQuickest = 5;

  private:
    /// Takes up what came of an experiment.
    using Take = std::function<void(const BatchRow&)>;

    void take_up();
    void run_all(const std::vector<std::size_t>& experiments, bool checking, const MayGoOn& go_on,
                 const Take& take);
    void work(const std::vector<std::size_t>& experiments, bool checking, const MayGoOn& go_on,
              const Take& take);
    bool execute(std::size_t experiment, bool checking, const MayGoOn& go_on, BatchRow& row) const;
    BatchRow simulate(std::size_t experiment, bool checking, const MayGoOn& go_on,
                      bool& whole) const;
    void run_checks(const MayGoOn& go_on, const OnRow& on_row);
    void count(const BatchRow& row);
    void table(const BatchRow& row);
    void close_table();

    const Batch& batch_;
    BatchSettings settings_;
    OutputFolder folder_;
    OutputFile table_;
    BatchStore store_;
    std::vector<bool> is_known_;
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> interrupted_{false};
    std::mutex mutex_;  ///< of what follows, while it runs
    BatchPosition position_;
    std::vector<BatchRow> quickest_;
    std::optional<BatchRow> not_done_;
    /// Done, with a jct_s: what may be checked.
    std::map<std::size_t, CheckedPair> comparable_;
    std::optional<BatchCheck> check_;
    double wall_s_ = 0;
    std::size_t tabled_ = 0;                 ///< all before this one are in the table
    std::map<std::size_t, BatchRow> early_;  ///< rows that wait for others before them
    std::exception_ptr error_;               ///< of the outputs
};

}  // namespace sluice
