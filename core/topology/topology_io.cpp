// SPDX-License-Identifier: Apache-2.0
#include "core/topology/topology_io.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/text/quantity.h"
#include "core/topology/limits.h"
#include "core/topology/nvlink_servers.h"
#include "core/topology/topology_report.h"

namespace sluice {
namespace {

struct Header {
    TopologyHeader kind = TopologyHeader::hpcc;
    bool own_line = false;  ///< it has a line of its own, so ids and links will have theirs
    int line = 1;
    std::int64_t nodes = 0;
    std::int64_t gpus_per_server = 1;
    std::int64_t nvswitches = 0;
    std::int64_t switches = 0;  ///< Ethernet
    std::int64_t links = 0;
    std::string gpu_type;
};

bool is_integer(std::string_view token) {
    return !token.empty() && token.find_first_not_of("0123456789") == token.npos;
}

/// With BareNumber::ns3, whole numbers are rates too.
bool is_rate(std::string_view token, BareNumber bare = BareNumber::refuse, Rate least = {0}) {
    try {
        return !(parse_rate(token, {}, bare) < least);
    } catch (const ConfigError&) {
        return false;
    }
}

/// Nothing but blanks is left on the line of the last token.
bool ends_line(TokenReader& reader) {
    const TokenReader::Mark here = reader.mark();
    bool ends = reader.at_end();
    if (!ends) {
        const int line = reader.line();
        reader.next("token");
        ends = reader.line() != line;
    }
    reader.rewind(here);
    return ends;
}

/// The first tokens, and how many of them stand on the first line.
struct Opening {
    std::vector<std::string_view> tokens;
    std::size_t on_first_line = 0;

    bool integers(std::size_t count) const {
        return tokens.size() >= count &&
               std::all_of(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(count),
                           is_integer);
    }
};

Opening read_opening(TokenReader& reader) {
    const TokenReader::Mark start = reader.mark();
    Opening opening;
    int first_line = 0;
    while (opening.tokens.size() < 7 && !reader.at_end()) {
        opening.tokens.push_back(reader.next("header"));
        first_line = opening.tokens.size() == 1 ? reader.line() : first_line;
        opening.on_first_line += reader.line() == first_line ? 1 : 0;
    }
    reader.rewind(start);
    return opening;
}

/// SimAI's header has five integers and a word; in an HPCC file the sixth token is an id or, where
/// there are one or no switches, may be a rate. The usual case, a header of three or six tokens on
/// a line of its own, is decided by the count alone so that damaged files get fitting messages.
bool has_simai_header(const Opening& opening) {
    const std::vector<std::string_view>& tokens = opening.tokens;
    if (tokens.size() < 6 || opening.on_first_line == 3) return false;
    const bool word = !is_integer(tokens[5]) && !is_rate(tokens[5]);
    return word && (opening.on_first_line == 6 || opening.integers(5));
}

/// Whole numbers on the lines up to the first link, where a file lists its ids.
struct ListedIds {
    std::int64_t count = 0;
    int last_line = 0;
    bool then_a_link = false;
};

/// Looks ahead from `reader`, at the start of a line. A line of five whole numbers is a link where
/// `expected` ids came before it.
ListedIds listed_ids(TokenReader& reader, std::int64_t expected) {
    const TokenReader::Mark start = reader.mark();
    ListedIds ids;
    bool reached_links = false;
    std::vector<std::string_view> words;
    while (!reader.at_end() && !reached_links) {
        words.clear();
        do {
            words.push_back(reader.next("id"));
        } while (!ends_line(reader));
        const bool all_integers = std::all_of(words.begin(), words.end(), is_integer);
        reached_links = !all_integers || (ids.count >= expected && words.size() == 5);
        if (!reached_links) {
            ids.count += static_cast<std::int64_t>(words.size());
            ids.last_line = reader.line();
        }
    }
    ids.then_a_link = reached_links && words.size() == 5;
    reader.rewind(start);
    return ids;
}

/// Four numbers on the first line are PowerTCP's header, or HPCC's and an id: the ids that follow
/// are then one short of the switches.
bool has_powertcp_header(TokenReader& reader, const Opening& opening) {
    if (opening.on_first_line != 4 || !opening.integers(4)) return false;
    const TokenReader::Mark start = reader.mark();
    reader.next("number of nodes");
    const std::int64_t switches = reader.next_integer("number of switches", 0, kMaxNodes);
    reader.next("number of ToRs");
    reader.next("number of links");
    const ListedIds ids = listed_ids(reader, switches - 1);
    reader.rewind(start);
    return !(ids.then_a_link && ids.count == switches - 1);
}

/// Reverie's two capacities, in bits per second, are no ids.
bool has_reverie_header(const Opening& opening) {
    const auto capacity = [](std::string_view token) {
        return is_rate(token, BareNumber::ns3, {kMaxNodes});
    };
    return opening.on_first_line == 6 && opening.integers(4) && capacity(opening.tokens[4]) &&
           capacity(opening.tokens[5]);
}

TopologyHeader header_kind(TokenReader& reader) {
    const Opening opening = read_opening(reader);
    if (has_simai_header(opening)) return TopologyHeader::simai;
    if (has_powertcp_header(reader, opening)) return TopologyHeader::powertcp;
    if (has_reverie_header(opening)) return TopologyHeader::reverie;
    return TopologyHeader::hpcc;
}

Header read_header(TokenReader& reader) {
    Header header;
    header.kind = header_kind(reader);
    const bool simai = header.kind == TopologyHeader::simai;
    header.nodes = reader.next_integer("number of nodes", 1, kMaxNodes);
    header.line = reader.line();
    // A file that describes so many nodes names each at least once: this bounds what a short file
    // can make us allocate.
    if (static_cast<std::size_t>(header.nodes) > reader.tokens_left_at_most() + 2) {
        reader.fail("number of nodes " + std::to_string(header.nodes) +
                    ": the file is too short to connect so many");
    }
    if (simai) {
        header.gpus_per_server = reader.next_integer("GPUs per server", 1, kMaxNodes);
        header.nvswitches = reader.next_integer("number of NVSwitches", 0, header.nodes);
    }
    header.switches =
        reader.next_integer("number of switches", 0, header.nodes - header.nvswitches);
    if (header.kind == TopologyHeader::powertcp || header.kind == TopologyHeader::reverie) {
        reader.next("number of ToRs");
    }
    header.links = reader.next_integer("number of links", 0, kMaxLinks);
    if (simai) {
        header.gpu_type = reader.next("GPU type");
        if (header.gpu_type == "NONE") header.gpu_type.clear();
    } else if (header.kind == TopologyHeader::reverie) {
        reader.next("capacity of a leaf to a server");
        reader.next("capacity of a spine to a leaf");
    }
    header.own_line = reader.line() == header.line && ends_line(reader);
    return header;
}

/// In a file laid out as usual, header and ids on lines of their own, every whole number before the
/// first line of five words is an id: says which line and count disagree before ids are taken for
/// links, or links for ids.
void check_id_count(TokenReader& reader, const Header& header) {
    if (!header.own_line) return;
    const std::int64_t expected = header.nvswitches + header.switches;
    const ListedIds ids = listed_ids(reader, expected);
    // Lines of another shape are for the token reader to judge.
    if (!ids.then_a_link || ids.count == expected) return;
    const int line = ids.count > 0 ? ids.last_line : header.line;
    throw ConfigError(reader.file() + ":" + std::to_string(line) + ": " +
                      std::to_string(ids.count) + " switch ids are listed, the header says " +
                      (header.kind == TopologyHeader::simai
                           ? std::to_string(header.nvswitches) + " NVSwitches and " +
                                 std::to_string(header.switches) + " switches"
                           : std::to_string(header.switches)));
}

/// Reads `count` ids into `kinds`. An id listed twice is harmless, as in the original; one listed
/// as both kinds of switch is not.
void read_ids(TokenReader& reader, std::int64_t count, NodeKind kind, std::vector<NodeKind>& kinds,
              TopologyReporter& reporter) {
    for (std::int64_t i = 0; i < count; ++i) {
        const auto id = static_cast<std::size_t>(
            reader.next_integer(kind == NodeKind::nvswitch ? "NVSwitch id" : "switch id", 0,
                                static_cast<std::int64_t>(kinds.size()) - 1));
        if (kinds[id] != NodeKind::host && kinds[id] != kind) {
            reader.fail("switch id " + std::to_string(id) +
                        " is listed as an NVSwitch before; a node is one or the other");
        }
        if (kinds[id] == kind) reporter.id_again(reader.line(), static_cast<NodeId>(id));
        kinds[id] = kind;
    }
}

Link read_link(TokenReader& reader, std::int64_t last_id, DelayReading delays) {
    Link link;
    link.a = static_cast<NodeId>(reader.next_integer("link source", 0, last_id));
    link.b = static_cast<NodeId>(reader.next_integer("link destination", 0, last_id));
    if (link.a == link.b) {
        reader.fail("link joins node " + std::to_string(link.a) + " to itself");
    }
    const bool bare = is_integer(reader.peek());
    link.rate = reader.next_rate("link rate");
    if (link.rate < kMinLinkRate || kMaxLinkRate < link.rate) {
        reader.fail("link rate " + format_rate(link.rate) +
                    (bare ? " (a number without a unit is bits per second)" : "") +
                    " out of range (allowed: " + format_rate(kMinLinkRate) + " to " +
                    format_rate(kMaxLinkRate) + ")");
    }
    link.delay = delays == DelayReading::ns3 ? reader.next_ns3_time("link delay")
                                             : reader.next_time("link delay");
    if (link.delay > kMaxLinkDelay) {
        reader.fail("link delay " + format_time(link.delay) + " out of range (allowed: 0 to " +
                    format_time(kMaxLinkDelay) + ")");
    }
    link.loss = reader.next_real("link loss probability", 0, 1);
    if (link.loss >= 1) {
        reader.fail("link loss probability 1 loses everything (allowed: 0 to below 1)");
    }
    return link;
}

/// Fields that shift from line to line are judged far from their cause. In a file with a link to a line: if no line of
/// links has five fields, and all have as many, or one alone has not, names it. Anything else may be meant: links need
/// no lines of their own.
void find_uneven_line(TokenReader& reader, const TokenReader::Mark& start, std::int64_t links) {
    const int last_line = reader.line();
    reader.rewind(start);
    std::int64_t lines = 0;
    std::int64_t uneven = 0;
    std::size_t fields_there = 0;
    TokenReader::Mark there = start;
    bool alike = true;
    while (!reader.at_end() && (lines < links || reader.line() < last_line)) {
        std::size_t fields = 0;
        do {
            reader.next("field");
            ++fields;
        } while (!ends_line(reader));
        ++lines;
        if (fields % 5 == 0) continue;
        if (uneven++ == 0) {
            fields_there = fields;
            there = reader.mark();
        }
        alike = alike && fields == fields_there;
    }
    if (uneven == 0 || (uneven > 1 && !(alike && uneven == lines))) return;
    reader.rewind(there);
    reader.fail("has " + std::to_string(fields_there) + (fields_there == 1 ? " field" : " fields") +
                ", and a link five: source, destination, rate, delay, loss, such as \"0 8 100Gbps "
                "1us 0\"");
}

/// Takes what has the form of a link, and nothing else.
bool skip_link(TokenReader& reader) {
    const TokenReader::Mark start = reader.mark();
    std::string_view words[5];
    for (std::string_view& word : words) {
        if (reader.at_end()) break;
        word = reader.next("link");
    }
    const bool link =
        is_integer(words[0]) && is_integer(words[1]) && is_rate(words[2]) && !words[4].empty();
    if (!link) reader.rewind(start);
    return link;
}

/// The links, as many as the header says. What follows is not read, as in the originals, whose own
/// example has a link too many.
void read_links(TokenReader& reader, const Header& header, DelayReading delays, Topology& topology,
                TopologyReporter& reporter) {
    const TokenReader::Mark start = reader.mark();
    const bool own_lines = header.own_line && ends_line(reader);
    try {
        for (std::int64_t i = 0; i < header.links; ++i) {
            if (reader.at_end()) {
                reader.fail("the file ends after " + std::to_string(i) +
                            " links, the header says " + std::to_string(header.links));
            }
            topology.add_link(read_link(reader, header.nodes - 1, delays));
            reporter.link(reader.line());
        }
    } catch (const ConfigError&) {
        if (own_lines) find_uneven_line(reader, start, header.links);
        throw;
    }
    if (!reporter.active()) return;
    const TokenReader::Mark end = reader.mark();
    const int last_line = reader.line();
    std::size_t more = 0;
    while (skip_link(reader)) ++more;
    if (more > 0) reporter.more_links(last_line, more, header.links);
    if (!reader.at_end()) {
        reader.next("text");
        reporter.trailing_text(reader.line());
    }
    reader.rewind(end);
}

/// Milliseconds: a tick is 1e-9 of one, so nine decimals are exact.
void append_milliseconds(std::string& text, Tick time) {
    constexpr Tick kMillisecond = kSecond / 1000;
    std::string decimals = std::to_string(time % kMillisecond);
    decimals.insert(0, 9 - decimals.size(), '0');
    decimals.erase(decimals.find_last_not_of('0') + 1);
    text += std::to_string(time / kMillisecond) + (decimals.empty() ? "" : "." + decimals) + "ms";
}

bool has_nvswitch(const Topology& topology) {
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.kind(node) == NodeKind::nvswitch) return true;
    }
    return false;
}

void append(std::string& text, double value) {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace

bool is_gpu_type(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\n\v\f\r";
    return !text.empty() && text.find_first_of(kBlanks) == text.npos && !is_integer(text) &&
           !is_rate(text);
}

Topology read_topology(TokenReader& reader, ImportReport* report, DelayReading delays) {
    const Header header = read_header(reader);
    check_id_count(reader, header);
    TopologyReporter reporter(reader.file(), report);
    std::vector<NodeKind> kinds(static_cast<std::size_t>(header.nodes), NodeKind::host);
    read_ids(reader, header.nvswitches, NodeKind::nvswitch, kinds, reporter);
    read_ids(reader, header.switches, NodeKind::ethernet, kinds, reporter);
    Topology topology;
    topology.name = reader.file();
    topology.gpus_per_server = static_cast<std::uint32_t>(header.gpus_per_server);
    topology.gpu_type = header.gpu_type;
    for (const NodeKind kind : kinds) {
        topology.add_node(kind);
    }
    reporter.header(header.line, header.kind, topology);
    read_links(reader, header, delays, topology, reporter);
    topology.finish();
    take_servers_of_nvswitches(topology);
    reporter.finish(topology);
    return topology;
}

Topology read_topology(const std::string& path, ImportReport* report, DelayReading delays) {
    TokenReader reader = TokenReader::open(path);
    return read_topology(reader, report, delays);
}

std::string format_topology(const Topology& topology, TopologyFormat format) {
    const bool simai =
        format == TopologyFormat::simai ||
        (format == TopologyFormat::automatic &&
         (topology.gpus_per_server != 1 || !topology.gpu_type.empty() || has_nvswitch(topology)));
    std::string nvswitch_ids;
    std::string switch_ids;
    std::size_t nvswitches = 0;
    std::size_t switches = 0;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (simai && topology.kind(node) == NodeKind::nvswitch) {
            nvswitch_ids += (nvswitches++ == 0 ? "" : " ") + std::to_string(node);
        } else if (!topology.is_host(node)) {
            switch_ids += (switches++ == 0 ? "" : " ") + std::to_string(node);
        }
    }
    std::string text = std::to_string(topology.node_count());
    if (simai) {
        text += ' ' + std::to_string(topology.gpus_per_server) + ' ' + std::to_string(nvswitches);
    }
    text += ' ' + std::to_string(switches) + ' ' + std::to_string(topology.links().size());
    if (simai) {
        text += ' ' + (topology.gpu_type.empty() ? "NONE" : topology.gpu_type);
    }
    text += '\n' + nvswitch_ids + (nvswitches > 0 && switches > 0 ? " " : "") + switch_ids + '\n';
    for (const Link& link : topology.links()) {
        text += std::to_string(link.a) + ' ' + std::to_string(link.b) + ' ' +
                format_rate(link.rate) + ' ';
        append_milliseconds(text, link.delay);
        text += ' ';
        append(text, link.loss);
        text += '\n';
    }
    return text;
}

}  // namespace sluice
