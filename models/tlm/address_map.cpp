// SPDX-License-Identifier: Apache-2.0
#include "models/tlm/address_map.h"

#include <algorithm>
#include <ios>
#include <limits>
#include <sstream>
#include <string>

#include "core/error.h"

namespace sluice {

namespace {

std::string hexadecimal(std::uint64_t number) {
    std::ostringstream text;
    text << std::hex << std::showbase << number;
    return text.str();
}

}  // namespace

void AddressMap::add(NodeId host, std::uint64_t base, std::uint64_t size) {
    const auto refuse = [&](const std::string& why) {
        throw ConfigError("address map: the window of host " + std::to_string(host) + " at " +
                          hexadecimal(base) + ", " + hexadecimal(size) + " bytes, " + why);
    };
    if (size == 0) {
        refuse("is empty; allowed: at least 1 byte");
    }
    if (size - 1 > std::numeric_limits<std::uint64_t>::max() - base) {
        refuse("ends beyond 2^64");
    }
    const AddressWindow window{host, base, size};
    for (const AddressWindow& other : windows_) {
        if (other.host == host) {
            refuse("is its second; its first is at " + hexadecimal(other.base));
        }
        if (window.base <= other.last() && other.base <= window.last()) {
            refuse("overlaps that of host " + std::to_string(other.host) + " at " +
                   hexadecimal(other.base));
        }
    }
    const auto place = std::upper_bound(
        windows_.begin(), windows_.end(), base,
        [](std::uint64_t wanted, const AddressWindow& one) { return wanted < one.base; });
    windows_.insert(place, window);
}

const AddressWindow* AddressMap::find(std::uint64_t address) const {
    const auto after = std::upper_bound(
        windows_.begin(), windows_.end(), address,
        [](std::uint64_t wanted, const AddressWindow& one) { return wanted < one.base; });
    if (after == windows_.begin() || address > (after - 1)->last()) {
        return nullptr;
    }
    return &*(after - 1);
}

}  // namespace sluice
