// SPDX-License-Identifier: Apache-2.0
#include "models/observe/cbor_writer.h"

#include "models/observe/big_endian.h"

namespace sluice {

void CborWriter::head(unsigned kind, std::uint64_t value) {
    int bytes = 0;
    if (value >= 24) {
        bytes = value <= 0xff ? 1 : value <= 0xffff ? 2 : value <= 0xffffffff ? 4 : 8;
    }
    const unsigned more = bytes == 0   ? static_cast<unsigned>(value)
                          : bytes == 1 ? 24
                          : bytes == 2 ? 25
                          : bytes == 4 ? 26
                                       : 27;
    bytes_.push_back(static_cast<char>(kind << 5 | more));
    put_big_endian(bytes_, value, bytes);
}

void CborWriter::number(std::int64_t value) {
    value < 0 ? head(1, static_cast<std::uint64_t>(-(value + 1)))
              : head(0, static_cast<std::uint64_t>(value));
}

void CborWriter::text(std::string_view value) {
    head(3, value.size());
    bytes_ += value;
}

void CborWriter::bytes(std::string_view value) {
    head(2, value.size());
    bytes_ += value;
}

}  // namespace sluice
