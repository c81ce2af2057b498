// SPDX-License-Identifier: Apache-2.0
/// The rows of a batch in an SQLite file: each is in it, whole, from the moment it is added, whatever
/// happens to the process. A later batch finds again what it knows by digest, whatever its number is there.
/// Errors: ConfigError naming the file; a file that is no batch's is refused and left as it is.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/database/database.h"
#include "experiment/batch/batch_row.h"

namespace sluice {

class BatchStore {
  public:
    /// Makes the file if it is not there.
    explicit BatchStore(const std::string& path);

    /// Rows that need not be found out again: those of experiments that ran or do not fit their GPUs.
    std::unordered_map<std::string, BatchRow> known();
    /// How many rows there are.
    std::size_t size();
    /// Replaces what it holds by `rows`, of experiments with these keys, at once. References stay if any row does.
    void begin(const std::vector<std::string>& keys, const std::vector<BatchRow>& rows);
    /// After begin().
    void add(const BatchRow& row);

    /// What mode packet said of an experiment, by its digest.
    struct Reference {
        double jct_s = 0;
        double cpu_s = 0;
    };
    std::unordered_map<std::string, Reference> references();
    void add_reference(const std::string& digest, const Reference& reference);

  private:
    void check_ours();

    Database database_;
    std::unique_ptr<Statement> insert_;
};

}  // namespace sluice
