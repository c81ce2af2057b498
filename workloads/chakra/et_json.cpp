// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "workloads/chakra/et_file.h"
#include "workloads/chakra/json_text.h"

namespace sluice::chakra {

namespace {

using nlohmann::json;

/// The scalar kinds by their names in protobuf-JSON, without "Val", "_val", "List" or "_list".
struct KindName {
    const char* name;
    AttributeKind kind;
};
constexpr KindName kKindNames[] = {
    {"double", AttributeKind::f64},        {"float", AttributeKind::f32},
    {"int32", AttributeKind::int32},       {"int64", AttributeKind::int64},
    {"uint32", AttributeKind::uint32},     {"uint64", AttributeKind::uint64},
    {"sint32", AttributeKind::sint32},     {"sint64", AttributeKind::sint64},
    {"fixed32", AttributeKind::fixed32},   {"fixed64", AttributeKind::fixed64},
    {"sfixed32", AttributeKind::sfixed32}, {"sfixed64", AttributeKind::sfixed64},
    {"bool", AttributeKind::boolean},      {"string", AttributeKind::text},
    {"bytes", AttributeKind::bytes},
};

/// Reads one node's values; errors name the file and the node.
class NodeJson {
  public:
    NodeJson(const std::string& file, const json& node, std::size_t index)
        : file_(file), node_(node), index_(index) {
        if (!node.is_object()) fail("is not a JSON object");
    }

    [[noreturn]] void fail(const std::string& what) const {
        const json* id = find("id", "Id");
        const std::string name = id != nullptr ? id->dump() : "#" + std::to_string(index_);
        throw ConfigError(file_ + ":node " + name + ": " + what);
    }

    const json* find(const char* key, const char* other) const {
        auto it = node_.find(key);
        if (it == node_.end()) it = node_.find(other);
        return it == node_.end() ? nullptr : &*it;
    }

    /// Protobuf-JSON writes 64-bit integers as text.
    std::int64_t integer(const json& value, const std::string& key) const {
        if (value.is_number_unsigned()) {
            const auto number = value.get<std::uint64_t>();
            // An id above 2^63 keeps its bits.
            return static_cast<std::int64_t>(number);
        }
        if (value.is_number_integer()) return value.get<std::int64_t>();
        if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
        if (value.is_number_float()) {
            const double real = value.get<double>();
            if (std::abs(real) < 9e15 && real == std::floor(real)) {
                return static_cast<std::int64_t>(real);
            }
        }
        if (value.is_string()) {
            const auto& text = value.get_ref<const std::string&>();
            const json number = json::parse(text, nullptr, false);
            if (number.is_number_integer()) return integer(number, key);
        }
        fail(key + " is " + value.dump().substr(0, 40) + ": a whole number is needed");
    }

    std::uint64_t unsigned_integer(const char* key, const char* other, std::uint64_t fallback) {
        const json* value = find(key, other);
        if (value == nullptr || value->is_null()) return fallback;
        const std::int64_t number = integer(*value, key);
        if (number < 0 && !value->is_number_unsigned()) fail(std::string(key) + " is negative");
        return static_cast<std::uint64_t>(number);
    }

    std::string text(const char* key, const char* other) const {
        const json* value = find(key, other);
        if (value == nullptr || value->is_null()) return {};
        if (!value->is_string()) fail(std::string(key) + " is not a text");
        return value->get<std::string>();
    }

    std::vector<std::uint64_t> ids(const char* key, const char* other) const {
        std::vector<std::uint64_t> values;
        const json* list = find(key, other);
        if (list == nullptr || list->is_null()) return values;
        if (!list->is_array()) fail(std::string(key) + " is not a list");
        for (const json& value : *list) {
            values.push_back(static_cast<std::uint64_t>(integer(value, key)));
        }
        return values;
    }

    NodeType type(const json* value) const {
        if (value == nullptr) fail("has no type");
        if (value->is_string()) {
            for (std::uint64_t t = 0; t < kNodeTypes; ++t) {
                const auto candidate = static_cast<NodeType>(t);
                if (value->get_ref<const std::string&>() == to_string(candidate)) return candidate;
            }
        } else {
            const std::int64_t number = integer(*value, "type");
            if (number >= 0 && number < static_cast<std::int64_t>(kNodeTypes)) {
                return static_cast<NodeType>(number);
            }
        }
        fail("has type " + value->dump().substr(0, 40) +
             ": Chakra's are 0 to 7 or INVALID_NODE to COMM_COLL_NODE");
    }

    const json& raw() const { return node_; }

  private:
    const std::string& file_;
    const json& node_;
    std::size_t index_;
};

void add_value(const NodeJson& node, Attribute& attribute, const json& value) {
    if (attribute.kind == AttributeKind::text || attribute.kind == AttributeKind::bytes) {
        if (!value.is_string()) node.fail(attribute.name + " is not a text");
        attribute.texts.push_back(value.get<std::string>());
    } else if (attribute.kind == AttributeKind::f64 || attribute.kind == AttributeKind::f32) {
        if (!value.is_number()) node.fail(attribute.name + " is not a number");
        const double real = value.get<double>();
        std::uint64_t bits = 0;
        if (attribute.kind == AttributeKind::f64) {
            std::memcpy(&bits, &real, sizeof real);
        } else {
            const auto narrow = static_cast<float>(real);
            std::memcpy(&bits, &narrow, sizeof narrow);
        }
        attribute.numbers.push_back(bits);
    } else {
        const std::int64_t number = node.integer(value, attribute.name);
        const bool zigzag =
            attribute.kind == AttributeKind::sint32 || attribute.kind == AttributeKind::sint64;
        attribute.numbers.push_back(zigzag ? zigzag_encode(number)
                                           : static_cast<std::uint64_t>(number));
    }
}

/// {"name": "comm_size", "int64Val": "1048576"}
Attribute proto_attribute(const NodeJson& node, const json& object) {
    if (!object.is_object()) node.fail("has an attribute that is not an object");
    Attribute attribute;
    for (const auto& [key, value] : object.items()) {
        if (key == "name" || key == "docString" || key == "doc_string") {
            if (!value.is_string()) node.fail("has an attribute whose " + key + " is not a text");
            (key == "name" ? attribute.name : attribute.doc) = value.get<std::string>();
        }
    }
    for (const auto& [key, value] : object.items()) {
        for (const KindName& kind : kKindNames) {
            const std::string name = kind.name;
            const bool list = key == name + "List" || key == name + "_list";
            if (!list && key != name + "Val" && key != name + "_val") continue;
            attribute.kind = kind.kind;
            attribute.list = list;
            attribute.numbers.clear();
            attribute.texts.clear();
            if (!list) {
                add_value(node, attribute, value);
                continue;
            }
            const json values = value.is_object() ? value.value("values", json::array()) : value;
            if (!values.is_array()) node.fail(attribute.name + " is not a list");
            for (const json& entry : values) add_value(node, attribute, entry);
        }
    }
    return attribute;
}

std::optional<IoInfo> proto_io(const NodeJson& node, const char* key) {
    const json* object = node.find(key, key);
    if (object == nullptr || object->is_null()) return std::nullopt;
    if (!object->is_object()) node.fail(std::string(key) + " is not an object");
    IoInfo io;
    const std::pair<const char*, std::string*> parts[] = {
        {"values", &io.values}, {"shapes", &io.shapes}, {"types", &io.types}};
    for (const auto& [name, text] : parts) {
        const auto it = object->find(name);
        if (it == object->end()) continue;
        if (!it->is_string()) node.fail(std::string(key) + "." + name + " is not a text");
        *text = it->get<std::string>();
    }
    return io;
}

Node proto_node(const std::string& file, const json& object, std::size_t index) {
    NodeJson in(file, object, index);
    Node node;
    node.id = in.unsigned_integer("id", "id", 0);
    node.name = in.text("name", "name");
    const json* type = in.find("type", "type");
    node.type = type == nullptr ? NodeType::invalid : in.type(type);
    node.ctrl_deps = in.ids("ctrlDeps", "ctrl_deps");
    node.data_deps = in.ids("dataDeps", "data_deps");
    node.start_us = in.unsigned_integer("startTimeMicros", "start_time_micros", 0);
    node.duration_us = in.unsigned_integer("durationMicros", "duration_micros", 0);
    node.inputs = proto_io(in, "inputs");
    node.outputs = proto_io(in, "outputs");
    if (const json* attributes = in.find("attr", "attr"); attributes != nullptr) {
        if (!attributes->is_array()) in.fail("attr is not a list");
        for (const json& attribute : *attributes) {
            node.attributes.push_back(proto_attribute(in, attribute));
        }
    }
    return node;
}

/// What the older feeder's JSON has besides a node's own fields becomes attributes, of the kind
/// that the JSON value suggests.
Attribute plain_attribute(const NodeJson& node, const std::string& name, const json& value) {
    Attribute attribute;
    attribute.name = name;
    attribute.list = value.is_array();
    const json& sample = attribute.list && !value.empty() ? value.front() : value;
    attribute.kind = sample.is_boolean()        ? AttributeKind::boolean
                     : sample.is_string()       ? AttributeKind::text
                     : sample.is_number_float() ? AttributeKind::f64
                                                : AttributeKind::int64;
    if (!attribute.list) {
        add_value(node, attribute, value);
        return attribute;
    }
    for (const json& entry : value) add_value(node, attribute, entry);
    return attribute;
}

Node feeder_node(const std::string& file, const json& object, std::size_t index) {
    NodeJson in(file, object, index);
    Node node;
    node.id = in.unsigned_integer("Id", "id", 0);
    node.name = in.text("Name", "name");
    node.type = in.type(in.find("NodeType", "type"));
    node.data_deps = in.ids("data_deps", "data_deps");
    node.ctrl_deps = in.ids("ctrl_deps", "ctrl_deps");
    node.duration_us = in.unsigned_integer("runtime", "runtime", 0);
    for (const auto& [key, value] : in.raw().items()) {
        static const char* const kOwn[] = {"Id",        "id",        "Name",    "name", "NodeType",
                                           "data_deps", "ctrl_deps", "runtime", "type"};
        bool own = value.is_null() || value.is_object();
        for (const char* name : kOwn) own = own || key == name;
        if (!own) node.attributes.push_back(plain_attribute(in, key, value));
    }
    return node;
}

json number_json(AttributeKind kind, std::uint64_t bits) {
    switch (kind) {
        case AttributeKind::f64: {
            double value = 0;
            std::memcpy(&value, &bits, sizeof value);
            return value;
        }
        case AttributeKind::f32: {
            const auto low = static_cast<std::uint32_t>(bits);
            float value = 0;
            std::memcpy(&value, &low, sizeof value);
            return value;
        }
        case AttributeKind::boolean: return bits != 0;
        case AttributeKind::int32:
        case AttributeKind::sfixed32: return static_cast<std::int32_t>(bits);
        case AttributeKind::uint32:
        case AttributeKind::fixed32: return static_cast<std::uint32_t>(bits);
        case AttributeKind::sint32: return zigzag_decode(bits);
        case AttributeKind::sint64: return std::to_string(zigzag_decode(bits));
        case AttributeKind::uint64:
        case AttributeKind::fixed64: return std::to_string(bits);
        default: return std::to_string(static_cast<std::int64_t>(bits));
    }
}

json attribute_json(const Attribute& attribute) {
    json object = {{"name", attribute.name}};
    if (!attribute.doc.empty()) object["docString"] = attribute.doc;
    for (const KindName& kind : kKindNames) {
        if (kind.kind != attribute.kind) continue;
        json values = json::array();
        for (const std::string& text : attribute.texts) values.push_back(text);
        for (const std::uint64_t bits : attribute.numbers) {
            values.push_back(number_json(attribute.kind, bits));
        }
        if (attribute.list) {
            object[std::string(kind.name) + "List"] = {{"values", std::move(values)}};
        } else {
            object[std::string(kind.name) + "Val"] = values.at(0);
        }
    }
    return object;
}

json ids_json(const std::vector<std::uint64_t>& ids) {
    json list = json::array();
    for (const std::uint64_t id : ids) list.push_back(std::to_string(id));
    return list;
}

json io_json(const IoInfo& io) {
    return {{"values", io.values}, {"shapes", io.shapes}, {"types", io.types}};
}

}  // namespace

namespace {

/// What PyTorch's observer and profiler write becomes Chakra's by two tools of Chakra's.
void refuse_pytorch(const json& document, const std::string& file) {
    if (!document.is_object() || document.contains("workload_graph")) return;
    const bool host = document.contains("nodes") || document.contains("schema");
    const bool device = document.contains("traceEvents");
    if (!host && !device) return;
    throw ConfigError(
        file + fmt::format(": is PyTorch's own {} trace, not Chakra's: chakra_trace_link joins a "
                           "rank's host and device traces, chakra_converter PyTorch makes its .et",
                           host ? "execution" : "Kineto"));
}

}  // namespace

std::vector<std::string> parse_json_trace(const std::string& text, const std::string& file) {
    check_json_depth(text, file);
    json document;
    try {
        document = json::parse(text, nullptr, true, true);
    } catch (const json::exception& error) {
        refuse_json(text, file, error);
    }
    refuse_pytorch(document, file);
    const bool feeder = document.is_object() && document.contains("workload_graph");
    const json& nodes = feeder ? document["workload_graph"] : document;
    if (!nodes.is_array()) {
        throw ConfigError(file + R"(: is not a Chakra trace: a list of nodes, or an object with )" +
                          R"("workload_graph", is needed)");
    }
    Metadata metadata;
    metadata.version = feeder ? "workload_graph" : "JSON";
    std::vector<std::string> messages = {encode(metadata)};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        messages.push_back(
            encode(feeder ? feeder_node(file, nodes[i], i) : proto_node(file, nodes[i], i)));
    }
    return messages;
}

std::string to_json(const std::vector<Node>& nodes) {
    json list = json::array();
    for (const Node& node : nodes) {
        json object = {{"id", std::to_string(node.id)}, {"type", to_string(node.type)}};
        if (!node.name.empty()) object["name"] = node.name;
        if (!node.ctrl_deps.empty()) object["ctrlDeps"] = ids_json(node.ctrl_deps);
        if (!node.data_deps.empty()) object["dataDeps"] = ids_json(node.data_deps);
        if (node.start_us != 0) object["startTimeMicros"] = std::to_string(node.start_us);
        if (node.duration_us != 0) object["durationMicros"] = std::to_string(node.duration_us);
        if (node.inputs) object["inputs"] = io_json(*node.inputs);
        if (node.outputs) object["outputs"] = io_json(*node.outputs);
        for (const Attribute& attribute : node.attributes) {
            object["attr"].push_back(attribute_json(attribute));
        }
        list.push_back(std::move(object));
    }
    return list.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace sluice::chakra
