// SPDX-License-Identifier: Apache-2.0
/// Runs the experiments of a batch in one process, each on one thread, as many at a time as there are
/// threads (lanes). What comes of each does not depend on the others, nor on how many run at a time. One
/// that fails fails alone.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/results/output_folder.h"
#include "experiment/batch/batch_check.h"
#include "experiment/batch/batch_file.h"
#include "experiment/batch/batch_lane.h"
#include "experiment/batch/batch_memo.h"
#include "experiment/batch/batch_row.h"
#include "experiment/batch/batch_shard.h"
#include "experiment/batch/batch_store.h"
#include "experiment/batch/batch_table.h"
#include "experiment/run.h"

namespace sluice {

inline constexpr const char* kBatchTable = "batch.csv";
inline constexpr const char* kBatchDatabase = "batch.db";
inline constexpr const char* kCheckTable = "check.csv";

struct BatchSettings {
    std::string directory;  ///< batch.csv, batch.db, and runs/NUMBER/ if folders are wanted
    unsigned threads = 1;
    /// What of the batch is run; its results are in a folder of its own. None: all.
    std::optional<BatchShard> shard;
    /// Nothing is run: results of the shards in the folder become those of the batch.
    bool merge = false;
    bool folders = false;    ///< each experiment leaves all that `sluice run` leaves
    bool resume = false;     ///< what is known is not run again
    bool anew = false;       ///< what is there may be replaced
    bool allow_oom = false;  ///< jobs that do not fit their GPUs are run all the same
    /// What experiments know when they begin, as it is when the batch begins; gets what they have learned when all that
    /// is run has ended, or is merged. Empty: they know nothing.
    std::string memo;
    /// So many experiments, drawn at random, are run in mode packet, too, when all are done: check.csv.
    std::size_t checks = 0;
    /// Empty: every mode's own engine. Else what executes mode packet: a device.
    RunMaker maker;
    /// What the device refuses (ConfigError), another mode included, the mode's own engine does; else it is refused.
    bool fall_back = false;
    unsigned host_lanes =
        1;  ///< of these at a time: lanes of a device may be many more than the host has cores
};

/// How far a batch has come.
struct BatchPosition {
    std::size_t experiments = 0;  ///< of the shard
    std::size_t finished = 0;     ///< known ones included
    std::size_t known = 0;
    std::array<std::size_t, 6> by_status{};  ///< of the finished ones
    std::int64_t packet_hops = 0;            ///< of those that ran now
    std::uint64_t recalled_skips = 0;        ///< the same: at rates from the batch's memo
    double cpu_s = 0;                        ///< of the threads, so far in finished experiments
    std::size_t checks = 0;                  ///< that are wanted, once it has come to them
    std::size_t checked = 0;
    std::size_t declined = 0;                       ///< that the host did where a device was asked
    std::string why_declined;                       ///< the first of them; "": there is none
    std::map<std::size_t, LanePosition> under_way;  ///< by experiment

    std::size_t count(BatchStatus status) const {
        return by_status[static_cast<std::size_t>(status)];
    }
};

/// What a folder holds that is not of the batch.
struct BatchAside {
    std::size_t results = 0;  ///< of other experiments, or by other versions of the program
    /// Experiments of the batch that only other versions have results of: they run again.
    std::size_t to_redo = 0;
    std::size_t other_memos = 0;  ///< results of experiments that began with another memo, or none
    std::string first_memo;       ///< the file that the snapshot is of, if another one is given now
    std::size_t merged = 0;       ///< results that shards had and the batch had not
    std::size_t known = 0;        ///< the batch's results that were there before
    std::vector<ShardGap> gaps;   ///< after a merge: experiments without a result
};

/// Where the outputs go: the batch's folder, or its shard's.
std::string folder_of(const BatchSettings& settings);

class BatchRun {
  public:
    using MayGoOn = std::function<bool()>;
    using OnChange = std::function<void(const BatchPosition&)>;

    /// Opens the outputs. `batch` must outlive it. ConfigError if the folder holds rows, and nothing was said
    /// of them.
    BatchRun(const Batch& batch, const BatchSettings& settings);

    /// Runs what is not known. `go_on` is asked now and then, from any thread: false interrupts it, and what
    /// was under way is not in the results. `on_change` is called after each experiment, and now and then while one runs,
    /// by one thread at a time. Once. ConfigError if the system makes fewer threads than were asked for, or if outputs
    /// cannot be written; what was finished before is in them.
    void run(const MayGoOn& go_on, const OnChange& on_change);

    const BatchPosition& position() const { return position_; }
    const BatchAside& aside() const { return aside_; }
    /// Why the host did the first of those that the device declined; "": it declined none.
    const std::string& declined() const { return position_.why_declined; }
    /// Rows with a jct_s, the least ones first, at most so many.
    const std::vector<BatchRow>& quickest() const { return quickest_; }
    /// The first of those that are neither done nor cut off, with its reason; null: there is none.
    const BatchRow* not_done() const { return not_done_ ? &*not_done_ : nullptr; }
    bool interrupted() const { return interrupted_; }
    /// Of the outputs: the batch's, or its shard's.
    std::string directory() const { return folder_of(settings_); }
    /// Of the experiments, without checks.
    double wall_s() const { return wall_s_; }
    /// Null: there is none.
    const BatchMemo* memo() const { return memo_ ? &*memo_ : nullptr; }
    /// Null: nothing was checked.
    const BatchCheck* check() const { return check_ ? &*check_ : nullptr; }

    static constexpr std::size_t kQuickest = 5;

  private:
    /// Experiments that are run, and what is done with what comes of them.
    struct Round {
        std::vector<std::size_t> experiments;
        bool checking = false;
        const MayGoOn& go_on;
        const OnChange& on_change;
        std::function<void(const BatchRow&)> take;
    };

    std::string digest(std::size_t experiment) const;
    void take_up(std::int64_t last_before);
    void take_shards();
    std::vector<ShardGap> gaps() const;
    bool to_run(std::size_t experiment) const;
    void check_folders();
    void run_all(const Round& round);
    void work(const Round& round);
    bool guarded(const std::function<void()>& action);
    bool execute(std::size_t experiment, const Round& round, KnownRouting& routing);
    void run_checks(const MayGoOn& go_on, const OnChange& on_change);
    void count(const BatchRow& row);

    const Batch& batch_;
    BatchSettings settings_;
    std::optional<BatchMemo> memo_;
    OutputFolder folder_;
    BatchTable table_;
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
    Turns host_turns_;
    BatchAside aside_;
    double wall_s_ = 0;
    std::exception_ptr error_;  ///< of the outputs, or of what makes threads
    std::mutex start_;          ///< held while threads are made: none works before all are there
};

}  // namespace sluice
