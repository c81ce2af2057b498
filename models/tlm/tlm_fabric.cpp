// SPDX-License-Identifier: Apache-2.0
#include "models/tlm/tlm_fabric.h"

#include <algorithm>

#include "core/error.h"

namespace sluice {

TlmFabricBase::TlmFabricBase(const sc_core::sc_module_name& name, Network& network, AddressMap map,
                             const HostPortOptions& options)
    : sc_module(name), map_(std::move(map)) {
    for (const AddressWindow& window : map_.windows()) {
        const std::string number = std::to_string(window.host);
        Sides& made = sides_.emplace_back();
        made.host = window.host;
        made.port =
            std::make_unique<HostPort>(("port" + number).c_str(), network, window.host, options);
        made.memory = std::make_unique<MemoryAccess>(("access" + number).c_str());
        made.requester = std::make_unique<Requester>(("requester" + number).c_str(), *made.port,
                                                     map_, memories_);
        memories_.resize(std::max<std::size_t>(memories_.size(), window.host + 1), nullptr);
        memories_[window.host] = made.memory.get();
    }
}

// Last built, first destroyed: SystemC looks for what it unregisters from the end.
TlmFabricBase::~TlmFabricBase() {
    while (!sides_.empty()) {
        sides_.pop_back();
    }
}

std::size_t TlmFabricBase::place(NodeId host) const {
    for (std::size_t at = 0; at < sides_.size(); ++at) {
        if (sides_[at].host == host) {
            return at;
        }
    }
    throw ConfigError("fabric " + std::string(name()) + ": host " + std::to_string(host) +
                      " has no window in the address map");
}

}  // namespace sluice
