// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>
#include <thread>

#include "core/error.h"
#include "workloads/chakra/trace.h"

namespace sluice::chakra {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEndings[] = {".et", ".et.gz", ".json", ".json.gz"};

/// "dir/name.12.et" as "dir/name" and 12; nullopt: not a trace's name.
std::optional<std::pair<std::string, std::uint32_t>> split_name(const std::string& path) {
    for (const std::string ending : kEndings) {
        if (path.size() <= ending.size() ||
            path.compare(path.size() - ending.size(), ending.size(), ending) != 0) {
            continue;
        }
        const std::string stem = path.substr(0, path.size() - ending.size());
        const std::size_t dot = stem.rfind('.');
        if (dot == std::string::npos || dot + 1 == stem.size() || stem.size() - dot > 10 ||
            stem.find_first_not_of("0123456789", dot + 1) != std::string::npos) {
            continue;
        }
        return std::make_pair(stem.substr(0, dot),
                              static_cast<std::uint32_t>(std::stoull(stem.substr(dot + 1))));
    }
    return std::nullopt;
}

using FilesByRank = std::map<std::uint32_t, std::string>;

/// The traces in a folder by their prefixes.
std::map<std::string, FilesByRank> list_folder(const fs::path& folder) {
    std::map<std::string, FilesByRank> found;
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
        const std::string path = it->path().string();
        const auto name = split_name(path);
        if (!name || fs::is_directory(it->path(), error)) continue;
        // Of name.0.et and name.0.json the first in kEndings' order counts: "et" sorts first.
        std::string& file = found[name->first][name->second];
        if (file.empty() || path < file) file = path;
    }
    if (error) throw ConfigError(folder.string() + ": cannot be read: " + error.message());
    return found;
}

std::vector<std::string> by_rank(const std::string& prefix, const FilesByRank& found) {
    std::vector<std::string> files;
    for (const auto& [rank, file] : found) {
        if (rank != files.size()) {
            throw ConfigError(prefix + "." + std::to_string(files.size()) +
                              ".et: does not exist, but there is a trace of rank " +
                              std::to_string(found.rbegin()->first) +
                              ": every rank from 0 on needs its own");
        }
        files.push_back(file);
    }
    return files;
}

/// Notes of one file at a time, in the files' order.
void append_notes(ImportReport& report, const ImportReport& notes) {
    for (const ImportNote& note : notes.notes()) {
        switch (note.kind) {
            case ImportNote::Kind::read: report.read(note.where, note.text); break;
            case ImportNote::Kind::skipped: report.skipped(note.where, note.text); break;
            case ImportNote::Kind::misfit: report.misfit(note.where, note.text); break;
            case ImportNote::Kind::doubtful: report.doubtful(note.where, note.text); break;
        }
    }
}

/// Chakra's first schema had an ending of its own.
void refuse_graphs(const std::string& prefix) {
    std::error_code error;
    if (!fs::exists(prefix + ".0.eg", error)) return;
    throw ConfigError(prefix +
                      ".0.eg: is an execution graph (.eg), as Chakra wrote before June 2023; "
                      "allowed: execution traces (.et) of its schema 0.0.4 (October 2023) and "
                      "later");
}

}  // namespace

std::vector<std::string> find_traces(const std::string& prefix_or_folder) {
    std::error_code error;
    if (fs::is_directory(prefix_or_folder, error)) {
        const std::map<std::string, FilesByRank> found = list_folder(prefix_or_folder);
        if (found.size() == 1) return by_rank(found.begin()->first, found.begin()->second);
        throw ConfigError(
            prefix_or_folder +
            (found.empty() ? ": holds no traces PREFIX.0.et, PREFIX.1.et, ..."
                           : ": holds traces of several jobs, " + found.begin()->first + " and " +
                                 std::next(found.begin())->first + ": give one as PREFIX"));
    }
    const fs::path path(prefix_or_folder);
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    FilesByRank files;
    if (fs::is_directory(folder, error)) {
        for (auto& [prefix, found] : list_folder(folder)) {
            if (fs::path(prefix).filename() == path.filename()) files = std::move(found);
        }
        // In the working directory, names stay as the user typed them.
        for (auto& [rank, file] : files) {
            if (!path.has_parent_path()) file = fs::path(file).filename().string();
        }
    }
    if (files.empty()) {
        refuse_graphs(prefix_or_folder);
        throw ConfigError(prefix_or_folder + ".0.et: does not exist; the traces' prefix or their " +
                          "folder is needed, the files being PREFIX.0.et, PREFIX.1.et, ...");
    }
    return by_rank(prefix_or_folder, files);
}

std::vector<Trace> read_traces(const std::vector<std::string>& files, unsigned threads,
                               ImportReport& report) {
    std::vector<Trace> traces(files.size());
    std::vector<ImportReport> notes(files.size());
    std::vector<std::exception_ptr> errors(files.size());
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    const auto work = [&] {
        for (std::size_t rank = next++; rank < files.size() && !failed; rank = next++) {
            try {
                traces[rank] = Trace::read(files[rank], notes[rank]);
            } catch (...) {
                errors[rank] = std::current_exception();
                failed = true;
            }
        }
    };
    std::vector<std::thread> others;
    const std::size_t useful = std::min<std::size_t>(threads, files.size());
    others.reserve(useful);
    try {
        for (std::size_t i = 1; i < useful; ++i) others.emplace_back(work);
    } catch (const std::system_error&) {
        // Those that there are read it all.
    }
    work();
    for (std::thread& other : others) other.join();
    for (std::size_t rank = 0; rank < files.size(); ++rank) {
        if (errors[rank]) std::rethrow_exception(errors[rank]);
        append_notes(report, notes[rank]);
    }
    return traces;
}

unsigned reading_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

}  // namespace sluice::chakra
