// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <random>

#include "core/error.h"
#include "tests/support/error_of.h"
#include "tests/support/goal_support.h"

using namespace sluice;
using goal::from_binary;
using goal::from_text;
using goal::sample;
using goal::to_binary;
using goal::to_text;

namespace {

std::string error_of(const std::string& text) {
    return sluice::error_of([&] { from_text(text); });
}

std::string binary_error_of(const std::string& bytes) {
    return sluice::error_of([&] { from_binary(bytes); });
}

/// One rank with the given lines, the first of which is line 3.
std::string rank_of(const std::string& lines) {
    return "num_ranks 2\nrank 0 {\n" + lines + "\n}\nrank 1 {\n}\n";
}

void put(std::string& bytes, std::size_t at, std::uint64_t value, std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) {
        bytes[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
    }
}

GoalSchedule random_schedule(std::uint32_t seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return random() % n; };
    GoalBuilder builder;
    const std::uint32_t ranks = 1 + below(5);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
        const std::uint32_t ops = below(12);
        for (std::uint32_t i = 0; i < ops; ++i) {
            GoalOperation op;
            op.kind = static_cast<GoalKind>(1 + below(3));
            op.size = below(3) == 0 ? kMostGoalSize - below(9) : below(100000);
            op.cpu = static_cast<std::uint8_t>(below(256));
            if (op.kind != GoalKind::calc) {
                op.peer = below(ranks);
                op.tag = below(2) == 0 ? kGoalAny - 1 : below(9);
                op.nic = static_cast<std::uint8_t>(below(4));
            }
            if (op.kind == GoalKind::recv && below(4) == 0) op.peer = kGoalAny;
            if (op.kind == GoalKind::recv && below(4) == 0) op.tag = kGoalAny;
            builder.add(op);
        }
        for (std::uint32_t i = 0; ops > 0 && i < below(20); ++i) {
            builder.add_edge(below(ops), below(ops), below(2) == 0);
        }
        builder.end_rank();
    }
    return builder.finish();
}

}  // namespace

TEST_CASE("unit.goal.files.every_field_is_read") {
    const GoalSchedule s = from_text(
        "/* a schedule\n of two ranks */ num_ranks 2\r\n"
        "rank 0 {\r\n"
        "first: send 64b to 1 tag 9 cpu 2 nic 3   // to the other\r\n"
        "\tx_1: recv  128b  from -1 tag -1\r\n"
        " calc 77 cpu 1 /* unlabelled */\r\n"
        "x_1 requires first\r\n"
        "x_1 irequires first\r\n"
        "}\r\n"
        "rank 1 { l1: recv 64b from 0 tag 9\r\n}");
    REQUIRE(s.rank_count() == 2);
    REQUIRE(s.op_count() == 4);
    CHECK(s.kind(0) == GoalKind::send);
    CHECK(s.size(0) == 64);
    CHECK(s.peer(0) == 1);
    CHECK(s.tag(0) == 9);
    CHECK(s.cpu(0) == 2);
    CHECK(s.nic(0) == 3);
    CHECK(s.kind(1) == GoalKind::recv);
    CHECK(s.peer(1) == kGoalAny);
    CHECK(s.tag(1) == kGoalAny);
    CHECK(s.kind(2) == GoalKind::calc);
    CHECK(s.size(2) == 77);
    CHECK(s.cpu(2) == 1);
    CHECK(s.max_cpu() == 2);
    CHECK(s.max_nic() == 3);
    CHECK(s.has_wildcards());
    const GoalSchedule::Edges edges = s.edges(0, 0);
    REQUIRE(edges.size() == 2);
    CHECK(edges[0].op == 1);
    CHECK_FALSE(edges[0].start);
    CHECK(edges[1].op == 1);
    CHECK(edges[1].start);
    CHECK(s.dependency_counts(0) == std::vector<std::uint32_t>{0, 2, 0});
    CHECK(s.describe(1, 3) ==
          "rank 1 recv of 64 bytes from rank 0 tag 9 (operation 0 of the rank)");
}

TEST_CASE("unit.goal.files.mistakes_are_refused_with_their_line") {
    CHECK(error_of("") == "s.goal: no num_ranks line");
    CHECK(error_of("rank 0 {\n}\n") == "s.goal:1: num_ranks must come before the first rank");
    CHECK(error_of("num_ranks 0\n") == "s.goal:1: num_ranks 0: at least one rank is needed");
    CHECK(error_of("num_ranks 99999999999999999999\n") ==
          "s.goal:1: a number of ranks 99999999999999999999: at most 4000000 is allowed");
    CHECK(error_of("num_ranks 2\nrank 1 {\n}\n") ==
          "s.goal:2: rank 1 where rank 0 is due: ranks must appear in order, 0 to 1");
    CHECK(error_of("num_ranks 2\nrank 0 {\n}\n") == "s.goal:3: the file ends after 1 of 2 ranks");
    CHECK(error_of("num_ranks 1\nrank 0 {\ncalc 5\n") == "s.goal:3: rank 0 has no closing }");
    CHECK(error_of(rank_of("l1: calc 5\nl1: calc 6")) ==
          "s.goal:4: label l1 is defined twice in rank 0");
    CHECK(error_of(rank_of("far_9: calc 5\nfar_9: calc 6")) ==
          "s.goal:4: label far_9 is defined twice in rank 0");
    CHECK(error_of(rank_of("l4000000000: calc 5\nl4000000000: calc 6")) ==
          "s.goal:4: label l4000000000 is defined twice in rank 0");
    CHECK(error_of(rank_of("l1: calc 5\nl1 requires l2")) ==
          "s.goal:4: label l2 is not defined above in rank 0");
    CHECK(error_of(rank_of("l1 requires l2\nl1: calc 5")) ==
          "s.goal:3: label l1 is not defined above in rank 0");
    CHECK(error_of(rank_of("send 8b to 2")) == "s.goal:3: rank 2: there are ranks 0 to 1");
    CHECK(error_of(rank_of("send 8b to -1")) == "s.goal:3: expected a rank, found \"-1\"");
    CHECK(error_of(rank_of("send 8b to 1 tag -1")) == "s.goal:3: expected a tag, found \"-1\"");
    CHECK(error_of(rank_of("send 8 to 1")) ==
          "s.goal:3: expected the unit b after a size, as in 64b");
    CHECK(error_of(rank_of("send 8b from 1")) ==
          "s.goal:3: expected \"to\" after the size of a send");
    CHECK(error_of(rank_of("recv 8b from 1 nic 1 cpu 1")) ==
          "s.goal:3: expected tag, cpu, nic, in this order, or the end of the line, found \"cpu\"");
    CHECK(error_of(rank_of("calc 8 tag 1")) ==
          "s.goal:3: expected cpu or the end of the line, found \"tag\"");
    CHECK(error_of(rank_of("calc 8 cpu 256")) == "s.goal:3: a cpu 256: at most 255 is allowed");
    CHECK(error_of(rank_of("recv 8b from 1 tag 4294967296")) ==
          "s.goal:3: a tag 4294967296: at most 4294967294 is allowed, or a 32-bit number below 0 "
          "written as a 64-bit one; -1 or 2^64 - 1, any, for a recv only");
    for (const char* const tag : {"4294967295", "18446744073709551615"}) {
        CHECK(
            error_of(rank_of(std::string("send 8b to 1 tag ") + tag)).rfind("s.goal:3: a tag", 0) ==
            0);
    }
    CHECK(error_of(rank_of("recv 8b from 1 tag 18446744073709551616")) !=
          error_of(rank_of("recv 8b from 1 tag 18446744073709551615")));
    CHECK(error_of(rank_of("calc -5")) ==
          "s.goal:3: expected a number of nanoseconds, found \"-5\"");
    CHECK(error_of(rank_of("calc 5 6")) == "s.goal:3: expected the end of the line, found \"6\"");
    CHECK(error_of(rank_of("go 5")) ==
          "s.goal:3: expected :, requires or irequires after go, found \"5\"");
    CHECK(error_of("num_ranks 1\ncalc 5\n") == "s.goal:2: \"calc\" stands outside of any rank");
    CHECK(error_of(std::string(3'000'000, 'a')) ==
          "s.goal:1: a line of more than 1 MiB; a statement has a line of its own");
}

TEST_CASE("unit.goal.files.tags_below_0_written_as_64_bits_are_read") {
    // As Schedgen writes MPI_ANY_TAG, and the tags of communicator 200.
    const GoalSchedule s = from_text(
        "num_ranks 1\nrank 0 {\nrecv 8b from 0 tag 18446744073709551615\n"
        "recv 8b from 0 tag 4294967295\nrecv 8b from 0 tag 18446744072770027531\n"
        "send 8b to 0 tag 3355443211\n}\n");
    CHECK(s.tag(0) == kGoalAny);
    CHECK(s.tag(1) == kGoalAny);
    CHECK(s.tag(2) == s.tag(3));
}

TEST_CASE("unit.goal.files.labels_of_all_kinds_stay_apart") {
    // The table begins at a rank's first number; others are hashed, and must not be mixed up with
    // it.
    std::string lines = "l900000: calc 1\nl01: calc 2\nl1: calc 3\nl0: calc 4\n";
    for (int i = 2; i < 2000; ++i) lines += "l" + std::to_string(i) + ": calc 5\n";
    const GoalSchedule s =
        from_text(rank_of(lines + "l1999 requires l900000\nl1999 requires l01\nl1999 requires l1"));
    CHECK(s.edges(0, 0).size() == 1);
    CHECK(s.edges(0, 1).size() == 1);
    CHECK(s.edges(0, 2).size() == 1);
    CHECK(s.edges(0, 3).size() == 0);
    // One that is too far ahead to be counted when it comes is found when the table has grown.
    lines = "l1: calc 1\nl1900: calc 2\n";
    for (int i = 2; i < 1900; ++i) lines += "l" + std::to_string(i) + ": calc 5\n";
    CHECK(from_text(rank_of(lines + "l5 requires l1900")).edges(0, 1).size() == 1);
    CHECK(error_of(rank_of(lines + "l1900: calc 1")) ==
          "s.goal:1903: label l1900 is defined twice in rank 0");
}

TEST_CASE("unit.goal.files.text_after_the_last_rank_is_told") {
    std::istringstream input("num_ranks 1\nrank 0 {\n}\n\nrank 1 {\n");
    ImportReport report;
    read_goal_text(input, "s.goal", report);
    REQUIRE(report.count(ImportNote::Kind::skipped) == 1);
    CHECK(report.text().find("s.goal:5: skipped: text after rank 0") != std::string::npos);
}

TEST_CASE("unit.goal.files.both_formats_keep_everything") {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        const GoalSchedule s = random_schedule(seed);
        const std::string bytes = to_binary(s);
        CHECK(to_binary(from_binary(bytes)) == bytes);
        CHECK(to_binary(from_text(to_text(s))) == bytes);
    }
}

TEST_CASE("unit.goal.files.binary_is_that_of_txt2bin") {
    for (const char* const name : {"goal/mini4", "goal/binary_tree_32"}) {
        const std::string text = sample(std::string(name) + ".goal");
        const std::string bytes = sample(std::string(name) + ".bin");
        if (text.empty()) {
            MESSAGE("skipped: no reference samples (SLUICE_REFERENCE)");
            return;
        }
        CHECK(to_binary(from_text(text)) == bytes);
        CHECK(to_binary(from_binary(bytes)) == bytes);
    }
}

TEST_CASE("unit.goal.files.damaged_binaries_are_refused") {
    // Two ranks of two operations and an edge each: blocks of 8 + 4 + 78 + 4 = 94 bytes from
    // 8 + 6 + 32 = 46.
    const std::string good =
        to_binary(from_text("num_ranks 2\nrank 0 {\na: send 8b to 1\nb: calc 5\nb requires a\n}\n"
                            "rank 1 {\na: recv 8b from 0\nb: calc 5\nb requires a\n}\n"));
    REQUIRE(good.size() == 46 + 2 * 94);
    for (std::size_t length = 0; length < good.size(); ++length) {
        CHECK(binary_error_of(good.substr(0, length)) != "no error");
    }
    const auto damaged = [&](std::size_t at, std::uint64_t value, std::size_t size) {
        std::string bytes = good;
        put(bytes, at, value, size);
        return binary_error_of(bytes);
    };
    CHECK(
        damaged(0, 2342, 8) ==
        "s.bin: was made invalid by a simulation that ran in place (magic 2342); convert it again");
    CHECK(damaged(8, 0xffffffff, 4) == "s.bin: 4294967295 ranks: at most 4000000 are allowed");
    CHECK(damaged(8, 1000, 4) == "s.bin: is too short for the 1000 ranks that it names");
    // The second rank's block over the first.
    CHECK(damaged(30, 38, 8).find("rank 1: offsets 38 to 226") != std::string::npos);
    CHECK(damaged(38, ~std::uint64_t{0}, 8).find("rank 1: offsets 132 to") != std::string::npos);
    CHECK(damaged(46, 0xffffffff, 4).find("rank 0: 4294967295 operations do not fit") !=
          std::string::npos);
    CHECK(damaged(50, 3, 4).find("rank 0: 2 operations and 3 roots") != std::string::npos);
    const std::size_t node = 46 + 12;
    CHECK(damaged(node + 4, 4, 1) ==
          "s.bin: rank 0: operation 0 has type 4; 1 send, 2 recv, 3 calc");
    CHECK(damaged(node + 5, 2, 4) == "s.bin: rank 0: operation 0 names rank 2; there are 0 to 1");
    CHECK(damaged(node + 17, kGoalAny, 4) == "s.bin: rank 0: operation 0 is a send with any tag");
    CHECK(damaged(node + 9, ~std::uint64_t{0}, 8).find("has size") != std::string::npos);
    CHECK(damaged(node + 23, 2, 4) ==
          "s.bin: rank 0: operation 0: dependents 0 to 2 of an appendix of 1");
    CHECK(damaged(node + 78, 9, 4) ==
          "s.bin: rank 0: operation 0 names dependent 9; there are 2 operations");
    CHECK(damaged(node, 1, 4) ==
          "s.bin: rank 0: operation 0 says that it has 1 dependencies, there are 0");
}

TEST_CASE("unit.goal.files.the_format_is_found_out") {
    namespace fs = std::filesystem;
    const fs::path folder =
        fs::temp_directory_path() / ("sluice-goal-" + std::to_string(::getpid()));
    fs::create_directories(folder);
    const GoalSchedule s = from_text(rank_of("calc 5"));
    const auto write = [&](const char* name, const std::string& content) {
        std::ofstream(folder / name, std::ios::binary) << content;
        return (folder / name).string();
    };
    ImportReport report;
    CHECK(read_goal(write("a", to_text(s)), report).op_count() == 1);
    CHECK(read_goal(write("b", to_binary(s)), report).op_count() == 1);
    const auto refused = [&](const std::string& path) {
        try {
            read_goal(path, report);
        } catch (const ConfigError& error) {
            return std::string(error.what()).substr(path.size());
        }
        return std::string();
    };
    CHECK(refused((folder / "none").string()) == ": no such file");
    CHECK(refused(folder.string()) == ": is a folder, not a file");
    CHECK(refused(write("c", "")) == ": is empty");
    fs::remove_all(folder);
}
