// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/old_schema.h"

#include <cstdint>

#include "workloads/chakra/wire.h"

namespace sluice::chakra {

namespace {

/// Of AttributeProto before 0.0.4: a name, then a type. Today's field 2 is a text.
bool is_old_attribute(std::string_view message) {
    WireReader fields(message);
    if (!fields.next() || fields.field() != 1 || fields.type() != WireType::bytes) return false;
    return fields.next() && fields.field() == 2 && fields.type() == WireType::varint;
}

}  // namespace

bool is_old_node(std::string_view message) {
    constexpr WireType kHead[] = {WireType::varint, WireType::bytes, WireType::varint};
    constexpr std::uint32_t kLastOld = 22;
    try {
        WireReader fields(message);
        for (std::uint32_t head = 1; head <= 3; ++head) {
            if (!fields.next() || fields.field() != head || fields.type() != kHead[head - 1]) {
                return false;
            }
        }
        bool messages = false;
        while (fields.next()) {
            const std::uint32_t field = fields.field();
            if (fields.type() == WireType::bytes) {
                if (field == 11) return is_old_attribute(fields.bytes());
                messages = messages || (field >= 8 && field <= 10);
            } else if (field >= 8 && field <= kLastOld && !messages) {
                return fields.type() == WireType::varint;
            }
        }
    } catch (const WireError&) {  // neither
    }
    return false;
}

bool is_old_metadata(std::string_view message) {
    try {
        WireReader fields(message);
        return fields.next() && fields.field() == 1 && fields.type() == WireType::bytes &&
               is_old_attribute(fields.bytes());
    } catch (const WireError&) {
        return false;
    }
}

bool begins_as_node(std::string_view message) {
    try {
        WireReader fields(message);
        return fields.next() && fields.field() == 1 && fields.type() == WireType::varint;
    } catch (const WireError&) {
        return false;
    }
}

}  // namespace sluice::chakra
