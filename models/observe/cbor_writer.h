// SPDX-License-Identifier: Apache-2.0
/// Writes CBOR (concise binary object representation, RFC 8949).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice {

/// Items one after the other. An array, a map or a tag is followed by what it is of.
class CborWriter {
  public:
    void number(std::int64_t value);
    void unsigned_number(std::uint64_t value) { head(0, value); }
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
    void append(const CborWriter& other) { bytes_ += other.bytes_; }

  private:
    void head(unsigned kind, std::uint64_t value);
    std::string bytes_;
};

}  // namespace sluice
