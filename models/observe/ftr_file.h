// SPDX-License-Identifier: Apache-2.0
/// Transactions as an FTR file (fast transaction recording), which SCViewer and readers of SCC's LWTR open: CBOR, uncompressed
/// chunks, times in ps. Source: the format's description in Minres/LWTR4SC (src/ftr/ftr_writer.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/results/output_file.h"
#include "core/units.h"

namespace sluice {

/// CBOR (RFC 8949) at the end of `bytes`.
class CborText {
  public:
    void number(std::int64_t value);
    void whole(std::uint64_t value) { head(0, value); }
    void text(std::string_view value);
    void bytes(std::string_view value);
    void array(std::uint64_t entries) { head(4, entries); }
    void endless_array() { bytes_.push_back('\x9f'); }
    void map(std::uint64_t entries) { head(5, entries); }
    void tag(std::uint64_t value) { head(6, value); }
    void end() { bytes_.push_back('\xff'); }

    const std::string& all() const { return bytes_; }
    bool empty() const { return bytes_.empty(); }
    void clear() { bytes_.clear(); }
    void append(const CborText& other) { bytes_ += other.bytes_; }

  private:
    void head(unsigned kind, std::uint64_t value);
    std::string bytes_;
};

/// Types of attributes, by the format's numbers.
enum class FtrType : std::uint8_t { integer = 2, whole = 3, text = 10, time = 11 };

/// When an attribute became known: as the transaction began, while it went on, as it ended.
enum class FtrMoment : std::uint8_t { begin, during, end };

struct FtrAttribute {
    FtrMoment moment = FtrMoment::begin;
    const char* name = "";
    FtrType type = FtrType::integer;
    std::int64_t value = 0;  ///< not of texts; a time is in ps
    std::string text;
};

class FtrFile {
  public:
    /// ConfigError if it can't be written.
    explicit FtrFile(const std::string& path);

    /// A row of transactions, such as a port.
    std::uint64_t add_stream(const std::string& name, const std::string& kind);
    /// A sort of transactions in it, such as an operation.
    std::uint64_t add_generator(const std::string& name, std::uint64_t stream);
    /// Of a generator; in any order.
    void add(std::uint64_t generator, Tick begin, Tick end,
             const std::vector<FtrAttribute>& attributes);
    /// Writes what is left, and gives the file its name.
    void finish();

  private:
    /// Transactions of a stream that are not written yet.
    struct Block {
        CborText text;
        Tick begin = kNever;
        Tick end = 0;
    };

    std::uint64_t known(const std::string& text);
    void write_chunk(std::uint64_t tag, const CborText& content);
    void write_names();
    void write_block(std::uint64_t stream);

    OutputFile file_;
    std::map<std::string, std::uint64_t> names_;  ///< texts that are told by number
    std::vector<std::string> new_names_;          ///< not written yet
    CborText directory_;                          ///< streams and generators, likewise
    std::vector<Block> blocks_;                   ///< by stream, from 1
    std::vector<std::uint64_t> stream_of_;        ///< by generator, from 1
    std::uint64_t transactions_ = 0;
};

}  // namespace sluice
