// SPDX-License-Identifier: Apache-2.0
/// Transactions as a file for SCViewer: streams, their generators, and what these have done from when to when, in ps.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/units.h"

namespace sluice {

enum class AttributeType : std::uint8_t { integer, whole, text, time };

/// When an attribute became known: as the transaction began, while it went on, as it ended.
enum class AttributeMoment : std::uint8_t { begin, during, end };

struct TransactionAttribute {
    AttributeMoment moment = AttributeMoment::begin;
    const char* name = "";
    AttributeType type = AttributeType::integer;
    std::int64_t value = 0;  ///< not of texts; a time is in ps
    std::string text;
};

class TransactionFile {
  public:
    virtual ~TransactionFile() = default;

    /// A row of transactions, such as a port.
    virtual std::uint64_t add_stream(const std::string& name, const std::string& kind) = 0;
    /// A sort of transactions in it, such as an operation.
    virtual std::uint64_t add_generator(const std::string& name, std::uint64_t stream) = 0;
    /// Of a generator; in any order.
    virtual void add(std::uint64_t generator, Tick begin, Tick end,
                     const std::vector<TransactionAttribute>& attributes) = 0;
    /// Writes what is left, and gives the file its name.
    virtual void finish() = 0;
};

/// SQLite (transaction_database.h) if `path` ends with ".txdb", else FTR (ftr_file.h). ConfigError if it can't be written.
std::unique_ptr<TransactionFile> make_transaction_file(const std::string& path);

}  // namespace sluice
