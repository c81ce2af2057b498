// SPDX-License-Identifier: Apache-2.0
/// Helpers for tests of the memo.
#pragma once

#include <vector>

#include "core/memo/memo.h"

namespace sluice::memo::test {

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
