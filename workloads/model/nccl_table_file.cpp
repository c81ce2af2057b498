// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/nccl_table_file.h"

#include <array>
#include <sstream>

#include <fmt/core.h>

namespace sluice {

namespace {

constexpr std::size_t kMostChoices = 64;
constexpr Bytes kLargestBlock{std::int64_t{1} << 50};

std::vector<NcclChoice::Bandwidth> read_bandwidths(ConfigSection& section, const char* key) {
    std::vector<NcclChoice::Bandwidth> bandwidths;
    for (ConfigSection& entry : section.tables(key)) {
        NcclChoice::Bandwidth bandwidth;
        bandwidth.members =
            static_cast<std::uint32_t>(entry.integer("members", std::nullopt, 2, kMostMembers));
        bandwidth.bytes_per_second =
            static_cast<double>(entry.rate("rate", std::nullopt).bits_per_second) / 8;
        entry.finish();
        if (!bandwidths.empty() && bandwidth.members <= bandwidths.back().members) {
            section.fail(key, "must be listed by growing number of members, each once");
        }
        bandwidths.push_back(bandwidth);
    }
    if (bandwidths.empty()) section.fail(key, "is empty; give at least one table");
    return bandwidths;
}

/// Factors by kind, in a table of their own.
void read_factors(ConfigSection section, NcclAlgorithm algorithm,
                  std::array<double, kCollectiveKinds>& factors) {
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
        const char* key = to_string(static_cast<CollectiveKind>(kind));
        if (!supports(algorithm, static_cast<CollectiveKind>(kind))) continue;
        if (!section.has(key)) continue;
        factors[kind] = section.number(key, std::nullopt, 1e-3, 1e3);
    }
    section.finish();
}

void read_shared_links(ConfigSection& section, NcclChoice& choice) {
    choice.shared_links = section.flag("shared_links", false);
    if (!choice.shared_links || choice.algorithm != NcclAlgorithm::ring) return;
    read_factors(section.table("shared"), choice.algorithm, choice.shared_factor);
    read_factors(section.table("cached"), choice.algorithm, choice.cached_factor);
}

std::string format_factors(const char* key, const std::array<double, kCollectiveKinds>& factors) {
    std::string text;
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
        if (factors[kind] <= 0) continue;
        text += fmt::format("{}{} = {:.4f}", text.empty() ? "" : ", ",
                            to_string(static_cast<CollectiveKind>(kind)), factors[kind]);
    }
    return text.empty() ? "" : fmt::format("{} = {{ {} }}\n", key, text);
}

NcclChoice read_choice(ConfigSection section) {
    NcclChoice choice;
    choice.algorithm = section.choice("algorithm", NcclAlgorithm::ring,
                                      {{"ring", NcclAlgorithm::ring},
                                       {"nvls", NcclAlgorithm::nvls},
                                       {"pairs", NcclAlgorithm::pairs}});
    choice.protocol = section.choice("protocol", NcclProtocol::simple,
                                     {{"LL", NcclProtocol::ll},
                                      {"LL128", NcclProtocol::ll128},
                                      {"Simple", NcclProtocol::simple}});
    const auto microseconds = [&](const char* key) {
        return static_cast<double>(section.time(key, std::nullopt, 0, kSecond)) / kMicrosecond;
    };
    choice.base_us = microseconds("base");
    choice.step_us = microseconds("step");
    choice.overlap = section.number("overlap", 1, kLeastOverlap, 16);
    choice.bandwidth = read_bandwidths(section, "bandwidth");
    choice.fewest_members =
        static_cast<std::uint32_t>(section.integer("fewest_members", 2, 2, kMostMembers));
    read_shared_links(section, choice);
    if (section.has("most_block")) {
        const Bytes most = section.bytes("most_block", std::nullopt, Bytes{1}, kLargestBlock);
        choice.most_block = static_cast<double>(most.count);
    }
    if (section.has("model_base") || section.has("model_step") || section.has("model_bandwidth")) {
        choice.cost_model = {microseconds("model_base"), microseconds("model_step"),
                             read_bandwidths(section, "model_bandwidth")};
    }
    bool offered = false;
    for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
        const char* key = to_string(static_cast<CollectiveKind>(kind));
        if (!supports(choice.algorithm, static_cast<CollectiveKind>(kind))) continue;
        if (!section.has(key)) continue;
        choice.factor[kind] = section.number(key, std::nullopt, 1e-3, 1e3);
        offered = true;
    }
    section.finish();
    if (!offered) section.fail("algorithm", "is offered for no operation; give one's factor");
    return choice;
}

std::string format_bandwidths(const char* key,
                              const std::vector<NcclChoice::Bandwidth>& bandwidths) {
    std::string text = fmt::format("{} = [\n", key);
    for (const NcclChoice::Bandwidth& bandwidth : bandwidths) {
        text += fmt::format("    {{ members = {}, rate = \"{:.3f}GB/s\" }},\n", bandwidth.members,
                            bandwidth.bytes_per_second / 1e9);
    }
    return text + "]\n";
}

}  // namespace

NcclTable read_nccl_table(ConfigSection section) {
    NcclTable table;
    const std::vector<ConfigSection> choices = section.tables("choice");
    if (choices.empty()) section.fail("choice", "is missing; give at least one table");
    if (choices.size() > kMostChoices) section.fail("choice", "has more than 64 tables");
    for (const ConfigSection& choice : choices) table.choices.push_back(read_choice(choice));
    section.finish();
    return table;
}

std::string format_nccl_table(const NcclTable& table, const std::string& path,
                              const std::string& comment) {
    std::string text = "[" + path + "]\n";
    std::istringstream lines(comment);
    for (std::string line; std::getline(lines, line);) text += "# " + line + "\n";
    for (const NcclChoice& choice : table.choices) {
        text += fmt::format("\n[[{}.choice]]\nalgorithm = \"{}\"\nprotocol = \"{}\"\n", path,
                            to_string(choice.algorithm), to_string(choice.protocol));
        text += fmt::format("base = \"{:.3f}us\"\nstep = \"{:.4f}us\"\noverlap = {:.3f}\n",
                            choice.base_us, choice.step_us, choice.overlap);
        text += format_bandwidths("bandwidth", choice.bandwidth);
        for (std::size_t kind = 0; kind < kCollectiveKinds; ++kind) {
            if (choice.factor[kind] <= 0) continue;
            text += fmt::format("{} = {:.4f}\n", to_string(static_cast<CollectiveKind>(kind)),
                                choice.factor[kind]);
        }
        if (choice.fewest_members > 2) {
            text += fmt::format("fewest_members = {}\n", choice.fewest_members);
        }
        if (choice.shared_links) text += "shared_links = true\n";
        text += format_factors("shared", choice.shared_factor);
        text += format_factors("cached", choice.cached_factor);
        if (choice.most_block > 0) {
            text += fmt::format("most_block = \"{:.0f}B\"\n", choice.most_block);
        }
        if (!choice.cost_model) continue;
        text += fmt::format("model_base = \"{:.3f}us\"\nmodel_step = \"{:.4f}us\"\n",
                            choice.cost_model->base_us, choice.cost_model->step_us);
        text += format_bandwidths("model_bandwidth", choice.cost_model->bandwidth);
    }
    return text;
}

}  // namespace sluice
