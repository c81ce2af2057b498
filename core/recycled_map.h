// SPDX-License-Identifier: Apache-2.0
/// A hash map that keeps the nodes of erased entries for later ones. Entries that come and go cost no allocation.
#pragma once

#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace sluice {

template <class Key, class Value>
class RecycledMap {
    using Map = std::unordered_map<Key, Value>;

  public:
    /// Null: there is none. Valid until it is erased.
    Value* find(const Key& key) {
        const auto found = map_.find(key);
        return found == map_.end() ? nullptr : &found->second;
    }
    const Value* find(const Key& key) const {
        const auto found = map_.find(key);
        return found == map_.end() ? nullptr : &found->second;
    }
    /// `key` has no entry.
    void add(const Key& key, const Value& value) {
        if (spare_.empty()) {
            map_.emplace(key, value);
            return;
        }
        spare_.back().key() = key;
        spare_.back().mapped() = value;
        map_.insert(std::move(spare_.back()));
        spare_.pop_back();
    }
    void erase(const Key& key) {
        auto node = map_.extract(key);
        if (!node.empty()) spare_.push_back(std::move(node));
    }
    /// Erases it. Nothing: there is none.
    std::optional<Value> take(const Key& key) {
        auto node = map_.extract(key);
        if (node.empty()) return std::nullopt;
        std::optional<Value> value = node.mapped();
        spare_.push_back(std::move(node));
        return value;
    }

    typename Map::iterator begin() { return map_.begin(); }
    typename Map::iterator end() { return map_.end(); }

  private:
    Map map_;
    std::vector<typename Map::node_type> spare_;
};

}  // namespace sluice
