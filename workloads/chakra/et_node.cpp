// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/et_node.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "workloads/chakra/old_schema.h"

namespace sluice::chakra {

namespace {

constexpr std::array<const char*, kNodeTypes> kNodeTypeNames = {
    "INVALID_NODE", "METADATA_NODE",  "MEM_LOAD_NODE",  "MEM_STORE_NODE",
    "COMP_NODE",    "COMM_SEND_NODE", "COMM_RECV_NODE", "COMM_COLL_NODE"};
constexpr std::array<const char*, kCollectiveTypes> kCollectiveTypeNames = {
    "ALL_REDUCE", "REDUCE",         "ALL_GATHER",           "GATHER", "SCATTER", "BROADCAST",
    "ALL_TO_ALL", "REDUCE_SCATTER", "REDUCE_SCATTER_BLOCK", "BARRIER"};

constexpr std::uint32_t kFirstKind = 3;
constexpr std::uint32_t kLastKind = 32;

/// How one number of a kind is written.
WireType wire_type(AttributeKind kind) {
    switch (kind) {
        case AttributeKind::f64:
        case AttributeKind::fixed64:
        case AttributeKind::sfixed64: return WireType::fixed64;
        case AttributeKind::f32:
        case AttributeKind::fixed32:
        case AttributeKind::sfixed32: return WireType::fixed32;
        case AttributeKind::text:
        case AttributeKind::bytes: return WireType::bytes;
        default: return WireType::varint;
    }
}

std::optional<std::int64_t> whole(double value) {
    // 2^63 is the first double that does not fit.
    if (!(value >= -9223372036854775808.0) || !(value < 9223372036854775808.0)) return std::nullopt;
    if (value != std::floor(value)) return std::nullopt;
    return static_cast<std::int64_t>(value);
}

std::optional<std::int64_t> to_integer(AttributeKind kind, std::uint64_t bits) {
    switch (kind) {
        case AttributeKind::f64: {
            double value = 0;
            std::memcpy(&value, &bits, sizeof value);
            return whole(value);
        }
        case AttributeKind::f32: {
            const auto low = static_cast<std::uint32_t>(bits);
            float value = 0;
            std::memcpy(&value, &low, sizeof value);
            return whole(value);
        }
        case AttributeKind::uint32:
        case AttributeKind::fixed32: return static_cast<std::uint32_t>(bits);
        case AttributeKind::int32:
        case AttributeKind::sfixed32: return static_cast<std::int32_t>(bits);
        case AttributeKind::sint32:
        case AttributeKind::sint64: return zigzag_decode(bits);
        case AttributeKind::int64:
        case AttributeKind::sfixed64: return static_cast<std::int64_t>(bits);
        case AttributeKind::uint64:
        case AttributeKind::fixed64:
            if (bits > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
            return static_cast<std::int64_t>(bits);
        case AttributeKind::boolean: return bits != 0 ? 1 : 0;
        default: return std::nullopt;
    }
}

void take_ids(const WireReader& field, std::vector<std::uint64_t>& ids) {
    if (field.type() == WireType::varint) {
        ids.push_back(field.number());
        return;
    }
    field.require(WireType::bytes);
    std::string_view packed = field.bytes();
    while (!packed.empty()) ids.push_back(take_varint(packed));
}

std::uint64_t parse_io(std::string_view message, IoView& io) {
    std::uint64_t unknown = 0;
    WireReader fields(message);
    while (fields.next()) {
        if (fields.field() > 3) {
            ++unknown;
            continue;
        }
        fields.require(WireType::bytes);
        (fields.field() == 1   ? io.values
         : fields.field() == 2 ? io.shapes
                               : io.types) = fields.bytes();
    }
    io.present = true;
    return unknown;
}

/// The last value given is the one that counts, as in protobuf's own readers.
std::uint64_t parse_attribute(std::string_view message, AttributeView& attribute) {
    std::uint64_t unknown = 0;
    WireReader fields(message);
    while (fields.next()) {
        const std::uint32_t field = fields.field();
        if (field <= 2) {
            fields.require(WireType::bytes);
            (field == 1 ? attribute.name : attribute.doc) = fields.bytes();
        } else if (field < kFirstKind || field > kLastKind) {
            ++unknown;
        } else {
            attribute.list = field % 2 == 0;
            attribute.kind = static_cast<AttributeKind>(attribute.list ? field - 1 : field);
            fields.require(attribute.list ? WireType::bytes : wire_type(attribute.kind));
            attribute.number = fields.number();
            attribute.bytes = fields.bytes();
        }
    }
    return unknown;
}

/// Calls number(bits) for each value of a list's message.
template <typename Number>
void each_number(AttributeKind kind, std::string_view list, Number number) {
    WireReader fields(list);
    while (fields.next()) {
        if (fields.field() != 1) continue;
        if (fields.type() != WireType::bytes) {
            fields.require(wire_type(kind));
            number(fields.number());
            continue;
        }
        std::string_view packed = fields.bytes();
        while (!packed.empty()) {
            switch (wire_type(kind)) {
                case WireType::fixed64: number(take_fixed(packed, 8)); break;
                case WireType::fixed32: number(take_fixed(packed, 4)); break;
                default: number(take_varint(packed)); break;
            }
        }
    }
}

Attribute to_attribute(const AttributeView& view) {
    Attribute attribute;
    attribute.name = view.name;
    attribute.doc = view.doc;
    attribute.kind = view.kind;
    attribute.list = view.list;
    if (view.kind == AttributeKind::none) return attribute;
    if (wire_type(view.kind) == WireType::bytes) {
        if (!view.list) {
            attribute.texts.emplace_back(view.bytes);
            return attribute;
        }
        WireReader fields(view.bytes);
        while (fields.next()) {
            if (fields.field() != 1) continue;
            fields.require(WireType::bytes);
            attribute.texts.emplace_back(fields.bytes());
        }
    } else if (view.list) {
        each_number(view.kind, view.bytes,
                    [&](std::uint64_t bits) { attribute.numbers.push_back(bits); });
    } else {
        attribute.numbers.push_back(view.number);
    }
    return attribute;
}

void put_number(WireWriter& out, std::uint32_t field, AttributeKind kind, std::uint64_t bits) {
    switch (wire_type(kind)) {
        case WireType::fixed64: out.fixed64(field, bits); break;
        case WireType::fixed32: out.fixed32(field, static_cast<std::uint32_t>(bits)); break;
        default: out.varint(field, bits); break;
    }
}

std::string encode_list(const Attribute& attribute) {
    WireWriter list;
    if (wire_type(attribute.kind) == WireType::bytes) {
        for (const std::string& text : attribute.texts) list.bytes(1, text);
        return list.message();
    }
    std::string packed;
    for (const std::uint64_t bits : attribute.numbers) {
        switch (wire_type(attribute.kind)) {
            case WireType::fixed64: append_fixed(packed, bits, 8); break;
            case WireType::fixed32: append_fixed(packed, bits, 4); break;
            default: append_varint(packed, bits); break;
        }
    }
    if (!packed.empty()) list.bytes(1, packed);
    return list.message();
}

std::string encode_attribute(const Attribute& attribute) {
    WireWriter out;
    if (!attribute.name.empty()) out.bytes(1, attribute.name);
    if (!attribute.doc.empty()) out.bytes(2, attribute.doc);
    if (attribute.kind == AttributeKind::none) return out.message();
    const auto field = static_cast<std::uint32_t>(attribute.kind);
    if (attribute.list) {
        out.bytes(field + 1, encode_list(attribute));
    } else if (wire_type(attribute.kind) == WireType::bytes) {
        out.bytes(field, attribute.texts.at(0));
    } else {
        put_number(out, field, attribute.kind, attribute.numbers.at(0));
    }
    return out.message();
}

void put_ids(WireWriter& out, std::uint32_t field, const std::vector<std::uint64_t>& ids) {
    if (ids.empty()) return;
    std::string packed;
    for (const std::uint64_t id : ids) append_varint(packed, id);
    out.bytes(field, packed);
}

void put_io(WireWriter& out, std::uint32_t field, const std::optional<IoInfo>& io) {
    if (!io) return;
    WireWriter message;
    if (!io->values.empty()) message.bytes(1, io->values);
    if (!io->shapes.empty()) message.bytes(2, io->shapes);
    if (!io->types.empty()) message.bytes(3, io->types);
    out.bytes(field, message.message());
}

std::optional<IoInfo> to_io(const IoView& view) {
    if (!view.present) return std::nullopt;
    return IoInfo{std::string(view.values), std::string(view.shapes), std::string(view.types)};
}

void take_node(std::string_view message, NodeView& node) {
    node.id = 0;
    node.name = {};
    node.type = NodeType::invalid;
    node.ctrl_deps.clear();
    node.data_deps.clear();
    node.start_us = 0;
    node.duration_us = 0;
    node.inputs = {};
    node.outputs = {};
    node.attributes.clear();
    node.unknown_fields = 0;
    WireReader fields(message);
    while (fields.next()) {
        switch (fields.field()) {
            case 1:
                fields.require(WireType::varint);
                node.id = fields.number();
                break;
            case 2:
                fields.require(WireType::bytes);
                node.name = fields.bytes();
                break;
            case 3:
                fields.require(WireType::varint);
                if (fields.number() >= kNodeTypes) {
                    throw WireError("has type " + std::to_string(fields.number()) +
                                    ": Chakra's are 0 to 7");
                }
                node.type = static_cast<NodeType>(fields.number());
                break;
            case 4: take_ids(fields, node.ctrl_deps); break;
            case 5: take_ids(fields, node.data_deps); break;
            case 6:
                fields.require(WireType::varint);
                node.start_us = fields.number();
                break;
            case 7:
                fields.require(WireType::varint);
                node.duration_us = fields.number();
                break;
            case 8:
            case 9:
                fields.require(WireType::bytes);
                node.unknown_fields +=
                    parse_io(fields.bytes(), fields.field() == 8 ? node.inputs : node.outputs);
                break;
            case 10:
                fields.require(WireType::bytes);
                node.unknown_fields +=
                    parse_attribute(fields.bytes(), node.attributes.emplace_back());
                break;
            default: ++node.unknown_fields; break;
        }
    }
}

void take_metadata(std::string_view message, MetadataView& metadata) {
    metadata = {};
    WireReader fields(message);
    while (fields.next()) {
        if (fields.field() == 1) {
            fields.require(WireType::bytes);
            metadata.version = fields.bytes();
        } else if (fields.field() == 2) {
            fields.require(WireType::bytes);
            metadata.unknown_fields +=
                parse_attribute(fields.bytes(), metadata.attributes.emplace_back());
        } else {
            ++metadata.unknown_fields;
        }
    }
}

}  // namespace

const char* to_string(NodeType type) { return kNodeTypeNames[static_cast<std::size_t>(type)]; }
const char* to_string(CollectiveType type) {
    return kCollectiveTypeNames[static_cast<std::size_t>(type)];
}

std::optional<std::int64_t> AttributeView::integer() const {
    if (list) return std::nullopt;
    if (kind != AttributeKind::text) return to_integer(kind, number);
    std::int64_t value = 0;
    const char* end = bytes.data() + bytes.size();
    const auto [stop, error] = std::from_chars(bytes.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

std::optional<std::string_view> AttributeView::string() const {
    if (list || (kind != AttributeKind::text && kind != AttributeKind::bytes)) return std::nullopt;
    return bytes;
}

std::optional<std::vector<std::int64_t>> AttributeView::integers() const {
    if (kind == AttributeKind::none || wire_type(kind) == WireType::bytes) return std::nullopt;
    std::vector<std::int64_t> values;
    bool whole_numbers = true;
    const auto take = [&](std::uint64_t bits) {
        const std::optional<std::int64_t> value = to_integer(kind, bits);
        whole_numbers = whole_numbers && value.has_value();
        values.push_back(value.value_or(0));
    };
    if (list) {
        each_number(kind, bytes, take);
    } else {
        take(number);
    }
    if (!whole_numbers) return std::nullopt;
    return values;
}

const AttributeView* NodeView::find(std::string_view attribute) const {
    for (const AttributeView& view : attributes) {
        if (view.name == attribute) return &view;
    }
    return nullptr;
}

void parse_node(std::string_view message, NodeView& node) {
    try {
        take_node(message, node);
    } catch (const WireError&) {
        if (is_old_node(message)) throw WireError(kOldSchema);
        throw;
    }
    if (node.unknown_fields > 0 && is_old_node(message)) throw WireError(kOldSchema);
}

void parse_metadata(std::string_view message, MetadataView& metadata) {
    if (is_old_metadata(message) || is_old_node(message)) throw WireError(kOldSchema);
    if (begins_as_node(message)) throw WireError("it is a Node, which follows the GlobalMetadata");
    take_metadata(message, metadata);
}

std::string encode(const Node& node) {
    WireWriter out;
    if (node.id != 0) out.varint(1, node.id);
    if (!node.name.empty()) out.bytes(2, node.name);
    if (node.type != NodeType::invalid) out.varint(3, static_cast<std::uint64_t>(node.type));
    put_ids(out, 4, node.ctrl_deps);
    put_ids(out, 5, node.data_deps);
    if (node.start_us != 0) out.varint(6, node.start_us);
    if (node.duration_us != 0) out.varint(7, node.duration_us);
    put_io(out, 8, node.inputs);
    put_io(out, 9, node.outputs);
    for (const Attribute& attribute : node.attributes) out.bytes(10, encode_attribute(attribute));
    return out.message();
}

std::string encode(const Metadata& metadata) {
    WireWriter out;
    if (!metadata.version.empty()) out.bytes(1, metadata.version);
    for (const Attribute& attribute : metadata.attributes) {
        out.bytes(2, encode_attribute(attribute));
    }
    return out.message();
}

Node to_node(const NodeView& view) {
    Node node;
    node.id = view.id;
    node.name = view.name;
    node.type = view.type;
    node.ctrl_deps = view.ctrl_deps;
    node.data_deps = view.data_deps;
    node.start_us = view.start_us;
    node.duration_us = view.duration_us;
    node.inputs = to_io(view.inputs);
    node.outputs = to_io(view.outputs);
    for (const AttributeView& attribute : view.attributes) {
        node.attributes.push_back(to_attribute(attribute));
    }
    return node;
}

Metadata to_metadata(const MetadataView& view) {
    Metadata metadata;
    metadata.version = view.version;
    for (const AttributeView& attribute : view.attributes) {
        metadata.attributes.push_back(to_attribute(attribute));
    }
    return metadata;
}

}  // namespace sluice::chakra
