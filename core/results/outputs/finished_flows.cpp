// SPDX-License-Identifier: Apache-2.0
#include "core/results/outputs/finished_flows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.h"
#include "core/results/csv_reader.h"

namespace sluice {

namespace {

/// Field n of a row, read into the last flow.
using ReadField = void (*)(const CsvReader& row, std::size_t n, FinishedFlows& into);

template <Tick FinishedFlow::*kMember>
void read_time(const CsvReader& row, std::size_t n, FinishedFlows& into) {
    into.flows.back().*kMember = row.number(n);
}

template <class T, T FlowKey::*kMember>
void read_end(const CsvReader& row, std::size_t n, FinishedFlows& into) {
    into.flows.back().key.*kMember = static_cast<T>(row.number(n));
}

void read_flow(const CsvReader& row, std::size_t n, FinishedFlows& into) {
    into.flows.back().flow = static_cast<FlowId>(row.number(n));
}

void read_size(const CsvReader& row, std::size_t n, FinishedFlows& into) {
    into.flows.back().size = row.number(n);
}

void read_ideal(const CsvReader& row, std::size_t n, FinishedFlows& into) {
    if (!row.empty(n)) into.flows.back().ideal = row.number(n);
}

void read_label(const CsvReader& row, std::size_t n, FinishedFlows& into) {
    std::vector<std::string>& classes = into.classes;
    const auto found = std::find(classes.begin(), classes.end(), row.text(n));
    into.flows.back().flow_class = static_cast<std::uint32_t>(found - classes.begin());
    if (found == classes.end()) classes.push_back(row.text(n));
}

constexpr std::array kFields = {
    std::pair<const char*, ReadField>{"flow", read_flow},
    std::pair<const char*, ReadField>{"src", read_end<NodeId, &FlowKey::src>},
    std::pair<const char*, ReadField>{"dst", read_end<NodeId, &FlowKey::dst>},
    std::pair<const char*, ReadField>{"sport", read_end<std::uint16_t, &FlowKey::sport>},
    std::pair<const char*, ReadField>{"dport", read_end<std::uint16_t, &FlowKey::dport>},
    std::pair<const char*, ReadField>{"label", read_label},
    std::pair<const char*, ReadField>{"size_bytes", read_size},
    std::pair<const char*, ReadField>{"start_ps", read_time<&FinishedFlow::start>},
    std::pair<const char*, ReadField>{"received_ps", read_time<&FinishedFlow::received>},
    std::pair<const char*, ReadField>{"finish_ps", read_time<&FinishedFlow::finish>},
    std::pair<const char*, ReadField>{"fct_ps", read_time<&FinishedFlow::fct>},
    std::pair<const char*, ReadField>{"ideal_ps", read_ideal},
};

ReadField reader_of(const std::string& column) {
    const auto found = std::find_if(kFields.begin(), kFields.end(),
                                    [&](const auto& field) { return field.first == column; });
    if (found == kFields.end()) throw InternalError("nothing reads flows.csv's column " + column);
    return found->second;
}

}  // namespace

FinishedFlows read_finished_flows(const std::string& path,
                                  const std::vector<std::string>& columns) {
    std::vector<ReadField> fields;
    for (const std::string& column : columns) fields.push_back(reader_of(column));
    CsvReader rows(path, columns);
    FinishedFlows read;
    while (rows.next()) {
        read.flows.emplace_back();
        for (std::size_t n = 0; n < fields.size(); ++n) fields[n](rows, n, read);
    }
    return read;
}

}  // namespace sluice
