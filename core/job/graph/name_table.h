// SPDX-License-Identifier: Apache-2.0
/// Names by number, in order of appearance; each once.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/job/operation.h"

namespace sluice {

class NameTable {
  public:
    NameId intern(std::string_view name) {
        const auto [it, fresh] =
            ids_.try_emplace(std::string(name), static_cast<NameId>(names_.size()));
        if (fresh) names_.push_back(it->first);
        return it->second;
    }
    const std::string& operator[](NameId id) const { return names_[id]; }
    /// No more are added: gives the memory back that this needs.
    void forget() { ids_ = {}; }

  private:
    std::vector<std::string> names_;
    std::unordered_map<std::string, NameId> ids_;
};

}  // namespace sluice
