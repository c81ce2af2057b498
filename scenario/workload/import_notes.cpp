// SPDX-License-Identifier: Apache-2.0
#include "scenario/workload/import_notes.h"

#include <fmt/core.h>

#include "core/error.h"

namespace sluice {

namespace {

constexpr std::size_t kShownNotes = 5;

}  // namespace

std::vector<std::string> note_lines(const ImportReport& report, const std::string& lister) {
    std::vector<std::string> lines;
    for (const ImportNote& note : report.notes()) {
        if (note.kind == ImportNote::Kind::read || lines.size() == kShownNotes) {
            continue;
        }
        lines.push_back(
            fmt::format("{}: {}: {}", note.where, ImportReport::name(note.kind), note.text));
    }
    const std::size_t all = report.count(ImportNote::Kind::skipped) +
                            report.count(ImportNote::Kind::doubtful) +
                            report.count(ImportNote::Kind::misfit);
    if (all > lines.size()) {
        lines.push_back(fmt::format("{} more of these; {} lists them", all - lines.size(), lister));
    }
    return lines;
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
