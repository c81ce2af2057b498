// SPDX-License-Identifier: Apache-2.0
#include "workloads/goal/goal_text.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.h"
#include "workloads/goal/goal_binary.h"

namespace sluice {

namespace {

constexpr std::size_t kBlock = std::size_t{1} << 20;
constexpr std::size_t kLongestLine = kBlock;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// The lines of a stream, read in blocks.
class Lines {
  public:
    Lines(std::istream& input, const std::string& file) : input_(input), file_(file) {}

    int number() const { return number_; }
    [[noreturn]] void fail(const std::string& message) const {
        throw ConfigError(file_, number_, message);
    }

    /// The next line without its end; false at the end of the stream. Holds until the next call.
    bool next(std::string_view& line) {
        std::size_t searched = 0;
        for (;;) {
            const char* begin = buffer_.data() + at_;
            const std::size_t left = buffer_.size() - at_;
            const void* end =
                left > searched ? std::memchr(begin + searched, '\n', left - searched) : nullptr;
            if (end != nullptr) return take(line, static_cast<const char*>(end) - begin, 1);
            if (left > kLongestLine) {
                ++number_;
                fail("a line of more than 1 MiB; a statement has a line of its own");
            }
            searched = left;
            if (!refill()) return left > 0 && take(line, static_cast<std::ptrdiff_t>(left), 0);
        }
    }

  private:
    bool take(std::string_view& line, std::ptrdiff_t length, std::size_t newline) {
        line = {buffer_.data() + at_, static_cast<std::size_t>(length)};
        at_ += line.size() + newline;
        if (number_ < std::numeric_limits<int>::max()) ++number_;
        return true;
    }

    bool refill() {
        buffer_.erase(0, at_);
        at_ = 0;
        const std::size_t kept = buffer_.size();
        buffer_.resize(kept + kBlock);
        input_.read(buffer_.data() + kept, kBlock);
        const auto got = static_cast<std::size_t>(input_.gcount());
        buffer_.resize(kept + got);
        return got > 0;
    }

    std::istream& input_;
    const std::string& file_;
    std::string buffer_;
    std::size_t at_ = 0;
    int number_ = 0;
};

/// The labels of a rank. Those that traces and generators write, l1, l2, ... from 1 or on from the
/// rank before, take a table; others are hashed.
class Labels {
  public:
    /// False if the label exists.
    bool add(std::string_view label, std::uint32_t op) {
        if (std::uint32_t* slot = counted(label, op)) return std::exchange(*slot, op + 1) == 0;
        return other_.emplace(label, op).second;
    }
    /// Null if there is none.
    const std::uint32_t* find(std::string_view label) {
        std::uint32_t number = 0;
        if (numbered(label, number) && number >= base_ && number - base_ < counted_.size() &&
            counted_[number - base_] != 0) {
            found_ = counted_[number - base_] - 1;
            return &found_;
        }
        key_.assign(label);
        const auto entry = other_.find(key_);
        return entry == other_.end() ? nullptr : &entry->second;
    }
    void clear() {
        counted_.clear();
        other_.clear();
    }

  private:
    static bool numbered(std::string_view label, std::uint32_t& number) {
        if (label.size() < 2 || label.size() > 10 || label[0] != 'l' || label[1] == '0') {
            return false;
        }
        std::uint64_t value = 0;
        for (const char c : label.substr(1)) {
            if (!is_digit(c)) return false;
            value = value * 10 + static_cast<std::uint64_t>(c - '0');
        }
        number = static_cast<std::uint32_t>(value);
        return true;
    }
    /// The slot of a label whose number is not far beyond the operations that there are; null for
    /// one that must be hashed, or is already.
    std::uint32_t* counted(std::string_view label, std::uint32_t op) {
        std::uint32_t number = 0;
        if (!numbered(label, number)) return nullptr;
        if (counted_.empty()) base_ = number;
        if (number < base_ || number - base_ > 2 * (op + std::uint64_t{512})) return nullptr;
        number -= base_;
        key_.assign(label);
        if (!other_.empty() && other_.count(key_) > 0) return nullptr;
        if (number >= counted_.size()) {
            counted_.resize(std::max<std::size_t>(number + std::size_t{1}, counted_.size() * 2), 0);
        }
        return &counted_[number];
    }

    std::vector<std::uint32_t> counted_;  ///< by number - base_: operation + 1
    std::uint32_t base_ = 0;
    std::unordered_map<std::string, std::uint32_t> other_;
    std::string key_;
    std::uint32_t found_ = 0;
};

class TextReader {
  public:
    TextReader(std::istream& input, const std::string& file) : lines_(input, file), file_(file) {}

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
                const bool wild = op.kind == GoalKind::recv && any();
                op.tag =
                    wild ? kGoalAny : static_cast<std::uint32_t>(number("a tag", kGoalAny - 1));
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

    Lines lines_;
    const std::string& file_;
    std::string_view line_;
    std::size_t at_ = 0;
    bool comment_ = false;
    bool inside_ = false;
    std::uint32_t ranks_ = 0;
    std::uint32_t rank_ = 0;
    Labels labels_;
    GoalBuilder builder_;
};

void append_operation(fmt::memory_buffer& out, const GoalSchedule& s, GoalOp op,
                      std::uint64_t number) {
    const auto to = std::back_inserter(out);
    if (s.kind(op) == GoalKind::calc) {
        fmt::format_to(to, "l{}: calc {}", number, s.size(op));
        if (s.cpu(op) > 0) fmt::format_to(to, " cpu {}", s.cpu(op));
    } else {
        fmt::format_to(to, "l{}: {} {}b {} ", number, to_string(s.kind(op)), s.size(op),
                       s.kind(op) == GoalKind::send ? "to" : "from");
        s.peer(op) == kGoalAny ? fmt::format_to(to, "-1") : fmt::format_to(to, "{}", s.peer(op));
        s.tag(op) == kGoalAny ? fmt::format_to(to, " tag -1")
                              : fmt::format_to(to, " tag {}", s.tag(op));
        if (s.cpu(op) > 0) fmt::format_to(to, " cpu {}", s.cpu(op));
        if (s.nic(op) > 0) fmt::format_to(to, " nic {}", s.nic(op));
    }
    out.push_back('\n');
}

}  // namespace

GoalSchedule read_goal_text(std::istream& input, const std::string& file, ImportReport& report) {
    GoalSchedule schedule = TextReader(input, file).read(report);
    report.read(file,
                fmt::format("GOAL text, {} ranks, {} operations, {} dependencies",
                            schedule.rank_count(), schedule.op_count(), schedule.edge_count()));
    return schedule;
}

void write_goal_text(const GoalSchedule& schedule,
                     const std::function<void(std::string_view)>& write) {
    fmt::memory_buffer out;
    fmt::format_to(std::back_inserter(out), "num_ranks {}\n", schedule.rank_count());
    for (std::uint32_t rank = 0; rank < schedule.rank_count(); ++rank) {
        fmt::format_to(std::back_inserter(out), "\nrank {} {{\n", rank);
        const GoalOp first = schedule.first(rank);
        for (GoalOp op = first; op < schedule.first(rank + 1); ++op) {
            append_operation(out, schedule, op, op - first + 1);
        }
        for (GoalOp op = first; op < schedule.first(rank + 1); ++op) {
            const GoalSchedule::Edges edges = schedule.edges(rank, op);
            for (std::size_t i = 0; i < edges.size(); ++i) {
                fmt::format_to(std::back_inserter(out), "l{} {} l{}\n", edges[i].op - first + 1,
                               edges[i].start ? "irequires" : "requires", op - first + 1);
            }
        }
        out.push_back('}');
        out.push_back('\n');
        write({out.data(), out.size()});
        out.clear();
    }
    if (out.size() > 0) write({out.data(), out.size()});
}

GoalSchedule read_goal(const std::string& path, ImportReport& report) {
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
    input.clear();
    input.seekg(0);
    return binary ? read_goal_binary(input, path, report) : read_goal_text(input, path, report);
}

}  // namespace sluice
