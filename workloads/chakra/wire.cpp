// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/wire.h"

namespace sluice::chakra {

std::uint64_t take_long_varint(std::string_view& left) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < left.size() && i < 10; ++i) {
        const auto byte = static_cast<unsigned char>(left[i]);
        value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            left.remove_prefix(i + 1);
            return value;
        }
    }
    throw WireError(left.size() < 10 ? "ends within a number" : "a number of more than 10 bytes");
}

std::uint64_t take_fixed(std::string_view& left, std::size_t size) {
    if (left.size() < size) throw WireError("ends within a number");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) {
        value |= static_cast<std::uint64_t>(static_cast<unsigned char>(left[i])) << (8 * i);
    }
    left.remove_prefix(size);
    return value;
}

bool WireReader::next() {
    if (left_.empty()) return false;
    const std::uint64_t key = take_varint(left_);
    if (key >> 3 == 0 || key >> 3 > 0x1fffffff) throw WireError("a field without a valid number");
    field_ = static_cast<std::uint32_t>(key >> 3);
    number_ = 0;
    bytes_ = {};
    switch (key & 7) {
        case 0: number_ = take_varint(left_); break;
        case 1: number_ = take_fixed(left_, 8); break;
        case 5: number_ = take_fixed(left_, 4); break;
        case 2: {
            const std::uint64_t length = take_varint(left_);
            if (length > left_.size()) {
                throw WireError("field " + std::to_string(field_) + " claims " +
                                std::to_string(length) + " bytes, " + std::to_string(left_.size()) +
                                " are left");
            }
            bytes_ = left_.substr(0, length);
            left_.remove_prefix(length);
            break;
        }
        default: throw WireError("field " + std::to_string(field_) + " has an unknown wire type");
    }
    type_ = static_cast<WireType>(key & 7);
    return true;
}

void WireReader::require(WireType wanted) const {
    if (type_ != wanted) {
        throw WireError("field " + std::to_string(field_) + " has another type than Chakra's");
    }
}

void append_varint(std::string& out, std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>((value & 0x7f) | 0x80));
    out.push_back(static_cast<char>(value));
}

void append_fixed(std::string& out, std::uint64_t bits, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        out.push_back(static_cast<char>((bits >> (8 * i)) & 0xff));
    }
}

void WireWriter::key(std::uint32_t field, WireType type) {
    append_varint(message_,
                  (static_cast<std::uint64_t>(field) << 3) | static_cast<std::uint64_t>(type));
}

void WireWriter::varint(std::uint32_t field, std::uint64_t value) {
    key(field, WireType::varint);
    append_varint(message_, value);
}

void WireWriter::fixed32(std::uint32_t field, std::uint32_t bits) {
    key(field, WireType::fixed32);
    append_fixed(message_, bits, 4);
}

void WireWriter::fixed64(std::uint32_t field, std::uint64_t bits) {
    key(field, WireType::fixed64);
    append_fixed(message_, bits, 8);
}

void WireWriter::bytes(std::uint32_t field, std::string_view value) {
    key(field, WireType::bytes);
    append_varint(message_, value.size());
    message_.append(value);
}

}  // namespace sluice::chakra
