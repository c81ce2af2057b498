// SPDX-License-Identifier: Apache-2.0
/// Helpers for tests of the memo.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/memo/memo.h"

namespace sluice::memo::test {

/// A folder that is gone with its owner.
class TestFolder {
  public:
    TestFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "sluice-memo-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~TestFolder() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }
    TestFolder(const TestFolder&) = delete;
    TestFolder& operator=(const TestFolder&) = delete;

    std::string file(const std::string& name) const { return (path_ / name).string(); }

  private:
    std::filesystem::path path_;
};

inline std::string read_bytes(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_bytes(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// An entry of what is told at once, `n` standing for what it is of.
inline Stored stored(std::uint64_t n, const std::vector<Sample>& samples,
                     const std::vector<Audit>& audits = {}) {
    const Digest digest{n * 0x9e3779b97f4a7c15ULL, n};
    Memo memo;
    for (const Sample& sample : samples) {
        memo.add(digest, 0, n % 2 == 0 ? Kind::episode : Kind::transient,
                 {static_cast<std::int64_t>(n), -7}, sample);
    }
    for (const Audit& audit : audits) memo.add_audit(digest, 0, audit);
    return memo.news().at(0);
}

inline bool same(const Entry& a, const Entry& b) {
    if (a.kind != b.kind || *a.facts != *b.facts || a.audits != b.audits ||
        a.samples.size() != b.samples.size()) {
        return false;
    }
    for (std::size_t i = 0; i < a.samples.size(); ++i) {
        if (!(*a.samples[i].sample == *b.samples[i].sample) ||
            a.samples[i].count != b.samples[i].count) {
            return false;
        }
    }
    return true;
}

inline bool same(const Content& a, const Content& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i].digest != b[i].digest || !same(a[i].entry, b[i].entry)) return false;
    }
    return true;
}

}  // namespace sluice::memo::test
