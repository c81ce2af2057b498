// SPDX-License-Identifier: Apache-2.0
#include "scenario/watched_ports.h"

#include <string>

#include "core/sorted.h"
#include "core/text/quantity.h"
#include "core/topology/forwarding_hosts.h"
#include "scenario/node_reader.h"

namespace sluice {

namespace {

constexpr Bytes kLeastCapture{1'000};
constexpr Bytes kMostCapture{1'000'000'000'000};

/// One list of ports.
class PortReader {
  public:
    PortReader(const Topology& topology, ConfigSection& section, const char* key)
        : topology_(topology), nodes_(topology), section_(section), key_(key) {}

    /// `both`: of cables, which are two ports each.
    std::vector<PortId> read(bool both) {
        const ConfigValue* const list = section_.raw(key_);
        if (list == nullptr) {
            return {};
        }
        if (list->kind != ConfigValue::Kind::array || list->array.empty()) {
            section_.fail(key_, "is " + list->shown() + "; must be a list of one or more " +
                                    (both ? kLinks : kPorts));
        }
        std::vector<PortId> ports;
        for (const ConfigValue& item : list->array) {
            add(item, both, ports);
        }
        if (both) {
            const std::vector<PortId> one_way = ports;
            for (const PortId port : one_way) {
                ports.push_back(topology_.peer_of(port));
            }
        }
        sort_unique(ports);
        section_.note(key_, list->shown());
        return ports;
    }

  private:
    static constexpr const char* kLinks = "[node, node], a node's name, or a link's index";
    static constexpr const char* kPorts = "[node, node] or a node's name";

    void add(const ConfigValue& item, bool both, std::vector<PortId>& ports) {
        const std::string what = "an entry of '" + std::string(key_) + "'";
        if (item.kind == ConfigValue::Kind::text) {
            const std::size_t before = ports.size();
            add_of(nodes_.node(item, what), kNone, ports);
            require(ports.size() > before, item, what, ", which has no cable");
        } else if (item.kind == ConfigValue::Kind::integer && both) {
            const auto last = static_cast<std::int64_t>(topology_.links().size()) - 1;
            add_link(static_cast<LinkId>(integer_of(item, what, 0, last)), ports);
        } else if (item.kind == ConfigValue::Kind::array && item.array.size() == 2) {
            const std::size_t before = ports.size();
            add_of(nodes_.node(item.array[0], "a node of '" + std::string(key_) + "'"),
                   nodes_.node(item.array[1], "a node of '" + std::string(key_) + "'"), ports);
            require(ports.size() > before, item, what, ", which no cable joins");
        } else {
            require(false, item, what, std::string("; must be ") + (both ? kLinks : kPorts));
        }
    }

    static void require(bool holds, const ConfigValue& item, const std::string& what,
                        const std::string& fault) {
        if (!holds) {
            fail_at({item.at.text(), 0, what}, "is " + item.shown() + fault);
        }
    }

    /// Ports of `node` to `end`, or all.
    void add_of(NodeId node, NodeId end, std::vector<PortId>& ports) const {
        for (PortId p = topology_.first_port(node); p < topology_.first_port(node + 1); ++p) {
            const PortCable cable = port_cable(topology_, p);
            if (end == kNone || cable.end == end) {
                ports.push_back(cable.port);
            } else if (topology_.neighbor(p) == end) {
                ports.push_back(p);
            }
        }
    }

    void add_link(LinkId link, std::vector<PortId>& ports) const {
        PortId port = topology_.first_port(topology_.links()[link].a);
        while (topology_.link_of(port) != link) {
            ++port;
        }
        ports.push_back(port);
    }

    const Topology& topology_;
    NodeReader nodes_;
    ConfigSection& section_;
    const char* key_;
};

}  // namespace

void know_watched_ports(ConfigSection& output) {
    for (const char* key : {"capture", "capture_limit", "waves", "waves_step"}) {
        output.has(key);
    }
}

WatchedPorts read_watched_ports(ConfigSection& output, const Topology& topology) {
    WatchedPorts watched;
    watched.captured = PortReader(topology, output, "capture").read(true);
    watched.waves = PortReader(topology, output, "waves").read(false);
    if (!watched.captured.empty() || output.has("capture_limit")) {
        watched.capture_limit =
            output.bytes("capture_limit", Bytes{watched.capture_limit}, kLeastCapture, kMostCapture)
                .count;
    }
    if (!watched.waves.empty() || output.has("waves_step")) {
        watched.waves_step = output.time("waves_step", watched.waves_step, kNanosecond);
    }
    return watched;
}

}  // namespace sluice
