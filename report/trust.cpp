// SPDX-License-Identifier: Apache-2.0
#include "report/trust.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <system_error>

#include <fmt/core.h>

#include "core/results/csv_reader.h"
#include "core/text/human.h"
#include "core/text/shell.h"
#include "report/steps.h"
#include "report/time_parts.h"

namespace sluice::report {

namespace {

Json phases(const RunFiles& run, double end_s) {
    if (!run.has("phases.csv") || end_s <= 0) return nullptr;
    CsvReader rows(run.file("phases.csv"),
                   {"partition", "phase", "start_ps", "end_ps", "ended_by", "flows"});
    const double step = end_s / static_cast<double>(kRunSteps);
    std::map<std::string, std::vector<double>> flows;
    for (const char* phase : {"unsteady", "steady", "memoized"}) flows[phase].assign(kRunSteps, 0);
    std::map<std::string, std::size_t> ended_by;
    std::size_t count = 0;
    while (rows.next()) {
        ++count;
        ++ended_by[rows.text(4)];
        std::vector<double>& steps = flows[rows.text(1)];
        steps.resize(kRunSteps, 0);
        spread(steps, step, to_seconds(rows.number(2)), to_seconds(rows.number(3)),
               static_cast<double>(rows.number(5)));
    }
    Json result = {{"step", step}, {"count", count}, {"ended_by", ended_by}};
    for (auto& [phase, steps] : flows) {
        for (double& value : steps) value = std::round(value * 1000) / 1000;
        result[phase] = steps;
    }
    return result;
}

Json hops(const Json& summary) {
    if (!summary.contains("packet_hops")) return nullptr;
    const double copies = summary.contains("fold") ? number(summary.at("fold"), "hops") : 0;
    return {{"executed", number(summary, "packet_hops") - copies},
            {"copies", copies},
            {"equations", number(summary, "hops_saved")}};
}

Json audit(const Json& summary) {
    if (!summary.contains("audit")) return nullptr;
    const Json& audit = summary.at("audit");
    Json result = {{"skips", number(audit, "skips") + number(audit, "episodes")},
                   {"audited", number(audit, "audited") + number(audit, "audited_episodes")},
                   {"jct", nullptr},
                   {"fct", nullptr}};
    const auto interval = [&](const char* error, double value) -> Json {
        if (!audit.contains(error) || !audit.at(error).is_object()) return nullptr;
        const Json& of = audit.at(error);
        if (!of.contains("mean") || !of.at("mean").is_number()) return nullptr;
        // Positive where packets would have been faster.
        const double mean = number(of, "mean");
        const double half = number(of, "half_width");
        return {{"error", mean},
                {"half_width", half},
                {"value", value},
                {"low", value * (1 - mean - half)},
                {"high", value * (1 - mean + half)}};
    };
    result["jct"] = interval("jct_error", number(summary, "jct_s"));
    result["fct"] = interval("fct_error", number(summary.at("fct_s"), "mean"));
    return result;
}

Json replicas(const RunFiles& run) {
    if (!run.has("replicas.csv")) return nullptr;
    const std::string path = run.file("replicas.csv");
    std::string header;
    std::getline(std::ifstream(path), header);
    std::vector<std::string> columns;
    std::istringstream names(header);
    for (std::string name; std::getline(names, name, ',');) {
        if (name.size() > 2 && name.compare(name.size() - 2, 2, "_s") == 0) columns.push_back(name);
    }
    CsvReader rows(path, columns);
    Json result = Json::object();
    for (const std::string& column : columns) result[column] = Json::array();
    while (rows.next()) {
        for (std::size_t i = 0; i < columns.size(); ++i) {
            if (!rows.empty(i)) result[columns[i]].push_back(rows.real(i));
        }
    }
    return result;
}

/// Whether the seed decides anything.
bool is_random(const Json& summary) {
    for (const Json& key : summary.value("keys_without_effect", Json::array())) {
        if (key.is_string() && key.get<std::string>().rfind("seed:", 0) == 0) return false;
    }
    return true;
}

/// What measures an error that this run leaves open: {why, command}.
Json commands(const RunFiles& run, const Json& audit, bool measured_spread) {
    std::string folder = run.folder;
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    const std::filesystem::path last = std::filesystem::path(folder).filename();
    if (last == "." || last == "..") {
        // Beside it, and not in it.
        std::error_code ignored;
        folder = std::filesystem::weakly_canonical(folder, ignored).string();
    }
    const std::string mode = run.summary.value("mode", std::string());
    const auto command = [&](const std::string& ending, const std::string& options, bool beside) {
        const std::string other = shell_word(folder + "-" + ending);
        const std::string results = beside ? shell_word(folder) + " " + other : other;
        return "sluice run SCENARIO.toml " + options + " --out " + other + " &&\nsluice report " +
               results + " -o " + shell_word(folder + "-" + ending + ".html");
    };
    Json list = Json::array();
    const bool audited =
        audit.is_object() && (audit.at("jct").is_object() || audit.at("fct").is_object());
    const bool exact =
        mode == "packet" || (mode != "flow" && number(run.summary, "hops_saved") <= 0);
    if (!exact && !audited) {
        list.push_back(
            {{"why", "The error of mode " + mode + ": the same with packets, side by side"},
             {"command", command("packet", "--mode packet", true)}});
    }
    if (measured_spread || !is_random(run.summary)) return list;
    if (mode == "flow") {
        // Replicas vary packets, which this mode has none of; its workload is drawn by the seed.
        const std::uint64_t seed = run.summary.value("seed", std::uint64_t{0}) + 1;
        const std::string ending = "seed" + std::to_string(seed);
        list.push_back(
            {{"why", "The spread from chance: another seed, side by side"},
             {"command", command(ending, "--mode flow --set seed=" + std::to_string(seed), true)}});
        return list;
    }
    list.push_back({{"why", "The spread from chance: eight replicas"},
                    {"command", command("replicas", "--mode " + mode + " --replicas 8", false)}});
    return list;
}

/// What this run says nothing of, a sentence each.
Json unknown(const RunFiles& run, bool measured_spread) {
    Json list = Json::array();
    if (!measured_spread && is_random(run.summary)) {
        list.push_back(fmt::format(
            "Chance: this is one run, with seed {}. Another seed may change the hashes that choose "
            "paths, random marks and losses, and what the workload draws.",
            run.summary.value("seed", std::uint64_t{0})));
    }
    if (run.summary.value("mode", std::string()) == "flow") {
        list.push_back("Queues, marks, losses and congestion control: mode flow has none of them.");
    }
    if (const Json* const job = longest_job(run.summary); job != nullptr) {
        double computed = 0;
        for (const TimePart& part : time_parts(run, *job)) {
            computed += part.kind == PartKind::compute ? part.seconds : 0;
        }
        if (computed > 0) {
            list.push_back(fmt::format(
                "Computation: its times are taken as they are. If all of them were 10% longer, "
                "that part of the critical path would be {} longer.",
                human_seconds(computed / 10)));
        }
    }
    list.push_back(
        "Hardware: no measurement of this network is beside it. docs/measured.md says what the "
        "models "
        "were compared with.");
    return list;
}

}  // namespace

Json trust_of(const RunFiles& run, double end_s) {
    const Json& summary = run.summary;
    const Json audited = audit(summary);
    Json repeated = replicas(run);
    const bool measured_spread = repeated.is_object();
    return {{"phases", phases(run, end_s)},
            {"hops", hops(summary)},
            {"audit", audited},
            {"replicas", std::move(repeated)},
            {"random", is_random(summary)},
            {"unknown", unknown(run, measured_spread)},
            {"commands", commands(run, audited, measured_spread)},
            {"warnings", summary.value("warnings", Json::array())},
            {"without_effect", summary.value("keys_without_effect", Json::array())}};
}

}  // namespace sluice::report
