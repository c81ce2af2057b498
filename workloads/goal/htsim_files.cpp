// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/htsim_files.h"

#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <sstream>
#include <string_view>

namespace sluice {

namespace {

/// Comments and counts may stand before what tells.
constexpr std::size_t kLooksAt = std::size_t{64} << 10U;

std::string lower(std::string word) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return word;
}

bool one_of(const std::string& word, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

HtsimFile htsim_file(const std::string& path) {
    std::ifstream input(path, std::ios::binary);
    std::string text(kLooksAt, '\0');
    input.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(input.gcount(), 0)));
    std::istringstream lines(text);
    bool nodes = false;
    for (std::string line; std::getline(lines, line);) {
        std::string word;
        if (!(std::istringstream(line) >> word) || word[0] == '#') continue;
        word = lower(word);
        if (one_of(word, {"connections", "triggers", "failures"}) ||
            word.find("->") != std::string::npos) {
            return HtsimFile::matrix;
        }
        if (one_of(word, {"tiers", "podsize", "tier", "switch_latency_ns"}) ||
            word.rfind("link_speed_", 0) == 0) {
            return HtsimFile::topology;
        }
        nodes = nodes || word == "nodes";
        if (!one_of(word, {"nodes", "p", "a", "h", "q"})) break;  // the latter: of dragonflies
    }
    return nodes ? HtsimFile::matrix : HtsimFile::none;
}

}  // namespace sluice
