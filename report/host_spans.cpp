// SPDX-License-Identifier: Apache-2.0
#include "report/host_spans.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <fstream>
#include <map>
#include <unordered_map>

#include "core/error.h"

namespace sluice::report {

namespace {

/// Names of a list, each once.
class Names {
  public:
    explicit Names(std::vector<std::string>& list) : list_(list) {
        for (std::size_t i = 0; i < list_.size(); ++i) {
            index_[list_[i]] = static_cast<std::uint32_t>(i);
        }
    }
    std::uint32_t operator[](const std::string& name) {
        const auto [found, added] = index_.emplace(name, static_cast<std::uint32_t>(list_.size()));
        if (added) list_.push_back(name);
        return found->second;
    }

  private:
    std::vector<std::string>& list_;
    std::unordered_map<std::string, std::uint32_t> index_;
};

std::vector<std::string> usual_lanes() { return {"compute", "TP", "EP", "DP", "PP"}; }

/// "TP 2" is where spans of "TP" overlap.
std::string lane_of(std::string thread) {
    const std::size_t blank = thread.rfind(' ');
    if (blank != std::string::npos && blank + 1 < thread.size() &&
        std::all_of(thread.begin() + static_cast<std::ptrdiff_t>(blank) + 1, thread.end(),
                    [](unsigned char c) { return std::isdigit(c) != 0; })) {
        thread.resize(blank);
    }
    return thread;
}

/// "activation mb3" of every micro-batch is "activation".
std::string name_of(const std::string& name) {
    const std::size_t at = name.find(" mb");
    return at == std::string::npos ? name : name.substr(0, at);
}

void sort_spans(HostSpans& result, std::map<NodeId, HostSpans::Host>& hosts) {
    for (auto& [id, host] : hosts) {
        if (host.spans.empty()) continue;
        host.host = id;
        std::stable_sort(host.spans.begin(), host.spans.end(),
                         [](const HostSpan& a, const HostSpan& b) {
                             return a.lane != b.lane ? a.lane < b.lane : a.begin < b.begin;
                         });
        result.hosts.push_back(std::move(host));
    }
}

/// The trace has an event a line.
class TraceReader {
  public:
    explicit TraceReader(const std::string& path)
        : path_(path), in_(path), lanes_(spans_.lanes), names_(spans_.names) {
        for (const std::string& lane : usual_lanes()) lanes_[lane];
    }

    HostSpans read() {
        std::string line;
        bool closed = false;
        for (int row = 1; std::getline(in_, line); ++row) {
            closed = line == "]";
            if (line.empty() || line == "[" || closed) continue;
            // They are most of the file.
            if (line.find("\"cat\":\"flows") != std::string::npos) continue;
            if (line.back() == ',') line.pop_back();
            const Json event = Json::parse(line, nullptr, false);
            if (!event.is_object()) throw ConfigError(path_, row, "is no event of a trace");
            try {
                take(event);
            } catch (const Json::exception&) {
                throw ConfigError(path_, row, "is no event of a trace");
            }
        }
        if (!closed) throw ConfigError(path_, 0, "is cut off: it does not end with ]");
        sort_spans(spans_, hosts_);
        return std::move(spans_);
    }

  private:
    void take(const Json& event) {
        const std::string phase = event.at("ph");
        const auto process = event.at("pid").get<NodeId>();
        const std::string name = event.at("name");
        if (phase == "M" && name == "process_name") {
            const std::string text = event.at("args").at("name");
            const std::size_t colon = text.find(": ");
            if (text.rfind("host ", 0) != 0) return;
            known_[process] = true;
            if (colon != std::string::npos) hosts_[process].role = text.substr(colon + 2);
        } else if (phase == "X" && known_.count(process) > 0) {
            const auto ticks = [&](const char* key) {
                const double time = event.at(key).get<double>() * kMicrosecond;
                return static_cast<Tick>(std::llround(std::clamp(time, 0.0, 9e18)));
            };
            const Tick begin = ticks("ts");
            hosts_[process].spans.push_back({lanes_[lane_of(event.value("cat", std::string()))],
                                             names_[name_of(name)], begin, begin + ticks("dur")});
        }
    }

    std::string path_;
    std::ifstream in_;
    HostSpans spans_;
    Names lanes_;
    Names names_;
    std::map<NodeId, HostSpans::Host> hosts_;
    std::map<NodeId, bool> known_;
};

/// What overlaps or touches becomes one.
void unite(std::vector<HostSpan>& spans) {
    std::vector<HostSpan> united;
    for (const HostSpan& span : spans) {
        if (!united.empty() && united.back().lane == span.lane && span.begin <= united.back().end) {
            united.back().end = std::max(united.back().end, span.end);
        } else {
            united.push_back(span);
        }
    }
    spans = std::move(united);
}

/// "rank 5" of the host that jobs[].hosts names: "0-7 16-23".
void name_ranks(const RunFiles& run, std::map<NodeId, HostSpans::Host>& hosts) {
    for (const Json& job : run.summary.value("jobs", Json::array())) {
        const std::string list = job.value("hosts", std::string());
        const std::string name = job.value("name", std::string());
        std::size_t rank = 0;
        for (std::size_t at = 0; at < list.size();) {
            const std::size_t end = std::min(list.find(' ', at), list.size());
            const std::string range = list.substr(at, end - at);
            const std::size_t dash = range.find('-');
            const unsigned long first = std::strtoul(range.c_str(), nullptr, 10);
            const unsigned long last = dash == std::string::npos
                                           ? first
                                           : std::strtoul(range.c_str() + dash + 1, nullptr, 10);
            for (unsigned long host = first; host <= last; ++host, ++rank) {
                const auto found = hosts.find(static_cast<NodeId>(host));
                if (found != hosts.end()) {
                    found->second.role = name + " rank " + std::to_string(rank);
                }
                if (rank > run.topology.host_count()) return;
            }
            at = end + 1;
        }
    }
}

}  // namespace

HostSpans spans_of_trace(const std::string& path) { return TraceReader(path).read(); }

HostSpans spans_of_flows(const RunFiles& run) {
    HostSpans result;
    result.lanes = usual_lanes();
    Names lanes(result.lanes);
    Names names(result.names);
    std::map<NodeId, HostSpans::Host> hosts;
    for (const FinishedFlow& flow : run.flows) {
        const std::string& label = run.classes[flow.flow_class];
        std::string lane = label.empty() ? "flows" : label;
        if (lane.size() == 2) {
            std::transform(lane.begin(), lane.end(), lane.begin(),
                           [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
        }
        const HostSpan span{lanes[lane], names[label], flow.start, flow.finish};
        hosts[flow.key.src].spans.push_back(span);
        hosts[flow.key.dst].spans.push_back(span);
    }
    name_ranks(run, hosts);
    sort_spans(result, hosts);
    for (HostSpans::Host& host : result.hosts) unite(host.spans);
    return result;
}

}  // namespace sluice::report
