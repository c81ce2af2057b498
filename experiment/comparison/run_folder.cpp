// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/run_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/results/csv_reader.h"

namespace sluice {

namespace {

void read_summary(const std::string& path, RunFigures& figures) {
    std::ifstream in(path);
    const nlohmann::json json = nlohmann::json::parse(in, nullptr, false);
    if (!json.is_object()) throw ConfigError(path, 0, "is missing or no summary of a run");
    try {
        figures.costs.wall_s =
            json.at("elaboration_s").get<double>() + json.at("wall_s").get<double>();
        figures.costs.user_s =
            json.at("elaboration_user_s").get<double>() + json.at("user_s").get<double>();
        figures.costs.peak_rss_bytes = json.at("peak_rss_bytes").get<double>();
        figures.simulated_s = json.at("simulated_s").get<double>();
        if (!json.at("jct_s").is_null()) figures.jct_s = json["jct_s"].get<double>();
        if (json.contains("packet_hops"))
            figures.packet_hops = json["packet_hops"].get<std::uint64_t>();
        if (json.contains("hops_saved"))
            figures.hops_saved = json["hops_saved"].get<std::uint64_t>();
    } catch (const nlohmann::json::exception& error) {
        throw ConfigError(path, 0, std::string("is no summary of a run: ") + error.what());
    }
}

}  // namespace

RunFigures read_run(const std::string& folder) {
    const auto file = [&](const char* name) {
        return (std::filesystem::path(folder) / name).string();
    };
    RunFigures figures;
    read_summary(file("summary.json"), figures);
    FinishedFlows finished = read_finished_flows(
        file("flows.csv"), {"flow", "label", "size_bytes", "fct_ps", "src", "dst", "ideal_ps"});
    figures.classes = std::move(finished.classes);
    figures.flows = std::move(finished.flows);
    std::sort(figures.flows.begin(), figures.flows.end(),
              [](const FinishedFlow& a, const FinishedFlow& b) { return a.flow < b.flow; });
    CsvReader ports(file("ports.csv"), {"tx_bytes"});
    while (ports.next()) figures.port_bytes.push_back(ports.number(0));
    return figures;
}

}  // namespace sluice
