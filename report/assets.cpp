// SPDX-License-Identifier: Apache-2.0
#include "report/assets.h"

#include <cstddef>

namespace sluice::report {

/// Written by embed.cmake; the last one has no name.
struct Asset {
    const char* name;
    const char* bytes;
    std::size_t size;
};
extern const Asset kAssets[];

std::string_view asset(std::string_view name) {
    for (const Asset* each = kAssets; each->name != nullptr; ++each) {
        if (name == each->name) return {each->bytes, each->size};
    }
    return {};
}

}  // namespace sluice::report
