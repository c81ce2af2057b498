// SPDX-License-Identifier: Apache-2.0
#include "scenario/combinations/configuration.h"

#include <algorithm>

#include "scenario/scenario.h"

namespace sluice {

Configuration::Configuration(const Scenario& scenario)
    : mode(scenario.mode),
      topology(scenario.topology),
      network(scenario.network),
      phases(scenario.phases),
      values(scenario.values.get()),
      link_events(!scenario.link_events.empty()),
      stops(scenario.stop != kNever) {
    round_trips = asks("output.rtt");
    watches_ports = gives("output.capture") || gives("output.waves");
}

const ConfigValue* Configuration::value(const std::string& path) const {
    const ConfigValue* at = values;
    std::size_t begin = 0;
    while (at != nullptr && begin <= path.size()) {
        const std::size_t end = std::min(path.find('.', begin), path.size());
        const ConfigMember* const member = at->find(path.substr(begin, end - begin));
        at = member == nullptr ? nullptr : &member->value;
        begin = end + 1;
    }
    return at;
}

bool Configuration::asks(const std::string& path) const {
    const ConfigValue* const found = value(path);
    return found != nullptr && found->boolean;
}

}  // namespace sluice
