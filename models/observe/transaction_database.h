// SPDX-License-Identifier: Apache-2.0
/// Transactions as an SQLite file with the tables that SCViewer reads: those of SCC's recorder (Minres/SystemC-Components,
/// src/sysc/scc/scv/scv_tr_sqlite.cpp). Times are in ps.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/database/database.h"
#include "core/results/output_file.h"
#include "models/observe/transaction_file.h"

namespace sluice {

class TransactionDatabase final : public TransactionFile {
  public:
    /// ConfigError if it can't be written.
    explicit TransactionDatabase(const std::string& path);

    std::uint64_t add_stream(const std::string& name, const std::string& kind) override;
    std::uint64_t add_generator(const std::string& name, std::uint64_t stream) override;
    void add(std::uint64_t generator, Tick begin, Tick end,
             const std::vector<TransactionAttribute>& attributes) override;
    void finish() override;

  private:
    /// An open database, all of whose changes are one transaction of SQLite.
    struct Tables {
        explicit Tables(const std::string& path);
        Database database;
        Transaction changes;
        Statement stream;
        Statement generator;
        Statement transaction;
        Statement event;
        Statement attribute;
    };

    std::int64_t free_row(std::uint64_t stream, Tick begin, Tick end);
    void add_event(std::int64_t type, Tick time);

    OutputFile file_;
    std::unique_ptr<Tables> tables_;  ///< null once it is finished
    std::vector<std::vector<Tick>>
        rows_;  ///< by stream, from 1: when the last transaction of each row ends
    std::vector<std::uint64_t> stream_of_;  ///< by generator, from 1
    std::int64_t transactions_ = 0;
};

}  // namespace sluice
