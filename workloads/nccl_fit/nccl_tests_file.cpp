// SPDX-License-Identifier: Apache-2.0
#include "workloads/nccl_fit/nccl_tests_file.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/flow/flow.h"
#include "core/text/config_value.h"
#include "core/text/printable.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

constexpr std::size_t kMostRows = 100'000;
constexpr std::int64_t kMostMembers = 1 << 20;
constexpr double kMostMicroseconds = 1e9;
constexpr const char* kOps =
    "all_reduce, all_gather, reduce_scatter, alltoall, broadcast, reduce, sendrecv";

/// Nothing for an operation without a table.
std::optional<CollectiveKind> kind_of(std::string name, const Place& place) {
    std::replace(name.begin(), name.end(), '-', '_');
    if (name == "all_reduce") return CollectiveKind::all_reduce;
    if (name == "all_gather") return CollectiveKind::all_gather;
    if (name == "reduce_scatter") return CollectiveKind::reduce_scatter;
    if (name == "alltoall" || name == "all_to_all") return CollectiveKind::all_to_all;
    for (const char* other : {"broadcast", "reduce", "send", "sendrecv", "scatter", "gather"}) {
        if (name == other) return std::nullopt;
    }
    fail_at(place, "is no operation; allowed are " + std::string(kOps));
}

std::vector<std::string> words_of(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;) words.push_back(word);
    return words;
}

/// Blanks around a field do not count.
std::vector<std::string> fields_of(const std::string& line) {
    std::vector<std::string> fields;
    std::istringstream stream(line);
    for (std::string field; std::getline(stream, field, ',');) {
        const auto first = field.find_first_not_of(" \t\r");
        const auto last = field.find_last_not_of(" \t\r");
        fields.push_back(first == std::string::npos ? "" : field.substr(first, last - first + 1));
    }
    return fields;
}

[[noreturn]] void fail(const std::string& source, int line, const std::string& message) {
    throw ConfigError(source + (line > 0 ? ":" + std::to_string(line) : "") + ": " + message);
}

void add(std::vector<NcclSample>& samples, const NcclSample& sample, const std::string& source,
         int line) {
    if (samples.size() == kMostRows) fail(source, line, "more than 100000 rows");
    samples.push_back(sample);
}

/// A CSV file.
class CsvReader {
  public:
    CsvReader(const std::string& source, const std::string& header) : source_(source) {
        const std::vector<std::string> names = fields_of(header);
        for (std::size_t i = 0; i < names.size(); ++i) column_.emplace(names[i], i);
        columns_ = names.size();
        time_ = column_.count("us_median") > 0 ? "us_median" : "us";
        for (const std::string& name :
             {std::string("op"), std::string("gpus"), std::string("bytes"), time_}) {
            if (column_.count(name) > 0) continue;
            fail(source, 1,
                 "the header has no column " + name +
                     "; needed are op, gpus, bytes and us_median or us");
        }
    }

    void row(const std::string& text, int line) {
        const std::vector<std::string> fields = fields_of(text);
        if (fields.size() != columns_) {
            fail(source_, line,
                 std::to_string(fields.size()) + " fields; the header has " +
                     std::to_string(columns_));
        }
        const auto field = [&](const std::string& name) { return fields[column_.at(name)]; };
        const auto place = [&](const char* name) { return Place{source_, line, name}; };
        NcclSample sample;
        const std::string op = field("op");
        const std::string what = "op \"" + printable_line(op) + "\"";
        const std::optional<CollectiveKind> kind = kind_of(op, {source_, line, what});
        sample.members = static_cast<std::uint32_t>(
            parse_integer(field("gpus"), place("gpus"), 2, kMostMembers));
        sample.bytes = parse_integer(field("bytes"), place("bytes"), 1, kLargestMessage.count);
        sample.us = parse_real(field(time_), place(time_.c_str()), 1e-3, kMostMicroseconds);
        if (!kind) return;
        sample.kind = *kind;
        const std::string system = column_.count("system") > 0 ? field("system") : "";
        add(systems_[system], sample, source_, line);
    }

    NcclMeasurements take(const std::string& system) const {
        std::string known;
        for (const auto& [name, samples] : systems_) {
            if (name == system || (system.empty() && systems_.size() == 1)) return {name, samples};
            known += (known.empty() ? "" : ", ") + printable_line(name);
        }
        if (systems_.empty()) fail(source_, 0, "has no rows of an operation with a table");
        if (system.empty()) {
            fail(source_, 0, "has rows of several systems; choose one with --system: " + known);
        }
        fail(source_, 0, "has no rows of the system " + shown_text(system) + "; it has: " + known);
    }

  private:
    std::string source_;
    std::string time_;
    std::size_t columns_ = 0;
    std::map<std::string, std::size_t> column_;
    std::map<std::string, std::vector<NcclSample>> systems_;
};

/// What nccl-tests prints.
class TableReader {
  public:
    TableReader(std::string source, std::string op)
        : source_(std::move(source)), op_(std::move(op)) {}

    void line(const std::string& text, int line) {
        const std::vector<std::string> words = words_of(text);
        if (words.empty()) return;
        if (words.front().front() == '#') {
            comment(text, words);
        } else if (words.front().find_first_not_of("0123456789") == std::string::npos) {
            row(words, line);
        }
        // Whatever else is printed around a table (mpirun, warnings) is none of its rows.
    }

    NcclMeasurements take() const {
        if (samples_.empty()) {
            fail(source_, 0,
                 "has no rows; it must be what nccl-tests prints, or CSV with the columns op, "
                 "gpus, bytes and us_median");
        }
        return {device_, samples_};
    }

  private:
    void comment(const std::string& text, const std::vector<std::string>& words) {
        constexpr const char* kStart = "Collective test starting:";
        if (words.size() > 2 && words[1] == "nThread") ranks_.clear();
        if (text.find(kStart) != std::string::npos) {
            ranks_.clear();
            op_ = words.back();
            const auto ending = op_.rfind("_perf");
            if (ending != std::string::npos) op_.resize(ending);
        }
        if (words.size() < 3 || words[1] != "Rank") return;
        ranks_.insert(words[2]);
        const auto device = text.find("NVIDIA ");
        if (device != std::string::npos) device_ = text.substr(device + 7);
    }

    /// size count type redop root time algbw busbw ...
    void row(const std::vector<std::string>& words, int line) {
        if (words.size() < 8) {
            fail(source_, line,
                 "a row of " + std::to_string(words.size()) +
                     " columns; nccl-tests prints at least 8, the sixth the time");
        }
        const auto place = [&](const char* what) { return Place{source_, line, what}; };
        NcclSample sample;
        sample.bytes = parse_integer(words[0], place("size"), 0, kLargestMessage.count);
        sample.us = parse_real(words[5], place("time"), 0, kMostMicroseconds);
        if (op_.empty()) {
            fail(source_, line,
                 "a row of an unknown operation: no line \"# Collective test starting: ..._perf\" "
                 "is above it; name the operation with --op");
        }
        if (ranks_.size() < 2) {
            fail(source_, line,
                 "a row of " + std::to_string(ranks_.size()) +
                     " GPUs; at least 2 lines \"#  Rank ...\" must be above it");
        }
        const std::string what = "operation \"" + printable_line(op_) + "\"";
        const std::optional<CollectiveKind> kind = kind_of(op_, {source_, line, what});
        if (!kind || sample.bytes == 0 || sample.us <= 0) return;
        sample.kind = *kind;
        sample.members = static_cast<std::uint32_t>(ranks_.size());
        add(samples_, sample, source_, line);
    }

    std::string source_;
    std::string op_;
    std::string device_;
    std::set<std::string> ranks_;
    std::vector<NcclSample> samples_;
};

}  // namespace

NcclMeasurements parse_nccl_tests(const std::string& text, const std::string& source,
                                  const std::string& system, const std::string& op) {
    std::istringstream lines(text);
    std::string line;
    int number = 0;
    std::optional<CsvReader> csv;
    TableReader table(source, op);
    while (std::getline(lines, line)) {
        ++number;
        if (number == 1 && line.find(',') != std::string::npos && line.front() != '#') {
            csv.emplace(source, line);
        } else if (csv && line.find_first_not_of(" \t\r") != std::string::npos) {
            csv->row(line, number);
        } else if (!csv) {
            table.line(line, number);
        }
    }
    if (csv) return csv->take(system);
    NcclMeasurements measurements = table.take();
    if (!system.empty()) measurements.system = system;
    return measurements;
}

NcclMeasurements read_nccl_tests(const std::string& path, const std::string& system,
                                 const std::string& op) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    if (!file || !(text << file.rdbuf())) throw ConfigError(path + ": cannot be read, or is empty");
    return parse_nccl_tests(text.str(), path, system, op);
}

}  // namespace sluice
