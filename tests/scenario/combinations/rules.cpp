// SPDX-License-Identifier: Apache-2.0
/// Every rule about settings that do, or do not, go together: a scenario that trips it, and one that does not.
#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.h"
#include "scenario/combinations/combinations.h"
#include "scenario/scenario.h"

using namespace sluice;

namespace {

const std::string kWork = "[workload]\ntype = \"ring\"\n";
const std::string kStar = "mode = \"packet\"\n[topology]\ntype = \"star\"\nhosts = 4\n" + kWork;
const std::string kDragonfly = "mode = \"packet\"\n[topology]\ntype = \"dragonfly\"\n" + kWork;
const std::string kRails =
    "mode = \"packet\"\n[topology]\ntype = \"spectrum-x\"\ngpus = 64\n" + kWork;
const std::string kLawRule = "law-is-not-";

using Facts = std::function<void(Configuration&)>;

/// A scenario: a base, keys that are set in it (by ';'), and what only a builder knows.
struct Example {
    std::string keys;
    Facts facts = {};
};

struct Examples {
    std::string rule;
    Example trips;
    Example does_not;
    std::string base = kStar;
};

Facts fact(bool Configuration::*its) {
    return [its](Configuration& c) { c.*its = true; };
}

Facts both(const Facts& a, const Facts& b) {
    return [a, b](Configuration& c) {
        a(c);
        b(c);
    };
}

/// Of jobs for which local phases are chosen, but for what `change` does.
Facts workload(const std::function<void(WorkloadFacts&)>& change) {
    WorkloadFacts facts;
    facts.only_jobs = true;
    facts.packet_hops = 100;
    facts.long_hops = 80;
    facts.packet_seconds = 21;
    facts.longest_path = 4;
    facts.ranks_differ = [] { return true; };
    change(facts);
    return [facts](Configuration& c) { c.workload = &facts; };
}

const Facts kJobs = workload([](WorkloadFacts&) {});
const Facts kOneSwitch = workload([](WorkloadFacts& its) { its.longest_path = 2; });
const Facts kPorts = workload([](WorkloadFacts& its) { its.has_host_ports = true; });
const Facts kShort = workload([](WorkloadFacts& its) { its.long_hops = 49; });
const Facts kAlike = workload([](WorkloadFacts& its) {
    its.longest_path = 2;
    its.ranks_differ = [] { return false; };
});

std::vector<Examples> examples() {
    const std::string mark = "network.ecn.kmin=1KB";
    const std::string hybrid = "mode=hybrid;phases.";
    const std::string trains = hybrid + "train=8";
    const std::string rtt = "output.rtt=true";
    const std::string series = "output.series=true";
    const std::string waves = "output.waves=[[\"leaf0\", 0]]";
    const std::string capture = "output.capture=[[0, \"leaf0\"]]";
    const std::string ns3 = "network.arithmetic=ns3";
    const std::string selective = "network.nic.transport=selective-repeat";
    const std::string spray = "network.load_balance=spray";
    const std::string wide = "congestion.sprayed_window=2;" + spray;
    const std::string early = "network.nic.ack_early=true";
    const std::string trim = ";network.trim.threshold=50KB";
    const std::string adaptive = "network.load_balance=adaptive";
    const std::string weights = "network.queues.weights=[1,1,2,1,1,1,1]";
    const Facts beside = fact(&Configuration::beside_others);
    const Facts streamed = fact(&Configuration::streamed);
    return {
        {"trains-of-followed-delays",
         {hybrid + "train=8;congestion.law=timely"},
         {hybrid + "train=8;congestion.law=dcqcn"}},
        {"trains-or-selective-repeat", {trains + ";" + selective}, {trains}},
        {"trains-or-spraying", {trains + ";" + spray}, {trains}},
        {"trains-or-losses", {trains + ";topology.loss=1e-4"}, {trains}},
        {"trains-or-back-to-zero", {trains + ";network.nic.back_to_zero=true"}, {trains}},
        {"trains-or-restored-queues",
         {trains + ";phases.restore=empty"},
         {trains + ";phases.restore=hold"}},
        {"trains-or-records", {trains + ";phases.wake=partition;" + rtt}, {trains}},
        {"trains-or-episodes", {trains + ";phases.episodes=true"}, {trains}},
        {"series-in-mode-packet", {"mode=flow;" + series}, {series}},
        {"series-or-queues", {series + ";output.record_queues=true"}, {series}},
        {"spray-or-priorities",
         {spray + ";network.sprayed_priorities=[2]"},
         {"network.sprayed_priorities=[2]"}},
        {"ecn-points-or-one", {mark + ";network.ecn.points=[{rate=\"100Gbps\"}]"}, {mark}},
        {"back-to-zero-in-chunks",
         {"network.nic.back_to_zero=true;network.nic.ack_chunk=0"},
         {"network.nic.ack_chunk=0"}},
        {"back-to-zero-or-selective",
         {selective + ";network.nic.back_to_zero=true"},
         {"network.nic.back_to_zero=true"}},
        {"back-to-zero-or-swift",
         {"congestion.law=swift;network.nic.back_to_zero=true"},
         {"network.nic.back_to_zero=true"}},
        {"ns3-goes-back", {ns3 + ";" + selective}, {selective}},
        {"entropy-or-go-back",
         {"network.load_balance=entropy"},
         {selective + ";network.load_balance=entropy"}},
        {"trim-or-pause", {selective + trim}, {selective + trim + ";network.pfc=false"}},
        {"trim-or-go-back",
         {"network.pfc=false" + trim},
         {selective + trim + ";network.pfc=false"}},
        {"nscc-or-go-back", {"congestion.law=nscc"}, {selective + ";congestion.law=nscc"}},
        {"rccc-or-go-back", {"congestion.law=rccc"}, {selective + ";congestion.law=rccc"}},
        {"ns3-balances-by-hash", {ns3 + ";" + adaptive}, {adaptive}},
        {"ns3-has-no-swift", {ns3 + ";congestion.law=swift"}, {"congestion.law=swift"}},
        {"ns3-without-weights", {ns3 + ";" + weights}, {weights}},
        {"ns3-has-its-policies",
         {ns3 + ";network.queues.scheduler=strict"},
         {"network.queues.scheduler=strict"}},
        {"ns3-acknowledges-each-packet",
         {ns3 + ";network.nic.ack_every=2"},
         {"network.nic.ack_every=2"}},
        {"ns3-without-perturbation", {ns3 + ";perturbation=1"}, {ns3 + ";perturbation=0"}},
        {"ns3-without-phases", {"mode=hybrid;" + ns3}, {ns3}},
        {"ns3-routes-by-fewest-cables",
         {ns3 + ";topology.routing=minimal"},
         {"topology.routing=minimal"},
         kDragonfly},
        {"ns3-has-no-weights",
         {ns3 + ";topology.ecmp_weights=rate"},
         {"topology.ecmp_weights=rate"}},
        {"valiant-or-spray",
         {spray + ";topology.routing=valiant"},
         {spray + ";topology.routing=minimal"},
         kDragonfly},
        {"round-trips-of-packets", {"mode=flow;" + rtt}, {rtt}},
        {"round-trips-not-of-ns3", {ns3 + ";" + rtt}, {rtt}},
        {"ports-of-packets", {"mode=flow;" + capture}, {capture}},
        {"ports-not-of-ns3", {ns3 + ";" + waves}, {waves}},
        {"ports-with-acks", {hybrid + "wake=data;" + waves}, {"phases.wake=data;" + capture}},
        {"round-trips-of-acks", {hybrid + "wake=data;" + rtt}, {"phases.wake=data;" + rtt}},
        {"local-phases", {hybrid + "wake=data;congestion.law=none"}, {hybrid + "wake=data"}},
        {"queues-or-spray",
         {spray, fact(&Configuration::records_queues)},
         {"", fact(&Configuration::records_queues)}},
        {"record-queues-in-mode-packet", {"mode=flow"}, {""}},
        {"options-of-phases", {"mode=flow"}, {"mode=wormhole"}},
        {"no-fold-of-packets", {"mode=flow"}, {"mode=hybrid"}},
        {"paths-or-valiant",
         {"topology.routing=valiant"},
         {"topology.routing=minimal"},
         kDragonfly},
        {"valiant-knows-all-flows",
         {"topology.routing=valiant", streamed},
         {"topology.routing=valiant"},
         kDragonfly},
        {"stream-alone", {"", both(streamed, beside)}, {"", streamed}},
        {"triggers-alone", {"", both(fact(&Configuration::triggered), beside)}, {"", beside}},

        {"seed-that-nothing-draws", {"mode=flow;seed=2"}, {"seed=2"}},
        {"loss-without-packets", {"mode=flow;topology.loss=0.1"}, {"topology.loss=0.1"}},
        {"gpu-type-of-files", {"topology.gpu_type=H100"}, {""}, kRails},
        {"fold-where-nothing-folds", {"mode=flow;fold=false"}, {"fold=false"}},
        {"phases-without-phases", {"phases.theta=0.1"}, {hybrid + "theta=0.1"}},
        {"queues-of-mode-packet",
         {"mode=flow;output.record_queues=true"},
         {"output.record_queues=true"}},
        {"calibrate-what-is-not",
         {hybrid + "calibrate=true;phases.rates=maxmin"},
         {hybrid + "calibrate=true"}},
        {"memo-of-nothing", {hybrid + "memo=true;phases.calibrate=false"}, {hybrid + "memo=true"}},
        {"episodes-without-memo",
         {hybrid + "episodes=true"},
         {hybrid + "episodes=true;phases.memo=true"}},
        {"tolerance-of-no-episodes",
         {hybrid + "memo_tolerance=0.1"},
         {hybrid + "memo_tolerance=0.1;phases.memo=true;phases.episodes=true"}},
        {"detector-is-not-hygra",
         {hybrid + "eps_q=1KB"},
         {hybrid + "eps_q=1KB;phases.detector=hygra"}},
        {"detector-is-hygra", {hybrid + "theta=0.1;phases.detector=hygra"}, {hybrid + "theta=0.1"}},
        {"audit-of-nothing",
         {hybrid + "audit=0.1;phases.skip=false"},
         {hybrid + "audit=0.1;phases.skip=false;phases.memo=true;phases.episodes=true"}},
        {"skips-without-skips",
         {hybrid + "rates=maxmin;phases.skip=false"},
         {hybrid + "rates=maxmin"}},
        {"restore-without-model",
         {hybrid + "restore_model=x"},
         {hybrid + "restore_model=x;phases.restore=linear"}},
        {"restore-without-encoder",
         {hybrid + "restore_engine=plain"},
         {hybrid + "restore_engine=plain;phases.restore=transformer"}},
        {"flow-mode-has-no-law",
         {"mode=flow;congestion.window=false"},
         {"congestion.window=false"}},
        {"flow-mode-has-no-queues",
         {"mode=flow;network.pfc=false"},
         {"mode=flow;network.queues.scheduler=strict"}},
        {"flow-mode-has-no-packets",
         {"mode=flow;network.nic.back_to_zero=true"},
         {"mode=flow;network.nic.ack_every=2"}},
        {"window-of-go-back-n",
         {"network.nic.reorder_window=64"},
         {selective + ";network.nic.reorder_window=64"}},
        {"band-of-no-loads",
         {"network.adaptive_band=8KB"},
         {adaptive + ";network.adaptive_band=8KB"}},
        {"gap-of-no-flowlets",
         {adaptive + ";network.flowlet_gap=8us"},
         {"network.load_balance=flowlet;network.flowlet_gap=8us"}},
        {"values-of-no-entropy",
         {selective + ";network.entropy_values=8"},
         {selective + ";network.load_balance=entropy;network.entropy_values=8"}},
        {"headers-of-no-trimming",
         {"network.trim.victim=drawn"},
         {selective + trim + ";network.pfc=false;network.trim.victim=drawn"}},
        {"trimming-of-packets",
         {"mode=flow;" + selective + trim + ";network.pfc=false"},
         {selective + trim + ";network.pfc=false"}},
        {"selective-repeat-has-no-nacks",
         {selective + ";network.nic.nack_interval=1us"},
         {"network.nic.nack_interval=1us"}},
        {"chunks-of-one-packet",
         {"network.nic.ack_chunk=2"},
         {"network.nic.ack_chunk=2;network.nic.ack_every=2"}},
        {"early-acks-are-all", {early}, {early + ";network.nic.ack_every=2"}},
        {"flow-mode-has-no-pauses",
         {"mode=flow;network.packet.pause=100"},
         {"network.packet.pause=100"}},
        {"keys-of-pfc",
         {"network.packet.pause=100;network.pfc=false"},
         {"network.packet.pause=100"}},
        {"law-ignores-marks", {"congestion.law=timely;" + mark}, {"congestion.law=dcqcn;" + mark}},
        {"ecn-is-off",
         {"congestion.law=dcqcn;network.ecn.enabled=false;" + mark},
         {"congestion.law=dcqcn;network.ecn.enabled=false"}},
        {"one-path-has-one-window", {wide}, {wide + ";" + selective}},
        {"no-window-to-vary",
         {"congestion.variable_window=false;congestion.window=false"},
         {"congestion.variable_window=false;congestion.window=true"}},
        {"pfc-drops-nothing",
         {"network.buffer.egress_alpha=2"},
         {"network.buffer.egress_alpha=2;network.pfc=false"}},
        {"admission-is-not-dynamic",
         {"network.buffer.alpha_shift=1;network.buffer.admission=static;"
          "network.buffer.static_threshold=1MiB"},
         {"network.buffer.alpha_shift=1"}},
        {"admission-is-not-static",
         {"network.buffer.static_threshold=1MiB"},
         {"network.buffer.admission=static;network.buffer.static_threshold=1MiB"}},
        {"weights-of-round-robin", {weights + ";network.queues.scheduler=strict"}, {weights}},
        {"one-threshold",
         {"congestion.law=dcqcn;network.ecn.pmax=0.5;network.ecn.marking=threshold"},
         {"congestion.law=dcqcn;network.ecn.pmax=0.5"}},

        {"mode-for-ns3", {ns3}, {"network.arithmetic=exact"}},
        {"mode-for-queues", {"output.series=true"}, {"output.series=false"}},
        {"mode", {""}, {ns3}},
        {"arithmetic-of-imports",
         {"mode=flow", fact(&Configuration::imported)},
         {"", fact(&Configuration::imported)}},
        {"memo-in-wormhole", {"mode=wormhole"}, {"mode=wormhole;phases.skip=false"}},
        {"memo-file-in-wormhole", {"mode=wormhole"}, {"mode=hybrid"}},
        {"audit-in-wormhole", {"mode=wormhole"}, {"mode=hybrid"}},
        {"threads-with-phases", {"mode=hybrid"}, {""}},
        {"wake-of-jobs",
         {"", workload([](WorkloadFacts& its) { its.only_jobs = false; })},
         {"", kJobs}},
        {"wake-without-link-events",
         {"", both(kJobs, fact(&Configuration::link_events))},
         {"", kJobs}},
        {"wake-under-hpcc", {"congestion.law=dctcp", kJobs}, {"", kJobs}},
        {"wake-as-asked", {"phases.episodes=true", kJobs}, {"", kJobs}},
        {"wake-of-long-runs",
         {"", workload([](WorkloadFacts& its) { its.packet_seconds = 19; })},
         {"", kJobs}},
        {"wake-of-long-messages", {"", kShort}, {"", kJobs}},
        {"wake-where-possible", {"phases.scope=network", kJobs}, {"", kJobs}},
        {"wake-beside-host-ports", {"", kPorts}, {"", kJobs}},
        {"wake-across-switches", {"", kJobs}, {"", kOneSwitch}},
        {"wake-of-ranks-that-differ", {"", kOneSwitch}, {"", kAlike}},

        {"flow-mode-folds-nothing", {"mode=flow"}, {""}},
        {"ns3-folds-nothing", {ns3}, {""}},
        {"one-phase-folds-nothing", {hybrid + "scope=network"}, {"phases.scope=network"}},
        {"local-phases-fold-nothing", {hybrid + "wake=data"}, {"phases.wake=data"}},
        {"selective-repeat-folds-nothing", {selective}, {""}},
        {"selective-repeat-is-not-local", {selective}, {""}},
        {"round-trips-fold-nothing", {rtt}, {""}},
        {"watched-ports-fold-nothing", {waves}, {""}},
        {"spray-is-not-local", {spray}, {""}},
        {"loss-is-not-local", {"topology.loss=0.1"}, {""}},
        {"law-none-is-not-local", {"congestion.law=none"}, {""}},
        {"swift-is-not-local", {"congestion.law=swift"}, {""}},
        {"short-links-are-not-local", {"topology.delay=10ns"}, {""}},
        {"one-phase-is-not-local", {"phases.scope=network"}, {""}},
        {"restorers-are-not-local", {"phases.restore=empty"}, {""}},
        {"one-phase-is-not-calibrated", {"phases.scope=network"}, {""}},
        {"max-min-is-not-calibrated", {"phases.rates=maxmin"}, {""}},
        {"round-trips-are-not-memoized", {rtt}, {""}},
        {"watched-ports-are-not-memoized", {capture}, {""}},
        {"one-phase-has-no-episodes", {"phases.scope=network"}, {""}},
        {"local-phases-have-no-episodes", {"phases.wake=data"}, {""}},
        {"round-trips-have-no-episodes", {rtt}, {""}},
        {"watched-ports-have-no-episodes", {waves}, {""}},
        {"audit-of-skips",
         {"phases.skip=false"},
         {"phases.skip=false;phases.memo=true;phases.episodes=true"}},
        {"episodes-on-one-thread",
         {hybrid + "memo=true;phases.episodes=true"},
         {"phases.memo=true;phases.episodes=true"}},
        {"round-trips-of-runs", {rtt}, {""}},
        {"watched-ports-of-runs", {capture}, {""}},
        {"device-of-mode-packet", {"mode=hybrid"}, {""}},
        {"device-is-exact", {ns3}, {""}},
        {"device-goes-back", {selective}, {""}},
        {"device-balances-without-queues", {adaptive}, {spray}},
        {"device-has-no-round-trips", {rtt}, {""}},
        {"device-watches-no-ports", {waves}, {""}},
        {"device-knows-all-flows", {"", streamed}, {""}},
        {"importance-in-mode-packet",
         {"mode=flow;workload.type=poisson"},
         {"workload.type=poisson"}},
        {"importance-of-whole-trials",
         {"stop=1ms;workload.type=poisson"},
         {"workload.type=poisson"}},
        {"importance-of-poisson", {""}, {"workload.type=poisson"}},
        {"device-has-no-samples", {"", fact(&Configuration::samples)}, {""}},
    };
}

std::vector<std::string> split(const std::string& text, char at) {
    std::istringstream in(text);
    std::vector<std::string> parts;
    for (std::string part; std::getline(in, part, at);) parts.push_back(part);
    return parts;
}

bool is_law(const CombinationRule& rule) { return rule.name.rfind(kLawRule, 0) == 0; }

/// The one that decides.
const CombinationRule* first_of(Effect effect, const std::string& subject, const Configuration& c) {
    const std::vector<CombinationRule>& rules = combination_rules();
    const auto found = std::find_if(rules.begin(), rules.end(), [&](const CombinationRule& rule) {
        return rule.effect == effect && rule.is_of(subject) && rule.applies(c);
    });
    return found == rules.end() ? nullptr : &*found;
}

/// Whether a scenario with these keys is refused, left without a key or decided by this rule, and nothing else.
bool decides(const CombinationRule& rule, const std::string& base, const Example& example) {
    const std::vector<std::string> keys = split(example.keys, ';');
    Scenario scenario;
    try {
        scenario = parse_scenario(base, "test.toml", keys);
    } catch (const ConfigError& error) {
        const std::string text = split(rule.text, '{').front();
        const bool by_rule = std::string(error.what()).find("' " + text) != std::string::npos;
        CHECK_MESSAGE(by_rule, rule.name, ": ", error.what());
        return by_rule && rule.effect == Effect::refused;
    }
    Configuration configuration(scenario);
    if (example.facts) example.facts(configuration);
    if (rule.effect == Effect::no_effect) {
        return std::any_of(keys.begin(), keys.end(), [&](const std::string& assignment) {
            const std::string key = assignment.substr(0, assignment.find('='));
            const std::vector<std::string> listed = keys_without_effect(scenario);
            const bool decided = first_of(rule.effect, key, configuration) == &rule;
            return decided && std::count(listed.begin(), listed.end(), key + ": " + rule.text) == 1;
        });
    }
    std::vector<std::string> subjects = split(rule.subject, ' ');
    if (subjects.empty()) subjects.emplace_back();
    return std::all_of(subjects.begin(), subjects.end(), [&](const std::string& subject) {
        return first_of(rule.effect, subject, configuration) == &rule;
    });
}

}  // namespace

TEST_CASE("unit.combinations.every_rule_has_a_scenario_that_trips_it_and_one_that_does_not") {
    std::map<std::string, Examples> by_name;
    for (const Examples& one : examples()) CHECK(by_name.emplace(one.rule, one).second);
    for (const CombinationRule& rule : combination_rules()) {
        if (is_law(rule)) continue;
        const auto found = by_name.find(rule.name);
        REQUIRE_MESSAGE(found != by_name.end(), rule.name, " has no examples");
        const Examples& its = found->second;
        CHECK_MESSAGE(decides(rule, its.base, its.trips), rule.name, " is not tripped");
        CHECK_MESSAGE(!decides(rule, its.base, its.does_not), rule.name, " is tripped");
        by_name.erase(found);
    }
    for (const auto& [name, its] : by_name) FAIL_CHECK(name << " is no rule");
}

TEST_CASE("unit.combinations.keys_of_another_law_have_no_effect") {
    std::size_t laws = 0;
    for (const CombinationRule& rule : combination_rules()) {
        if (!is_law(rule)) continue;
        ++laws;
        const std::string law = rule.name.substr(kLawRule.size());
        for (const bool other : {true, false}) {
            const Scenario scenario =
                parse_scenario(kStar, "test.toml",
                               {"network.nic.transport=selective-repeat",
                                "congestion.law=" + (other ? std::string("none") : law)});
            override_config(*scenario.values, "congestion." + law + ".any=1");
            const std::vector<std::string> listed = keys_without_effect(scenario);
            CHECK(std::count(listed.begin(), listed.end(),
                             "congestion." + law + ".any: " + rule.text) == (other ? 1 : 0));
        }
    }
    CHECK(laws >= 4);
}

TEST_CASE("unit.combinations.a_run_and_an_option_are_refused_by_name") {
    Scenario scenario = parse_scenario(kStar, "test.toml");
    Configuration configuration(scenario);
    CHECK_THROWS_WITH_AS(
        refuse(configuration, "--no-skip"),
        "--no-skip: has no effect in mode packet; allowed: modes hybrid and wormhole", ConfigError);
    refuse(configuration, "--no-fold");
    configuration.streamed = true;
    configuration.beside_others = true;
    CHECK_THROWS_WITH_AS(refuse(configuration, "", "a.toml"),
                         "a.toml: a streamed job cannot be combined with another workload",
                         ConfigError);
    CHECK_THROWS_WITH_AS(refuse(configuration, Effect::not_on_a_device),
                         "a device cannot execute a streamed job; use --device cpu", ConfigError);
    configuration.streamed = false;
    refuse(configuration, Effect::not_on_a_device);
}
