// SPDX-License-Identifier: Apache-2.0
#include "core/text/import_report.h"

#include <utility>

namespace sluice {

namespace {

constexpr const char* kKinds[] = {"read", "skipped", "doubtful", "does not fit"};

std::pair<std::string, std::string> split_place(const std::string& line, const std::string& where) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) return {where, line};
    return {line.substr(0, colon), line.substr(colon + 2)};
}

}  // namespace

void ImportReport::read(const std::string& where, const std::string& text) {
    add(ImportNote::Kind::read, where, text);
}

void ImportReport::skipped(const std::string& where, const std::string& text) {
    add(ImportNote::Kind::skipped, where, text);
}

void ImportReport::doubtful(const std::string& where, const std::string& text) {
    add(ImportNote::Kind::doubtful, where, text);
}

void ImportReport::misfit(const std::string& where, const std::string& text) {
    add(ImportNote::Kind::misfit, where, text);
}

void ImportReport::skipped_line(const std::string& line, const std::string& where) {
    const auto [place, text] = split_place(line, where);
    skipped(place, text);
}

void ImportReport::misfit_line(const std::string& line, const std::string& where) {
    const auto [place, text] = split_place(line, where);
    misfit(place, text);
}

void ImportReport::add(ImportNote::Kind kind, const std::string& where, const std::string& text) {
    if (++counts_[static_cast<int>(kind)] <= kMostNotes) notes_.push_back({kind, where, text});
}

const char* ImportReport::name(ImportNote::Kind kind) { return kKinds[static_cast<int>(kind)]; }

std::string ImportReport::text() const {
    std::string text;
    for (const ImportNote& note : notes_) {
        text += note.where + ": " + name(note.kind) + ": " + note.text + "\n";
    }
    for (int kind = 0; kind < 4; ++kind) {
        if (counts_[kind] > kMostNotes) {
            text += std::to_string(counts_[kind] - kMostNotes) + " more " + kKinds[kind] + "\n";
        }
    }
    return text + std::to_string(counts_[0]) + " read, " + std::to_string(counts_[1]) +
           " skipped, " +
           (counts_[2] > 0 ? std::to_string(counts_[2]) + " doubtful, " : std::string()) +
           std::to_string(counts_[3]) + " do not fit\n";
}

}  // namespace sluice
