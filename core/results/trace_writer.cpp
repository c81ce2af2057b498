// SPDX-License-Identifier: Apache-2.0
#include "core/results/trace_writer.h"

#include <cstdio>

#include <nlohmann/json.hpp>

namespace sluice {

std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string trace_microseconds(Tick time) {
    char text[40];
    const bool negative = time < 0;
    const auto size =
        negative ? -static_cast<std::uint64_t>(time) : static_cast<std::uint64_t>(time);
    std::snprintf(text, sizeof text, "%s%llu.%06llu", negative ? "-" : "",
                  static_cast<unsigned long long>(size / kMicrosecond),
                  static_cast<unsigned long long>(size % kMicrosecond));
    return text;
}

TraceWriter::TraceWriter(const std::string& path) : file_(path) {
    file_ << "[";
    file_.preamble_done();
}

void TraceWriter::begin_event() {
    file_ << (first_ ? "\n" : ",\n");
    first_ = false;
}

void TraceWriter::name_process(std::uint32_t process, std::string_view name) {
    begin_event();
    file_ << R"({"ph":"M","name":"process_name","pid":)" << std::int64_t{process}
          << R"(,"tid":0,"args":{"name":)" << json_string(name) << "}}";
}

void TraceWriter::name_thread(std::uint32_t process, std::uint32_t thread, std::uint32_t lane_order,
                              const std::string& name) {
    begin_event();
    file_ << R"({"ph":"M","name":"thread_name","pid":)" << std::int64_t{process} << R"(,"tid":)"
          << std::int64_t{thread} << R"(,"args":{"name":)" << json_string(name) << "}}";
    begin_event();
    file_ << R"({"ph":"M","name":"thread_sort_index","pid":)" << std::int64_t{process}
          << R"(,"tid":)" << std::int64_t{thread} << R"(,"args":{"sort_index":)"
          << std::int64_t{lane_order} << "}}";
}

std::uint32_t TraceWriter::thread_for(std::uint32_t process, std::uint32_t lane_order,
                                      std::string_view lane, Tick start, Tick end) {
    Lane& state = lanes_[{process, std::string(lane)}];
    // Best fit: of the copies that are free again, the one that was busy last.
    std::size_t copy = state.threads.size();
    for (std::size_t i = 0; i < state.threads.size(); ++i) {
        const bool free = state.busy_until[i] <= start;
        const bool none_yet = copy == state.threads.size();
        if (free && (none_yet || state.busy_until[i] > state.busy_until[copy])) {
            copy = i;
        }
    }
    if (copy == state.threads.size()) {
        const std::uint32_t thread = ++next_thread_[process];
        state.threads.push_back(thread);
        state.busy_until.push_back(end);
        const std::string number = copy == 0 ? "" : " " + std::to_string(copy + 1);
        name_thread(process, thread, lane_order, std::string(lane) + number);
    }
    state.busy_until[copy] = end;
    return state.threads[copy];
}

void TraceWriter::span(std::uint32_t process, std::uint32_t lane_order, std::string_view lane,
                       std::string_view name, Tick start, Tick end, std::int64_t bytes,
                       std::string_view ended_by) {
    const std::uint32_t thread = thread_for(process, lane_order, lane, start, end);
    begin_event();
    file_ << R"({"ph":"X","name":)" << json_string(name) << R"(,"cat":)" << json_string(lane)
          << R"(,"pid":)" << std::int64_t{process} << R"(,"tid":)" << std::int64_t{thread}
          << R"(,"ts":)" << trace_microseconds(start) << R"(,"dur":)"
          << trace_microseconds(end - start);
    if (bytes >= 0 || !ended_by.empty()) {
        file_ << R"(,"args":{)";
        if (bytes >= 0) {
            file_ << R"("bytes":)" << bytes << (ended_by.empty() ? "" : ",");
        }
        if (!ended_by.empty()) {
            file_ << R"("ended_by":)" << json_string(ended_by);
        }
        file_ << "}";
    }
    file_ << "}";
}

void TraceWriter::instant(std::uint32_t process, std::string_view name, Tick at) {
    begin_event();
    file_ << R"({"ph":"i","s":"p","name":)" << json_string(name) << R"(,"pid":)"
          << std::int64_t{process} << R"(,"tid":0,"ts":)" << trace_microseconds(at) << "}";
}

void TraceWriter::finish() { file_ << "\n]\n"; }

}  // namespace sluice
