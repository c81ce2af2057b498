// SPDX-License-Identifier: Apache-2.0
#include "bench/steady/options.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace sluice::steady_bench {

namespace {

steady::DetectorKind kind_from(const std::string& name) {
    for (const auto& [word, kind] : steady::detector_words()) {
        if (name == word) {
            return kind;
        }
    }
    throw std::runtime_error("unknown detector " + name);
}

Lag lag_from(const std::string& name) {
    if (name == "none") {
        return Lag::none;
    }
    if (name == "group") {
        return Lag::group;
    }
    if (name == "flow") {
        return Lag::flow;
    }
    throw std::runtime_error("unknown lag " + name);
}

std::string* text_option(Options& options, const std::string& key) {
    if (key == "--series") {
        return &options.series;
    }
    if (key == "--half") {
        return &options.half;
    }
    if (key == "--law") {
        return &options.law;
    }
    if (key == "--kind") {
        return &options.kind;
    }
    if (key == "--flows") {
        return &options.flows;
    }
    return key == "--curve" ? &options.curve : nullptr;
}

double* number_option(steady::DetectorSettings& settings, const std::string& key) {
    if (key == "--theta") {
        return &settings.theta;
    }
    if (key == "--eps-bw") {
        return &settings.eps_bw;
    }
    if (key == "--eps-q") {
        return &settings.eps_q;
    }
    if (key == "--tolerance") {
        return &settings.tolerance;
    }
    return key == "--growth" ? &settings.growth : nullptr;
}

}  // namespace

Options parse_options(int argc, char** argv) {
    if (argc < 2 || argc % 2 != 0) {
        throw std::runtime_error(std::string("usage: ") + argv[0] +
                                 " CASES_DIR [--OPTION VALUE]...");
    }
    Options options;
    options.cases = argv[1];
    for (int i = 2; i + 1 < argc; i += 2) {
        const std::string key = argv[i];
        const std::string value = argv[i + 1];
        if (std::string* const text = text_option(options, key)) {
            *text = value;
        } else if (double* const number = number_option(options.settings, key)) {
            *number = std::atof(value.c_str());
        } else if (key == "--metric") {
            options.settings.kind = kind_from(value);
        } else if (key == "--lag") {
            options.lag = lag_from(value);
        } else if (key == "--span") {
            options.settings.span = std::atoll(value.c_str());
        } else if (key == "--nudge") {
            options.nudge = std::atoll(value.c_str());
        } else {
            throw std::runtime_error("unknown option " + key);
        }
    }
    return options;
}

std::vector<Case> chosen_cases(const Options& options) {
    const std::string path = options.cases + "/cases.csv";
    std::ifstream index(path);
    if (!index) {
        throw std::runtime_error(path + ": cannot be opened");
    }
    std::vector<Case> cases;
    std::string line;
    std::getline(index, line);
    while (std::getline(index, line)) {
        std::stringstream fields(line);
        Case one;
        std::getline(fields, one.name, ',');
        std::getline(fields, one.half, ',');
        std::getline(fields, one.kind, ',');
        std::getline(fields, one.law, ',');
        if ((options.half.empty() || options.half == one.half) &&
            (options.law.empty() || options.law == one.law) &&
            (options.kind.empty() || options.kind == one.kind)) {
            cases.push_back(one);
        }
    }
    return cases;
}

}  // namespace sluice::steady_bench
