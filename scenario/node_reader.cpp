// SPDX-License-Identifier: Apache-2.0
#include "scenario/node_reader.h"

#include "core/text/quantity.h"

namespace sluice {

const NodeNames& NodeReader::names() {
    if (names_ == nullptr) names_ = std::make_unique<NodeNames>(topology_);
    return *names_;
}

NodeId NodeReader::node(const ConfigValue& value, const std::string& what) {
    const auto last = static_cast<std::int64_t>(topology_.node_count()) - 1;
    if (value.kind != ConfigValue::Kind::text) {
        return static_cast<NodeId>(integer_of(value, what.c_str(), 0, last));
    }
    const std::optional<NodeId> found = names().find(value.text);
    if (!found) {
        fail_at({value.at.text(), 0, what}, "is " + value.shown() + "; must be a node: 0 to " +
                                                std::to_string(last) + ", or " + names().known());
    }
    return *found;
}

NodeId NodeReader::host(const ConfigValue& value, const std::string& what) {
    const NodeId found = node(value, what);
    if (!topology_.is_host(found)) {
        fail_at({value.at.text(), 0, what},
                "is " + value.shown() + ", a switch; hosts are " + id_ranges(topology_.hosts()));
    }
    return found;
}

std::optional<std::vector<NodeId>> NodeReader::hosts(ConfigSection& section,
                                                     const std::string& key) {
    const auto ids = section.integers(
        key, [&](const ConfigValue& item) { return host(item, "an entry of '" + key + "'"); },
        std::size_t{1} << 24);
    if (!ids) return std::nullopt;
    return std::vector<NodeId>(ids->begin(), ids->end());
}

}  // namespace sluice
