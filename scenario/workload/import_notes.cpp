// SPDX-License-Identifier: Apache-2.0
#include "scenario/workload/import_notes.h"

#include <fmt/core.h>

#include "core/error.h"

namespace sluice {

namespace {

constexpr std::size_t kShownNotes = 5;

}  // namespace

void tell_notes(const ImportReport& report, const std::string& lister) {
    std::size_t shown = 0;
    for (const ImportNote& note : report.notes()) {
        if (note.kind == ImportNote::Kind::read || shown == kShownNotes) continue;
        ++shown;
        const bool skipped = note.kind == ImportNote::Kind::skipped;
        fmt::print(stderr, "sluice: {}: {}: {}\n", note.where, skipped ? "skipped" : "does not fit",
                   note.text);
    }
    const std::size_t all =
        report.count(ImportNote::Kind::skipped) + report.count(ImportNote::Kind::misfit);
    if (all > shown) {
        fmt::print(stderr, "sluice: {} more of these; {} lists them\n", all - shown, lister);
    }
}

void refuse_misfits(const ImportReport& report) {
    const std::size_t count = report.count(ImportNote::Kind::misfit);
    for (const ImportNote& note : report.notes()) {
        if (note.kind != ImportNote::Kind::misfit) continue;
        throw ConfigError(note.where + ": " + note.text +
                          (count > 1 ? fmt::format(" (and {} more; --check lists them)", count - 1)
                                     : std::string()));
    }
}

}  // namespace sluice
