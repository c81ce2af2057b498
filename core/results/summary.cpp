// SPDX-License-Identifier: Apache-2.0
#include "core/results/summary.h"

#include <cstdio>

#include <nlohmann/json.hpp>

#include "core/error.h"

namespace sluice {
namespace {

using Json = nlohmann::ordered_json;

Json seconds_or_null(Tick time) { return time == kNever ? Json(nullptr) : Json(to_seconds(time)); }

std::string hexadecimal(std::uint64_t value) {
    char text[20];
    std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(value));
    return text;
}

Json job_json(const JobRecord& job) {
    Json json = {{"name", job.name},
                 {"ranks", job.ranks},
                 {"hosts", job.hosts.empty() ? Json(nullptr) : Json(job.hosts)},
                 {"start_s", to_seconds(job.start)},
                 {"jct_s", seconds_or_null(job.jct)},
                 {"operations", job.operations},
                 {"operations_completed", job.operations_completed},
                 {"flows", job.flows},
                 {"bytes", job.bytes},
                 {"critical_path_s", Json::object()},
                 {"rank_time_s", Json::object()}};
    for (const TimeShare& share : job.critical_path) {
        json["critical_path_s"][share.name] = to_seconds(share.time);
    }
    for (const RankTimeShare& share : job.rank_time) {
        json["rank_time_s"][share.name] = {{"mean", to_seconds(share.mean)},
                                           {"most", to_seconds(share.most)},
                                           {"most_rank", share.most_rank}};
    }
    return json;
}

/// What the engine counted, as far as the mode has it.
void add_counters(Json& json, Mode mode, const RunCounters& counters) {
    const bool packets = moves_packets(mode);
    if (packets) {
        json["packet_hops"] = counters.packet_hops;
    }
    json["events"] = counters.events;
    if (packets) {
        json["windows"] = counters.windows;
        json["drops"] = counters.drops;
        json["pfc_pauses"] = counters.pfc_pauses;
        json["ecn_marks"] = counters.ecn_marks;
        json["retransmitted_bytes"] = counters.retransmitted_bytes;
    }
    if (has_phases(mode)) {
        const PhaseCounters& phases = counters.phases;
        json["hops_saved"] = phases.hops_saved;
        json["bytes_skipped"] = phases.bytes_skipped;
        json["skips"] = phases.skips;
        if (phases.recalled_skips > 0) {
            json["recalled_skips"] = phases.recalled_skips;
        }
        json["skip_backs"] = phases.skip_backs;
        json["partitions"] = {{"most", phases.most_partitions},
                              {"largest", phases.largest_partition}};
        json["steady_share"] = phases.steady_share();
        const EpisodeCounters& episodes = phases.episodes;
        if (episodes.learned + episodes.hits + episodes.missed > 0) {
            json["episodes"] = {
                {"learned", episodes.learned}, {"hits", episodes.hits},
                {"missed", episodes.missed},   {"interrupted", episodes.interrupted},
                {"resumed", episodes.resumed}, {"late_calls", episodes.late_calls}};
        }
        const RestorationCounters& queues = phases.restoration;
        if (queues.ports > 0) {
            json["restored_queues"] = {{"ports", queues.ports},
                                       {"asked", queues.asked},
                                       {"moved", queues.moved},
                                       {"packets_placed", queues.placed},
                                       {"packets_taken_out", queues.taken_out}};
        }
    }
    if (counters.fold.images > 0) {
        json["fold"] = {{"hops", counters.fold.hops},
                        {"images", counters.fold.images},
                        {"forks", counters.fold.forks}};
    }
    if (counters.hop_checksum != 0) {
        json["hop_checksum"] = hexadecimal(counters.hop_checksum);  // beyond a double's integers
    }
}

/// What was lost and what was sent again, by cause; nothing where there was none.
void add_causes(Json& json, const RunOutcome& outcome) {
    DropCauses all;
    std::int64_t drops = 0;
    std::int64_t trimmed = 0;
    for (const PortStatistics& port : outcome.ports) {
        drops += port.drops;
        trimmed += port.trimmed;
        all.no_room += port.drops_by.no_room;
        all.no_way += port.drops_by.no_way;
        all.link_down += port.drops_by.link_down;
        all.cable += port.drops_by.cable;
        all.outdated += port.drops_by.outdated;
    }
    if (drops > 0) {
        json["drops_by_cause"] = {{"no_room", all.no_room},
                                  {"no_way", all.no_way},
                                  {"link_down", all.link_down},
                                  {"cable", all.cable},
                                  {"outdated", all.outdated}};
    }
    if (trimmed > 0) {
        json["trimmed"] = trimmed;
    }
    for (const ResentBytes& resent : outcome.resent) {
        json["retransmitted_by_cause"][resent.cause] = resent.bytes;
    }
}

Json interval_json(bool known, double mean, double half) {
    return known ? Json{{"mean", mean}, {"half_width", half}} : Json(nullptr);
}

/// Errors are shares of the run's own times, and its time less that of packets.
Json audit_json(const RunOutcome& outcome) {
    const AuditCounters& audit = outcome.counters.audit;
    double error = 0;
    double half = 0;
    const bool job = job_time_error(outcome, error, half);
    return {
        {"share", audit.share},
        {"skips", audit.skips},
        {"audited", audit.audited},
        {"prefixes", audit.prefixes},
        {"episodes", audit.episodes},
        {"audited_episodes", audit.audited_episodes},
        {"inherited", audit.inherited},
        {"packet_hops", audit.hops},
        {"clusters", audit.clusters},
        {"skipped_share", audit.skipped_share},
        {"skip_error",
         {{"mean", audit.enough ? Json(audit.mean_skip_error) : Json(nullptr)},
          {"max", audit.audited > 0 ? Json(audit.largest_skip_error) : Json(nullptr)}}},
        {"episode_error",
         {{"mean",
           audit.enough && audit.episodes > 0 ? Json(audit.mean_episode_error) : Json(nullptr)},
          {"max", audit.audited_episodes > 0 ? Json(audit.largest_episode_error) : Json(nullptr)}}},
        {"tolerance", audit.tolerance},
        {"within_tolerance", audit.enough ? Json(audit.within_tolerance()) : Json(nullptr)},
        {"distrusted_ps", audit.distrusted == kNever ? Json(nullptr) : Json(audit.distrusted)},
        {"fct_error", interval_json(audit.enough, audit.fct_error, audit.fct_half)},
        {"jct_error", interval_json(job, error, half)}};
}

/// The object with the configuration, which is JSON already, as its last member.
std::string with_config(std::string object, const std::string& config) {
    object.erase(object.rfind("\n}"));
    object += ",\n  \"config\": ";
    for (const char c : config) {
        object += c;
        if (c == '\n') object += "  ";
    }
    return object + "\n}\n";
}

}  // namespace

bool job_time_error(const RunOutcome& outcome, double& error, double& half) {
    const AuditCounters& audit = outcome.counters.audit;
    const JobRecord* last = nullptr;
    for (const JobRecord& job : outcome.jobs) {
        if (job.jct != kNever && job.jct > 0 &&
            (last == nullptr || job.start + job.jct > last->start + last->jct)) {
            last = &job;
        }
    }
    if (!audit.enough || last == nullptr) {
        return false;
    }
    const double share = static_cast<double>(last->messages) / static_cast<double>(last->jct);
    error = audit.time_error * share;
    half = audit.time_half * share;
    return true;
}

Summary summarize(FlowTotals& totals, const RunOutcome& outcome) {
    Summary summary;
    summary.flows = totals.flows;
    summary.flows_completed = totals.completion_times.count();
    summary.bytes = totals.bytes;
    summary.bytes_completed = totals.bytes_completed;
    summary.jct = outcome.jct;
    if (totals.completion_times.count() > 0) {
        totals.completion_times.close();
        summary.fct_mean_s = totals.completion_times.mean_seconds();
        summary.fct_p50 = totals.completion_times.percentile(50);
        summary.fct_p99 = totals.completion_times.percentile(99);
        summary.fct_max = totals.completion_times.most();
        // Of a job that is not complete there is no completion time.
        if (summary.jct == kNever && outcome.jobs.empty()) {
            summary.jct = totals.last_finish - totals.first_start;
        }
    }
    if (outcome.user_s > 0) {
        const RunCounters& counters = outcome.counters;
        summary.packet_hops_per_s =
            static_cast<double>(counters.packet_hops - counters.fold.hops) / outcome.user_s;
    }
    return summary;
}

std::string summary_json(const RunInfo& info, const RunOutcome& outcome, const Summary& summary) {
    const bool any = summary.flows_completed > 0;
    const RunCounters& counters = outcome.counters;
    const bool packets = moves_packets(info.mode);
    Json json;
    json["mode"] = mode_name(info.mode);
    json["scenario"] = info.scenario;
    json["seed"] = info.seed;
    json["interrupted"] = outcome.interrupted;
    if (outcome.stalled) json["stalled"] = true;
    if (!outcome.paused_cycle.empty()) json["paused_cycle"] = outcome.paused_cycle;
    json["jct_s"] = seconds_or_null(summary.jct);
    json["simulated_s"] = to_seconds(outcome.simulated);
    json["flows"] = summary.flows;
    json["flows_completed"] = summary.flows_completed;
    json["bytes"] = summary.bytes;
    json["bytes_completed"] = summary.bytes_completed;
    json["fct_s"] = {{"mean", any ? Json(summary.fct_mean_s) : Json(nullptr)},
                     {"p50", seconds_or_null(summary.fct_p50)},
                     {"p99", seconds_or_null(summary.fct_p99)},
                     {"max", seconds_or_null(summary.fct_max)}};
    for (const JobRecord& job : outcome.jobs) json["jobs"].push_back(job_json(job));
    for (const LinkClassRecord& links : outcome.link_classes) {
        json["link_classes"].push_back({{"name", links.name},
                                        {"links", links.links},
                                        {"bytes", links.bytes},
                                        {"mean_utilization", links.mean_utilization},
                                        {"most_utilization", links.most_utilization}});
    }
    json["keys_without_effect"] = outcome.keys_without_effect;
    json["warnings"] = outcome.warnings;
    add_counters(json, info.mode, counters);
    if (packets) add_causes(json, outcome);
    if (counters.audit.share > 0) {
        json["audit"] = audit_json(outcome);
    }
    json["elaboration_s"] = outcome.elaboration_s;
    json["elaboration_user_s"] = outcome.elaboration_user_s;
    json["wall_s"] = outcome.wall_s;
    json["user_s"] = outcome.user_s;
    if (counters.threads > 1) {
        json["threads"] = counters.threads;
    }
    if (packets) {
        json["packet_hops_per_s"] = summary.packet_hops_per_s;
    }
    json["peak_rss_bytes"] = summary.peak_rss_bytes;
    json["version"] = info.version;
    return with_config(json.dump(2, ' ', false, Json::error_handler_t::replace), info.config_json);
}

}  // namespace sluice
