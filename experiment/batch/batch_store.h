// SPDX-License-Identifier: Apache-2.0
/// What came of experiments, in an SQLite file: each row is in it, whole, from the moment it is added, whatever
/// happens to the process, and stays until clear(). A batch shows those of its own experiments under its own numbers
/// (view `experiments`); results of others, and those by other versions of the program, stay beside them (table
/// `results`) and are found again by a batch that has them.
/// Errors: ConfigError naming the file; a file that is no batch's is refused and left as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/database/database.h"
#include "core/memo/memo.h"
#include "experiment/batch/batch_row.h"

namespace sluice {

class BatchStore {
  public:
    /// Makes the file if it is not there. `version`: of the program, by which results are. `anew`: what is there goes, and
    /// so may be in a format that this program does not read.
    BatchStore(const std::string& path, std::string version, bool anew = false);

    /// How many results there are, of whatever batch and version.
    std::size_t size();
    /// The largest number of a result, 0 if there is none. Later ones have larger numbers.
    std::int64_t last_result();
    void clear();

    /// A result, and the row that it makes but for the experiment's number and values.
    struct Known {
        std::int64_t result = 0;
        BatchRow row;
    };
    /// By digest, of this version: what need not be found out again, which is that of experiments that ran or do not fit
    /// their GPUs. `allow_oom`: those that do not fit are wanted simulated; else they are not.
    /// `failures`: what was refused or has failed, too.
    std::unordered_map<std::string, Known> known(bool allow_oom, bool failures = false);
    /// Digests of which other versions have results.
    std::unordered_set<std::string> known_to_others();
    /// Numbers under which results have left folders, of whatever batch and version.
    std::unordered_set<std::size_t> folders();
    /// Adds what another database has and this one has not, of whatever batch and version: results, checks and what was
    /// learned. What failed
    /// here is replaced by what came of it there. Its folders are not known here. The number of results. ConfigError if it is
    /// no batch's.
    std::size_t take(const std::string& path);
    /// Begins a batch with these keys, which has `rows` already. `memo`: the digest of what its experiments know when they
    /// begin; "": nothing. What was refused or has failed is forgotten, unless `failures` stay: it has no result.
    void begin(const std::vector<std::string>& keys, const std::vector<Known>& rows,
               const std::string& memo, bool failures = false);
    /// What came of an experiment, and what it has learned. After begin().
    void add(const BatchRow& row);
    /// What experiments have learned, of whatever batch, for memo::save(): in an order that depends on the content only.
    /// Entries of another version of results, or damaged, are left out.
    memo::Content learned();
    /// Results that are not of the batch: of other experiments, or by other versions. After begin().
    std::size_t aside();
    /// Those of them whose experiments began with another memo than the batch's, or one of the two with none.
    std::size_t with_other_memos();
    /// Stores `file` as the memo of which the batch has a snapshot, unless one is stored. Returns the one that is.
    std::string memo_file(const std::string& file);

    /// What mode packet said of an experiment, by its digest.
    struct Reference {
        double jct_s = 0;
        double cpu_s = 0;
    };
    /// By digest, of this version. After begin().
    std::unordered_map<std::string, Reference> references();
    void add_reference(const std::string& digest, const Reference& reference);

  private:
    void check_ours(bool anew);
    bool has_results();
    void make_tables();
    void make_view();
    void add_learned(const memo::Content& learned);
    void add_number(const BatchRow& row, std::int64_t result);

    Database database_;
    std::string version_;
    std::string memo_;
    std::vector<std::string> keys_;
    std::int64_t next_result_ = 1;
    /// Prepared once: a batch of small experiments adds hundreds a second.
    std::unique_ptr<Statement> begin_;
    std::unique_ptr<Statement> commit_;
    std::unique_ptr<Statement> insert_result_;
    std::unique_ptr<Statement> insert_number_;
    std::unique_ptr<Statement> insert_learned_;
};

}  // namespace sluice
