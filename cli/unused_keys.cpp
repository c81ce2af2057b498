// SPDX-License-Identifier: Apache-2.0
/// Which keys of a scenario are checked but never looked at, given its mode, law and switches.
#include <functional>

#include "cli/explain.h"
#include "core/congestion/congestion.h"

namespace sluice {

namespace {

/// Keys that begin with `prefix` are without effect if the scenario is so.
struct Rule {
    const char* prefix;
    std::function<bool(const Scenario&)> applies;
    const char* why;
};

bool flow_mode(const Scenario& s) { return s.mode == Mode::flow; }
bool law_is(const Scenario& s, const char* name) {
    return std::string(congestion::law_name(s.network.congestion.law)) == name;
}
bool by_hygra(const Scenario& s) { return s.phases.detector.metric == steady::Metric::hygra; }
bool reacts_to_marks(const Scenario& s) { return law_is(s, "dcqcn") || law_is(s, "dctcp"); }

const std::vector<Rule>& rules() {
    static const std::vector<Rule> kRules = {
        {"phases.", [](const Scenario& s) { return s.mode != Mode::hybrid; },
         "only mode hybrid has phases"},
        {"phases.eps_bw", [](const Scenario& s) { return !by_hygra(s); },
         "the detector is another one"},
        {"phases.eps_q", [](const Scenario& s) { return !by_hygra(s); },
         "the detector is another one"},
        {"phases.stable_rounds", [](const Scenario& s) { return !by_hygra(s); },
         "the detector is another one"},
        {"phases.theta", [](const Scenario& s) { return by_hygra(s); },
         "the detector is another one"},
        {"congestion.", flow_mode, "mode flow has no congestion control"},
        {"network.ecn.", flow_mode, "mode flow has no queues"},
        {"network.buffer.", flow_mode, "mode flow has no queues"},
        {"network.queues.", flow_mode, "mode flow has no queues"},
        {"network.nic.", flow_mode, "mode flow has no packets"},
        {"network.pfc", flow_mode, "mode flow has no queues"},
        {"congestion.hpcc.", [](const Scenario& s) { return !law_is(s, "hpcc"); },
         "the law is another one"},
        {"congestion.dcqcn.", [](const Scenario& s) { return !law_is(s, "dcqcn"); },
         "the law is another one"},
        {"congestion.timely.", [](const Scenario& s) { return !law_is(s, "timely"); },
         "the law is another one"},
        {"congestion.dctcp.", [](const Scenario& s) { return !law_is(s, "dctcp"); },
         "the law is another one"},
        {"network.ecn.", [](const Scenario& s) { return !reacts_to_marks(s); },
         "the law does not react to marks, which are only counted"},
        {"network.buffer.egress_alpha", [](const Scenario& s) { return s.network.pfc; },
         "with PFC nothing is dropped"},
        {"network.buffer.headroom_factor", [](const Scenario& s) { return !s.network.pfc; },
         "there is no PFC"},
        {"network.buffer.alpha_shift", [](const Scenario& s) { return !s.network.pfc; },
         "there is no PFC"},
        {"network.buffer.resume_offset", [](const Scenario& s) { return !s.network.pfc; },
         "there is no PFC"},
    };
    return kRules;
}

void collect(const Scenario& scenario, const ConfigValue& table, const std::string& path,
             std::vector<std::string>& keys) {
    for (const ConfigMember& member : table.table) {
        const std::string key = path + member.key;
        if (member.value.kind == ConfigValue::Kind::table) {
            collect(scenario, member.value, key + ".", keys);
            continue;
        }
        for (const Rule& rule : rules()) {
            if (key.rfind(rule.prefix, 0) != 0 || !rule.applies(scenario)) continue;
            keys.push_back(key + ": " + rule.why);
            break;
        }
    }
}

}  // namespace

std::vector<std::string> keys_without_effect(const Scenario& scenario) {
    std::vector<std::string> keys;
    if (scenario.values) collect(scenario, *scenario.values, "", keys);
    return keys;
}

}  // namespace sluice
