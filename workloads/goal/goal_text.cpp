// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/goal_text.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <utility>

#include <fmt/format.h>

#include "core/error.h"
#include "workloads/goal/goal_binary.h"
#include "workloads/goal/goal_scanner.h"
#include "workloads/goal/htsim_files.h"

namespace sluice {

namespace {

using goal_text::is_blank;
using goal_text::is_digit;
using goal_text::is_letter;

class TextReader {
  public:
    /// With `on_rank`, each rank goes there as a schedule of its own, and none is kept.
    TextReader(std::istream& input, const std::string& file, GoalRankSink on_rank = {})
        : lines_(input, file), file_(file), on_rank_(std::move(on_rank)) {}

    GoalSchedule read(ImportReport& report) {
        while (ranks_ == 0 || rank_ < ranks_ || inside_) {
            if (!at_statement()) break;
            statement();
        }
        if (inside_) lines_.fail(fmt::format("rank {} has no closing }}", rank_));
        if (ranks_ == 0) lines_.fail("no num_ranks line");
        if (rank_ < ranks_) {
            lines_.fail(fmt::format("the file ends after {} of {} ranks", rank_, ranks_));
        }
        if (at_statement()) {
            report.skipped(fmt::format("{}:{}", file_, lines_.number()),
                           fmt::format("text after rank {}, the last of num_ranks", ranks_ - 1));
        }
        return builder_.finish();
    }

  private:
    [[noreturn]] void fail(const std::string& message) const { lines_.fail(message); }

    /// To the next thing that is neither blank nor comment, on this line only; false at its end.
    bool skip() {
        while (at_ < line_.size()) {
            if (comment_) {
                const std::size_t end = line_.find("*/", at_);
                comment_ = end == std::string_view::npos;
                at_ = comment_ ? line_.size() : end + 2;
            } else if (is_blank(line_[at_])) {
                ++at_;
            } else if (line_.compare(at_, 2, "//") == 0) {
                at_ = line_.size();
            } else if (line_.compare(at_, 2, "/*") == 0) {
                comment_ = true;
                at_ += 2;
            } else {
                return true;
            }
        }
        return false;
    }

    /// To the next statement, on whatever line; false at the end of the file.
    bool at_statement() {
        while (!skip()) {
            if (!lines_.next(line_)) return false;
            at_ = 0;
        }
        return true;
    }

    std::string here() {
        if (!skip()) return "the end of the line";
        std::size_t end = at_ + 1;
        while (end < line_.size() && end < at_ + 20 && !is_blank(line_[end])) ++end;
        return "\"" + std::string(line_.substr(at_, end - at_)) + "\"";
    }

    /// The next word, empty if there is none: letters, digits and _ after a letter.
    std::string_view word() {
        if (!skip() || !is_letter(line_[at_])) return {};
        const std::size_t begin = at_;
        while (at_ < line_.size() &&
               (is_letter(line_[at_]) || is_digit(line_[at_]) || line_[at_] == '_')) {
            ++at_;
        }
        return line_.substr(begin, at_ - begin);
    }

    bool mark(char c) {
        if (!skip() || line_[at_] != c) return false;
        ++at_;
        return true;
    }

    std::uint64_t number(const char* what, std::uint64_t highest) {
        if (!skip() || !is_digit(line_[at_])) {
            fail(fmt::format("expected {}, found {}", what, here()));
        }
        std::uint64_t value = 0;
        const std::size_t begin = at_;
        for (; at_ < line_.size() && is_digit(line_[at_]); ++at_) {
            const auto digit = static_cast<std::uint64_t>(line_[at_] - '0');
            value = value > highest ? value : value * 10 + digit;
        }
        if (value > highest) {
            fail(fmt::format("{} {}: at most {} is allowed", what,
                             line_.substr(begin, std::min<std::size_t>(at_ - begin, 30)), highest));
        }
        return value;
    }

    bool any() {
        if (!skip() || line_.compare(at_, 2, "-1") != 0) return false;
        at_ += 2;
        return true;
    }

    /// A statement ends with its line, or where its rank does.
    void end_of_statement() {
        if (skip() && line_[at_] != '}') {
            fail("expected the end of the line, found " + here());
        }
    }

    void statement() {
        if (mark('}')) return close_rank();
        const std::string_view first = word();
        if (first.empty()) {
            fail("expected num_ranks, rank, a label, send, recv, calc or }, found " + here());
        }
        if (first == "num_ranks") return header();
        if (first == "rank") return open_rank();
        if (!inside_) fail("\"" + std::string(first) + "\" stands outside of any rank");
        if (operation(first, {})) return;
        if (mark(':')) {
            const std::string_view kind = word();
            if (!operation(kind, first)) fail("expected send, recv or calc after the label");
            return;
        }
        dependency(first);
    }

    void header() {
        if (ranks_ > 0) fail("num_ranks appears twice");
        ranks_ = static_cast<std::uint32_t>(number("a number of ranks", kMostGoalRanks));
        if (ranks_ == 0) fail("num_ranks 0: at least one rank is needed");
    }

    void open_rank() {
        if (ranks_ == 0) fail("num_ranks must come before the first rank");
        if (inside_) fail(fmt::format("rank {} has no closing }}", rank_));
        const std::uint64_t rank = number("a rank", kMostGoalRanks);
        if (rank != rank_) {
            fail(fmt::format("rank {} where rank {} is due: ranks must appear in order, 0 to {}",
                             rank, rank_, ranks_ - 1));
        }
        if (!mark('{')) fail("expected {, found " + here());
        inside_ = true;
    }

    void close_rank() {
        if (!inside_) fail("} without a rank");
        builder_.end_rank();
        if (on_rank_) {
            on_rank_(ranks_, builder_.finish());
            builder_ = GoalBuilder();
        }
        labels_.clear();
        inside_ = false;
        ++rank_;
    }

    bool operation(std::string_view kind, std::string_view label) {
        GoalOperation op;
        if (kind == "send") {
            op.kind = GoalKind::send;
        } else if (kind == "recv") {
            op.kind = GoalKind::recv;
        } else if (kind != "calc") {
            return false;
        }
        if (builder_.op_count() >= kMostGoalOps) fail("a rank has 2^31 operations or more");
        // The label's text lies in this line, which is still there.
        if (op.kind == GoalKind::calc) {
            op.size = number("a number of nanoseconds", kMostGoalSize);
            options(op, false);
        } else {
            message(op);
        }
        end_of_statement();
        const std::uint32_t id = builder_.add(op);
        if (!label.empty() && !labels_.add(label, id)) {
            fail(fmt::format("label {} is defined twice in rank {}", label, rank_));
        }
        return true;
    }

    void message(GoalOperation& op) {
        const bool send = op.kind == GoalKind::send;
        op.size = number("a number of bytes", kMostGoalSize);
        if (word() != "b") fail("expected the unit b after a size, as in 64b");
        if (word() != (send ? "to" : "from")) {
            fail(send ? "expected \"to\" after the size of a send"
                      : "expected \"from\" after the size of a recv");
        }
        if (!send && any()) {
            op.peer = kGoalAny;
        } else {
            op.peer = static_cast<std::uint32_t>(number("a rank", kMostGoalRanks));
            if (op.peer >= ranks_) {
                fail(fmt::format("rank {}: there are ranks 0 to {}", op.peer, ranks_ - 1));
            }
        }
        options(op, true);
    }

    /// Schedgen computes tags as 32-bit numbers with a sign and writes them as 64-bit ones without:
    /// -1, any, as 2^64 - 1, and those of communicators from 128 on as 2^64 - 2^31 and more.
    std::uint32_t tag(bool recv) {
        if (recv && any()) return kGoalAny;
        if (!skip() || !is_digit(line_[at_])) fail("expected a tag, found " + here());
        const std::size_t begin = at_;
        while (at_ < line_.size() && is_digit(line_[at_])) ++at_;
        const std::string_view digits = line_.substr(begin, at_ - begin);
        constexpr std::uint64_t kNegative = ~std::uint64_t{0} - 0x7fffffff;
        std::uint64_t value = 0;
        const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        const bool folded = value <= kGoalAny || value >= kNegative;
        const auto tag = static_cast<std::uint32_t>(value);
        if (read.ec != std::errc{} || !folded || (tag == kGoalAny && !recv)) {
            fail(
                fmt::format("a tag {}: at most {} is allowed, or a 32-bit number below 0 written "
                            "as a 64-bit one; -1 or 2^64 - 1, any, for a recv only",
                            digits.substr(0, 30), kGoalAny - 1));
        }
        return tag;
    }

    /// tag, cpu and nic, in this order, each at most once; calc has only cpu.
    void options(GoalOperation& op, bool message) {
        int stage = message ? 0 : 1;
        while (skip() && is_letter(line_[at_])) {
            const std::size_t begin = at_;
            const std::string_view key = word();
            const int next = key == "tag" ? 1 : key == "cpu" ? 2 : key == "nic" ? 3 : 0;
            if (next <= stage || (!message && next != 2)) {
                at_ = begin;
                fail(message
                         ? "expected tag, cpu, nic, in this order, or the end of the line, found " +
                               here()
                         : "expected cpu or the end of the line, found " + here());
            }
            stage = next;
            if (next == 1) {
                op.tag = tag(op.kind == GoalKind::recv);
            } else {
                (next == 2 ? op.cpu : op.nic) =
                    static_cast<std::uint8_t>(number(next == 2 ? "a cpu" : "a nic", 255));
            }
        }
    }

    std::uint32_t label(std::string_view name) {
        const std::uint32_t* op = labels_.find(name);
        if (op == nullptr) {
            fail(fmt::format("label {} is not defined above in rank {}", name, rank_));
        }
        return *op;
    }

    void dependency(std::string_view waiting) {
        const std::string_view verb = word();
        if (verb != "requires" && verb != "irequires") {
            fail(fmt::format("expected :, requires or irequires after {}, found {}", waiting,
                             verb.empty() ? here() : "\"" + std::string(verb) + "\""));
        }
        const std::uint32_t op = label(waiting);
        const std::string_view name = word();
        if (name.empty()) fail("expected a label, found " + here());
        builder_.add_edge(op, label(name), verb == "irequires");
        end_of_statement();
    }

    goal_text::Lines lines_;
    const std::string& file_;
    GoalRankSink on_rank_;
    std::string_view line_;
    std::size_t at_ = 0;
    bool comment_ = false;
    bool inside_ = false;
    std::uint32_t ranks_ = 0;
    std::uint32_t rank_ = 0;
    goal_text::Labels labels_;
    GoalBuilder builder_;
};

void refuse_htsim(const std::string& path) {
    switch (htsim_file(path)) {
        case HtsimFile::none: return;
        case HtsimFile::matrix:
            throw ConfigError(path, 0,
                              "is htsim's connection matrix, no GOAL schedule: workload type "
                              "\"htsim\" reads it");
        case HtsimFile::topology:
            throw ConfigError(path, 0,
                              "is htsim's topology, no GOAL schedule: topology type \"file\" "
                              "reads it");
    }
}

}  // namespace

GoalSchedule read_goal_text(std::istream& input, const std::string& file, ImportReport& report) {
    GoalSchedule schedule = TextReader(input, file).read(report);
    report.read(file,
                fmt::format("GOAL text, {} ranks, {} operations, {} dependencies",
                            schedule.rank_count(), schedule.op_count(), schedule.edge_count()));
    return schedule;
}

void read_goal_ranks(std::istream& input, const std::string& file, const GoalRankSink& on_rank) {
    ImportReport report;
    TextReader(input, file, on_rank).read(report);
}

bool goal_file_is_binary(const std::string& path) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (!std::filesystem::exists(status)) throw ConfigError(path, 0, "no such file");
    if (std::filesystem::is_directory(status)) {
        throw ConfigError(path, 0, "is a folder, not a file");
    }
    std::ifstream input(path, std::ios::binary);
    char magic[8] = {};
    input.read(magic, sizeof(magic));
    if (input.bad() || !input.is_open()) throw ConfigError(path, 0, "cannot be read");
    if (input.gcount() == 0) throw ConfigError(path, 0, "is empty");
    const bool binary = input.gcount() == sizeof(magic) && is_goal_binary({magic, sizeof(magic)});
    if (!binary) refuse_htsim(path);
    return binary;
}

GoalSchedule read_goal(const std::string& path, ImportReport& report) {
    const bool binary = goal_file_is_binary(path);
    std::ifstream input(path, std::ios::binary);
    return binary ? read_goal_binary(input, path, report) : read_goal_text(input, path, report);
}

}  // namespace sluice
