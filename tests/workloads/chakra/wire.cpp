// SPDX-License-Identifier: Apache-2.0
/// Chakra's messages byte by byte, and files of them: plain, gzip, JSON, damaged.
#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdlib>
#include <sstream>

#include "tests/support/chakra_support.h"
#include "tests/support/error_of.h"
#include "workloads/chakra/trace.h"

namespace sluice::chakra {
namespace {

using test::TestFolder;

std::string bytes_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream out;
    out << in.rdbuf();
    return out.str();
}

std::string gzipped(const std::string& text, const TestFolder& folder) {
    const std::string path = folder.file("packed");
    gzFile file = gzopen(path.c_str(), "wb");
    gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    gzclose(file);
    return bytes_of(path);
}

/// Reads a file as a trace; its path is cut from the message.
std::string reading(const std::string& path) {
    std::string error = error_of([&] {
        EtReader reader(path);
        NodeView node;
        while (reader.next(node)) {
        }
    });
    const std::size_t at = error.find(path);
    if (at != std::string::npos) error.replace(at, path.size(), "FILE");
    return error;
}

/// A node with everything that a node may hold.
Node full_node() {
    Node node;
    node.id = 1'000'000'007;
    node.name = "n\xc3\xa4me";
    node.type = NodeType::comm_coll;
    node.ctrl_deps = {0, 300};
    node.data_deps = {1, 1ULL << 63};
    node.start_us = 5;
    node.duration_us = 1ULL << 40;
    node.inputs = IoInfo{"[1]", "[[2]]", "['x']"};
    node.outputs = IoInfo{};
    node.attributes = {Attribute::boolean("is_cpu_op", false),
                       Attribute::int32("comm_tag", -5),
                       Attribute::int64("comm_size", -1),
                       Attribute::uint64("u", UINT64_MAX),
                       Attribute::real("r", 0.5),
                       Attribute::text("pg_name", "3"),
                       Attribute::booleans("dims", {true, false, true})};
    node.attributes.back().doc = "doc";
    return node;
}

}  // namespace

TEST_CASE("unit.chakra.wire.varints") {
    const auto taken = [](std::string text) {
        std::string_view left = text;
        return take_varint(left);
    };
    CHECK(taken({'\x00'}) == 0);
    CHECK(taken("\xac\x02") == 300);
    std::string most;
    append_varint(most, UINT64_MAX);
    CHECK(most.size() == 10);
    CHECK(taken(most) == UINT64_MAX);
    CHECK_THROWS_AS(taken(""), WireError);
    CHECK_THROWS_AS(taken("\xff"), WireError);
    CHECK_THROWS_AS(taken(std::string(11, '\xff')), WireError);
    for (const std::int64_t value : {INT64_MIN, INT64_C(-1), INT64_C(0), INT64_MAX}) {
        CHECK(zigzag_decode(zigzag_encode(value)) == value);
    }
    CHECK(zigzag_encode(-1) == 1);
}

TEST_CASE("unit.chakra.wire.a_node_is_what_it_was_after_writing_and_reading_byte_for_byte") {
    const Node node = full_node();
    const std::string message = encode(node);
    NodeView view;
    parse_node(message, view);
    CHECK(encode(to_node(view)) == message);
    CHECK(view.unknown_fields == 0);
    CHECK(view.data_deps == node.data_deps);
    CHECK(view.find("comm_tag")->integer() == -5);
    CHECK(!view.find("u")->integer().has_value());
    CHECK(!view.find("r")->integer().has_value());
    CHECK(view.find("pg_name")->integer() == 3);
    CHECK(*view.find("dims")->integers() == std::vector<std::int64_t>{1, 0, 1});
    CHECK(view.find("missing") == nullptr);
}

TEST_CASE("unit.chakra.wire.every_kind_of_attribute_holds_the_same_integer") {
    const AttributeKind kinds[] = {
        AttributeKind::f64,     AttributeKind::f32,      AttributeKind::int32,
        AttributeKind::int64,   AttributeKind::uint32,   AttributeKind::uint64,
        AttributeKind::sint32,  AttributeKind::sint64,   AttributeKind::fixed32,
        AttributeKind::fixed64, AttributeKind::sfixed32, AttributeKind::sfixed64,
        AttributeKind::text};
    for (const AttributeKind kind : kinds) {
        for (const bool list : {false, true}) {
            if (list && kind == AttributeKind::text) continue;
            Attribute attribute;
            attribute.name = "comm_size";
            attribute.kind = kind;
            attribute.list = list;
            std::uint64_t bits = 1 << 20;
            if (kind == AttributeKind::f64) bits = 0x4130000000000000;
            if (kind == AttributeKind::f32) bits = 0x49800000;
            if (kind == AttributeKind::sint32 || kind == AttributeKind::sint64) bits *= 2;
            attribute.numbers = {bits};
            if (kind == AttributeKind::text) attribute.texts = {"1048576"};
            Node node;
            node.attributes = {attribute};
            const std::string message = encode(node);
            NodeView view;
            parse_node(message, view);
            if (list) {
                CHECK(*view.find("comm_size")->integers() == std::vector<std::int64_t>{1 << 20});
            } else {
                CHECK(view.find("comm_size")->integer() == 1 << 20);
            }
            // What the older feeders insist on.
            standard_kinds(node);
            CHECK(node.attributes[0].kind == (list ? kind : AttributeKind::int64));
        }
    }
}

TEST_CASE("unit.chakra.wire.fields_that_chakra_does_not_define_are_skipped_and_counted") {
    WireWriter extra;
    extra.varint(1, 7);
    extra.bytes(99, "what");
    extra.fixed64(100, 1);
    extra.varint(5, 3);  // data_deps, not packed
    NodeView view;
    parse_node(extra.message(), view);
    CHECK(view.id == 7);
    CHECK(view.unknown_fields == 2);
    CHECK(view.data_deps == std::vector<std::uint64_t>{3});
    WireWriter wrong;
    wrong.bytes(1, "id");
    CHECK_THROWS_AS(parse_node(wrong.message(), view), WireError);
    WireWriter type;
    type.varint(3, 8);
    CHECK_THROWS_AS(parse_node(type.message(), view), WireError);
    CHECK_THROWS_AS(parse_node("\x52\x7f", view), WireError);
    CHECK_THROWS_AS(parse_node("\x0b", view), WireError);
}

TEST_CASE("unit.chakra.wire.a_file_plain_and_gzip") {
    const TestFolder folder;
    test::write_trace(folder.file("a.et"), {full_node(), test::compute(0, 3)});
    const std::string text = bytes_of(folder.file("a.et"));
    folder.write("b.et", gzipped(text, folder));
    for (const char* name : {"a.et", "b.et"}) {
        EtReader reader(folder.file(name));
        CHECK(reader.metadata().version == "0.0.4");
        NodeView node;
        REQUIRE(reader.next(node));
        CHECK(node.id == 1'000'000'007);
        REQUIRE(reader.next(node));
        CHECK(node.duration_us == 3);
        CHECK(!reader.next(node));
    }
}

TEST_CASE("unit.chakra.wire.files_that_are_no_traces_are_refused_in_one_line") {
    const TestFolder folder;
    const auto file = [&](const std::string& bytes) {
        return reading(folder.write("x.et", bytes));
    };
    test::write_trace(folder.file("a.et"), {full_node()});
    const std::string good = bytes_of(folder.file("a.et"));
    const std::string packed = gzipped(good, folder);
    CHECK(file("") == "FILE: is empty: a Chakra trace begins with a GlobalMetadata message");
    CHECK(file(packed.substr(0, packed.size() / 2)) == "FILE: its gzip data is cut off");
    std::string damaged = packed;
    damaged[packed.size() / 2] = static_cast<char>(damaged[packed.size() / 2] ^ 0x55);
    CHECK(file(damaged).find("FILE") == 0);
    CHECK(file(good.substr(0, good.size() - 1)).find("FILE:message 2: claims ") == 0);
    CHECK(
        file("\xff\xff\xff\xff\xff\xff\xff\xff\x7f") ==
        "FILE:message 1: claims 9223372036854775807 bytes; at most 268435456 are allowed: is this "
        "a Chakra .et file?");
    CHECK(file("\xff\xff\xff\x7f").find("FILE:message 1: claims 268435455 bytes, the file ends") ==
          0);
    CHECK(file("\xff") == "FILE:message 1: its length cannot be read: it ends within a number");
    CHECK(file("\x05hello").find("FILE:message 1: is not Chakra's GlobalMetadata: ") == 0);
    CHECK(file(std::string("\0\x05hello", 7)).find("FILE:message 2: is not a Chakra Node: ") == 0);
    CHECK(reading(folder.file("")).find("is a folder, not a file") != std::string::npos);
    CHECK(reading(folder.file("none.et")) == "FILE: cannot be read: No such file or directory");
}

namespace {

/// The head of every Node: id, name, type.
WireWriter old_node(std::uint64_t type) {
    WireWriter node;
    node.varint(1, 7);
    node.bytes(2, "all_reduce");
    node.varint(3, type);
    return node;
}

/// Of schemas 0.0.2 and 0.0.3.
std::string old_attribute() {
    WireWriter attribute;
    attribute.bytes(1, "comm_size");
    attribute.varint(2, 2);
    attribute.varint(6, 1048576);
    return attribute.message();
}

std::string framed(const std::vector<std::string>& messages) {
    std::string file;
    for (const std::string& message : messages) {
        append_varint(file, message.size());
        file += message;
    }
    return file;
}

}  // namespace

TEST_CASE("unit.chakra.wire.traces_of_earlier_schemas_are_named") {
    const TestFolder folder;
    const std::string path = folder.file("old.0.et");
    const auto error = [&](const std::vector<std::string>& messages) {
        folder.write("old.0.et", framed(messages));
        return reading(path);
    };
    const std::string named =
        "it is of a schema before 0.0.4 (October 2023), with other fields and numbers of types; "
        "allowed: 0.0.4 and later, as Chakra's converters and generators write it since";
    // 0.0.1: no metadata; a collective of comm_type 1 and 1 MiB, a computation after it.
    WireWriter collective = old_node(6);
    collective.varint(13, 1);
    collective.varint(14, 1);
    collective.varint(18, 1048576);
    WireWriter compute = old_node(3);
    compute.varint(4, 7);
    compute.varint(12, 1000);
    CHECK(error({collective.message(), compute.message()}) ==
          "FILE:message 1: is not Chakra's GlobalMetadata: " + named);
    CHECK(error({compute.message()}) == "FILE:message 1: is not Chakra's GlobalMetadata: " + named);
    WireWriter load = old_node(1);
    load.varint(8, 2);
    CHECK(error({"", load.message()}) == "FILE:message 2: is not a Chakra Node: " + named);
    // 0.0.2: no metadata, texts where today's dependencies and messages are, attributes in field 11.
    WireWriter described = old_node(7);
    described.bytes(5, "[1]");
    described.bytes(8, "[[2, 3]]");
    described.bytes(11, old_attribute());
    CHECK(error({described.message()}) ==
          "FILE:message 1: is not Chakra's GlobalMetadata: " + named);
    // 0.0.3 has metadata, of the same attributes.
    WireWriter metadata;
    metadata.bytes(1, old_attribute());
    CHECK(error({metadata.message()}) ==
          "FILE:message 1: is not Chakra's GlobalMetadata: " + named);
    CHECK(error({"", described.message()}) == "FILE:message 2: is not a Chakra Node: " + named);
    // Today's, but without its metadata; and with fields that are not known yet.
    CHECK(error({encode(full_node())}) ==
          "FILE:message 1: is not Chakra's GlobalMetadata: it is a Node, which follows the "
          "GlobalMetadata");
    WireWriter more;
    more.varint(11, 5);
    more.bytes(12, "text");
    CHECK(error({"", encode(full_node()) + more.message()}) == "no error");
    folder.write("graph.0.eg", framed({collective.message()}));
    CHECK(error_of([&] { find_traces(folder.file("graph")); }).find("execution graph (.eg)") !=
          std::string::npos);
}

TEST_CASE("unit.chakra.wire.json_protobufs_own_form_of_nodes_crlf_gzip") {
    const TestFolder folder;
    const std::string text =
        "[\r\n {\"id\": \"3\", \"name\": \"fwd\", \"type\": \"COMP_NODE\",\r\n"
        "  \"durationMicros\": \"12\", \"dataDeps\": [\"1\", 2], \"ctrl_deps\": [0],\r\n"
        "  \"attr\": [{\"name\": \"is_cpu_op\", \"boolVal\": false},\r\n"
        "            {\"name\": \"num_ops\", \"int64Val\": \"99\"},\r\n"
        "            {\"name\": \"involved_dim\", \"boolList\": {\"values\": [true, "
        "false]}}]}]\r\n";
    folder.write("a.json", text);
    folder.write("b.json.gz", gzipped(text, folder));
    for (const char* name : {"a.json", "b.json.gz"}) {
        EtReader reader(folder.file(name));
        NodeView node;
        REQUIRE(reader.next(node));
        CHECK(node.id == 3);
        CHECK(node.type == NodeType::comp);
        CHECK(node.duration_us == 12);
        CHECK(node.data_deps == std::vector<std::uint64_t>{1, 2});
        CHECK(node.ctrl_deps == std::vector<std::uint64_t>{0});
        CHECK(node.find("num_ops")->integer() == 99);
        CHECK(node.find("involved_dim")->integers()->size() == 2);
        CHECK(!reader.next(node));
    }
}

TEST_CASE("unit.chakra.wire.json_the_older_feeders_workload_graph_with_floating_point_numbers") {
    const TestFolder folder;
    const std::string path = folder.write("a.json", R"({"workload_graph": [
        {"Id": 0, "Name": "c", "NodeType": 7, "is_cpu_op": false, "runtime": 5.0,
         "data_deps": [], "comm_type": 0, "comm_size": 1048576.0, "comm_priority": 0}]})");
    EtReader reader(path);
    NodeView node;
    REQUIRE(reader.next(node));
    CHECK(node.type == NodeType::comm_coll);
    CHECK(node.duration_us == 5);
    CHECK(node.find("comm_size")->integer() == 1 << 20);
    const auto broken = [&](const std::string& text) {
        return reading(folder.write("x.json", text));
    };
    CHECK(broken("[\n{\"id\": }\n]") == "FILE:2: is not JSON");
    CHECK(broken("") == "FILE:1: is not JSON");
    CHECK(broken("5").find("FILE: is not a Chakra trace") == 0);
    CHECK(broken("[5]").find("FILE:node #0: is not a JSON object") == 0);
    CHECK(broken(R"([{"id": 7, "type": "NONSENSE"}])").find("FILE:node 7: has type") == 0);
    CHECK(broken(R"([{"id": 7, "type": 4, "dataDeps": [0.5]}])").find("FILE:node 7: dataDeps is") ==
          0);
    CHECK(broken(R"({"workload_graph": [{"Id": 7}]})") == "FILE:node 7: has no type");
    CHECK(broken(std::string(100'000, '[')).find("FILE:1: is nested more than 200 deep") == 0);
}

TEST_CASE("unit.chakra.wire.json_written_is_json_read") {
    const std::string text = to_json({full_node()});
    const std::vector<std::string> messages = parse_json_trace(text, "x");
    REQUIRE(messages.size() == 2);
    // Protobuf-JSON has neither an order of attributes' fields nor empty texts: compare what a
    // reader sees.
    NodeView view;
    parse_node(messages[1], view);
    CHECK(encode(to_node(view)) == encode(full_node()));
}

TEST_CASE("unit.chakra.wire.astra_sims_microbenchmarks_are_rewritten_byte_for_byte") {
    const char* const reference = std::getenv("SLUICE_REFERENCE");
    const std::filesystem::path folder =
        std::filesystem::path(reference ? reference : "") / "samples" / "astra-sim" / "et";
    if (reference == nullptr || !std::filesystem::exists(folder)) {
        MESSAGE("skipped: no reference samples");
        return;
    }
    const TestFolder ours;
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".et") continue;
        ++files;
        EtReader reader(entry.path().string());
        EtWriter writer(ours.file("copy.et"), to_metadata(reader.metadata()));
        NodeView view;
        while (reader.next(view)) {
            Node node = to_node(view);
            standard_kinds(node);
            writer.write(node);
        }
        writer.close();
        CHECK(bytes_of(ours.file("copy.et")) == bytes_of(entry.path().string()));
    }
    CHECK(files > 0);
}

}  // namespace sluice::chakra
