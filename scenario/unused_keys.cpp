// SPDX-License-Identifier: Apache-2.0
/// Which keys of a scenario are checked but never looked at, given its mode, law and switches.
#include "scenario/unused_keys.h"

#include <algorithm>
#include <functional>
#include <initializer_list>

#include "core/congestion/congestion.h"
#include "core/packet/policies/policies.h"
#include "core/steady/detectors.h"
#include "flowlevel/rate_sources.h"
#include "restore/restorers.h"

namespace sluice {

namespace {

/// Keys that begin with `prefix` and end with `suffix`, but for `except`, are without effect if the scenario is so.
struct Rule {
    std::string prefix;
    std::function<bool(const Scenario&)> applies;
    const char* why;
    std::vector<std::string> except = {};
    std::string suffix = {};

    bool names(const std::string& key) const {
        return key.rfind(prefix, 0) == 0 && key.size() >= suffix.size() &&
               key.compare(key.size() - suffix.size(), suffix.size(), suffix) == 0 &&
               std::count(except.begin(), except.end(), key) == 0;
    }
};

bool flow_mode(const Scenario& s) { return s.mode == Mode::flow; }
/// Of a key that draws unless it is 0.
bool is_zero(const ConfigValue& value) {
    const bool amount = value.kind == ConfigValue::Kind::integer ||
                        value.kind == ConfigValue::Kind::number ||
                        value.kind == ConfigValue::Kind::text;
    return amount && value.shown().find_first_of("123456789") == std::string::npos;
}
/// Does anything of a [workload] go by the seed?
bool draws(const ConfigValue& workload) {
    const auto is = [&](const char* key, std::initializer_list<const char*> words) {
        const ConfigMember* const found = workload.find(key);
        return found != nullptr && std::count(words.begin(), words.end(), found->value.text) > 0;
    };
    const auto above_zero = [&](const char* key) {
        const ConfigMember* const found = workload.find(key);
        return found != nullptr && !is_zero(found->value);
    };
    return is("type", {"poisson", "permutation", "incast"}) || is("placement", {"random"}) ||
           is("pattern", {"shift"}) || above_zero("jitter") || above_zero("compute_jitter") ||
           (above_zero("expert_skew") && workload.find("expert_seed") == nullptr);
}
/// The network's draws are of packets; what is left are the workloads', and a perturbation's cables.
bool never_draws(const Scenario& s) {
    const ConfigMember* const perturbation = s.values->find("perturbation");
    const bool perturbed = perturbation != nullptr && perturbation->value.integer > 0;
    if (!flow_mode(s) || perturbed) return false;
    const ConfigMember* const workload = s.values->find("workload");
    if (workload == nullptr) return false;
    if (workload->value.kind != ConfigValue::Kind::array) return !draws(workload->value);
    const std::vector<ConfigValue>& tables = workload->value.array;
    return std::none_of(tables.begin(), tables.end(), draws);
}
bool never_folds(const Scenario& s) {
    const bool whole = s.phases.scope == PhaseScope::network || s.phases.local();
    return flow_mode(s) || s.network.arithmetic == Arithmetic::ns3 || (has_phases(s.mode) && whole);
}
bool never_remembers(const Scenario& s) {
    return s.phases.scope == PhaseScope::network || s.phases.local();
}
bool never_calibrates(const Scenario& s) {
    return s.phases.scope == PhaseScope::network || s.phases.rates != SteadyRates::measured;
}
bool by_hygra(const Scenario& s) { return s.phases.detector.kind == steady::DetectorKind::hygra; }
bool no_pfc(const Scenario& s) { return !s.network.pfc; }
bool never_skips(const Scenario& s) { return !s.phases.skip; }
bool asks_model(const Scenario& s) {
    return s.phases.restore == Restoration::transformer || s.phases.restore == Restoration::linear;
}
bool not_dynamic(const Scenario& s) {
    return s.network.buffer.admission != Admission::dynamic_threshold;
}
bool not_static(const Scenario& s) {
    return s.network.buffer.admission != Admission::static_threshold;
}
bool by_threshold(const Scenario& s) { return s.network.marking == Marking::threshold_marking; }
bool reacts_to_marks(const Scenario& s) {
    return congestion::traits(s.network.congestion.law).reacts_to_marks;
}

std::vector<Rule> rules() {
    std::vector<Rule> rules = {
        {"seed", never_draws,
         "no workload draws anything, and mode flow has no marks, losses and sprayed packets"},
        {"topology.", flow_mode, "mode flow has no packets that could be lost", {}, "loss"},
        {"topology.gpu_type", [](const Scenario&) { return true; },
         "it stands in the header of a file that sluice topo writes"},
        {"fold", never_folds,
         "there is no symmetry reduction in this mode, with these phases and this arithmetic"},
        {"phases.", [](const Scenario& s) { return !has_phases(s.mode); },
         "only modes hybrid and wormhole have phases"},
        {"output.record_queues", [](const Scenario& s) { return s.mode != Mode::packet; },
         "only mode packet has every queue"},
        {"phases.calibrate", never_calibrates,
         "only rates of partitions that are measured are calibrated"},
        {"phases.memo",
         [](const Scenario& s) {
             return (never_remembers(s) || !s.phases.episodes) &&
                    (never_calibrates(s) || !s.phases.calibrate);
         },
         "neither calibrated rates nor episodes are memoized"},
        {"phases.episodes", [](const Scenario& s) { return never_remembers(s) || !s.phases.memo; },
         "episodes need phases.memo, with phases.scope and phases.wake \"partition\""},
        {"phases.memo_tolerance",
         [](const Scenario& s) {
             return never_remembers(s) || !s.phases.memo || !s.phases.episodes;
         },
         "no episodes are predicted"},
        {"phases.eps_bw", [](const Scenario& s) { return !by_hygra(s); },
         "the detector is another one"},
        {"phases.eps_q", [](const Scenario& s) { return !by_hygra(s); },
         "the detector is another one"},
        {"phases.stable_rounds", [](const Scenario& s) { return !by_hygra(s); },
         "the detector is another one"},
        {"phases.theta", [](const Scenario& s) { return by_hygra(s); },
         "the detector is another one"},
        {"phases.rates", never_skips, "nothing is skipped"},
        {"phases.audit", never_skips, "nothing is skipped"},
        {"phases.restore", never_skips, "nothing is skipped"},
        {"phases.restore_model", [](const Scenario& s) { return !asks_model(s); },
         "no model is asked"},
        {"phases.restore_engine",
         [](const Scenario& s) { return s.phases.restore != Restoration::transformer; },
         "no encoder is evaluated"},
        {"phases.longest_skip", never_skips, "nothing is skipped"},
        // The law gives the sizes of headers and ACKs; HPCC leaves a part of each link unused.
        {"congestion.",
         flow_mode,
         "mode flow has no congestion control",
         {"congestion.law", "congestion.hpcc.target_utilization"}},
        {"network.ecn.", flow_mode, "mode flow has no queues"},
        {"network.buffer.", flow_mode, "mode flow has no queues"},
        {"network.queues.",
         flow_mode,
         "mode flow has no queues",
         {"network.queues.scheduler", "network.queues.weights"}},
        // How many ACKs there are is how much they load their links.
        {"network.nic.",
         flow_mode,
         "mode flow has no packets",
         {"network.nic.ack_every", "network.nic.ack_chunk"}},
        {"network.nic.ack_chunk",
         [](const Scenario& s) {
             return s.network.nic.ack_every == 1 && (flow_mode(s) || !s.network.nic.back_to_zero);
         },
         "every packet has an ACK of its own"},
        {"network.pfc", flow_mode, "mode flow has no queues"},
        {"network.packet.pause", flow_mode, "mode flow has no pause frames"},
        {"network.packet.pause", no_pfc, "there is no PFC"},
        {"network.queues.ack_pause_class", no_pfc, "there is no PFC"},
        {"network.ecn.", [](const Scenario& s) { return !reacts_to_marks(s); },
         "the law does not react to marks, which are only counted"},
        {"network.ecn.",
         [](const Scenario& s) { return !s.network.ecn.enabled; },
         "nothing is marked",
         {"network.ecn.enabled"}},
        {"congestion.variable_window",
         [](const Scenario& s) { return !s.network.congestion.window; }, "there is no window"},
        {"network.buffer.egress_alpha", [](const Scenario& s) { return s.network.pfc; },
         "with PFC nothing is dropped"},
        {"network.buffer.headroom_factor", no_pfc, "there is no PFC"},
        {"network.buffer.alpha_shift", no_pfc, "there is no PFC"},
        {"network.buffer.resume_offset", no_pfc, "there is no PFC"},
        {"network.buffer.alpha_shift", not_dynamic, "the admission rule is another one"},
        {"network.buffer.egress_alpha", not_dynamic, "the admission rule is another one"},
        {"network.buffer.static_threshold", not_static, "the admission rule is another one"},
        {"network.queues.weights",
         [](const Scenario& s) {
             return s.network.queues.scheduler != Scheduler::deficit_round_robin;
         },
         "the scheduler is another one"},
        {"network.ecn.kmax", by_threshold, "marking is by one threshold"},
        {"network.ecn.pmax", by_threshold, "marking is by one threshold"},
    };
    congestion::Parameters parameters;
    congestion::for_each_law(parameters, [&](congestion::Law law, const char* name, auto, auto&) {
        rules.push_back({std::string("congestion.") + name + ".",
                         [law](const Scenario& s) { return s.network.congestion.law != law; },
                         "the law is another one"});
    });
    return rules;
}

void collect(const Scenario& scenario, const ConfigValue& table, const std::string& path,
             const std::vector<Rule>& all, std::vector<std::string>& keys) {
    for (const ConfigMember& member : table.table) {
        const std::string key = path + member.key;
        if (member.value.kind == ConfigValue::Kind::table) {
            collect(scenario, member.value, key + ".", all, keys);
            continue;
        }
        for (const Rule& rule : all) {
            if (!rule.names(key) || !rule.applies(scenario)) continue;
            keys.push_back(key + ": " + rule.why);
            break;
        }
    }
}

}  // namespace

std::vector<std::string> keys_without_effect(const Scenario& scenario) {
    std::vector<std::string> keys;
    if (scenario.values) collect(scenario, *scenario.values, "", rules(), keys);
    return keys;
}

}  // namespace sluice
