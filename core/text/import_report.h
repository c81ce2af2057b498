// SPDX-License-Identifier: Apache-2.0
/// What an importer made of somebody's files: what was read, what was left out and why, and what
/// does not fit. `--check` prints it; a run prints what was skipped. A file that cannot be read at
/// all is not a note but a ConfigError.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace sluice {

struct ImportNote {
    enum class Kind : unsigned char {
        read,      ///< "92 layers", "8 ranks, 8 operations"
        skipped,   ///< understood or unknown, and without effect here
        doubtful,  ///< legal, run as it stands, and likely not what is meant
        misfit,    ///< contradicts something else; the run would refuse it
    };
    Kind kind = Kind::read;
    std::string where;  ///< "file:line", or the file
    std::string text;
};

class ImportReport {
  public:
    /// At most this many notes of a kind are kept; the rest are counted.
    static constexpr std::size_t kMostNotes = 1000;

    void read(const std::string& where, const std::string& text);
    void skipped(const std::string& where, const std::string& text);
    void doubtful(const std::string& where, const std::string& text);
    void misfit(const std::string& where, const std::string& text);
    /// The same of a message as ConfigError has it, "file:line: text", or without a place `where`.
    void skipped_line(const std::string& line, const std::string& where);
    void misfit_line(const std::string& line, const std::string& where);

    const std::vector<ImportNote>& notes() const { return notes_; }
    std::size_t count(ImportNote::Kind kind) const { return counts_[static_cast<int>(kind)]; }
    /// What a line about such a note says of it: "skipped", "does not fit", ...
    static const char* name(ImportNote::Kind kind);
    /// One line per note, "WHERE: read|skipped|doubtful|does not fit: TEXT", then the totals.
    std::string text() const;

  private:
    void add(ImportNote::Kind kind, const std::string& where, const std::string& text);

    std::vector<ImportNote> notes_;
    std::size_t counts_[4] = {0, 0, 0, 0};
};

}  // namespace sluice
