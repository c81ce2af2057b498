// SPDX-License-Identifier: Apache-2.0
#include "cli/setup/first_scenario.h"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "core/error.h"
#include "core/text/config_value.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

constexpr std::uint32_t kGpusPerServer = 8;
// Of a NIC, bits/s, as scenarios allow.
constexpr std::int64_t kLeastRate = 1'000'000;
constexpr std::int64_t kMostRate = 100'000'000'000'000;

void check_word(const char* what, const std::string& word, const std::vector<std::string>& words) {
    if (word.empty() || std::find(words.begin(), words.end(), word) != words.end()) return;
    throw ConfigError(
        fmt::format("init: {} {} must be one of {}", what, shown_text(word), listed(words)));
}

/// Servers of eight where the GPUs make them: what is inside one does not cross the network.
std::uint32_t gpus_per_server(const FirstScenario& answers) {
    return answers.gpus % kGpusPerServer == 0 ? kGpusPerServer : 1;
}

std::uint32_t fat_tree_k(std::uint32_t hosts) {
    std::uint32_t k = 2;
    while (k * k * k / 4 < hosts) k += 2;
    return k;
}

std::string network_lines(const FirstScenario& answers) {
    const std::uint32_t gpus = answers.gpus;
    if (answers.network == "star") {
        return fmt::format("hosts = {}                # all on one switch\n", gpus);
    }
    if (answers.network == "fat-tree") {
        const std::uint32_t k = fat_tree_k(gpus);
        return fmt::format(
            "k = {}                    # k pods of k/2 leaves; room for k^3/4 = {} hosts\n", k,
            k * k * k / 4);
    }
    if (answers.network == "leaf-spine") {
        const std::uint32_t per_leaf = std::min(16U, gpus);
        return fmt::format(
            "leaves = {}\nhosts_per_leaf = {}\nspines = {}                # half of "
            "hosts_per_leaf: half of the bisection\n",
            (gpus + per_leaf - 1) / per_leaf, per_leaf, std::max(1U, per_leaf / 2));
    }
    return fmt::format("gpus = {}                # GPU i of every server is on rail switch i\n",
                       gpus);
}

std::string workload_lines(const FirstScenario& answers) {
    const std::uint32_t gpus = answers.gpus;
    if (answers.workload == "training") {
        return fmt::format(
            "type = \"training\"\nmodel = \"llama-7b\"        # or gpt-13b, llama3-405b, ...: "
            "docs/models/workload.md\n"
            "gpu = \"H100\"\ntp = {}                   # tensor parallel, inside a server: "
            "computed, not simulated\n"
            "dp = {}                   # data parallel: gradients, all-reduced over the network\n"
            "pp = 1                   # pipeline stages; tp x dp x pp is the number of GPUs\n"
            "micro_batches = 4        # per replica\n",
            kGpusPerServer, gpus / kGpusPerServer);
    }
    if (answers.workload == "all-reduce") {
        return "type = \"collective\"\nkind = \"all-reduce\"      # or all-gather, reduce-scatter, "
               "all-to-all\n"
               "size = \"64MiB\"           # of each rank's tensor\n"
               "gpu = \"H100\"             # its links inside a server\n";
    }
    if (answers.workload == "permutation") {
        return "type = \"permutation\"     # every host sends to one other, and receives from "
               "one\nsize = \"1MB\"\n";
    }
    if (answers.workload == "incast") {
        return fmt::format(
            "type = \"incast\"\nsenders = {}\nreceiver = 0             # the index of a host\nsize "
            "= \"500KB\"\n"
            "jitter = \"1us\"           # each flow starts somewhere in this span\n",
            std::min(16U, gpus - 1));
    }
    return "type = \"poisson\"         # flows arrive at random, from random hosts to random "
           "others\n"
           "cdf = \"WebSearch\"        # sizes; or FbHadoop, AliStorage2019, GoogleRPC2008\n"
           "load = 0.3               # of the NICs\nduration = \"2ms\"         # of arrivals\n";
}

}  // namespace

const std::vector<std::string>& first_networks() {
    static const std::vector<std::string> kNetworks{"rail-optimized", "fat-tree", "leaf-spine",
                                                    "star"};
    return kNetworks;
}

const std::vector<std::string>& first_workloads() {
    static const std::vector<std::string> kWorkloads{"training", "all-reduce", "permutation",
                                                     "incast", "websearch"};
    return kWorkloads;
}

std::string listed(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

std::uint32_t parse_first_gpus(const std::string& text) {
    std::uint32_t gpus = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gpus);
    if (error != std::errc() || end != text.data() + text.size()) gpus = 0;
    if (gpus < kLeastFirstGpus || gpus > kMostFirstGpus) {
        throw ConfigError(fmt::format("init: {} GPUs must be from {} to {}", shown_text(text),
                                      kLeastFirstGpus, kMostFirstGpus));
    }
    return gpus;
}

void check_first(const FirstScenario& answers) {
    check_word("network", answers.network, first_networks());
    check_word("workload", answers.workload, first_workloads());
    if (!answers.rate.empty()) {
        const std::int64_t rate = parse_rate(answers.rate, {"", 0, "init: rate"}).bits_per_second;
        if (rate < kLeastRate || rate > kMostRate) {
            throw ConfigError("init: rate is " + answers.rate + "; allowed: 1Mbps to 100Tbps");
        }
    }
    if (answers.gpus == 0) return;
    if (answers.network == "rail-optimized" && answers.gpus % kGpusPerServer != 0) {
        throw ConfigError(
            fmt::format("init: rail-optimized needs servers of {}; {} GPUs do not fill them",
                        kGpusPerServer, answers.gpus));
    }
    if (answers.workload == "training" &&
        (answers.gpus % kGpusPerServer != 0 || answers.gpus < 2 * kGpusPerServer)) {
        throw ConfigError(
            fmt::format("init: training needs servers of {}, two or more; {} GPUs do not fill them",
                        kGpusPerServer, answers.gpus));
    }
}

std::string first_scenario(const FirstScenario& answers) {
    return fmt::format(
        "# Every key, its unit and its default: docs/scenario.md. A key can be changed for one "
        "run:\n"
        "#\n"
        "#   sluice run SCENARIO.toml --set congestion.law=dcqcn --out runs/dcqcn\n"
        "\n"
        "seed = 1\n"
        "mode = \"wormhole\"        # or \"packet\", the reference; \"flow\", the quickest\n"
        "\n"
        "[topology]\n"
        "type = \"{network}\"\n"
        "{network_lines}"
        "gpus_per_server = {servers}\n"
        "rate = \"{rate}\"         # of a NIC\n"
        "delay = \"1us\"            # of a cable\n"
        "\n"
        "[network]\n"
        "payload = 4096           # bytes per packet, without headers\n"
        "load_balance = \"ecmp\"    # or \"spray\"\n"
        "\n"
        "[congestion]\n"
        "law = \"hpcc\"             # or \"dcqcn\", \"timely\", \"dctcp\", \"none\"\n"
        "\n"
        "[workload]\n"
        "{workload_lines}",
        fmt::arg("network", answers.network), fmt::arg("network_lines", network_lines(answers)),
        fmt::arg("servers", gpus_per_server(answers)), fmt::arg("rate", answers.rate),
        fmt::arg("workload_lines", workload_lines(answers)));
}

}  // namespace sluice
