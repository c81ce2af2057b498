// SPDX-License-Identifier: Apache-2.0
#include "core/topology/topology_io.h"

#include <charconv>
#include <string_view>
#include <vector>

#include "core/config/quantity.h"
#include "core/error.h"
#include "core/topology/limits.h"

namespace sluice {
namespace {

struct Header {
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

bool is_rate(std::string_view token) {
    try {
        parse_rate(token, {});
        return true;
    } catch (const ConfigError&) {
        return false;
    }
}

/// SimAI's header has five integers and a word; in an HPCC file the sixth token is an id or, where
/// there are one or no switches, may be a rate. The usual case, a header of three or six tokens on
/// a line of its own, is decided by the count alone so that damaged files get fitting messages.
bool has_simai_header(TokenReader& reader) {
    const TokenReader::Mark start = reader.mark();
    std::vector<std::string_view> tokens;
    int first_line = 0;
    std::size_t on_first_line = 0;
    while (tokens.size() < 7 && !reader.at_end()) {
        tokens.push_back(reader.next("header"));
        first_line = tokens.size() == 1 ? reader.line() : first_line;
        on_first_line += reader.line() == first_line ? 1 : 0;
    }
    reader.rewind(start);
    if (tokens.size() < 6 || on_first_line == 3) {
        return false;
    }
    if (on_first_line == 6 && !is_integer(tokens[5]) && !is_rate(tokens[5])) {
        return true;
    }
    for (std::size_t i = 0; i < 5; ++i) {
        if (!is_integer(tokens[i])) {
            return false;
        }
    }
    return !is_integer(tokens[5]) && !is_rate(tokens[5]);
}

Header read_header(TokenReader& reader) {
    Header header;
    const bool simai = has_simai_header(reader);
    header.nodes = reader.next_integer("number of nodes", 1, kMaxNodes);
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
    header.links = reader.next_integer("number of links", 0, kMaxLinks);
    if (simai) {
        header.gpu_type = reader.next("GPU type");
    }
    return header;
}

/// Reads `count` ids into `kinds`. An id listed twice is harmless, as in the original; one listed
/// as both kinds of switch is not.
void read_ids(TokenReader& reader, std::int64_t count, NodeKind kind,
              std::vector<NodeKind>& kinds) {
    for (std::int64_t i = 0; i < count; ++i) {
        const auto id = static_cast<std::size_t>(
            reader.next_integer(kind == NodeKind::nvswitch ? "NVSwitch id" : "switch id", 0,
                                static_cast<std::int64_t>(kinds.size()) - 1));
        if (kinds[id] != NodeKind::host && kinds[id] != kind) {
            reader.fail("switch id " + std::to_string(id) + " is listed as an NVSwitch before");
        }
        kinds[id] = kind;
    }
}

Link read_link(TokenReader& reader, std::int64_t last_id) {
    Link link;
    link.a = static_cast<NodeId>(reader.next_integer("link source", 0, last_id));
    link.b = static_cast<NodeId>(reader.next_integer("link destination", 0, last_id));
    if (link.a == link.b) {
        reader.fail("link joins node " + std::to_string(link.a) + " to itself");
    }
    link.rate = reader.next_rate("link rate");
    if (link.rate < kMinLinkRate || kMaxLinkRate < link.rate) {
        reader.fail("link rate " + format_rate(link.rate) + " out of range (allowed: " +
                    format_rate(kMinLinkRate) + " to " + format_rate(kMaxLinkRate) + ")");
    }
    link.delay = reader.next_time("link delay");
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

void append(std::string& text, double value) {
    char digits[32];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace

Topology read_topology(TokenReader& reader) {
    const Header header = read_header(reader);
    std::vector<NodeKind> kinds(static_cast<std::size_t>(header.nodes), NodeKind::host);
    read_ids(reader, header.nvswitches, NodeKind::nvswitch, kinds);
    read_ids(reader, header.switches, NodeKind::ethernet, kinds);
    Topology topology;
    topology.name = reader.file();
    topology.gpus_per_server = static_cast<std::uint32_t>(header.gpus_per_server);
    topology.gpu_type = header.gpu_type;
    for (const NodeKind kind : kinds) {
        topology.add_node(kind);
    }
    for (std::int64_t i = 0; i < header.links; ++i) {
        topology.add_link(read_link(reader, header.nodes - 1));
    }
    topology.finish();
    return topology;
}

Topology read_topology(const std::string& path) {
    TokenReader reader = TokenReader::open(path);
    return read_topology(reader);
}

std::string format_topology(const Topology& topology) {
    std::string nvswitch_ids;
    std::string switch_ids;
    std::size_t nvswitches = 0;
    std::size_t switches = 0;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.kind(node) == NodeKind::nvswitch) {
            nvswitch_ids += (nvswitches++ == 0 ? "" : " ") + std::to_string(node);
        } else if (topology.kind(node) == NodeKind::ethernet) {
            switch_ids += (switches++ == 0 ? "" : " ") + std::to_string(node);
        }
    }
    const bool simai =
        nvswitches > 0 || topology.gpus_per_server != 1 || !topology.gpu_type.empty();
    std::string text = std::to_string(topology.node_count());
    if (simai) {
        text += ' ' + std::to_string(topology.gpus_per_server) + ' ' + std::to_string(nvswitches);
    }
    text += ' ' + std::to_string(switches) + ' ' + std::to_string(topology.links().size());
    if (simai) {
        text += ' ' + (topology.gpu_type.empty() ? "NONE" : topology.gpu_type);
        text += '\n' + nvswitch_ids + (nvswitches > 0 && switches > 0 ? " " : "") + switch_ids;
    } else {
        text += '\n' + switch_ids;
    }
    text += '\n';
    for (const Link& link : topology.links()) {
        text += std::to_string(link.a) + ' ' + std::to_string(link.b) + ' ' +
                format_rate(link.rate) + ' ' + format_time(link.delay) + ' ';
        append(text, link.loss);
        text += '\n';
    }
    return text;
}

}  // namespace sluice
