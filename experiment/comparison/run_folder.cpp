// SPDX-License-Identifier: Apache-2.0
#include "experiment/comparison/run_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

/// The rows of a CSV file, by the names of its columns. Fields may be quoted, within a line.
class CsvReader {
  public:
    CsvReader(std::string path, const std::vector<std::string>& wanted)
        : path_(std::move(path)), in_(path_) {
        if (!next_line()) throw ConfigError(path_, 0, "is missing or empty");
        for (const std::string& name : wanted) {
            const auto found = std::find(fields_.begin(), fields_.end(), name);
            if (found == fields_.end()) throw ConfigError(path_, 1, "has no column " + name);
            columns_.push_back(static_cast<std::size_t>(found - fields_.begin()));
        }
        width_ = fields_.size();
    }

    /// False at the end.
    bool next() {
        if (!next_line()) return false;
        if (fields_.size() != width_) {
            throw ConfigError(path_, line_,
                              "has " + std::to_string(fields_.size()) + " fields, the header " +
                                  std::to_string(width_));
        }
        return true;
    }

    /// The n-th of the wanted columns.
    const std::string& text(std::size_t n) const { return fields_[columns_[n]]; }
    std::int64_t number(std::size_t n) const {
        return parse_integer(text(n), {path_, line_, "a field"}, 0, kMost);
    }

  private:
    bool next_line() {
        std::string line;
        if (!std::getline(in_, line)) return false;
        ++line_;
        fields_.assign(1, "");
        bool quoted = false;
        for (std::size_t i = 0; i < line.size(); ++i) {
            const char c = line[i];
            if (quoted && c == '"' && i + 1 < line.size() && line[i + 1] == '"') {
                fields_.back() += line[++i];
            } else if (c == '"') {
                quoted = !quoted;
            } else if (c == ',' && !quoted) {
                fields_.emplace_back();
            } else {
                fields_.back() += c;
            }
        }
        return true;
    }

    std::string path_;
    std::ifstream in_;
    int line_ = 0;
    std::vector<std::string> fields_;
    std::vector<std::size_t> columns_;
    std::size_t width_ = 0;
};

std::uint32_t class_index(std::vector<std::string>& classes, const std::string& name) {
    const auto index =
        static_cast<std::size_t>(std::find(classes.begin(), classes.end(), name) - classes.begin());
    if (index == classes.size()) classes.push_back(name);
    return static_cast<std::uint32_t>(index);
}

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
    CsvReader flows(file("flows.csv"),
                    {"flow", "label", "size_bytes", "fct_ps", "src", "dst", "ideal_ps"});
    while (flows.next()) {
        FinishedFlow flow;
        flow.flow = static_cast<FlowId>(flows.number(0));
        flow.flow_class = class_index(figures.classes, flows.text(1));
        flow.size = flows.number(2);
        flow.fct = flows.number(3);
        flow.src = static_cast<NodeId>(flows.number(4));
        flow.dst = static_cast<NodeId>(flows.number(5));
        if (!flows.text(6).empty()) flow.ideal = flows.number(6);
        figures.flows.push_back(flow);
    }
    std::sort(figures.flows.begin(), figures.flows.end(),
              [](const FinishedFlow& a, const FinishedFlow& b) { return a.flow < b.flow; });
    CsvReader ports(file("ports.csv"), {"tx_bytes"});
    while (ports.next()) figures.port_bytes.push_back(ports.number(0));
    return figures;
}

}  // namespace sluice
