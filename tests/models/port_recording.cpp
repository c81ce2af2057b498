// SPDX-License-Identifier: Apache-2.0
/// Operations of host ports as FTR and SQLite (models/observe/port_recording.h), read by scripts that know CBOR and SQLite by
/// other libraries.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "models/host_port/host_port.h"
#include "models/observe/cbor_writer.h"
#include "models/observe/port_recording.h"
#include "tests/models/observe_files.h"
#include "tests/models/page_star.h"
#include "tests/support/test_folder.h"

namespace sluice::test {
namespace {

/// A line per transaction: stream, kind, generator, begin and end in ps, attributes by name. Complains of what the format
/// does not have.
constexpr const char* kReader = R"(
import sys, cbor2
names, streams, generators, ids = {}, {}, {}, set()
def entries(decoder, tag): return cbor2.CBORTag(tag.tag, tag.value)
with open(sys.argv[1], "rb") as file:
    whole = file.read()
assert whole[:4] == bytes.fromhex("d9d9f79f") and whole[-1] == 0xff
for chunk in cbor2.loads(whole[3:]):
    if chunk.tag == 6:
        scale, when = cbor2.loads(chunk.value)
        assert scale == -12
    elif chunk.tag == 8:
        names.update(cbor2.loads(chunk.value))
    elif chunk.tag == 10:
        for one in cbor2.loads(chunk.value):
            if one.tag == 16:
                streams[one.value[0]] = (names[one.value[1]], names[one.value[2]])
            else:
                assert one.tag == 17
                generators[one.value[0]] = (names[one.value[1]], one.value[2])
    else:
        assert chunk.tag == 12
        stream, first, last, content = chunk.value
        found = cbor2.loads(content)
        assert min(t[0].value[2] for t in found) == first
        assert max(t[0].value[3] for t in found) == last
        for about, *attributes in found:
            assert about.tag == 6
            number, generator, begin, end = about.value
            assert number not in ids and generators[generator][1] == stream
            ids.add(number)
            line = [*streams[stream], generators[generator][0], begin, end]
            for attribute in attributes:
                name, kind, value = attribute.value
                assert attribute.tag in (7, 8) and kind in (3, 11)
                line.append(f"{names[name]}={value}")
            print("|".join(map(str, line)))
)";

/// The same from the tables of an SQLite file; no two transactions of a row overlap.
constexpr const char* kTableReader = R"(
import sqlite3, sys
file = sqlite3.connect(sys.argv[1])
assert file.execute("SELECT time_resolution FROM ScvSimProps").fetchall() == [(1000,)]
assert file.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
assert file.execute("PRAGMA foreign_key_check").fetchall() == []
busy = {}
for tx, stream, row, *line in file.execute(
        "SELECT t.id, s.id, t.concurrencyLevel, s.name, s.kind, g.name, b.time, e.time FROM ScvTx t"
        " JOIN ScvGenerator g ON g.id = t.generator JOIN ScvStream s ON s.id = g.stream AND s.id = t.stream"
        " JOIN ScvTxEvent b ON b.tx = t.id AND b.type = 0 JOIN ScvTxEvent e ON e.tx = t.id AND e.type = 2"
        " ORDER BY t.id").fetchall():
    assert line[3] <= line[4]
    assert busy.get((stream, row), 0) <= line[3] and (row == 0 or (stream, row - 1) in busy)
    busy[stream, row] = line[4]
    for moment, name, kind, value in file.execute(
            "SELECT type, name, data_type, data_value FROM ScvTxAttribute WHERE tx = ? ORDER BY rowid", (tx,)):
        assert moment in (0, 1) and kind == 3
        line.append(f"{name}={value}")
    print("|".join(map(str, line)))
)";

std::string line_of(const HostPort& port, const Completion& made) {
    const std::vector<std::string> kinds{"write", "read", "send"};
    std::ostringstream line;
    line << port.name() << "|host port|" << kinds.at(static_cast<std::size_t>(made.post.operation))
         << "|" << made.posted << "|" << made.completed << "|peer=" << made.post.peer
         << "|bytes=" << made.post.bytes << "|queue_pair=" << made.post.queue_pair
         << "|priority=" << int{made.post.priority} << "|tag=" << made.post.tag
         << "|sequence=" << made.sequence << "|effective=" << made.effective
         << "|received=" << made.received;
    return line.str();
}

/// Posts of two ports, at times and of kinds that are drawn.
struct Traffic : sc_core::sc_module {
    SC_HAS_PROCESS(Traffic);
    Traffic(const sc_core::sc_module_name& name, HostPort& its, NodeId other, int count)
        : sc_module(name), port(its), peer(other), left(count) {
        port.completions().on_each(
            [this](const Completion& made) { lines.push_back(line_of(port, made)); });
        SC_THREAD(run);
    }
    void run() {
        const auto draw = [&](std::uint64_t below) {
            return (state = mix_bits(state + 1)) % below;
        };
        for (; left > 0; --left) {
            Post post;
            post.operation = static_cast<Operation>(draw(3));
            post.peer = peer;
            post.bytes = static_cast<std::int64_t>(1 + draw(30'000));
            post.queue_pair = static_cast<std::uint32_t>(draw(3));
            post.priority = static_cast<std::uint8_t>(1 + draw(7));
            post.tag = draw(std::uint64_t{1} << 62);
            port.post(post);
            wait(to_sc_time(static_cast<Tick>(1 + draw(2'000'000))));
        }
    }
    HostPort& port;
    NodeId peer;
    int left;
    std::uint64_t state = 7;
    std::vector<std::string> lines;
};

/// Records 3,000 operations, and compares them with what `reader`, a Python program, makes of the file.
void check_recording(const char* name, const char* reader) {
    PlainStar star;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    HostPort one("one", network, 0);
    HostPort other("other", network, 1);
    TestFolder folder;
    PortRecording recording(folder.file(name));
    recording.add(one);
    recording.add(other);
    Traffic from_one("from_one", one, 1, 2'000);
    Traffic from_other("from_other", other, 2, 1'000);
    sc_core::sc_start();
    recording.finish();
    std::ofstream(folder.file("read.py")) << reader;
    int status = 0;
    std::istringstream lines(
        output_of("python3 " + folder.file("read.py") + " " + folder.file(name), status));
    CHECK(status == 0);
    std::vector<std::string> found;
    for (std::string line; std::getline(lines, line);) {
        found.push_back(line);
    }
    std::vector<std::string> expected = from_one.lines;
    expected.insert(expected.end(), from_other.lines.begin(), from_other.lines.end());
    CHECK(expected.size() == 3'000);
    std::sort(found.begin(), found.end());
    std::sort(expected.begin(), expected.end());
    CHECK(found == expected);
}

}  // namespace

TEST_CASE("models.port_recording.another_reader_finds_every_operation") {
    int status = 0;
    output_of("python3 -c 'import cbor2'", status);
    if (status != 0) {
        MESSAGE("skipped: cbor2 is not installed (pip install cbor2)");
        return;
    }
    check_recording("transactions.ftr", kReader);
}

TEST_CASE("models.port_recording.sqlite_finds_every_operation") {
    check_recording("transactions.txdb", kTableReader);
}

TEST_CASE("models.port_recording.numbers_are_as_short_as_they_come") {
    CborWriter text;
    const std::int64_t large = std::int64_t{1} << 40;
    for (const std::int64_t value :
         {std::int64_t{0}, std::int64_t{23}, std::int64_t{24}, std::int64_t{255}, std::int64_t{256},
          std::int64_t{65'535}, std::int64_t{65'536}, large, std::int64_t{-1}, std::int64_t{-25}}) {
        text.number(value);
    }
    // RFC 8949, appendix A.
    CHECK(text.all() ==
          std::string("\x00\x17\x18\x18\x18\xff\x19\x01\x00\x19\xff\xff\x1a\x00\x01\x00\x00"
                      "\x1b\x00\x00\x01\x00\x00\x00\x00\x00\x20\x38\x18",
                      29));
}

TEST_CASE("models.port_recording.the_code_of_the_page_works") {
    PlainStar star;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    HostPort port("port", network, 0);
    Traffic traffic("traffic", port, 1, 10);
    const TestFolder folder;
    std::filesystem::current_path(std::filesystem::path(folder.file("x")).parent_path());
    sluice::PortRecording recording("transactions.ftr");
    recording.add(port);
    sc_core::sc_start();
    recording.finish();
    CHECK(traffic.lines.size() == 10);
    CHECK(bytes_of("transactions.ftr").size() > 500);
    std::filesystem::current_path("/");
}

TEST_CASE("models.port_recording.a_file_that_cannot_be_written_is_an_error") {
    CHECK_THROWS_AS(PortRecording("/nowhere/at/all.ftr"), ConfigError);
    CHECK_THROWS_AS(PortRecording("/nowhere/at/all.txdb"), ConfigError);
    CHECK_THROWS_AS(PortRecording("/dev/full.txdb/x.txdb"), ConfigError);
}

}  // namespace sluice::test
