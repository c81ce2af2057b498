// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <utility>

#include "workloads/chakra/et_node.h"

namespace sluice::chakra {

namespace {

Attribute scalar(std::string name, AttributeKind kind, std::uint64_t bits) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.kind = kind;
    attribute.numbers = {bits};
    return attribute;
}

}  // namespace

Attribute Attribute::boolean(std::string name, bool value) {
    return scalar(std::move(name), AttributeKind::boolean, value ? 1 : 0);
}
Attribute Attribute::int32(std::string name, std::int32_t value) {
    // A negative number of 32 bits is written in 10 bytes, like one of 64.
    return scalar(std::move(name), AttributeKind::int32,
                  static_cast<std::uint64_t>(static_cast<std::int64_t>(value)));
}
Attribute Attribute::int64(std::string name, std::int64_t value) {
    return scalar(std::move(name), AttributeKind::int64, static_cast<std::uint64_t>(value));
}
Attribute Attribute::uint64(std::string name, std::uint64_t value) {
    return scalar(std::move(name), AttributeKind::uint64, value);
}
Attribute Attribute::real(std::string name, double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    return scalar(std::move(name), AttributeKind::f64, bits);
}
Attribute Attribute::text(std::string name, std::string value) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.kind = AttributeKind::text;
    attribute.texts = {std::move(value)};
    return attribute;
}
Attribute Attribute::booleans(std::string name, const std::vector<bool>& values) {
    Attribute attribute;
    attribute.name = std::move(name);
    attribute.kind = AttributeKind::boolean;
    attribute.list = true;
    for (const bool value : values) attribute.numbers.push_back(value ? 1 : 0);
    return attribute;
}

}  // namespace sluice::chakra
