// SPDX-License-Identifier: Apache-2.0
/// The protobuf wire format (protobuf.dev, "Encoding"), as much of it as Chakra traces use: a
/// message is a run of fields, each a key (number and wire type) and a value, either a base-128
/// varint, 4 or 8 bytes little endian, or a length and that many bytes.
/// Errors: WireError says what is wrong; whoever knows the file and the node adds where.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::chakra {

class WireError : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

/// Reads the fields of one message; views of bytes are views of the message.
class WireReader {
  public:
    explicit WireReader(std::string_view message) : left_(message) {}

    /// Takes the next field's key and value; false at the end of the message.
    bool next();

    std::uint32_t field() const { return field_; }
    WireType type() const { return type_; }
    /// A number's bits; 0 where the value is bytes.
    std::uint64_t number() const { return number_; }
    std::string_view bytes() const { return bytes_; }
    /// Throws WireError unless the field's type is `wanted`.
    void require(WireType wanted) const;

  private:
    std::string_view left_;
    std::uint32_t field_ = 0;
    WireType type_ = WireType::varint;
    std::uint64_t number_ = 0;
    std::string_view bytes_;
};

/// A varint of more than one byte.
std::uint64_t take_long_varint(std::string_view& left);

/// Takes a varint off the front of `left`. Most are keys, lengths and small numbers: one byte.
inline std::uint64_t take_varint(std::string_view& left) {
    if (left.empty() || static_cast<unsigned char>(left.front()) >= 0x80) {
        return take_long_varint(left);
    }
    const auto value = static_cast<unsigned char>(left.front());
    left.remove_prefix(1);
    return value;
}

/// Takes 4 or 8 bytes, little endian, off the front of `left`.
std::uint64_t take_fixed(std::string_view& left, std::size_t size);

/// Appends fields to a message.
class WireWriter {
  public:
    void varint(std::uint32_t field, std::uint64_t value);
    void fixed32(std::uint32_t field, std::uint32_t bits);
    void fixed64(std::uint32_t field, std::uint64_t bits);
    void bytes(std::uint32_t field, std::string_view value);

    const std::string& message() const { return message_; }

  private:
    void key(std::uint32_t field, WireType type);

    std::string message_;
};

void append_varint(std::string& out, std::uint64_t value);
void append_fixed(std::string& out, std::uint64_t bits, std::size_t size);

/// Signed numbers of the sint kinds: 0, -1, 1, -2 are written 0, 1, 2, 3.
constexpr std::int64_t zigzag_decode(std::uint64_t value) {
    return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}
constexpr std::uint64_t zigzag_encode(std::int64_t value) {
    return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

}  // namespace sluice::chakra
