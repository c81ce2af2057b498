// SPDX-License-Identifier: Apache-2.0
#include "workloads/hpcc/flow_csv.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "core/error.h"
#include "workloads/hpcc/flow_fields.h"

namespace sluice {

namespace {

enum CsvColumn : unsigned char { kSrc, kDst, kBytes, kStart, kPriority, kPort, kFields };

struct ColumnName {
    std::string_view name;
    CsvColumn field;
    std::string_view unit;  ///< of numbers without one
};
constexpr ColumnName kNames[] = {
    {"src", kSrc, ""},           {"source", kSrc, ""},        {"dst", kDst, ""},
    {"destination", kDst, ""},   {"bytes", kBytes, "B"},      {"size", kBytes, "B"},
    {"size_bytes", kBytes, "B"}, {"start", kStart, ""},       {"start_s", kStart, "s"},
    {"start_ms", kStart, "ms"},  {"start_us", kStart, "us"},  {"start_ns", kStart, "ns"},
    {"start_ps", kStart, "ps"},  {"priority", kPriority, ""}, {"pg", kPriority, ""},
    {"dport", kPort, ""},        {"port", kPort, ""},
};
constexpr const char* kColumns =
    "src, dst, bytes and, if flows do not all start at 0, start, start_s, start_ms, start_us, "
    "start_ns "
    "or start_ps";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string_view trimmed(std::string_view line) { return split_fields(line, '\n').front(); }

/// The next line that says something; false at the end of the file.
bool next_line(TokenReader& reader, std::string_view& line) {
    while (reader.next_line(line)) {
        line = trimmed(line);
        if (!line.empty() && line.front() != '#') return true;
    }
    return false;
}

class CsvReader {
  public:
    CsvReader(TokenReader& reader, const Topology& topology, const Routing& routing)
        : reader_(reader), topology_(topology), routing_(routing) {}

    std::vector<FlowSpec> read(std::vector<std::string>& notes) {
        std::string_view line;
        next_line(reader_, line);
        header(line, notes);
        std::vector<FlowSpec> flows;
        while (next_line(reader_, line)) flows.push_back(flow(line));
        whole_.tell(reader_.file(), notes);
        return flows;
    }

  private:
    void header(std::string_view line, std::vector<std::string>& notes) {
        column_.fill(-1);
        const std::vector<std::string_view> names = split_fields(line, ',');
        columns_ = names.size();
        std::string skipped;
        for (std::size_t i = 0; i < names.size(); ++i) {
            std::string name(names[i].substr(0, 40));
            std::transform(name.begin(), name.end(), name.begin(), [](char c) {
                return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
            });
            const auto* const known =
                std::find_if(std::begin(kNames), std::end(kNames),
                             [&](const ColumnName& n) { return n.name == name; });
            if (known == std::end(kNames)) {
                if (skipped.size() < 200) skipped += (skipped.empty() ? "" : ", ") + name;
                continue;
            }
            if (column_[known->field] >= 0) reader_.fail("two columns say the same: " + name);
            column_[known->field] = static_cast<int>(i);
            unit_[known->field] = known->unit;
        }
        for (const CsvColumn field : {kSrc, kDst, kBytes}) {
            if (column_[field] < 0) {
                reader_.fail(std::string("the header has no column ") +
                             (field == kSrc   ? "src"
                              : field == kDst ? "dst"
                                              : "bytes") +
                             "; columns are " + kColumns + ", priority, dport");
            }
        }
        if (!skipped.empty()) {
            notes.push_back(reader_.file() + ":" + std::to_string(reader_.line()) +
                            ": columns without effect: " + skipped);
        }
    }

    /// The field, a whole number.
    std::string_view whole(const std::vector<std::string_view>& fields, CsvColumn field) {
        return whole_.digits(at(fields, field), reader_.line());
    }
    bool has(CsvColumn field) const { return column_[field] >= 0; }
    std::string_view at(const std::vector<std::string_view>& fields, CsvColumn field) const {
        return fields[static_cast<std::size_t>(column_[field])];
    }
    /// The value with its unit, or the column's.
    std::string with_unit(const std::vector<std::string_view>& fields, CsvColumn field) const {
        std::string text(at(fields, field));
        if (!text.empty() && (is_digit(text.back()) || text.back() == '.')) text += unit_[field];
        return text;
    }

    FlowSpec flow(std::string_view line) {
        const std::vector<std::string_view> fields = split_fields(line, ',');
        if (fields.size() != columns_) {
            reader_.fail("has " + std::to_string(fields.size()) + " columns, the header " +
                         std::to_string(columns_));
        }
        FlowSpec flow;
        flow.src = flow_fields::host_of(whole(fields, kSrc), reader_.place("src"), topology_);
        flow.dst = flow_fields::host_of(whole(fields, kDst), reader_.place("dst"), topology_);
        flow_fields::check_ends(flow, reader_.place(), routing_);
        flow.size = parse_bytes(with_unit(fields, kBytes), reader_.place("bytes")).count;
        if (flow.size < 1 || flow.size > flow_fields::kMostBytes) {
            reader_.fail("bytes: must be from 1B to " + format_bytes({flow_fields::kMostBytes}));
        }
        flow.start = has(kStart) ? flow_fields::start_of(with_unit(fields, kStart),
                                                         reader_.place("start"), BareNumber::refuse)
                                 : 0;
        if (has(kPriority)) {
            flow.priority =
                flow_fields::priority_of(whole(fields, kPriority), reader_.place("priority"));
        }
        if (has(kPort))
            flow.dport = flow_fields::port_of(whole(fields, kPort), reader_.place("dport"));
        return flow;
    }

    TokenReader& reader_;
    const Topology& topology_;
    const Routing& routing_;
    std::size_t columns_ = 0;
    flow_fields::WholeNumbers whole_;
    std::array<int, kFields> column_{};
    std::array<std::string_view, kFields> unit_{};
};

}  // namespace

bool is_flow_csv(TokenReader& reader) {
    const TokenReader::Mark start = reader.mark();
    std::string_view line;
    next_line(reader, line);
    reader.rewind(start);
    const auto first =
        std::find_if(line.begin(), line.end(), [](char c) { return is_letter(c) || is_digit(c); });
    return line.find(',') != line.npos && first != line.end() && is_letter(*first);
}

std::vector<FlowSpec> read_flow_csv(TokenReader& reader, const Topology& topology,
                                    const Routing& routing, std::vector<std::string>& notes) {
    return CsvReader(reader, topology, routing).read(notes);
}

}  // namespace sluice
