// SPDX-License-Identifier: Apache-2.0
/// A Chakra execution trace's messages (mlcommons/chakra, et_def.proto, package ChakraProtoMsg) as
/// plain structs, and their coding. An .et file is a GlobalMetadata and then Nodes, each preceded
/// by its length as a varint. Fields that Chakra does not define are skipped and counted.
/// Attributes keep the kind that their writer chose; whoever wants a number takes it from any kind:
/// writers disagree (int64 or uint64 for comm_size).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/chakra/wire.h"

namespace sluice::chakra {

enum class NodeType : std::uint8_t {
    invalid,
    metadata,
    mem_load,
    mem_store,
    comp,
    comm_send,
    comm_recv,
    comm_coll,
};

enum class CollectiveType : std::uint8_t {
    all_reduce,
    reduce,
    all_gather,
    gather,
    scatter,
    broadcast,
    all_to_all,
    reduce_scatter,
    reduce_scatter_block,
    barrier,
};

inline bool is_memory(NodeType type) {
    return type == NodeType::mem_load || type == NodeType::mem_store;
}

inline constexpr std::uint64_t kNodeTypes = 8;
inline constexpr std::uint64_t kCollectiveTypes = 10;

/// As the proto spells them: "COMM_COLL_NODE", "ALL_REDUCE".
const char* to_string(NodeType type);
const char* to_string(CollectiveType type);

/// The kinds of an attribute's value: AttributeProto's field numbers. A list is one more than its
/// scalar.
enum class AttributeKind : std::uint8_t {
    none = 0,
    f64 = 3,
    f32 = 5,
    int32 = 7,
    int64 = 9,
    uint32 = 11,
    uint64 = 13,
    sint32 = 15,
    sint64 = 17,
    fixed32 = 19,
    fixed64 = 21,
    sfixed32 = 23,
    sfixed64 = 25,
    boolean = 27,
    text = 29,
    bytes = 31,
};

/// An attribute as it stands in its message; views of it.
struct AttributeView {
    std::string_view name;
    std::string_view doc;
    AttributeKind kind = AttributeKind::none;
    bool list = false;
    std::uint64_t number = 0;  ///< a scalar number's bits, as in the message
    std::string_view bytes;    ///< a text, or a list's message

    /// The scalar as an integer whatever its kind: a whole floating-point number, a decimal text.
    /// nullopt: it is not one, or does not fit.
    std::optional<std::int64_t> integer() const;
    std::optional<std::string_view> string() const;
    /// A list's numbers (a scalar is a list of one); nullopt: not numbers.
    std::optional<std::vector<std::int64_t>> integers() const;
};

struct IoView {
    bool present = false;
    std::string_view values;
    std::string_view shapes;
    std::string_view types;
};

/// A node as it stands in its message; views of it. Reused from node to node: no allocation.
struct NodeView {
    std::uint64_t id = 0;
    std::string_view name;
    NodeType type = NodeType::invalid;
    std::vector<std::uint64_t> ctrl_deps;
    std::vector<std::uint64_t> data_deps;
    std::uint64_t start_us = 0;
    std::uint64_t duration_us = 0;
    IoView inputs;
    IoView outputs;
    std::vector<AttributeView> attributes;
    std::uint64_t unknown_fields = 0;  ///< of this node, its attributes included

    const AttributeView* find(std::string_view attribute) const;
};

struct MetadataView {
    std::string_view version;
    std::vector<AttributeView> attributes;
    std::uint64_t unknown_fields = 0;
};

/// Throws WireError.
void parse_node(std::string_view message, NodeView& node);
void parse_metadata(std::string_view message, MetadataView& metadata);

/// A value of one kind, scalar or list, as a writer gives it.
struct Attribute {
    std::string name;
    std::string doc;
    AttributeKind kind = AttributeKind::none;
    bool list = false;
    std::vector<std::uint64_t> numbers;  ///< bits as in the message; one if scalar
    std::vector<std::string> texts;      ///< of kinds text and bytes

    static Attribute boolean(std::string name, bool value);
    static Attribute int32(std::string name, std::int32_t value);
    static Attribute int64(std::string name, std::int64_t value);
    static Attribute uint64(std::string name, std::uint64_t value);
    static Attribute real(std::string name, double value);
    static Attribute text(std::string name, std::string value);
    static Attribute booleans(std::string name, const std::vector<bool>& values);
};

struct IoInfo {
    std::string values;
    std::string shapes;
    std::string types;
};

/// A node to write.
struct Node {
    std::uint64_t id = 0;
    std::string name;
    NodeType type = NodeType::invalid;
    std::vector<std::uint64_t> ctrl_deps;
    std::vector<std::uint64_t> data_deps;
    std::uint64_t start_us = 0;
    std::uint64_t duration_us = 0;
    std::optional<IoInfo> inputs;
    std::optional<IoInfo> outputs;
    std::vector<Attribute> attributes;
};

struct Metadata {
    std::string version = "0.0.4";
    std::vector<Attribute> attributes;
};

/// Fields in order of their numbers, as protobuf's own writers do, without unknown ones.
std::string encode(const Node& node);
std::string encode(const Metadata& metadata);

/// What a view shows, owned. Throws WireError if a list is not what its kind says.
Node to_node(const NodeView& view);
Metadata to_metadata(const MetadataView& view);

}  // namespace sluice::chakra
