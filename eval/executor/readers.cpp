// SPDX-License-Identifier: Apache-2.0
#include "eval/executor/readers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/core.h>

#include "core/error.h"
#include "core/text/config_value.h"
#include "core/text/quantity.h"
#include "core/text/tokens.h"

namespace sluice::eval {

namespace {

constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string shown(std::string_view text) { return shown_text(std::string(text)); }

/// The index behind the quotation that begins at `begin`; line.size() + 1: it has no end.
std::size_t behind_quotation(std::string_view line, std::size_t begin) {
    std::size_t at = begin;
    do {  // two are one within it
        at = std::min(line.find('"', at + (at == begin ? 1 : 2)), line.size());
    } while (at + 1 < line.size() && line[at + 1] == '"');
    return at + 1;
}

std::string_view trimmed(std::string_view cell) {
    while (!cell.empty() && is_blank(cell.front())) cell.remove_prefix(1);
    while (!cell.empty() && is_blank(cell.back())) cell.remove_suffix(1);
    return cell;
}

/// The next line that is neither empty nor a comment.
bool next_row(TokenReader& reader, std::string_view& line) {
    while (reader.next_line(line)) {
        const std::string_view content = trimmed(line);
        if (!content.empty() && content.front() != '#') return true;
    }
    return false;
}

/// The cells of the reader's current line, without quotes around them. ' ' stands for any number of blanks and tabs.
void split(const TokenReader& reader, std::string_view line, char separator,
           std::vector<std::string_view>& cells) {
    cells.clear();
    const bool by_blanks = separator == ' ';
    const auto ends = [&](char c) { return by_blanks ? is_blank(c) : c == separator; };
    for (std::size_t at = 0;; ++at) {
        while (at < line.size() && is_blank(line[at]) && (by_blanks || !ends(line[at]))) ++at;
        if (by_blanks && at == line.size()) return;
        const bool quotation = at < line.size() && line[at] == '"';
        const std::size_t behind = quotation ? behind_quotation(line, at) : at;
        std::size_t end = behind;
        while (end < line.size() && !ends(line[end])) ++end;
        if (quotation &&
            (end > line.size() || !trimmed(line.substr(behind, end - behind)).empty())) {
            reader.fail("a quotation that does not end where its cell does (allowed: \"\" in it)");
        }
        cells.push_back(quotation ? line.substr(at + 1, behind - at - 2)
                                  : trimmed(line.substr(at, end - at)));
        if (end == line.size()) return;
        at = end;
    }
}

/// A sign and its name.
std::pair<char, const char*> separator_of(std::string_view line) {
    for (const auto& [sign, name] :
         {std::pair('\t', "tabs"), {';', "semicolons"}, {',', "commas"}}) {
        if (trimmed(line).find(sign) != line.npos) return {sign, name};
    }
    return {' ', "blanks"};
}

/// What a cell says, with its doubled quotes as one.
std::string text_of(std::string_view cell) {
    std::string text(cell);
    for (std::size_t at = text.find("\"\""); at != text.npos; at = text.find("\"\"", at + 1)) {
        text.erase(at, 1);
    }
    return text;
}

enum class Content : std::uint8_t { empty, number, not_finite, other };

/// `value` is set if it is a number.
Content content_of(std::string_view cell, double& value) {
    if (cell.empty()) return Content::empty;
    if (cell.front() == '+' && cell.size() > 1 && cell[1] != '-') cell.remove_prefix(1);
    double number = 0;
    const char* const end = cell.data() + cell.size();
    const auto [stop, status] = std::from_chars(cell.data(), end, number);
    if (stop != end || status == std::errc::invalid_argument) return Content::other;
    if (status != std::errc() || !std::isfinite(number)) return Content::not_finite;
    value = number;
    return Content::number;
}

/// What a column is for, besides its values.
enum class Role : std::uint8_t { none, time, start, ideal, size, candidate, trial };

struct Column {
    std::string name;
    Role role = Role::none;
    double units = 1;           ///< of a time, in a second
    std::vector<double> cells;  ///< by row; kNoValue where there is none
    std::size_t numbers = 0;    ///< cells that are numbers, infinite ones and NaN among them
    std::size_t filled = 0;
    int bad_line = 0;  ///< of the first cell that is no finite number; 0: there is none
    std::string bad_cell;
};

/// Names in the order in which a column first has them.
struct Names {
    std::vector<std::uint32_t> of_row;  ///< indices of `all`; empty: there is no such column
    std::vector<std::string> all;
    std::unordered_map<std::string, std::uint32_t> index;
};

struct Table {
    std::vector<Column> columns;
    Names candidates;
    Names trials;
    std::size_t rows = 0;
};

/// What may follow the name of a quantity.
struct Suffix {
    const char* text;
    double units;  ///< in a second
};
constexpr Suffix kTimes[] = {{"_s", 1}, {"_ms", 1e3}, {"_us", 1e6}, {"_ns", 1e9}, {"_ps", 1e12}};
constexpr Suffix kBytes[] = {{"_bytes", 1}, {"", 1}};
constexpr Suffix kTrial[] = {{"trial", 1}};
constexpr Suffix kCandidate[] = {{"candidate", 1}, {"label", 1}};

/// Whether there is a column for it.
template <std::size_t N>
bool give_role(Table& table, const std::string& name, const Suffix (&suffixes)[N], Role role) {
    for (const Suffix& suffix : suffixes) {
        for (Column& column : table.columns) {
            if (column.name != name + suffix.text) continue;
            column.role = role;
            column.units = suffix.units;
            return true;
        }
    }
    return false;
}

/// `samples`: columns say which rows are of one candidate, and of one trial.
void give_roles(Table& table, bool samples) {
    if (samples) {
        give_role(table, "", kTrial, Role::trial);
        give_role(table, "", kCandidate, Role::candidate);
    }
    if (!give_role(table, "fct", kTimes, Role::time)) return;
    give_role(table, "start", kTimes, Role::start);
    give_role(table, "ideal", kTimes, Role::ideal);
    give_role(table, "size", kBytes, Role::size);
}

void take_header(const TokenReader& reader, const std::vector<std::string_view>& cells,
                 Table& table) {
    std::unordered_set<std::string> known;
    for (const std::string_view cell : cells) {
        Column column;
        column.name = text_of(cell);
        if (!column.name.empty() && !known.insert(column.name).second) {
            reader.fail("two columns are called " + shown(column.name) + " (allowed: one)");
        }
        table.columns.push_back(std::move(column));
    }
}

[[noreturn]] void refuse_cell(const Place& place, const Column& column, std::string_view cell,
                              std::string_view allowed) {
    fail_at(place, fmt::format("column {} has numbers, but here {} (allowed: {})",
                               shown(column.name), shown(cell), allowed));
}

void take_number(const TokenReader& reader, Column& column, std::string_view cell) {
    double value = kNoValue;
    const Content content = content_of(cell, value);
    if (column.role != Role::none && value < 0) refuse_cell(reader.place(), column, cell, ">= 0");
    if (column.role == Role::size && (value > 9e18 || std::floor(value) < value)) {
        refuse_cell(reader.place(), column, cell, "whole bytes, up to 9e18");
    }
    column.cells.push_back(value);
    if (content == Content::empty) return;
    ++column.filled;
    if (content != Content::other) ++column.numbers;
    if (content == Content::number || column.bad_line > 0) return;
    column.bad_line = reader.line();
    column.bad_cell = cell;
}

void take_name(const TokenReader& reader, const Column& column, std::string_view cell,
               Names& names) {
    if (cell.empty()) {
        reader.fail(fmt::format("column {} is empty here (allowed: a name)", shown(column.name)));
    }
    std::string name = text_of(cell);
    const auto [at, is_new] =
        names.index.try_emplace(name, static_cast<std::uint32_t>(names.all.size()));
    if (is_new) names.all.push_back(std::move(name));
    names.of_row.push_back(at->second);
}

void take_row(const TokenReader& reader, const std::vector<std::string_view>& cells,
              const char* separators, Table& table) {
    if (cells.size() != table.columns.size()) {
        reader.fail(fmt::format("{} cells (allowed: {}, as in the first line, separated by {})",
                                cells.size(), table.columns.size(), separators));
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
        Column& column = table.columns[i];
        if (column.role == Role::candidate || column.role == Role::trial) {
            Names& names = column.role == Role::trial ? table.trials : table.candidates;
            take_name(reader, column, cells[i], names);
        } else {
            take_number(reader, column, cells[i]);
        }
    }
    ++table.rows;
}

/// Leaves the columns that have numbers, by name.
void keep_numbers(const std::string& file, Table& table) {
    std::vector<Column> kept;
    for (Column& column : table.columns) {
        const bool numeric = column.role != Role::none || 2 * column.numbers >= column.filled;
        if (column.name.empty() || column.filled == 0 || !numeric) continue;
        if (column.bad_line > 0) {
            refuse_cell({file, column.bad_line, {}}, column, column.bad_cell,
                        "finite decimal numbers; an empty cell is no value");
        }
        kept.push_back(std::move(column));
    }
    if (kept.empty()) throw ConfigError(file, 0, "no column has numbers (allowed: one or more)");
    std::sort(kept.begin(), kept.end(),
              [](const Column& a, const Column& b) { return a.name < b.name; });
    table.columns = std::move(kept);
}

Table table_of(TokenReader& reader, bool samples) {
    std::string_view line;
    if (!next_row(reader, line)) {
        throw ConfigError(reader.file(), 0, "is empty (allowed: names of columns, then rows)");
    }
    const auto [separator, separators] = separator_of(line);
    std::vector<std::string_view> cells;
    split(reader, line, separator, cells);
    Table table;
    double unused = 0;
    const bool header = std::any_of(cells.begin(), cells.end(), [&unused](std::string_view cell) {
        return content_of(cell, unused) == Content::other;
    });
    if (header) {
        take_header(reader, cells, table);
        give_roles(table, samples);
    } else {
        table.columns.resize(cells.size());
        for (std::size_t i = 0; i < cells.size(); ++i) {
            table.columns[i].name = cells.size() == 1 ? "value" : std::to_string(i + 1);
        }
        take_row(reader, cells, separators, table);
    }
    while (next_row(reader, line)) {
        split(reader, line, separator, cells);
        take_row(reader, cells, separators, table);
    }
    if (table.rows == 0) reader.fail("no row follows the names (allowed: one or more)");
    keep_numbers(reader.file(), table);
    return table;
}

/// Flows of a file are of no class: that has to be class 0's name, or a metric that asks for another would count them.
void add_flow(TrialRecord& record, const TrialFlow& flow) {
    if (record.classes.empty()) record.classes.emplace_back();
    record.flows.push_back(flow);
}

void fill_flows(const Table& table, const std::vector<TrialRecord*>& record_of_row) {
    const auto column_of = [&table](Role role) {
        return std::find_if(table.columns.begin(), table.columns.end(),
                            [role](const Column& column) { return column.role == role; });
    };
    const auto time = column_of(Role::time);
    const auto start = column_of(Role::start);
    const auto ideal = column_of(Role::ideal);
    const auto size = column_of(Role::size);
    for (std::size_t row = 0; time != table.columns.end() && row < table.rows; ++row) {
        if (std::isnan(time->cells[row])) continue;
        const auto value = [&table, row](auto column) {
            const bool there = column != table.columns.end() && !std::isnan(column->cells[row]);
            return there ? column->cells[row] / column->units : 0;
        };
        const auto bytes = static_cast<std::int64_t>(value(size));
        add_flow(*record_of_row[row], {value(start), value(time), value(ideal), bytes, 0});
    }
}

/// Each column is let go where it has been distributed: there may be as many records as rows.
void fill(Table& table, const std::vector<TrialRecord*>& record_of_row) {
    fill_flows(table, record_of_row);
    for (Column& column : table.columns) {
        TrialRecord* record = nullptr;
        std::vector<double>* values = nullptr;
        for (std::size_t row = 0; row < table.rows; ++row) {
            if (std::isnan(column.cells[row])) continue;
            if (record_of_row[row] != record) {
                record = record_of_row[row];
                auto& all = record->columns;  // whose names come in order
                values = &all.try_emplace(all.end(), column.name)->second;
            }
            values->push_back(column.cells[row]);
        }
        column.cells = {};
    }
}

TrialRecord one_trial(TokenReader reader) {
    Table table = table_of(reader, false);
    TrialRecord record;
    fill(table, std::vector<TrialRecord*>(table.rows, &record));
    return record;
}

std::vector<SampledCandidate> samples_of(TokenReader& reader) {
    Table table = table_of(reader, true);
    // Candidate and trial of each row; sorted, all trials in their order.
    std::vector<std::uint64_t> keys(table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
        const auto of_row = [row](const Names& names, std::uint64_t otherwise) {
            return names.of_row.empty() ? otherwise : names.of_row[row];
        };
        keys[row] = of_row(table.candidates, 0) << 32U | of_row(table.trials, row);
    }
    std::vector<std::uint64_t> trials = keys;
    std::sort(trials.begin(), trials.end());
    trials.erase(std::unique(trials.begin(), trials.end()), trials.end());
    std::vector<SampledCandidate> samples(std::max<std::size_t>(table.candidates.all.size(), 1));
    for (std::size_t i = 0; i < samples.size(); ++i) {
        if (!table.candidates.all.empty()) samples[i].label = std::move(table.candidates.all[i]);
        const auto [first, last] =
            std::equal_range(trials.begin(), trials.end(), std::uint64_t{i} << 32U,
                             [](auto a, auto b) { return a >> 32U < b >> 32U; });
        samples[i].trials.resize(static_cast<std::size_t>(last - first));
        for (auto at = first; at != last && !table.trials.all.empty(); ++at) {
            samples[i].numbers.push_back(static_cast<std::uint32_t>(*at));
        }
    }
    std::vector<TrialRecord*> record_of_row(table.rows);
    for (std::size_t row = 0; row < table.rows; ++row) {
        const std::uint64_t candidate = keys[row] >> 32U;
        const auto at = std::lower_bound(trials.begin(), trials.end(), keys[row]);
        const auto first = std::lower_bound(trials.begin(), at, candidate << 32U);
        record_of_row[row] = &samples[candidate].trials[static_cast<std::size_t>(at - first)];
    }
    fill(table, record_of_row);
    return samples;
}

bool is_address(std::string_view text) {
    return text.size() == 8 && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

bool is_flow(const std::vector<std::string_view>& fields) {
    return fields.size() == 8 && is_address(fields[0]) && is_address(fields[1]);
}

bool is_fct(TokenReader& reader) {
    const TokenReader::Mark start = reader.mark();
    std::string_view line;
    std::vector<std::string_view> cells;
    if (next_row(reader, line) && line.find('"') == line.npos) split(reader, line, ' ', cells);
    reader.rewind(start);
    return is_flow(cells);
}

TrialRecord fct_trial(TokenReader reader) {
    TrialRecord record;
    std::string_view line;
    std::vector<std::string_view> cells;
    const auto number = [&reader](std::string_view what, std::string_view text) {
        std::int64_t value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, status] = std::from_chars(text.data(), end, value);
        if (stop == end && status == std::errc() && value >= 0) return value;
        // Slow, but knows what to say.
        return parse_integer(text, reader.place(what), 0, std::numeric_limits<std::int64_t>::max());
    };
    const auto seconds = [&number](std::string_view what, std::string_view nanoseconds) {
        return static_cast<double>(number(what, nanoseconds)) / 1e9;
    };
    while (next_row(reader, line)) {
        split(reader, line, ' ', cells);
        if (!is_flow(cells)) {
            reader.fail(
                "not a flow (allowed: 8 fields, sip dip sport dport size start fct "
                "standalone_fct, the first two of 8 hexadecimal digits)");
        }
        for (const std::size_t port : {2U, 3U}) number("port", cells[port]);
        TrialFlow flow;
        flow.size = number("size", cells[4]);
        flow.start_s = seconds("start", cells[5]);
        flow.time_s = seconds("fct", cells[6]);
        flow.ideal_s = seconds("standalone_fct", cells[7]);
        add_flow(record, flow);
    }
    if (record.flows.empty()) {
        throw ConfigError(reader.file(), 0, "has no flow (allowed: one or more)");
    }
    return record;
}

}  // namespace

TrialRecord read_fct(const std::string& path) { return fct_trial(TokenReader::open(path)); }

TrialRecord read_table(const std::string& path) { return one_trial(TokenReader::open(path)); }

std::vector<SampledCandidate> read_samples(const std::vector<std::string>& paths) {
    if (paths.empty()) throw ConfigError("no file of trials is given (allowed: one or more)");
    std::vector<SampledCandidate> samples(1);
    for (const std::string& path : paths) {
        TokenReader reader = TokenReader::open(path);
        const bool fct = is_fct(reader);
        if (!fct && paths.size() == 1) return samples_of(reader);
        samples[0].trials.push_back(fct ? fct_trial(std::move(reader))
                                        : one_trial(std::move(reader)));
    }
    return samples;
}

}  // namespace sluice::eval
