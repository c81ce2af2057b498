// SPDX-License-Identifier: Apache-2.0
/// Lists that are sets: ascending, nothing twice.
#pragma once

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

namespace sluice {

template <class T>
void sort_unique(std::vector<T>& list) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// Those of `all` that are not in `known`, which then has them, too.
template <class T>
std::vector<T> add_new(std::vector<T>& known, const std::vector<T>& all) {
    std::vector<T> fresh;
    std::set_difference(all.begin(), all.end(), known.begin(), known.end(),
                        std::back_inserter(fresh));
    std::vector<T> both;
    std::set_union(known.begin(), known.end(), fresh.begin(), fresh.end(),
                   std::back_inserter(both));
    known = std::move(both);
    return fresh;
}

}  // namespace sluice
