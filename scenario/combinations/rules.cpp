// SPDX-License-Identifier: Apache-2.0
/// The table: every rule about settings that do, or do not, go together. A new one is one entry here, its examples in
/// tests/scenario/combinations/rules.cpp, and its line in docs/combinations.md, which that test prints.
#include <algorithm>
#include <initializer_list>
#include <type_traits>

#include "core/congestion/congestion.h"
#include "core/packet/policies/policies.h"
#include "core/steady/detectors.h"
#include "flowlevel/rate_sources.h"
#include "restore/restorers.h"
#include "scenario/combinations/combinations.h"

namespace sluice {

namespace {

using Config = Configuration;

bool always(const Config& /*c*/) { return true; }
bool flow_mode(const Config& c) { return c.mode == Mode::flow; }
bool not_packet_mode(const Config& c) { return c.mode != Mode::packet; }
bool phases(const Config& c) { return has_phases(c.mode); }
bool no_phases(const Config& c) { return !has_phases(c.mode); }
bool ns3(const Config& c) { return c.network.arithmetic == Arithmetic::ns3; }
bool sprays(const Config& c) { return c.network.sprayed_classes() != 0; }
bool repeats_selectively(const Config& c) {
    return c.network.nic.transport == Transport::selective_repeat;
}
bool balances(const Config& c, std::initializer_list<LoadBalance> ways) {
    return std::count(ways.begin(), ways.end(), c.network.load_balance) > 0;
}
bool by_entropy(const Config& c) { return balances(c, {LoadBalance::entropy}); }
bool by_load(const Config& c) { return balances(c, {LoadBalance::adaptive, LoadBalance::flowlet}); }
bool trims(const Config& c) { return c.network.trim.threshold > 0; }
bool swift(const Config& c) { return c.network.congestion.law == congestion::Law::swift; }
bool valiant(const Config& c) { return c.topology.group_routing == GroupRouting::valiant; }
bool round_trips(const Config& c) { return c.round_trips; }
bool watches_ports(const Config& c) { return c.watches_ports; }
bool records_packets(const Config& c) { return c.round_trips || c.watches_ports; }

// Phases.
bool one_phase(const Config& c) { return c.phases.scope == PhaseScope::network; }
bool local(const Config& c) { return c.phases.local(); }
bool never_skips(const Config& c) { return !c.phases.skip; }
bool has_episodes(const Config& c) { return c.phases.memo && c.phases.episodes; }
bool by_hygra(const Config& c) { return c.phases.detector.kind == steady::DetectorKind::hygra; }
bool not_by_hygra(const Config& c) { return !by_hygra(c); }
bool asks_model(const Config& c) {
    return c.phases.restore == Restoration::transformer || c.phases.restore == Restoration::linear;
}
bool cannot(Effect effect, const Config& c) { return !why_not(effect, c).empty(); }
bool no_episodes(const Config& c) { return cannot(Effect::not_predicted, c) || !has_episodes(c); }

// Networks.
bool no_pfc(const Config& c) { return !c.network.pfc; }
bool admission_is_not(Admission admission, const Config& c) {
    return c.network.buffer.admission != admission;
}
bool by_threshold(const Config& c) { return c.network.marking == Marking::threshold_marking; }
bool ns3_policies(const Config& c) {
    return c.network.queues.scheduler != Scheduler{} || c.network.buffer.admission != Admission{} ||
           c.network.marking != Marking{};
}
bool differ(const std::int32_t* weights) {
    return std::any_of(weights + 1, weights + 8, [&](std::int32_t w) { return w != weights[1]; });
}
bool loses_packets(const Config& c) {
    const std::vector<Link>& links = c.topology.links();
    return std::any_of(links.begin(), links.end(), [](const Link& link) { return link.loss > 0; });
}

/// How long ACKs that are no packets wait at a port is known to a frame's time; no base round trip may be
/// shorter than so many of these.
constexpr std::int64_t kFramesOfRoundTrip = 10;

bool round_trips_are_short(const Config& c) {
    const PacketFormat& format = c.network.format;
    const std::int64_t frame = std::int64_t{format.payload} + format.header + format.extra_header;
    const std::vector<Link>& links = c.topology.links();
    return std::any_of(links.begin(), links.end(), [&](const Link& link) {
        const bool to_host = c.topology.is_host(link.a) || c.topology.is_host(link.b);
        // Behind one switch: two such links, both ways.
        const Tick time = serialization_time(frame, link.rate, c.network.arithmetic);
        return to_host && 4 * link.delay + 2 * time < kFramesOfRoundTrip * time;
    });
}

bool has_trains(const Config& c) { return phases(c) && c.phases.train > 1; }

// Random draws.

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

bool perturbed(const Config& c) {
    const ConfigValue* const number = c.value("perturbation");
    return number != nullptr && number->integer > 0;
}

/// The network's draws are of packets; what is left are the workloads', and a perturbation's cables.
bool never_draws(const Config& c) {
    if (!flow_mode(c) || perturbed(c)) return false;
    const ConfigValue* const workload = c.value("workload");
    if (workload == nullptr) return false;
    if (workload->kind != ConfigValue::Kind::array) return !draws(*workload);
    return std::none_of(workload->array.begin(), workload->array.end(), draws);
}

bool is_one_poisson(const Config& c) {
    const ConfigValue* workload = c.value("workload");
    if (workload != nullptr && workload->kind == ConfigValue::Kind::array) {
        workload = workload->array.size() == 1 ? &workload->array.front() : nullptr;
    }
    const ConfigMember* const type = workload == nullptr ? nullptr : workload->find("type");
    return type != nullptr && type->value.text == "poisson";
}

// Workloads that have been built.

/// So many of the packets are those of long messages. Short ones leave little to skip, and lose most where their ACKs are no
/// packets: a stream is not known until it has been measured, for a base round trip, and is then too much at once.
constexpr double kLong = 0.5;
/// What packets do sooner, seconds, partitions do soon enough, and their audit knows their error better: less is executed that
/// it could have a share of, and more is added for shares that are held (docs/audit.md).
constexpr double kSoon = 20;

/// Something that is asked for goes by partitions, though it would not be refused without them.
bool asks_for_partitions(const Config& c) {
    return !c.phases.skip || c.phases.episodes || records_packets(c);
}

std::vector<CombinationRule> all_rules() {
    using E = Effect;
    std::vector<CombinationRule> rules = {
        // Keys that are refused, where they stand.
        {"series-in-mode-packet", E::refused, "output.series", "not mode packet",
         [](const Config& c) { return c.asks("output.series") && c.mode != Mode::packet; },
         "is true, but mode {mode} does not simulate every queue at all times; allowed: mode "
         "packet"},
        {"series-or-queues", E::refused, "output.series", "output.record_queues = true",
         [](const Config& c) { return c.asks("output.series") && c.asks("output.record_queues"); },
         "cannot be combined with record_queues, which samples at another step; give one of them"},
        {"spray-or-priorities", E::refused, "network.sprayed_priorities",
         "network.load_balance is not \"ecmp\"",
         [](const Config& c) {
             return c.gives("network.sprayed_priorities") &&
                    c.network.load_balance != LoadBalance::ecmp;
         },
         "needs load_balance = \"ecmp\": with another one all packets are sprayed"},
        {"ecn-points-or-one", E::refused, "network.ecn.kmin network.ecn.kmax network.ecn.pmax",
         "network.ecn.points",
         [](const Config& c) {
             return c.gives("network.ecn.points") &&
                    (c.gives("network.ecn.kmin") || c.gives("network.ecn.kmax") ||
                     c.gives("network.ecn.pmax"));
         },
         "cannot be combined with 'points', which lists it per port rate"},
        {"back-to-zero-in-chunks", E::refused, "network.nic.back_to_zero",
         "network.nic.ack_chunk = 0",
         [](const Config& c) { return c.network.nic.back_to_zero && c.network.nic.ack_chunk == 0; },
         "needs an ack_chunk of at least 1 packet to go back within"},
        {"back-to-zero-or-selective", E::refused, "network.nic.back_to_zero",
         "network.nic.transport = \"selective-repeat\"",
         [](const Config& c) { return repeats_selectively(c) && c.network.nic.back_to_zero; },
         "needs transport = \"go-back-n\": under \"selective-repeat\" nothing goes back"},
        {"back-to-zero-or-swift", E::refused, "network.nic.back_to_zero",
         "congestion.law = \"swift\"",
         [](const Config& c) { return swift(c) && c.network.nic.back_to_zero; },
         "needs another congestion.law than \"swift\", whose window may be less than a chunk, so "
         "that none would end"},
        {"ns3-goes-back", E::refused, "network.nic.transport", "network.arithmetic = \"ns3\"",
         [](const Config& c) { return ns3(c) && repeats_selectively(c); },
         "is \"selective-repeat\", but HPCC ns-3 goes back; it needs network.arithmetic = "
         "\"exact\""},
        {"entropy-or-go-back", E::refused, "network.load_balance",
         "network.load_balance = \"entropy\", with network.nic.transport = \"go-back-n\"",
         [](const Config& c) { return by_entropy(c) && !repeats_selectively(c); },
         "is \"entropy\", which sends a flow's packets out of order; it needs "
         "network.nic.transport "
         "= \"selective-repeat\""},
        {"trim-or-pause", E::refused, "network.trim.threshold", "network.pfc = true",
         [](const Config& c) { return trims(c) && c.network.pfc; },
         "needs pfc = false: where switches pause, nothing is trimmed"},
        {"trim-or-go-back", E::refused, "network.trim.threshold",
         "network.nic.transport = \"go-back-n\"",
         [](const Config& c) { return trims(c) && !repeats_selectively(c); },
         "needs network.nic.transport = \"selective-repeat\", which sends one packet again"},
        {"nscc-or-go-back", E::refused, "congestion.law",
         "congestion.law = \"nscc\", with network.nic.transport = \"go-back-n\"",
         [](const Config& c) {
             return c.network.congestion.law == congestion::Law::nscc && !repeats_selectively(c);
         },
         "is \"nscc\", which counts packets that come out of order; it needs network.nic.transport "
         "= \"selective-repeat\""},
        {"rccc-or-go-back", E::refused, "congestion.law",
         "congestion.law = \"rccc\", with network.nic.transport = \"go-back-n\"",
         [](const Config& c) {
             return c.network.congestion.law == congestion::Law::rccc && !repeats_selectively(c);
         },
         "is \"rccc\", whose packets cost a credit each; it needs network.nic.transport = "
         "\"selective-repeat\""},
        {"ns3-balances-by-hash", E::refused, "network.load_balance",
         "network.load_balance = \"adaptive\" or \"flowlet\", with network.arithmetic = \"ns3\"",
         [](const Config& c) { return ns3(c) && by_load(c); },
         "chooses by queues, and HPCC ns-3 does not; it needs network.arithmetic = \"exact\""},
        {"ns3-has-no-swift", E::refused, "congestion.law",
         "congestion.law = \"swift\", with network.arithmetic = \"ns3\"",
         [](const Config& c) { return ns3(c) && swift(c); },
         "is \"swift\", which HPCC ns-3 has not; it needs network.arithmetic = \"exact\""},
        {"ns3-without-weights", E::refused, "network.arithmetic", "network.queues.weights differ",
         [](const Config& c) { return ns3(c) && differ(c.network.queues.weights); },
         "is \"ns3\", under which classes are served by round robin of packets, without "
         "network.queues.weights; allowed: the default of that key, or \"exact\""},
        {"ns3-has-its-policies", E::refused, "network.arithmetic",
         "another admission, scheduler or marking",
         [](const Config& c) { return ns3(c) && ns3_policies(c); },
         "is \"ns3\", under which switches have that simulator's admission, scheduler and marking, "
         "without network.buffer.admission, network.queues.scheduler and network.ecn.marking; "
         "allowed: the default of that key, or \"exact\""},
        {"ns3-acknowledges-each-packet", E::refused, "network.arithmetic",
         "network.nic.ack_every above 1",
         [](const Config& c) { return ns3(c) && c.network.nic.ack_every != 1; },
         "is \"ns3\", under which a flow shorter than network.nic.ack_every would never be "
         "acknowledged; allowed: the default of that key, or \"exact\""},
        {"ns3-without-perturbation", E::refused, "perturbation", "network.arithmetic = \"ns3\"",
         [](const Config& c) { return ns3(c) && perturbed(c); },
         "changes delays by picoseconds, which network.arithmetic = \"ns3\" truncates; it needs "
         "\"exact\""},
        {"ns3-without-phases", E::refused, "network.arithmetic", "a mode with phases",
         [](const Config& c) { return ns3(c) && phases(c); },
         "is \"ns3\", whose order of simultaneous events is packet mode's only; modes hybrid and "
         "wormhole need \"exact\""},
        {"ns3-routes-by-fewest-cables", E::refused, "topology.routing",
         "network.arithmetic = \"ns3\"",
         [](const Config& c) {
             return ns3(c) && c.topology.group_routing != GroupRouting::shortest;
         },
         "is for network.arithmetic = \"exact\": HPCC ns-3 routes by fewest cables; allowed with "
         "\"ns3\": \"shortest\""},
        {"ns3-has-no-weights", E::refused, "topology.ecmp_weights", "network.arithmetic = \"ns3\"",
         [](const Config& c) { return ns3(c) && c.topology.hop_weights != HopWeights::equal; },
         "is for network.arithmetic = \"exact\": HPCC ns-3 divides flows evenly; allowed with "
         "\"ns3\": \"equal\""},
        {"valiant-or-spray", E::refused, "topology.routing", "packets are sprayed",
         [](const Config& c) { return valiant(c) && sprays(c); },
         "is \"valiant\", which gives each flow one path, but network.load_balance or "
         "sprayed_priorities spray its packets; allowed with these: \"shortest\", \"minimal\""},
        {"round-trips-of-packets", E::refused, "output.rtt", "mode flow",
         [](const Config& c) { return round_trips(c) && flow_mode(c); },
         "is true, but mode {mode} has no packets; allowed: modes packet, hybrid and wormhole"},
        {"round-trips-not-of-ns3", E::refused, "output.rtt", "network.arithmetic = \"ns3\"",
         [](const Config& c) { return round_trips(c) && ns3(c); },
         "is true, but not for network.arithmetic = \"ns3\"; allowed: \"exact\""},
        {"round-trips-of-acks", E::refused, "output.rtt",
         "phases.wake = \"data\", in a mode with phases",
         [](const Config& c) { return round_trips(c) && phases(c) && local(c); },
         "is true, but with phases.wake = \"data\" ACKs are not packets; "
         "allowed: \"partition\""},
        {"ports-of-packets", E::refused, "output.capture output.waves", "mode flow",
         [](const Config& c) { return watches_ports(c) && flow_mode(c); },
         "is given, but mode {mode} has no packets; allowed: modes packet, hybrid and wormhole"},
        {"ports-not-of-ns3", E::refused, "output.capture output.waves",
         "network.arithmetic = \"ns3\"", [](const Config& c) { return watches_ports(c) && ns3(c); },
         "is given, but not for network.arithmetic = \"ns3\"; allowed: \"exact\""},
        {"ports-with-acks", E::refused, "output.capture output.waves",
         "phases.wake = \"data\", in a mode with phases",
         [](const Config& c) { return watches_ports(c) && phases(c) && local(c); },
         "is given, but with phases.wake = \"data\" ACKs are not packets; allowed: "
         "\"partition\""},
        {"local-phases", E::refused, "phases.wake", "local phases are impossible (below)",
         [](const Config& c) { return phases(c) && local(c) && cannot(E::not_local, c); },
         "must be \"partition\" {why}"},
        {"trains-of-followed-delays", E::refused, "phases.train",
         "a law that follows single round-trip times, in a mode with phases",
         [](const Config& c) {
             return has_trains(c) && congestion::traits(c.network.congestion.law).follows_delay;
         },
         "is above 1, but congestion.law follows single round-trip times, which trains disturb; "
         "allowed: 1, or another law"},
        {"trains-or-selective-repeat", E::refused, "phases.train",
         "selective repeat, in a mode with phases",
         [](const Config& c) { return has_trains(c) && repeats_selectively(c); },
         "is above 1, but network.nic.transport = \"selective-repeat\" acknowledges single "
         "packets; "
         "allowed: 1, or \"go-back-n\""},
        {"trains-or-spraying", E::refused, "phases.train",
         "packets are sprayed, in a mode with phases",
         [](const Config& c) { return has_trains(c) && sprays(c); },
         "is above 1, but network.load_balance or sprayed_priorities send single packets several "
         "ways; allowed: 1, or \"ecmp\" without sprayed_priorities"},
        {"trains-or-losses", E::refused, "phases.train", "lossy links, in a mode with phases",
         [](const Config& c) { return has_trains(c) && loses_packets(c); },
         "is above 1, but links lose single packets; allowed: 1, or links without loss"},
        {"trains-or-back-to-zero", E::refused, "phases.train", "go-back-0, in a mode with phases",
         [](const Config& c) { return has_trains(c) && c.network.nic.back_to_zero; },
         "is above 1, but not with network.nic.back_to_zero = true; allowed: 1, or false"},
        {"trains-or-restored-queues", E::refused, "phases.train",
         "restored queues, in a mode with phases",
         [](const Config& c) { return has_trains(c) && c.phases.restore != Restoration::hold; },
         "is above 1, but phases.restore makes queues of single packets; allowed: 1, or \"hold\""},
        {"trains-or-records", E::refused, "phases.train",
         "output.rtt, output.capture or output.waves, in a mode with phases",
         [](const Config& c) { return has_trains(c) && records_packets(c); },
         "is above 1, but output.rtt, output.capture and output.waves record single packets; "
         "allowed: 1, or none of "
         "these"},
        {"trains-or-episodes", E::refused, "phases.train", "episodes, in a mode with phases",
         [](const Config& c) { return has_trains(c) && c.phases.episodes; },
         "is above 1, but phases.episodes = true remembers single packets; allowed: 1, or false"},
        {"queues-or-spray", E::refused, "output.record_queues", "packets are sprayed",
         [](const Config& c) { return c.records_queues && sprays(c); },
         "is true, but network.load_balance or sprayed_priorities send a flow's packets several "
         "ways; "
         "only \"ecmp\" can be recorded"},

        // Options that are refused.
        {"record-queues-in-mode-packet", E::refused, "--record-queues", "not mode packet",
         not_packet_mode, "needs mode packet, which simulates every queue; this is mode {mode}"},
        {"options-of-phases", E::refused, "--no-skip --memo --audit", "no mode with phases",
         no_phases, "has no effect in mode {mode}; allowed: modes hybrid and wormhole"},
        {"no-fold-of-packets", E::refused, "--no-fold", "mode flow", flow_mode,
         "has no effect in mode flow; allowed: modes packet, hybrid and wormhole"},
        {"paths-or-valiant", E::refused, "--paths", "topology.routing = \"valiant\"", valiant,
         "topology.routing = \"valiant\" gives every flow its path; allowed: \"shortest\", "
         "\"minimal\""},

        // Workloads that are refused.
        {"valiant-knows-all-flows", E::refused, "topology.routing", "a streamed job",
         [](const Config& c) { return valiant(c) && c.streamed; },
         "= \"valiant\" needs all flows before the run, and a streamed job opens them during the "
         "run; allowed: \"shortest\", \"minimal\""},
        {"stream-alone", E::refused, "", "a streamed job beside another workload",
         [](const Config& c) { return c.streamed && c.beside_others; },
         "a streamed job cannot be combined with another workload"},
        {"triggers-alone", E::refused, "", "a matrix with triggers beside a job or another one",
         [](const Config& c) { return c.triggered && c.beside_others; },
         "a connection matrix with triggers cannot be combined with jobs or with another one"},

        // Keys without effect.
        {"seed-that-nothing-draws", E::no_effect, "seed",
         "mode flow, and no workload or perturbation draws", never_draws,
         "no workload uses random numbers, and mode flow has no random marks, losses or paths"},
        {"loss-without-packets", E::no_effect, "topology.*loss", "mode flow", flow_mode,
         "mode flow has no packets that could be lost"},
        {"gpu-type-of-files", E::no_effect, "topology.gpu_type", "always", always,
         "it stands in the header of a file that sluice topo writes"},
        {"fold-where-nothing-folds", E::no_effect, "fold", "nothing folds (below)",
         [](const Config& c) { return cannot(E::not_folded, c); },
         "there is no symmetry reduction in this mode, with these phases and this arithmetic"},
        {"phases-without-phases", E::no_effect, "phases.*", "no mode with phases", no_phases,
         "only modes hybrid and wormhole have phases"},
        {"queues-of-mode-packet", E::no_effect, "output.record_queues", "not mode packet",
         not_packet_mode, "only mode packet has every queue"},
        {"calibrate-what-is-not", E::no_effect, "phases.calibrate", "nothing is calibrated (below)",
         [](const Config& c) { return cannot(E::not_calibrated, c); },
         "only rates of partitions that are measured are calibrated"},
        {"memo-of-nothing", E::no_effect, "phases.memo*", "no calibrated rates, and no episodes",
         [](const Config& c) {
             const bool rates = c.phases.calibrate && !cannot(E::not_calibrated, c);
             const bool episodes = c.phases.episodes && !cannot(E::not_predicted, c);
             return cannot(E::not_memoized, c) || (!rates && !episodes);
         },
         "neither calibrated rates nor episodes are memoized"},
        {"episodes-without-memo", E::no_effect, "phases.episodes",
         "no phases.memo, or nothing is predicted (below)",
         [](const Config& c) { return !c.phases.memo || cannot(E::not_predicted, c); },
         "episodes need phases.memo, with phases.scope and phases.wake \"partition\""},
        {"tolerance-of-no-episodes", E::no_effect, "phases.memo_tolerance", "no episodes",
         no_episodes, "no episodes are predicted"},
        {"detector-is-not-hygra", E::no_effect, "phases.eps_bw phases.eps_q phases.stable_rounds",
         "another phases.detector than \"hygra\"", not_by_hygra, "the detector is another one"},
        {"detector-is-hygra", E::no_effect, "phases.theta", "phases.detector = \"hygra\"", by_hygra,
         "the detector is another one"},
        {"audit-of-nothing", E::no_effect, "phases.audit*", "nothing is audited (below)",
         [](const Config& c) { return cannot(E::not_audited, c); }, "nothing is skipped"},
        {"skips-without-skips", E::no_effect, "phases.rates phases.restore* phases.longest_skip",
         "phases.skip = false", never_skips, "nothing is skipped"},
        {"restore-without-model", E::no_effect, "phases.restore_model",
         "phases.restore asks no model", [](const Config& c) { return !asks_model(c); },
         "no model is asked"},
        {"restore-without-encoder", E::no_effect, "phases.restore_engine",
         "another phases.restore than \"transformer\"",
         [](const Config& c) { return c.phases.restore != Restoration::transformer; },
         "no encoder is evaluated"},
        // The law gives the sizes of headers and ACKs; HPCC leaves a part of each link unused.
        {"flow-mode-has-no-law", E::no_effect,
         "congestion.* !congestion.law !congestion.hpcc.target_utilization", "mode flow", flow_mode,
         "mode flow has no congestion control"},
        {"flow-mode-has-no-queues", E::no_effect,
         "network.ecn.* network.buffer.* network.pfc network.queues.* "
         "!network.queues.scheduler !network.queues.weights",
         "mode flow", flow_mode, "mode flow has no queues"},
        // How many ACKs there are is how much they load their links.
        {"flow-mode-has-no-packets", E::no_effect,
         "network.nic.* !network.nic.ack_every !network.nic.ack_chunk", "mode flow", flow_mode,
         "mode flow has no packets"},
        {"window-of-go-back-n", E::no_effect,
         "network.nic.reorder_window network.nic.reorder_threshold",
         "network.nic.transport = \"go-back-n\"",
         [](const Config& c) { return !repeats_selectively(c); },
         "packets out of order are dropped"},
        {"band-of-no-loads", E::no_effect, "network.adaptive_band",
         "mode flow, or another network.load_balance than \"adaptive\" or \"flowlet\"",
         [](const Config& c) { return flow_mode(c) || !by_load(c); },
         "no next hop is chosen by its queue"},
        {"gap-of-no-flowlets", E::no_effect, "network.flowlet_gap",
         "mode flow, or another network.load_balance than \"flowlet\"",
         [](const Config& c) { return flow_mode(c) || !balances(c, {LoadBalance::flowlet}); },
         "there are no flowlets"},
        {"values-of-no-entropy", E::no_effect,
         "network.entropy_values network.entropy_order network.entropy_recycle "
         "network.entropy_avoid",
         "mode flow, or another network.load_balance than \"entropy\"",
         [](const Config& c) { return flow_mode(c) || !by_entropy(c); },
         "packets have no entropy values"},
        {"headers-of-no-trimming", E::no_effect,
         "network.trim.priority network.trim.queue network.trim.victim "
         "network.trim.reference_rate",
         "mode flow, or no network.trim.threshold",
         [](const Config& c) { return flow_mode(c) || !trims(c); }, "nothing is trimmed"},
        {"trimming-of-packets", E::no_effect, "network.trim.threshold", "mode flow", flow_mode,
         "mode flow has no packets"},
        {"selective-repeat-has-no-nacks", E::no_effect, "network.nic.nack_interval",
         "network.nic.transport = \"selective-repeat\"", repeats_selectively,
         "every packet out of order has an ACK, and none a NACK"},
        {"chunks-of-one-packet", E::no_effect, "network.nic.ack_chunk",
         "network.nic.ack_every = 1, without back_to_zero or in mode flow",
         [](const Config& c) {
             return c.network.nic.ack_every == 1 && (flow_mode(c) || !c.network.nic.back_to_zero);
         },
         "every packet has an ACK of its own"},
        {"early-acks-are-all", E::no_effect, "network.nic.ack_early", "network.nic.ack_every = 1",
         [](const Config& c) { return c.network.nic.ack_every == 1; },
         "every packet has an ACK of its own"},
        {"flow-mode-has-no-pauses", E::no_effect, "network.packet.pause", "mode flow", flow_mode,
         "mode flow has no pause frames"},
        {"keys-of-pfc", E::no_effect,
         "network.packet.pause network.queues.ack_pause_class network.buffer.headroom_factor "
         "network.buffer.alpha_shift network.buffer.resume_offset",
         "network.pfc = false", no_pfc, "there is no PFC"},
        {"law-ignores-marks", E::no_effect, "network.ecn.*", "a law that does not react to marks",
         [](const Config& c) {
             return !congestion::traits(c.network.congestion.law).reacts_to_marks;
         },
         "the law does not react to marks, which are only counted"},
        {"ecn-is-off", E::no_effect, "network.ecn.* !network.ecn.enabled",
         "network.ecn.enabled = false", [](const Config& c) { return !c.network.ecn.enabled; },
         "nothing is marked"},
        {"one-path-has-one-window", E::no_effect, "congestion.sprayed_window",
         "network.nic.transport = \"go-back-n\", packets are not sprayed, or congestion.law = "
         "\"nscc\" or \"rccc\"",
         [](const Config& c) {
             const congestion::Law law = c.network.congestion.law;
             return c.network.nic.transport == Transport::go_back_n || !sprays(c) ||
                    law == congestion::Law::nscc || law == congestion::Law::rccc;
         },
         "it is of flows whose packets take several paths, under laws without a maxwnd of their "
         "own"},
        {"no-window-to-vary", E::no_effect, "congestion.variable_window congestion.sprayed_window",
         "congestion.window = false", [](const Config& c) { return !c.network.congestion.window; },
         "there is no window"},
        {"pfc-drops-nothing", E::no_effect, "network.buffer.egress_alpha", "network.pfc = true",
         [](const Config& c) { return c.network.pfc; }, "with PFC nothing is dropped"},
        {"admission-is-not-dynamic", E::no_effect,
         "network.buffer.alpha_shift network.buffer.egress_alpha",
         "another network.buffer.admission than \"dynamic\"",
         [](const Config& c) { return admission_is_not(Admission::dynamic_threshold, c); },
         "the admission rule is another one"},
        {"admission-is-not-static", E::no_effect, "network.buffer.static_threshold",
         "another network.buffer.admission than \"static\"",
         [](const Config& c) { return admission_is_not(Admission::static_threshold, c); },
         "the admission rule is another one"},
        {"weights-of-round-robin", E::no_effect, "network.queues.weights",
         "another network.queues.scheduler than \"dwrr\"",
         [](const Config& c) {
             return c.network.queues.scheduler != Scheduler::deficit_round_robin;
         },
         "the scheduler is another one"},
        {"one-threshold", E::no_effect, "network.ecn.kmax network.ecn.pmax",
         "network.ecn.marking = \"threshold\"", by_threshold, "marking is by one threshold"},

        // What is left open.
        {"mode-for-ns3", E::automatic, "mode", "network.arithmetic = \"ns3\"",
         [](const Config& c) {
             const ConfigValue* const arithmetic = c.value("network.arithmetic");
             return arithmetic != nullptr && arithmetic->text == "ns3";
         },
         "its order of events is packet mode's only", "packet"},
        {"mode-for-queues", E::automatic, "mode", "output.record_queues or output.series is true",
         [](const Config& c) { return c.asks("output.record_queues") || c.asks("output.series"); },
         "only mode packet simulates every queue", "packet"},
        {"mode", E::automatic, "mode", "else", always, "the fastest mode that reports its error",
         "wormhole"},
        {"arithmetic-of-imports", E::automatic, "network.arithmetic",
         "an imported network, not in mode packet",
         [](const Config& c) { return c.imported && c.mode != Mode::packet; },
         "ns-3's order of ties and its nanoseconds exist packet by packet only", "exact"},
        {"memo-in-wormhole", E::automatic, "phases.memo", "mode wormhole, with skips",
         [](const Config& c) { return c.mode == Mode::wormhole && c.phases.skip; },
         "where nothing is to be skipped nothing is predicted either, unless it is asked for by "
         "name",
         "true"},
        {"memo-file-in-wormhole", E::automatic, "--memo", "mode wormhole",
         [](const Config& c) { return c.mode == Mode::wormhole; }, "the user's memo",
         "a file in the user's cache"},
        {"audit-in-wormhole", E::automatic, "phases.audit", "mode wormhole",
         [](const Config& c) { return c.mode == Mode::wormhole; }, "the run states its error",
         "0.1"},
        {"threads-with-phases", E::automatic, "--threads", "a mode with phases", phases,
         "the phase controller has one thread", "at most 2"},
        // Under other laws flows that share ports are off by more where ACKs are no packets (docs/wormhole.md, figure
        // 13); so are jobs beside flows of other kinds, and where links fail.
        {"wake-of-jobs", E::automatic, "phases.wake", "flows that are no messages of jobs",
         [](const Config& c) { return c.workload == nullptr || !c.workload->only_jobs; },
         "only jobs alone are known to be right", "partition"},
        {"wake-without-link-events", E::automatic, "phases.wake", "link events",
         [](const Config& c) { return c.link_events; },
         "only links that stay up are known to be right", "partition"},
        {"wake-under-hpcc", E::automatic, "phases.wake", "another law than HPCC",
         [](const Config& c) { return c.network.congestion.law != congestion::Law::hpcc; },
         "only HPCC is known to be right", "partition"},
        {"wake-as-asked", E::automatic, "phases.wake",
         "phases.skip = false, phases.episodes, output.rtt, output.capture or output.waves",
         asks_for_partitions, "what is asked for needs partitions", "partition"},
        {"wake-of-long-runs", E::automatic, "phases.wake",
         "all packets take less than 20 s, no host ports",
         [](const Config&
                c) { return c.workload->packet_seconds < kSoon && !c.workload->has_host_ports; },
         "the audit of partitions knows more", "partition"},
        {"wake-of-long-messages", E::automatic, "phases.wake",
         "less than half of the packet-hops are long messages'",
         [](const Config& c) { return c.workload->long_hops < kLong * c.workload->packet_hops; },
         "the ACK load of short messages is not known in time", "partition"},
        {"wake-where-possible", E::automatic, "phases.wake", "local phases are impossible (below)",
         [](const Config& c) { return cannot(E::not_local, c); }, "ACKs must be packets",
         "partition"},
        {"wake-beside-host-ports", E::automatic, "phases.wake",
         "else, a testbench has host ports (HostPorts::attached)",
         [](const Config& c) { return c.workload->has_host_ports; },
         "operations at unknown times leave no copies", "data"},
        {"wake-across-switches", E::automatic, "phases.wake", "else, several switches on a path",
         [](const Config& c) { return c.workload->longest_path > kOneSwitch; },
         "messages cross several switches", "data"},
        {"wake-of-ranks-that-differ", E::automatic, "phases.wake",
         "else, most ranks compute for as long as no other one",
         [](const Config& c) { return c.workload->ranks_differ(); },
         "ranks compute for different times", "data"},

        // What builders leave out.
        {"flow-mode-folds-nothing", E::not_folded, "", "mode flow", flow_mode,
         "mode flow has no packets"},
        {"ns3-folds-nothing", E::not_folded, "", "network.arithmetic = \"ns3\"", ns3,
         "ns-3 has one order of events over the whole network"},
        {"one-phase-folds-nothing", E::not_folded, "",
         "phases.scope = \"network\", in a mode with phases",
         [](const Config& c) { return phases(c) && one_phase(c); },
         "the whole network has one phase"},
        {"local-phases-fold-nothing", E::not_folded, "",
         "phases.wake = \"data\", in a mode with phases",
         [](const Config& c) { return phases(c) && local(c); }, "ACKs are not packets"},
        {"selective-repeat-folds-nothing", E::not_folded, "",
         "network.nic.transport = \"selective-repeat\"", repeats_selectively,
         "what selective repeat remembers of packets is not compared"},
        {"round-trips-fold-nothing", E::not_folded, "", "output.rtt = true", round_trips,
         "round trips are recorded of every packet"},
        {"watched-ports-fold-nothing", E::not_folded, "", "output.capture or output.waves",
         watches_ports, "ports are recorded packet by packet"},
        {"spray-is-not-local", E::not_local, "", "packets are sprayed", sprays,
         "where packets are sprayed"},
        {"selective-repeat-is-not-local", E::not_local, "",
         "network.nic.transport = \"selective-repeat\"", repeats_selectively,
         "under selective repeat"},
        {"loss-is-not-local", E::not_local, "", "links lose packets", loses_packets,
         "where links lose packets"},
        {"law-none-is-not-local", E::not_local, "", "congestion.law = \"none\"",
         [](const Config& c) { return c.network.congestion.law == congestion::Law::none; },
         "under law \"none\", which lets queues grow that ACKs would share"},
        {"swift-is-not-local", E::not_local, "", "congestion.law = \"swift\"", swift,
         "under law \"swift\", which counts the links that ACKs cross"},
        {"short-links-are-not-local", E::not_local, "", "short round trips", round_trips_are_short,
         "where a base round trip is shorter than 10 frames"},
        {"one-phase-is-not-local", E::not_local, "", "phases.scope = \"network\"", one_phase,
         "with phases.scope = \"network\""},
        {"restorers-are-not-local", E::not_local, "", "another phases.restore than \"hold\"",
         [](const Config& c) { return c.phases.restore != Restoration::hold; },
         "unless phases.restore = \"hold\""},
        {"one-phase-is-not-calibrated", E::not_calibrated, "", "phases.scope = \"network\"",
         one_phase, "the whole network has one phase"},
        {"max-min-is-not-calibrated", E::not_calibrated, "",
         "another phases.rates than \"measured\"",
         [](const Config& c) { return c.phases.rates != SteadyRates::measured; },
         "rates are not measured"},
        {"round-trips-are-not-memoized", E::not_memoized, "", "output.rtt = true", round_trips,
         "what is predicted has no packets"},
        {"watched-ports-are-not-memoized", E::not_memoized, "", "output.capture or output.waves",
         watches_ports, "what is predicted has no packets"},
        {"one-phase-has-no-episodes", E::not_predicted, "", "phases.scope = \"network\"", one_phase,
         "episodes are of partitions"},
        {"local-phases-have-no-episodes", E::not_predicted, "", "phases.wake = \"data\"", local,
         "episodes are of partitions"},
        {"round-trips-have-no-episodes", E::not_predicted, "", "output.rtt = true", round_trips,
         "what is predicted has no packets"},
        {"watched-ports-have-no-episodes", E::not_predicted, "", "output.capture or output.waves",
         watches_ports, "what is predicted has no packets"},
        {"audit-of-skips", E::not_audited, "", "phases.skip = false, without episodes",
         [](const Config& c) { return never_skips(c) && !has_episodes(c); }, "nothing is skipped"},
        {"episodes-on-one-thread", E::one_thread, "", "episodes, in a mode with phases",
         [](const Config& c) { return phases(c) && has_episodes(c); },
         "what is held is executed later by one thread"},
        {"round-trips-of-runs", E::not_in_a_lane, "", "output.rtt = true", round_trips,
         "output.rtt = true: only `sluice run` records round trips"},
        {"watched-ports-of-runs", E::not_in_a_lane, "", "output.capture or output.waves",
         watches_ports, "output.capture and output.waves: only `sluice run` records ports"},
        {"device-of-mode-packet", E::not_on_a_device, "", "not mode packet", not_packet_mode,
         "mode = \"{mode}\": a device executes mode packet only"},
        {"device-is-exact", E::not_on_a_device, "", "network.arithmetic = \"ns3\"", ns3,
         "network.arithmetic = \"ns3\": a device does not support ns-3's order of events"},
        {"device-goes-back", E::not_on_a_device, "", "network.nic.transport = \"selective-repeat\"",
         repeats_selectively,
         "network.nic.transport = \"selective-repeat\": a device has go-back-N only"},
        {"device-balances-without-queues", E::not_on_a_device, "",
         "network.load_balance = \"adaptive\" or \"flowlet\"", by_load,
         "network.load_balance: a device chooses next hops without their queues"},
        {"device-has-no-round-trips", E::not_on_a_device, "", "output.rtt = true", round_trips,
         "output.rtt = true: a device cannot record round trips"},
        {"device-watches-no-ports", E::not_on_a_device, "", "output.capture or output.waves",
         watches_ports, "output.capture and output.waves: a device cannot record ports"},
        {"device-knows-all-flows", E::not_on_a_device, "", "a streamed job",
         [](const Config& c) { return c.streamed; },
         "a device cannot execute a streamed job; use --device cpu"},
        {"device-has-no-samples", E::not_on_a_device, "", "queues or PFC frames are recorded",
         [](const Config& c) { return c.samples; },
         "a device cannot record queues or PFC frames; use --device cpu"},
        {"importance-in-mode-packet", E::not_importance_sampled, "", "not mode packet",
         not_packet_mode, "[importance] needs mode packet; this scenario has mode {mode}"},
        {"importance-of-whole-trials", E::not_importance_sampled, "", "stop is given",
         [](const Config& c) { return c.stops; },
         "[importance] needs all flows of a trial; the scenario has a stop time"},
        {"importance-of-poisson", E::not_importance_sampled, "",
         "not exactly one workload, of type poisson",
         [](const Config& c) { return !is_one_poisson(c); },
         "[importance] needs exactly one [workload], of type \"poisson\""},
    };
    congestion::Parameters parameters;
    congestion::for_each_law(
        parameters, [&](congestion::Law law, const char* name, auto, auto& its) {
            if (std::is_empty_v<std::decay_t<decltype(its)>>) return;  // it has no keys
            rules.push_back({std::string("law-is-not-") + name, E::no_effect,
                             std::string("congestion.") + name + ".*", "another congestion.law",
                             [law](const Config& c) { return c.network.congestion.law != law; },
                             "the law is another one"});
        });
    return rules;
}

}  // namespace

const std::vector<CombinationRule>& combination_rules() {
    static const std::vector<CombinationRule> kRules = all_rules();
    return kRules;
}

}  // namespace sluice
