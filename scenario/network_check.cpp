// SPDX-License-Identifier: Apache-2.0
#include "scenario/network_check.h"

#include <optional>
#include <string>

#include "core/error.h"
#include "core/text/quantity.h"
#include "core/world/network_check.h"

namespace sluice {

namespace {

/// The key of [topology] that says this rate; empty if none does: a file has it, or it is the default.
std::string key_of_rate(const ConfigValue& topology, Rate rate) {
    for (const ConfigMember& member : topology.table) {
        if (member.value.kind != ConfigValue::Kind::text) continue;
        try {
            if (parse_rate(member.value.text, Place{"", 0, ""}).bits_per_second ==
                rate.bits_per_second) {
                return member.key;
            }
        } catch (const ConfigError&) {
            // No rate at all.
        }
    }
    return {};
}

/// Where a table stands, or the scenario where there is none.
std::string place_of(const ConfigValue* table, const std::string& path) {
    return table == nullptr ? path : table->at.text();
}

}  // namespace

void check_network(const Scenario& scenario, ConfigSection& root) {
    const std::optional<step::NetworkFault> fault =
        step::network_fault(scenario.topology, scenario.network);
    if (!fault) return;
    using Of = step::NetworkFault::Of;
    const ConfigValue* const topology = root.raw("topology");
    switch (fault->of) {
        case Of::rate:
            if (topology != nullptr) {
                const std::string key = key_of_rate(*topology, fault->rate);
                if (!key.empty()) root.table("topology").fail(key, "has " + fault->text);
            }
            break;
        case Of::payload: root.table("network").fail("payload", "makes " + fault->text);
        case Of::buffer:
            root.table("network").table("buffer").fail("size", "is too small: " + fault->text);
        case Of::chunk:
            root.table("network").table("nic").fail("ack_chunk", "is too large: " + fault->text);
        case Of::window: root.table("network").table("nic").fail("reorder_window", fault->text);
        case Of::spray: root.table("network").fail("load_balance", fault->text);
        case Of::trim: root.table("network").table("trim").fail("threshold", fault->text);
        case Of::law: root.table("congestion").fail("law", "does not fit: " + fault->text);
        case Of::topology: break;
    }
    throw ConfigError(place_of(topology, scenario.path) + ": " + fault->text);
}

}  // namespace sluice
