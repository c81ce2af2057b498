// SPDX-License-Identifier: Apache-2.0
#include "report/timeline.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "core/text/human.h"
#include "core/topology/node_names.h"
#include "report/host_spans.h"
#include "report/steps.h"

namespace sluice::report {

namespace {

constexpr std::size_t kMostRows = 48;
constexpr std::size_t kMostSpansOfRow = 1'600;

struct Row {
    std::vector<std::size_t> hosts;  ///< indices into the hosts' list; the first one is drawn
};

/// What part of each step of the run a lane is active, lane by lane.
using Profile = std::vector<float>;
constexpr std::size_t kLaneSteps = 256;

Profile profile_of(const std::vector<HostSpan>& spans, std::size_t lanes, Tick end) {
    Profile profile(lanes * kLaneSteps, 0);
    const double step = std::max(1.0, static_cast<double>(end) / static_cast<double>(kLaneSteps));
    for (const HostSpan& span : spans) {
        const auto from = static_cast<double>(span.begin) / step;
        const auto to = static_cast<double>(span.end) / step;
        for (std::size_t i = step_of(from, 1, kLaneSteps);
             i < kLaneSteps && static_cast<double>(i) < to; ++i) {
            const double begin = std::max(from, static_cast<double>(i));
            const double close = std::min(to, static_cast<double>(i + 1));
            float& share = profile[span.lane * kLaneSteps + i];
            // Messages that are awaited at the same time are one activity.
            share = std::min(1.0F, share + static_cast<float>(close - begin));
        }
    }
    return profile;
}

/// The share of the run in which two ranks do different things, at most `most` if they are alike.
bool alike(const Profile& a, const Profile& b, double most) {
    const double limit = most * static_cast<double>(kLaneSteps);
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        sum += std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        if (sum > limit) return false;
    }
    return true;
}

/// Empty: more rows than `most`.
std::vector<Row> rows_within(const std::vector<Profile>& profiles, double difference,
                             std::size_t most) {
    std::vector<Row> rows;
    for (std::size_t host = 0; host < profiles.size(); ++host) {
        const auto same = std::find_if(rows.begin(), rows.end(), [&](const Row& row) {
            return alike(profiles[row.hosts.front()], profiles[host], difference);
        });
        if (same != rows.end()) {
            same->hosts.push_back(host);
        } else if (rows.size() == most) {
            return {};
        } else {
            rows.push_back({{host}});
        }
    }
    return rows;
}

/// As few as fit; hosts at equal distances where no two are alike.
std::vector<Row> rows_of(const HostSpans& hosts, Tick end, double& difference) {
    std::vector<Profile> profiles;
    for (const HostSpans::Host& host : hosts.hosts) {
        profiles.push_back(profile_of(host.spans, hosts.lanes.size(), end));
    }
    struct Try {
        std::size_t most;
        double difference;
    };
    // Few rows are worth a little difference; more than fit are not drawn whatever that takes.
    for (const Try& attempt :
         {Try{12, 0.01}, Try{12, 0.02}, Try{12, 0.04}, Try{kMostRows, 0.01}, Try{kMostRows, 0.02},
          Try{kMostRows, 0.04}, Try{kMostRows, 0.08}, Try{kMostRows, 0.16}}) {
        difference = attempt.difference;
        std::vector<Row> rows = rows_within(profiles, difference, attempt.most);
        if (!rows.empty()) return rows;
    }
    difference = 0;
    std::vector<Row> rows;
    const std::size_t count = std::min(kMostRows, hosts.hosts.size());
    for (std::size_t i = 0; i < count; ++i) rows.push_back({{i * hosts.hosts.size() / count}});
    return rows;
}

/// Spans of one lane and name with hardly a gap between them are one.
std::vector<HostSpan> joined(const std::vector<HostSpan>& spans, Tick end) {
    std::vector<HostSpan> result = spans;
    for (Tick gap = end / 4000; result.size() > kMostSpansOfRow; gap = gap * 2 + 1) {
        std::vector<HostSpan> fewer;
        for (const HostSpan& span : result) {
            if (!fewer.empty() && fewer.back().lane == span.lane &&
                span.begin - fewer.back().end <= gap) {
                fewer.back().end = std::max(fewer.back().end, span.end);
            } else {
                fewer.push_back(span);
            }
        }
        result = std::move(fewer);
        if (gap > end) break;
    }
    return result;
}

/// "training ranks 0 to 7, 16 to 23", or the hosts where they have no role.
std::string label_of(const HostSpans& hosts, const Row& row, bool several_jobs) {
    std::map<std::string, std::vector<NodeId>> ranks;
    for (const std::size_t i : row.hosts) {
        const std::string& role = hosts.hosts[i].role;
        const std::size_t at = role.rfind(" rank ");
        if (at == std::string::npos) {
            ranks["host"].push_back(hosts.hosts[i].host);
        } else {
            const std::string prefix = several_jobs ? role.substr(0, at) + " rank" : "rank";
            ranks[prefix].push_back(
                static_cast<NodeId>(std::strtoul(role.c_str() + at + 6, nullptr, 10)));
        }
    }
    std::string label;
    for (auto& [prefix, ids] : ranks) {
        std::sort(ids.begin(), ids.end());
        if (!label.empty()) label += "; ";
        label += prefix + (ids.size() > 1 ? "s " : " ") + id_ranges(ids, 4);
    }
    return label;
}

}  // namespace

Json timeline(const RunFiles& run, double end_s) {
    const bool computed = run.has("trace.json");
    const HostSpans hosts = computed ? spans_of_trace(run.file("trace.json")) : spans_of_flows(run);
    if (hosts.hosts.empty()) return nullptr;
    const auto end = static_cast<Tick>(end_s * static_cast<double>(kSecond));
    const bool several_jobs = run.summary.contains("jobs") && run.summary["jobs"].size() > 1;
    Json rows = Json::array();
    std::size_t drawn = 0;
    double difference = 0;
    for (const Row& row : rows_of(hosts, end, difference)) {
        std::vector<std::int64_t> flat;
        for (const HostSpan& span : joined(hosts.hosts[row.hosts.front()].spans, end)) {
            flat.insert(flat.end(),
                        {span.lane, span.name, span.begin / kNanosecond, span.end / kNanosecond});
        }
        drawn += row.hosts.size();
        rows.push_back({{"label", label_of(hosts, row, several_jobs)},
                        {"hosts", row.hosts.size()},
                        {"first_host", hosts.hosts[row.hosts.front()].host},
                        {"spans", std::move(flat)}});
    }
    return {{"computed", computed},    {"difference", difference},
            {"lanes", hosts.lanes},    {"names", hosts.names},
            {"rows", std::move(rows)}, {"not_drawn", hosts.hosts.size() - drawn}};
}

}  // namespace sluice::report
