// SPDX-License-Identifier: Apache-2.0
/// Traces as columns: order, dependencies, what is wrong with them, and finding their files.
#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/chakra_support.h"
#include "tests/support/error_of.h"

namespace sluice::chakra {
namespace {

using test::compute;
using test::TestFolder;

struct Read {
    Trace trace;
    ImportReport report;
    std::vector<std::string> misfits;  ///< "node 3: text"
};

Read read(const std::vector<Node>& nodes) {
    const TestFolder folder;
    const std::string path = folder.file("t.0.et");
    test::write_trace(path, nodes);
    Read result;
    result.trace = Trace::read(path, result.report);
    for (const ImportNote& note : result.report.notes()) {
        if (note.kind != ImportNote::Kind::misfit) continue;
        result.misfits.push_back(note.where.substr(path.size() + 1) + ": " + note.text);
    }
    return result;
}

std::vector<std::uint64_t> deps(const Trace& trace, std::size_t node) {
    std::vector<std::uint64_t> ids;
    for (const std::uint32_t* on = trace.deps_begin(node); on != trace.deps_end(node); ++on) {
        ids.push_back(trace.id(*on));
    }
    return ids;
}

}  // namespace

TEST_CASE("unit.chakra.trace.nodes_in_any_order_ids_sparse_0_among_them") {
    const Read in = read({compute(900, 3, {5}), compute(5, 2, {0}), compute(0, 1),
                          compute(1ULL << 63, 4, {900, 0})});
    CHECK(in.misfits.empty());
    REQUIRE(in.trace.size() == 4);
    CHECK(in.trace.id(0) == 0);
    CHECK(in.trace.id(2) == 900);
    CHECK(in.trace.id(3) == 1ULL << 63);
    CHECK(in.trace.value(2) == 3);
    CHECK(deps(in.trace, 2) == std::vector<std::uint64_t>{5});
    CHECK(deps(in.trace, 3) == std::vector<std::uint64_t>{900, 0});
    CHECK(in.trace.name(1) == "n5");
    CHECK(in.trace.issue_order() == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("unit.chakra.trace.issue_order_what_could_run_the_least_id_first") {
    // 0 waits for 7; 3 waits for nothing; 5 for 0.
    const Read in = read({compute(0, 1, {7}), compute(3, 1), compute(5, 1, {0}), compute(7, 1)});
    const std::vector<std::uint32_t> order = in.trace.issue_order();
    std::vector<std::uint64_t> ids;
    for (const std::uint32_t node : order) ids.push_back(in.trace.id(node));
    CHECK(ids == std::vector<std::uint64_t>{3, 7, 0, 5});
}

TEST_CASE("unit.chakra.trace.dangling_dependencies_cycles_and_duplicates_are_found_by_node") {
    CHECK(read({compute(1, 1, {2})}).misfits ==
          std::vector<std::string>{"node 1: depends on node 2, which is not in the file"});
    CHECK(read({compute(4, 1, {4})}).misfits ==
          std::vector<std::string>{"node 4: waits for itself: node 4 -> 4; 1 nodes can never run"});
    CHECK(read({compute(1, 1, {3}), compute(2, 1, {1}), compute(3, 1, {2}), compute(4, 1, {3}),
                compute(5, 1)})
              .misfits == std::vector<std::string>{"node 1: waits for itself: node 1 -> 3 -> 2 -> "
                                                   "1; 4 nodes can never run"});
    CHECK(read({compute(3, 1), compute(3, 1), compute(5, 1)}).misfits ==
          std::vector<std::string>{"node 3: stands twice in the file"});
}

TEST_CASE("unit.chakra.trace.attributes_of_any_integer_kind_and_what_is_none") {
    Node node = test::collective(1, CollectiveType::all_gather, 5);
    node.attributes[1] = Attribute::real("comm_type", 2.0);
    node.attributes[2] = Attribute::text("comm_size", "77");
    node.attributes[0] = Attribute::int32("is_cpu_op", 0);
    node.attributes.push_back(Attribute::uint64("pg_name", 4));
    const Read in = read({node});
    CHECK(in.misfits.empty());
    CHECK(in.trace.value(0) == 77);
    CHECK(in.trace.communication(0).type == CollectiveType::all_gather);
    CHECK(in.trace.group_names() == std::vector<std::string>{"4"});
    node.attributes[2] = Attribute::real("comm_size", 1.5);
    CHECK(read({node}).misfits ==
          std::vector<std::string>{"node 1: comm_size is not a whole number: 0 to "
                                   "9223372036854775807 is allowed"});
    node.attributes[2] = Attribute::int64("comm_size", -1);
    CHECK(read({node}).misfits.size() == 1);
    node.attributes[1] = Attribute::int64("comm_type", 10);
    CHECK(read({node}).misfits.size() == 2);
    Node bare = test::node(2, NodeType::comm_coll);
    CHECK(read({bare}).misfits == std::vector<std::string>{"node 2: has no comm_type"});
    CHECK(read({test::node(3, NodeType::comm_send)}).misfits ==
          std::vector<std::string>{"node 3: is a send without comm_dst"});
}

TEST_CASE("unit.chakra.trace.groups_of_metadata_nodes") {
    Node node = test::node(0, NodeType::metadata);
    node.inputs =
        IoInfo{R"(['[{"pg_name": "0", "ranks": []}, {"pg_name": "7", "ranks": [1, 3]}]'])", "", ""};
    const Read in = read({node});
    REQUIRE(in.trace.groups().size() == 2);
    CHECK(in.trace.groups()[1].name == "7");
    CHECK(in.trace.groups()[1].ranks == std::vector<std::uint32_t>{1, 3});
    for (const char* text : {"[{]}", "[{}]", "nothing", R"([{"pg_name": 1, "ranks": []}])",
                             R"([{"pg_name": "1", "ranks": [-1]}])"}) {
        node.inputs->values = text;
        const Read other = read({node});
        CHECK(other.trace.groups().empty());
        CHECK(other.report.count(ImportNote::Kind::skipped) == 1);
    }
}

TEST_CASE("unit.chakra.trace.a_group_of_its_own_for_each_of_many_nodes") {
    constexpr std::uint64_t kNodes = 60'000;
    std::vector<Node> nodes;
    for (std::uint64_t id = 1; id <= kNodes; ++id) {
        nodes.push_back(test::collective(id, CollectiveType::all_reduce, 1024));
        nodes.back().attributes.push_back(Attribute::text("pg_name", std::to_string(id)));
    }
    const TestFolder folder;
    test::write_trace(folder.file("t.0.et"), nodes);
    ImportReport report;
    const Trace trace = Trace::read(folder.file("t.0.et"), report);
    CHECK(trace.group_names().size() == kNodes);
    CHECK(trace.group_names()[trace.communication(kNodes - 1).group] == std::to_string(kNodes));
}

TEST_CASE("unit.chakra.trace.finding_the_files_of_a_job") {
    const TestFolder folder;
    const auto found = [&](const std::string& what) {
        return error_of([&] { find_traces(folder.file(what)); });
    };
    CHECK(found("t").find("t.0.et: does not exist; the traces' prefix") != std::string::npos);
    CHECK(found("").find(": holds no traces PREFIX.0.et, PREFIX.1.et, ...") != std::string::npos);
    for (const char* name : {"t.0.et", "t.1.et", "t.10.et", "t.2.et.gz"}) folder.write(name, "");
    CHECK(found("t").find("t.3.et: does not exist, but there is a trace of rank 10") !=
          std::string::npos);
    std::filesystem::remove(folder.file("t.10.et"));
    folder.write("t.1.json", "[]");
    CHECK(find_traces(folder.file("t")) == std::vector<std::string>{folder.file("t.0.et"),
                                                                    folder.file("t.1.et"),
                                                                    folder.file("t.2.et.gz")});
    CHECK(find_traces(folder.file("")).size() == 3);
    folder.write("other.0.et", "");
    CHECK(found("").find("holds traces of several jobs") != std::string::npos);
}

TEST_CASE("unit.chakra.trace.the_number_of_threads_changes_nothing") {
    const TestFolder folder;
    for (int rank = 0; rank < 20; ++rank) {
        test::write_trace(folder.file("t." + std::to_string(rank) + ".et"),
                          {compute(static_cast<std::uint64_t>(rank), 1, {99})});
    }
    ImportReport one;
    ImportReport four;
    read_traces(find_traces(folder.file("t")), 1, one);
    read_traces(find_traces(folder.file("t")), 4, four);
    CHECK(one.text() == four.text());
    CHECK(one.count(ImportNote::Kind::misfit) == 20);
    folder.write("t.7.et", "");
    folder.write("t.13.et", "");
    CHECK(error_of([&] {
              read_traces(find_traces(folder.file("t")), 4, four);
          }).find("t.7.et: is empty") != std::string::npos);
}

}  // namespace sluice::chakra
