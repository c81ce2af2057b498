// SPDX-License-Identifier: Apache-2.0
/// Which address is whose: the global address map of a network's hosts.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ids.h"

namespace sluice {

/// The addresses of a host's memory, which itself begins at 0.
struct AddressWindow {
    NodeId host = kNone;
    std::uint64_t base = 0;
    std::uint64_t size = 0;  ///< bytes
    std::uint64_t last() const { return base + (size - 1); }
};

class AddressMap {
  public:
    /// ConfigError if the window is empty, ends beyond 2^64, or overlaps another, or if the host has one already.
    void add(NodeId host, std::uint64_t base, std::uint64_t size);
    /// The window that `address` is in. Null: it is in none.
    const AddressWindow* find(std::uint64_t address) const;
    /// By address.
    const std::vector<AddressWindow>& windows() const { return windows_; }

  private:
    std::vector<AddressWindow> windows_;
};

}  // namespace sluice
