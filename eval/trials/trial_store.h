// SPDX-License-Identifier: Apache-2.0
/// What came of an evaluation's trials, in an SQLite file: each trial is in it, whole, from the moment it is added,
/// whatever happens to the process. Tables: docs/evaluation.md.
/// Errors: ConfigError naming the file; a file that is of something else is refused and left as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/database/database.h"
#include "eval/trials/metric.h"

namespace sluice::eval {

struct StoredTrial {
    std::size_t candidate = 0;
    std::size_t trial = 0;
    std::size_t attempts = 1;  ///< that it took
    std::uint64_t seed = 0;
    double cpu_s = 0;
    std::int64_t packet_hops = 0;
    std::string failure;                    ///< why it has no observations; empty: it has
    std::vector<Observation> observations;  ///< by metric
};

class TrialStore {
  public:
    /// `identity`: of candidates, metrics and the program. What a file holds of another identity is refused, unless
    /// `anew`: then it is emptied. `metrics`: names, for those who look at the file.
    TrialStore(const std::string& path, const std::string& identity,
               const std::vector<std::string>& metrics, bool anew);

    std::size_t size();
    /// All of them, in order of candidates and trials.
    std::vector<StoredTrial> load();
    /// In place of what is there of it.
    void add(const StoredTrial& trial);

    /// What else is to be found again; "" if there is none.
    std::string note(const std::string& key);
    void set_note(const std::string& key, const std::string& text);

  private:
    void make_tables();

    Database database_;
    std::vector<std::string> metrics_;
    std::unique_ptr<Statement> insert_;
    std::unique_ptr<Statement> insert_figure_;
};

}  // namespace sluice::eval
