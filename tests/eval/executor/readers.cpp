// SPDX-License-Identifier: Apache-2.0
#include "eval/executor/readers.h"

#include <doctest/doctest.h>
#include <fmt/core.h>

#include <string>
#include <vector>

#include "eval/trials/metric.h"
#include "tests/support/error_of.h"
#include "tests/support/test_folder.h"

using namespace sluice;
using namespace sluice::eval;
using doctest::Approx;
using Values = std::vector<double>;

namespace {

constexpr const char* kTwoFlows =
    "0b000001 0b000101 10000 100 50000 2000000000 9000 4501\n"
    "0b000201 0b00ff01 10001 100 1 2000000001 4000 4000\n";

TrialRecord table(const std::string& text) {
    const test::TestFolder folder;
    return read_table(folder.write("t.csv", text));
}

std::vector<SampledCandidate> samples(const std::string& text) {
    const test::TestFolder folder;
    return read_samples({folder.write("s.csv", text)});
}

/// What is wrong with a table, without the folder that it is in.
std::string wrong(const std::string& text, bool samples = false) {
    const test::TestFolder folder;
    const std::string path = folder.write("t.csv", text);
    const std::string error = error_of([&] {
        if (samples) {
            read_samples({path});
        } else {
            read_table(path);
        }
    });
    CHECK(error.find('\n') == std::string::npos);
    return error.substr(0, path.size()) == path ? error.substr(path.size()) : error;
}

std::string wrong_fct(const std::string& text) {
    const test::TestFolder folder;
    const std::string path = folder.write("fct.txt", text);
    const std::string error = error_of([&] { read_fct(path); });
    return error.substr(0, path.size()) == path ? error.substr(path.size()) : error;
}

/// What each trial has in a column.
std::vector<Values> column(const SampledCandidate& candidate, const std::string& name) {
    std::vector<Values> values;
    for (const TrialRecord& trial : candidate.trials) {
        const auto at = trial.columns.find(name);
        values.push_back(at == trial.columns.end() ? Values{} : at->second);
    }
    return values;
}

}  // namespace

TEST_CASE("unit.eval.readers.fct.flows_in_seconds") {
    const test::TestFolder folder;
    const TrialRecord record =
        read_fct(folder.write("fct.txt", std::string("\xEF\xBB\xBF\n") + kTwoFlows + "\r\n \n"));
    REQUIRE(record.flows.size() == 2);
    CHECK(record.flows[0].size == 50000);
    CHECK(record.flows[0].start_s == 2.0);
    CHECK(record.flows[0].time_s == 9e-6);
    CHECK(record.flows[0].ideal_s == 4501e-9);
    CHECK(record.flows[1].start_s == 2.000000001);
    CHECK(record.columns.empty());
    // Flows are of no class, so none is of one that is asked for.
    Metric metric;
    metric.quantity = "fct";
    CHECK(observe(metric, record, {}).count == 2);
    metric.of_class = "incast";
    CHECK(observe(metric, record, {}).count == 0);
}

TEST_CASE("unit.eval.readers.fct.refusals") {
    CHECK(wrong_fct("") == ": has no flow (allowed: one or more)");
    CHECK(wrong_fct("\n \n# nothing\n") == ": has no flow (allowed: one or more)");
    const std::string fields =
        ": not a flow (allowed: 8 fields, sip dip sport dport size start fct standalone_fct, the "
        "first two of 8 hexadecimal digits)";
    // A line that was cut off, one with too much, and addresses that are none.
    CHECK(wrong_fct(std::string(kTwoFlows) + "0b000001 0b000101 10000 100 50000 20\n") ==
          ":3" + fields);
    CHECK(wrong_fct("0b000001 0b000101 1 100 5 0 9 4 7\n") == ":1" + fields);
    CHECK(wrong_fct("0b00000g 0b000101 1 100 5 0 9 4\n") == ":1" + fields);
    CHECK(wrong_fct("b000001 0b000101 1 100 5 0 9 4\n") == ":1" + fields);
    CHECK(wrong_fct(std::string("\0\0", 2)) == ":1" + fields);
    const std::string whole = " (allowed: 0 to 9223372036854775807)";
    CHECK(wrong_fct("\n0b000001 0b000101 1 100 -5 0 9 4\n") ==
          ":2: size \"-5\": out of range" + whole);
    CHECK(wrong_fct("0b000001 0b000101 1 100 5 0 nan 4") ==
          ":1: fct \"nan\": not a whole number" + whole);
    CHECK(wrong_fct("0b000001 0b000101 1 100 5 0.5 9 4") ==
          ":1: start \"0.5\": not a whole number" + whole);
    CHECK(wrong_fct("0b000001 0b000101 1 100 5 0 9 99999999999999999999") ==
          ":1: standalone_fct \"99999999999999999999\": out of range" + whole);
    CHECK(wrong_fct("0b000001 0b000101 x 100 5 0 9 4").find("port \"x\"") != std::string::npos);
}

TEST_CASE("unit.eval.readers.table.columns_and_separators") {
    const std::string expected = "a b,c\n1,2\n+3,-4e-1\n";
    for (const char separator : {',', ';', '\t'}) {
        std::string text = "# made by hand, twice; or not\n\n" + expected;
        for (char& c : text) c = c == ',' ? separator : c;
        for (const std::string end : {"\n", "\r\n"}) {
            std::string lines = text;
            for (std::size_t at = 0; (at = lines.find('\n', at)) != lines.npos; at += end.size()) {
                lines.replace(at, 1, end);
            }
            CAPTURE(lines);
            const TrialRecord record = table(lines);
            CHECK(record.columns.at("a b") == Values{1, 3});
            CHECK(record.columns.at("c") == Values{2, -0.4});
            CHECK(record.flows.empty());
        }
    }
    // Any number of blanks and tabs, aligned as printf does.
    const TrialRecord blanks = table("  name   p99 \n   7      1e3\n  12 \t  -0.5  \n 3 4");
    CHECK(blanks.columns.at("name") == Values{7, 12, 3});
    CHECK(blanks.columns.at("p99") == Values{1000, -0.5, 4});
    CHECK(error_of([] { table("a b c\n1 2 3\n1 2\n"); }).find("2 cells (allowed: 3") !=
          std::string::npos);
}

TEST_CASE("unit.eval.readers.table.what_is_no_number_is_left_out") {
    // A column of names, an empty one, one without a name; a missing value is not a value.
    const TrialRecord record = table(
        ",host,empty,rate,\"a, \"\"quoted\"\" name\"\n"
        "0,h1,,5,\"1.5\"\n"
        "1,,, ,\"\"\n"
        "2,\"h3, rack 7\",,6, 2 \n");
    CHECK(record.columns.size() == 2);
    CHECK(record.columns.at("rate") == Values{5, 6});
    CHECK(record.columns.at("a, \"quoted\" name") == Values{1.5, 2});
    // Addresses are not numbers, though some of them could be.
    CHECK(table("id,x\n12345678,1\nab000101,2\nab000201,3\n").columns.count("id") == 0);
}

TEST_CASE("unit.eval.readers.table.numbers_are_finite_or_an_error") {
    const std::string allowed = " (allowed: finite decimal numbers; an empty cell is no value)";
    for (const std::string cell :
         {"nan", "-inf", "Infinity", "1e999", "n/a", "0x10", "1,5", "7ms", "+-1", "--1"}) {
        CAPTURE(cell);
        CHECK(wrong("a;b\n1;2\n\n# here\n1;" + cell + "\n") ==
              fmt::format(":5: column \"b\" has numbers, but here \"{}\"{}", cell, allowed));
    }
    // Of a column that is nothing but NaN the first is told.
    CHECK(wrong("a,b\n1,nan\n2,nan\n").find(":2: column \"b\"") == 0);
    CHECK(wrong("a,b\n1,\x1b[31m\n2,3\n3,4") ==
          ":2: column \"b\" has numbers, but here \"\\x1b[31m\"" + allowed);
}

TEST_CASE("unit.eval.readers.table.refusals") {
    CHECK(wrong("") == ": is empty (allowed: names of columns, then rows)");
    CHECK(wrong("\n  \r\n# only this\n") == ": is empty (allowed: names of columns, then rows)");
    CHECK(wrong("a,b\n\n") == ":2: no row follows the names (allowed: one or more)");
    CHECK(wrong("hello\nworld\n") == ": no column has numbers (allowed: one or more)");
    CHECK(wrong(",\n,\n") == ": no column has numbers (allowed: one or more)");
    CHECK(wrong("a,b\n1,2\n1,2,3\n") ==
          ":3: 3 cells (allowed: 2, as in the first line, separated by commas)");
    CHECK(wrong("a,b,a\n1,2,3\n") == ":1: two columns are called \"a\" (allowed: one)");
    const std::string quotation =
        ": a quotation that does not end where its cell does (allowed: \"\" in it)";
    CHECK(wrong("a,b\n1,\"2\n3\",4\n") == ":2" + quotation);
    CHECK(wrong("a,b\n1,\"2\"3\n") == ":2" + quotation);
    CHECK(wrong("\"\"\"") == ":1" + quotation);
    CHECK(wrong("\"") == ":1" + quotation);
    const test::TestFolder folder;
    CHECK(error_of([&] { read_table(folder.file("none")); }) ==
          folder.file("none") + ": no such file");
    CHECK(error_of([&] { read_table(folder.file("")); }) ==
          folder.file("") + ": is a folder, not a file");
    CHECK(error_of([&] { read_fct(folder.file("none")); }) ==
          folder.file("none") + ": no such file");
    CHECK(error_of([&] { read_samples({folder.file("none")}); }) ==
          folder.file("none") + ": no such file");
    CHECK(error_of([&] { read_samples({}); }) ==
          "no file of trials is given (allowed: one or more)");
}

TEST_CASE("unit.eval.readers.table.flows") {
    // As flows.csv has them: picoseconds; an ideal time that is not known is 0, a flow without a time is none.
    const TrialRecord record = table(
        "flow,label,size_bytes,start_ps,fct_ps,ideal_ps\n"
        "0,dp,1000,2000000000000,5000000,2500000\n"
        "1,,2000,0,1,\n"
        "2,pp,2000,0,,7\n");
    REQUIRE(record.flows.size() == 2);
    CHECK(record.flows[0].start_s == 2);
    CHECK(record.flows[0].time_s == 5e-6);
    CHECK(record.flows[0].ideal_s == 2.5e-6);
    CHECK(record.flows[0].size == 1000);
    CHECK(record.flows[1].time_s == 1e-12);
    CHECK(record.flows[1].ideal_s == 0);
    CHECK(record.columns.at("fct_ps") == Values{5000000, 1});
    CHECK(record.columns.at("ideal_ps") == Values{2500000, 7});
    // Each column in its own unit; nothing but the time is needed.
    const TrialRecord mixed = table("size;fct_us;start_ms;ideal_ns\n7;3;2;500\n");
    REQUIRE(mixed.flows.size() == 1);
    CHECK(mixed.flows[0].size == 7);
    CHECK(mixed.flows[0].time_s == Approx(3e-6));
    CHECK(mixed.flows[0].start_s == Approx(2e-3));
    CHECK(mixed.flows[0].ideal_s == Approx(5e-7));
    CHECK(table("fct_s\n0.25\n").flows.at(0).time_s == 0.25);
    CHECK(table("start_s,size\n1,2.5\n").flows.empty());
}

TEST_CASE("unit.eval.readers.table.flows_that_cannot_be") {
    CHECK(wrong("fct_s\n-1\n") ==
          ":2: column \"fct_s\" has numbers, but here \"-1\" (allowed: >= 0)");
    CHECK(wrong("fct_s,size\n1,1.5\n") ==
          ":2: column \"size\" has numbers, but here \"1.5\" (allowed: whole bytes, up to 9e18)");
    CHECK(wrong("fct_s,size\n1,1e19\n").find(":2: column \"size\"") == 0);
    // What is to be a time is an error where another column would be left out.
    CHECK(wrong("fct_s,x\nslow,1\nfast,2\n")
              .find(":2: column \"fct_s\" has numbers, but here \"slow\"") == 0);
}

TEST_CASE("unit.eval.readers.samples.a_row_a_trial") {
    const auto read = samples("p99,mean,host\n1,2,a\n3,,b\n5,6,c\n");
    REQUIRE(read.size() == 1);
    CHECK(read[0].label.empty());
    CHECK(column(read[0], "p99") == std::vector<Values>{{1}, {3}, {5}});
    CHECK(column(read[0], "mean") == std::vector<Values>{{2}, {}, {6}});
    CHECK(read[0].trials[0].columns.size() == 2);
    // Without names.
    const auto single = samples("# values\n 1.5\n2\n\n3\n");
    CHECK(column(single[0], "value") == std::vector<Values>{{1.5}, {2}, {3}});
    const auto several = samples("1 2\n3 4\n");
    CHECK(column(several[0], "1") == std::vector<Values>{{1}, {3}});
    CHECK(column(several[0], "2") == std::vector<Values>{{2}, {4}});
    CHECK(wrong("1\nnan\n", true).find(":2: column \"value\"") == 0);
    CHECK(wrong("inf\n1\n", true).find(":1: column \"value\"") == 0);
}

TEST_CASE("unit.eval.readers.samples.rows_of_one_trial") {
    const auto read = samples("fct_us,trial\n1,b\n2,a\n3,b\n4,a\n5,c\n");
    REQUIRE(read.size() == 1);
    CHECK(column(read[0], "fct_us") == std::vector<Values>{{1, 3}, {2, 4}, {5}});
    REQUIRE(read[0].trials[0].flows.size() == 2);
    CHECK(read[0].trials[0].flows[1].time_s == Approx(3e-6));
    CHECK(read[0].trials[0].columns.count("trial") == 0);
    CHECK(wrong("fct_us,trial\n1,b\n2,\n", true) ==
          ":3: column \"trial\" is empty here (allowed: a name)");
}

TEST_CASE("unit.eval.readers.samples.candidates") {
    // Trials are in the order in which the file names them first, whoever's they are: number n is the same for both.
    const auto read = samples(
        "candidate;trial;label;x\n"
        "\"slow; old\";1;7;10\n"
        "fast;2;7;21\n"
        "fast;1;7;20\n"
        "\"slow; old\";2;7;11\n"
        "fast;1;7;22\n");
    REQUIRE(read.size() == 2);
    CHECK(read[0].label == "slow; old");
    CHECK(read[1].label == "fast");
    CHECK(column(read[0], "x") == std::vector<Values>{{10}, {11}});
    CHECK(column(read[1], "x") == std::vector<Values>{{20, 22}, {21}});
    CHECK(column(read[1], "label") == std::vector<Values>{{7, 7}, {7}});
    const auto labels = samples("x,label\n1,1.0\n2,1\n3,1.0\n");
    REQUIRE(labels.size() == 2);
    CHECK(labels[0].label == "1.0");
    CHECK(column(labels[0], "x") == std::vector<Values>{{1}, {3}});
    CHECK(wrong("x,candidate\n1,\n", true) ==
          ":2: column \"candidate\" is empty here (allowed: a name)");
    CHECK(wrong("candidate,trial\na,1\n", true) ==
          ": no column has numbers (allowed: one or more)");
}

TEST_CASE("unit.eval.readers.samples.a_file_a_trial") {
    const test::TestFolder folder;
    const std::string fct = folder.write("a.txt", std::string("\n") + kTwoFlows);
    const std::string csv = folder.write("b.csv", "fct_s,trial\n1,1\n2,2\n3,3\n");
    // 8 columns, but no addresses.
    const std::string eight = folder.write("c.txt", "12 34 5 6 7 8 9 10\n");
    const auto read = read_samples({fct, csv, eight});
    REQUIRE(read.size() == 1);
    REQUIRE(read[0].trials.size() == 3);
    CHECK(read[0].trials[0].flows.size() == 2);
    CHECK(read[0].trials[1].flows.size() == 3);
    CHECK(read[0].trials[2].columns.at("8") == Values{10});
    const auto single = read_samples({fct});
    REQUIRE(single.at(0).trials.size() == 1);
    CHECK(single[0].trials[0].flows.size() == 2);
    CHECK(error_of([&] {
              read_samples({fct, folder.write("d.csv", "")});
          }) == folder.file("d.csv") + ": is empty (allowed: names of columns, then rows)");
}

TEST_CASE("unit.eval.readers.samples.many_rows") {
    std::string text = "trial,x\n";
    constexpr int kRows = 300'000;
    for (int i = 0; i < kRows; ++i)
        text += std::to_string(i / 3) + ",1." + std::to_string(i) + "\n";
    const auto read = samples(text);
    REQUIRE(read[0].trials.size() == kRows / 3);
    CHECK(read[0].trials.back().columns.at("x").size() == 3);
}

TEST_CASE("unit.eval.readers.hostile_bytes_are_read_or_refused") {
    // Texts of up to five of these: nothing but a ConfigError may come of them.
    const std::string letters = "\",;\t \n#1a";
    std::size_t refused = 0;
    const test::TestFolder folder;
    for (int n = 0; n < 9 * 9 * 9 * 9 * 9; n += 101) {
        std::string text;
        for (int rest = n; rest > 0; rest /= 9) text += letters[static_cast<std::size_t>(rest % 9)];
        const std::string path = folder.write("t", text);
        refused += error_of([&] { read_samples({path}); }) == "no error" ? 0 : 1;
    }
    CHECK(refused > 50);
}
