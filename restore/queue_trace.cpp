// SPDX-License-Identifier: Apache-2.0
#include "restore/queue_trace.h"

#include <filesystem>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/results/queue_trace.h"
#include "restore/bytes.h"

namespace sluice::restore {

namespace {

using nlohmann::ordered_json;

/// The columns of the largest file, its header, and what frames them.
constexpr std::size_t kLargestTrace =
    queue_trace::kMostCells * (queue_trace::kCellBytes + queue_trace::kSampleBytes) +
    queue_trace::kMostHeader + 64;
constexpr std::int64_t kMostTicks = 1000 * kSecond;
constexpr std::int64_t kMostRate = 1'000'000'000'000'000;

std::int64_t integer(const ordered_json& json, const std::string& key, std::int64_t least,
                     std::int64_t most, const std::string& path) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    const bool whole = found != json.end() && found->is_number_integer();
    const std::int64_t value = whole ? found->get<std::int64_t>() : 0;
    if (!whole || value < least || value > most) {
        throw ConfigError(path, 0,
                          "its header's " + key + " must be " + std::to_string(least) + " to " +
                              std::to_string(most));
    }
    return value;
}

template <typename Value>
Value value_of(const ordered_json& json, const std::string& key, const std::string& path) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    if (found == json.end()) throw ConfigError(path, 0, "its header has no " + key);
    try {
        return found->get<Value>();
    } catch (const ordered_json::exception&) {
        throw ConfigError(path, 0, "its header's " + key + " is of another type");
    }
}

congestion::Law law_of(const std::string& word, const std::string& path) {
    congestion::Parameters parameters;
    bool known = false;
    congestion::Law law{};
    congestion::for_each_law(parameters,
                             [&](congestion::Law one, const char* name, const auto&, const auto&) {
                                 if (word != name) return;
                                 law = one;
                                 known = true;
                             });
    if (!known) throw ConfigError(path, 0, "is of a law that this build does not have: " + word);
    return law;
}

PortTrace read_port(const ordered_json& json, const std::string& path) {
    PortTrace port;
    port.port = static_cast<PortId>(integer(json, "port", 0, kNone, path));
    port.line_rate = integer(json, "rate_bps", 1, kMostRate, path);
    port.mark_bytes =
        integer(json, "mark_bytes", 0, std::numeric_limits<std::uint32_t>::max(), path);
    port.to_host = value_of<bool>(json, "to_host", path);
    return port;
}

}  // namespace

QueueTrace parse_queue_trace(std::string_view bytes, const std::string& path) {
    Framed frame = open_frame(bytes, path, queue_trace::kMagic, queue_trace::kVersion,
                              "record of queues (sluice run --record-queues writes them)",
                              queue_trace::kMostHeader);
    const ordered_json json = ordered_json::parse(frame.header, nullptr, false);
    if (!json.is_object()) throw ConfigError(path, 0, "its header is not a JSON object");
    QueueTrace trace;
    trace.path = path;
    trace.scenario = value_of<std::string>(json, "scenario", path);
    trace.law = law_of(value_of<std::string>(json, "law", path), path);
    trace.base_rtt = integer(json, "base_rtt_ps", 1, kMostTicks, path);
    trace.step = integer(json, "step_ps", 1, kMostTicks, path);
    trace.complete = value_of<bool>(json, "complete", path);
    const auto samples =
        static_cast<std::size_t>(integer(json, "samples", 0, queue_trace::kMostCells, path));
    const auto ports = value_of<std::vector<ordered_json>>(json, "ports", path);
    frame.body.require(frame.body.left() == samples * (queue_trace::kSampleBytes +
                                                       ports.size() * queue_trace::kCellBytes),
                       "does not hold the samples and ports that its header says");
    trace.steps = frame.body.words<std::uint32_t>(samples);
    for (std::size_t i = 1; i < samples; ++i) {
        frame.body.require(trace.steps[i - 1] < trace.steps[i], "has samples out of order");
    }
    for (const ordered_json& entry : ports) {
        PortTrace port = read_port(entry, path);
        port.depth = frame.body.words<std::uint32_t>(samples);
        port.sent = frame.body.words<std::uint32_t>(samples);
        port.flows = frame.body.words<std::uint16_t>(samples);
        port.changes = frame.body.words<std::uint16_t>(samples);
        trace.ports.push_back(std::move(port));
    }
    return trace;
}

QueueTrace load_queue_trace(const std::string& folder) {
    const std::string path = (std::filesystem::path(folder) / "queues.bin").string();
    return parse_queue_trace(read_file(path, kLargestTrace), path);
}

}  // namespace sluice::restore
