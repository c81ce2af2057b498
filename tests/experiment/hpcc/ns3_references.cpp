// SPDX-License-Identifier: Apache-2.0
/// Answers of the HPCC ns-3 itself (tests/data/ns3): every flow that it completes completes at the same
/// nanosecond, and no other does.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/ns3/driver.h"
#include "core/results/fct_line.h"
#include "core/world/world_store.h"
#include "experiment/hpcc/hpcc_import.h"

using namespace sluice;

namespace {

namespace fs = std::filesystem;

/// All but the last field, the time alone, sorted: flows that finish together may be listed in any
/// order.
std::vector<std::string> sorted_answers(std::vector<std::string> lines) {
    for (std::string& line : lines) {
        line.erase(line.find_last_of(' '));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
}

std::vector<std::string> answers_of_ns3(const fs::path& file) {
    std::ifstream text(file);
    std::vector<std::string> lines;
    for (std::string line; std::getline(text, line);) {
        lines.push_back(line);
    }
    return sorted_answers(std::move(lines));
}

std::vector<std::string> answers_of_ours(const Experiment& experiment) {
    Routing routing(experiment.topology, next_hop_order(experiment.network.arithmetic));
    step::WorldStore store(experiment.topology, routing, experiment.network, experiment.flows,
                           experiment.paths, nullptr);
    store.begin();
    ns3::Driver driver(store, experiment.link_events, {});
    driver.advance(experiment.stop);
    std::vector<std::string> lines;
    for (FlowId flow = 0; flow < experiment.flows.size(); ++flow) {
        if (store.results()[flow].finish != kNever) {
            std::string line = fct_line(experiment.flows[flow], store.results()[flow], 0);
            line.erase(line.find_last_not_of('\n') + 1);
            lines.push_back(line);
        }
    }
    return sorted_answers(std::move(lines));
}

void compare(const std::string& law) {
    int experiments = 0;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(SLUICE_SOURCE_DIR) / "tests" / "data" / "ns3")) {
        const fs::path folder = entry.path() / law;
        if (!fs::exists(folder / "config.txt")) {
            continue;
        }
        INFO(folder.string());
        const HpccImport import = import_hpcc((folder / "config.txt").string(), "", 0);
        const std::vector<std::string> expected = answers_of_ns3(folder / "fct.txt");
        CHECK(!expected.empty());
        CHECK(answers_of_ours(import.experiment) == expected);
        ++experiments;
    }
    CHECK(experiments == 8);
}

}  // namespace

TEST_CASE("unit.ns3.references.hpcc") { compare("hpcc"); }
TEST_CASE("unit.ns3.references.dctcp") { compare("dctcp"); }
TEST_CASE("unit.ns3.references.timely") { compare("timely"); }
