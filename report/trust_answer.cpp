// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "core/results/student_t.h"
#include "core/text/human.h"
#include "report/answers.h"
#include "report/time_parts.h"
#include "report/words.h"

namespace sluice::report {

namespace {

/// The error of what equations replaced, as far as it is known.
std::string audit_text(const Json& audit) {
    if (audit.is_object() && audit.at("jct").is_object()) {
        const Json& jct = audit.at("jct");
        return fmt::format(
            " The audit puts the error of the completion time, {}, at {} +-{} (95%).",
            human_seconds(number(jct, "value")), shown_share(number(jct, "error")),
            shown_share(number(jct, "half_width")));
    }
    if (audit.is_object() && audit.at("fct").is_object()) {
        const Json& fct = audit.at("fct");
        return fmt::format(" The audit puts the error of the mean flow at {} +-{} (95%).",
                           shown_share(number(fct, "error")),
                           shown_share(number(fct, "half_width")));
    }
    return " Their error was not measured: there is no estimate of an audit.";
}

std::string simulated_text(const RunFiles& run, const Json& trust) {
    const Json& summary = run.summary;
    if (summary.value("mode", std::string()) == "flow") {
        return "No packet was simulated: mode flow shares links by max-min fairness, without "
               "queues. "
               "Its error was not measured: no run in mode packet is beside it.";
    }
    const Json& hops = trust.at("hops");
    const double executed = number(hops, "executed");
    const double copies = number(hops, "copies");
    const double skipped = number(hops, "equations");
    if (skipped > 0) {
        return fmt::format("Equations replaced {} of the packet-hops.",
                           shown_share(skipped / (executed + copies + skipped))) +
               audit_text(trust.at("audit"));
    }
    if (executed + copies <= 0) return "No packet was sent.";
    if (copies > 0) {
        return fmt::format(
            "No packet was replaced by equations: {} of the {} packet-hops were executed, and the "
            "others are exact copies of parts that do the same.",
            shown_share(executed / (executed + copies)), human_count(executed + copies));
    }
    return fmt::format(
        "Every packet was simulated: {} packet-hops, none copied or replaced by equations.",
        human_count(executed));
}

/// How much of a job's time the network decides at all.
std::string dependence_text(const RunFiles& run) {
    const Json* const job = longest_job(run.summary);
    if (job == nullptr) return {};
    const std::vector<TimePart> parts = time_parts(run, *job);
    std::vector<std::string> others;
    const auto name = [&](PartKind kind, const char* text) {
        const double share = share_of(parts, kind);
        if (share > 0) others.push_back(fmt::format("{} ({})", text, shown_share(share)));
    };
    name(PartKind::compute, "computation");
    name(PartKind::servers, "communication inside servers");
    name(PartKind::software, "software");
    name(PartKind::other, "waits inside the job");
    double network = 0;
    for (const TimePart& part : parts) {
        network += part.kind == PartKind::network ? part.seconds : 0;
    }
    const std::string share =
        network > 0
            ? fmt::format("{} of the critical path ({})",
                          shown_share(share_of(parts, PartKind::network)), human_seconds(network))
            : "Nothing of the critical path";
    std::string text = fmt::format(" {} depends on the simulated network", share);
    if (!others.empty()) text += "; the rest is " + listing(others) + ", taken from the scenario";
    return text + ".";
}

/// Of a column of replicas.csv.
std::string replica_name(const std::string& column) {
    if (column == "mean_flow_s") return "the mean flow";
    if (column == "p99_flow_s") return "the p99 flow";
    return "the completion time";
}

std::string replica_text(const Json& replicas) {
    for (const auto& [name, values] : replicas.items()) {
        if (values.size() < 2) continue;
        double mean = 0;
        for (const Json& value : values) mean += value.get<double>();
        const auto n = static_cast<double>(values.size());
        mean /= n;
        double squares = 0;
        for (const Json& value : values) squares += std::pow(value.get<double>() - mean, 2);
        const double half =
            student_t_quantile(0.975, values.size() - 1) * std::sqrt(squares / (n - 1) / n);
        return fmt::format(" {} replicas put {} at {} +-{} (95%).", values.size(),
                           replica_name(name), human_seconds(mean), shown_share(half / mean));
    }
    return {};
}

std::string chance_text(const RunFiles& run, const Json& trust) {
    if (trust.at("replicas").is_object()) return replica_text(trust.at("replicas"));
    if (!trust.at("random").get<bool>()) return " Nothing in this run is random.";
    return fmt::format(" Spread from chance: not measured (one run, seed {}).",
                       run.summary.value("seed", std::uint64_t{0}));
}

}  // namespace

std::string trust_answer(const RunFiles& run, const Json& trust) {
    std::string text;
    if (run.summary.value("interrupted", false)) text = "The run was interrupted. ";
    return text + simulated_text(run, trust) + dependence_text(run) + chance_text(run, trust);
}

}  // namespace sluice::report
