// SPDX-License-Identifier: Apache-2.0
#include "workloads/hpcc/hpcc_network.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {
namespace {

using congestion::Law;

/// CC_MODE values that the original has code for.
enum CcMode : std::int64_t { kDcqcn = 1, kHpcc = 3, kTimely = 7, kDctcp = 8, kPint = 10 };

Law law_of(const HpccConfig& config, std::vector<std::string>& notes) {
    switch (config.cc_mode) {
        case kDcqcn: return Law::dcqcn;
        case kHpcc: return Law::hpcc;
        case kTimely: return Law::timely;
        case kDctcp: return Law::dctcp;
        case kPint:
            config.fail("CC_MODE",
                        "10 (HPCC-PINT) is not supported; allowed are 1 (DCQCN), 3 "
                        "(HPCC), 7 (TIMELY), 8 (DCTCP), and others for no congestion "
                        "control");
        default:
            notes.push_back(config.path + ": CC_MODE " + std::to_string(config.cc_mode) +
                            " names no law: flows send at line rate" +
                            (config.has_window ? ", within their window" : ""));
            return Law::none;
    }
}

/// The original hands a double to a function of whole microseconds.
Tick whole_microseconds(const HpccConfig& config, const std::string& key, double value) {
    const auto whole = static_cast<std::int64_t>(value);
    if (whole < 1) {
        config.fail(key, "must be at least 1 us (whole microseconds count, as in ns-3)");
    }
    return whole * kMicrosecond;
}

Rate first_host_rate(const Topology& topology) {
    for (const NodeId host : topology.hosts()) {
        if (topology.port_count(host) > 0) {
            return topology.rate(topology.first_port(host));
        }
    }
    return gigabits_per_second(100);
}

std::int64_t rate_or_default(const HpccConfig& config, const std::string& key, Rate value,
                             std::int64_t otherwise, std::vector<std::string>& notes) {
    if (config.given(key)) {
        return value.bits_per_second;
    }
    notes.push_back(config.path + ": " + key + " is missing, " + format_rate({otherwise}) +
                    " taken");
    return otherwise;
}

void set_dcqcn(const HpccConfig& config, congestion::dcqcn::Parameters& dcqcn,
               std::vector<std::string>& notes) {
    dcqcn.alpha_interval =
        whole_microseconds(config, "ALPHA_RESUME_INTERVAL", config.alpha_resume_us);
    dcqcn.decrease_interval =
        whole_microseconds(config, "RATE_DECREASE_INTERVAL", config.rate_decrease_us);
    if (config.given("RP_TIMER")) {
        dcqcn.increase_interval = whole_microseconds(config, "RP_TIMER", config.rp_timer_us);
    } else {
        notes.push_back(config.path + ": RP_TIMER is missing, " +
                        format_time(dcqcn.increase_interval) + " taken");
    }
    dcqcn.gain = config.ewma_gain;
    dcqcn.fast_recovery_stages = static_cast<int>(config.fast_recovery_times);
    dcqcn.additive_rate =
        rate_or_default(config, "RATE_AI", config.rate_ai, dcqcn.additive_rate, notes);
    dcqcn.hyper_rate =
        rate_or_default(config, "RATE_HAI", config.rate_hai, dcqcn.hyper_rate, notes);
    dcqcn.clamp_target_rate = config.clamp_target_rate;
}

congestion::Parameters congestion_of(const HpccConfig& config, const Topology& topology,
                                     std::vector<std::string>& notes) {
    const Law law = law_of(config, notes);
    congestion::Parameters parameters =
        congestion::default_parameters(law, first_host_rate(topology).bits_per_second);
    parameters.min_rate = config.min_rate.bits_per_second;
    if (parameters.min_rate < 1) {
        config.fail("MIN_RATE", "must be above 0");
    }
    parameters.pacing = config.rate_bound;
    parameters.window = config.has_window;
    parameters.variable_window = config.variable_window;
    parameters.payload = config.payload;
    if (law == Law::hpcc) {
        congestion::hpcc::Parameters& hpcc = parameters.hpcc;
        hpcc.target_utilization = config.u_target;
        hpcc.max_stage = static_cast<int>(config.mi_thresh);
        hpcc.additive_rate =
            rate_or_default(config, "RATE_AI", config.rate_ai, hpcc.additive_rate, notes);
        hpcc.fast_reaction = config.fast_react;
        hpcc.multi_rate = config.multi_rate;
        hpcc.sample_feedback = config.sample_feedback;
        hpcc.int_multiplier = static_cast<int>(config.int_multi);
    } else if (law == Law::dcqcn) {
        set_dcqcn(config, parameters.dcqcn, notes);
    } else if (law == Law::timely) {
        congestion::timely::Parameters& timely = parameters.timely;
        timely.additive_rate =
            rate_or_default(config, "RATE_AI", config.rate_ai, timely.additive_rate, notes);
        timely.hyper_rate =
            rate_or_default(config, "RATE_HAI", config.rate_hai, timely.hyper_rate, notes);
    } else if (law == Law::dctcp) {
        parameters.dctcp.gain = config.ewma_gain;
        parameters.dctcp.additive_rate = config.dctcp_rate_ai.bits_per_second;
    }
    if ((law == Law::dcqcn || law == Law::dctcp) && !config.given("EWMA_GAIN")) {
        notes.push_back(config.path + ": EWMA_GAIN is missing, 0 taken as ns-3 does");
    }
    return parameters;
}

/// Of switch ports, which are those that mark.
std::set<std::int64_t> switch_rates(const Topology& topology) {
    std::set<std::int64_t> rates;
    for (PortId port = 0; port < topology.port_count(); ++port) {
        if (!topology.is_host(topology.node_of(port))) {
            rates.insert(topology.rate(port).bits_per_second);
        }
    }
    return rates;
}

/// What the three maps say of a port rate.
struct EcnEntry {
    EcnPoint point;
    const char* key = nullptr;  ///< the map that does not fit the others; null: they fit
    std::string fault;
    std::string zeros;  ///< maps that lack the rate: 0, as ns-3 without assertions takes it
};

bool lists(const HpccConfig::RateMap& map, std::int64_t bits_per_second) {
    return std::any_of(map.begin(), map.end(), [&](const auto& entry) {
        return entry.first.bits_per_second == bits_per_second;
    });
}

EcnEntry ecn_entry(const HpccConfig& config, std::int64_t bits_per_second) {
    constexpr double kKilobyte = 1000;
    EcnEntry entry;
    entry.point.rate = {bits_per_second};
    const std::string rate_text = std::to_string(bits_per_second);
    const auto value_of = [&](const char* key, const HpccConfig::RateMap& map) {
        for (const auto& [rate, value] : map) {
            if (rate.bits_per_second == bits_per_second) return value;
        }
        entry.zeros += (entry.zeros.empty() ? "" : " and ") + std::string(key);
        return 0.0;
    };
    entry.point.pmax = value_of("PMAX_MAP", config.pmax);
    entry.point.kmax = {static_cast<std::int64_t>(value_of("KMAX_MAP", config.kmax) * kKilobyte)};
    entry.point.kmin = {static_cast<std::int64_t>(value_of("KMIN_MAP", config.kmin) * kKilobyte)};
    if (!lists(config.kmax, bits_per_second)) {
        entry.key = "KMAX_MAP";
        entry.fault = "lacks the port rate " + rate_text +
                      " that another of KMIN_MAP, KMAX_MAP and PMAX_MAP lists";
    } else if (entry.point.kmax < entry.point.kmin) {
        entry.key = "KMAX_MAP";
        entry.fault = "is below KMIN_MAP at the port rate " + rate_text;
    }
    return entry;
}

/// Every port rate that a map lists, if all three fit. ns-3 looks up the rates of its ports only, so others
/// may be listed anyhow.
std::vector<EcnPoint> ecn_points(const HpccConfig& config,
                                 const std::set<std::int64_t>& rates_of_ports,
                                 std::vector<std::string>& notes) {
    std::set<std::int64_t> listed;
    for (const auto* map : {&config.kmin, &config.kmax, &config.pmax}) {
        for (const auto& entry : *map) {
            listed.insert(entry.first.bits_per_second);
        }
    }
    std::vector<EcnPoint> points;
    for (const std::int64_t rate : listed) {
        const EcnEntry entry = ecn_entry(config, rate);
        const bool used = rates_of_ports.count(rate) > 0;
        const std::string lack =
            entry.zeros.find(" and ") == std::string::npos ? " lacks" : " lack";
        if (entry.key == nullptr && (used || entry.zeros.empty())) {
            points.push_back(entry.point);
            if (entry.zeros.empty()) continue;
            notes.push_back(config.path + ": " + entry.zeros + lack + " the port rate " +
                            std::to_string(rate) + ": 0, as ns-3 without assertions takes it" +
                            (entry.point.pmax > 0 ? "" : "; nothing is marked up to KMAX_MAP"));
            continue;
        }
        if (used) {
            const bool lacks = !lists(config.kmax, rate);
            config.fail(entry.key, entry.fault + (lacks ? "; write it with its KB (ns-3 without "
                                                          "assertions marks all that queues)"
                                                        : ""));
        }
        const std::string fault =
            entry.key != nullptr ? std::string(entry.key) + " " + entry.fault
                                 : entry.zeros + lack + " the port rate " + std::to_string(rate) +
                                       " that another of KMIN_MAP, KMAX_MAP and PMAX_MAP lists";
        notes.push_back(config.path + ": " + fault +
                        ": that rate is skipped, for no switch port has it");
    }
    return points;
}

EcnConfig ecn_of(const HpccConfig& config, const Topology& topology,
                 std::vector<std::string>& notes) {
    const std::set<std::int64_t> rates = switch_rates(topology);
    EcnConfig ecn;
    ecn.enabled = config.enable_qcn;
    ecn.points = ecn_points(config, rates, notes);
    for (const std::int64_t rate : rates) {
        const bool known =
            std::any_of(ecn.points.begin(), ecn.points.end(),
                        [&](const EcnPoint& point) { return point.rate.bits_per_second == rate; });
        if (!ecn.enabled || known) continue;
        notes.push_back(config.path + ": KMIN_MAP, KMAX_MAP and PMAX_MAP do not list the rate " +
                        format_rate({rate}) + " of some switch ports: " +
                        (ecn.points.empty() ? "they never mark" : "scaled from the nearest one"));
    }
    return ecn;
}

/// Packets after which a running byte count is a multiple of `chunk` again.
std::int32_t packets_per_chunk(std::int64_t chunk, std::int64_t payload) {
    return static_cast<std::int32_t>(chunk == 0 ? 0 : chunk / std::gcd(chunk, payload));
}

}  // namespace

NetworkConfig hpcc_network(const HpccConfig& config, const Topology& topology, std::uint64_t seed,
                           std::vector<std::string>& notes) {
    NetworkConfig network;
    network.arithmetic = Arithmetic::ns3;
    network.seed = seed;
    network.pfc = config.enable_pfc;
    network.congestion = congestion_of(config, topology, notes);
    const Law law = network.congestion.law;

    network.format.payload = static_cast<std::int32_t>(config.payload);
    network.format.extra_header = congestion::traits(law).extra_header;
    network.format.ack = congestion::traits(law).ack();

    network.buffer.size = mebibytes(config.buffer_mib);
    network.ecn = ecn_of(config, topology, notes);

    network.queues.ack_strict_in_switch = false;
    network.queues.ack_strict_at_host = true;
    // All that ACK_HIGH_PRIO decides in the original: its switches are never told of it.
    network.queues.ack_pause_class = config.ack_high_prio ? 0 : 3;

    const std::int64_t interval = (config.ack_interval + config.payload - 1) / config.payload;
    network.nic.ack_every = static_cast<std::int32_t>(std::max<std::int64_t>(interval, 1));
    network.nic.ack_chunk = packets_per_chunk(config.chunk, config.payload);
    network.nic.ack_interval = {config.ack_interval};
    network.nic.chunk_bytes = {config.chunk};
    if (config.ack_interval > config.payload) {
        notes.push_back(
            config.path + ": L2_ACK_INTERVAL " + std::to_string(config.ack_interval) +
            ": as in ns-3, only whole chunks are acknowledged before so many bytes have "
            "come: shorter flows may never end");
    }
    network.nic.back_to_zero = config.back_to_zero;
    network.nic.nack_interval = 500 * kMicrosecond;
    network.nic.retransmit_timeout = 0;
    network.nic.global_base_rtt = config.global_t;
    return network;
}

Topology with_ns3_links(const Topology& topology, double error_rate) {
    Topology result;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        result.add_node(topology.kind(node));
    }
    for (Link link : topology.links()) {
        link.delay -= link.delay % kNanosecond;
        link.loss = link.loss > 0 ? link.loss : error_rate;
        result.add_link(link);
    }
    result.finish();
    result.name = topology.name;
    result.gpus_per_server = topology.gpus_per_server;
    result.server_sizes = topology.server_sizes;
    result.gpu_type = topology.gpu_type;
    return result;
}

std::vector<LinkEvent> hpcc_link_events(const HpccConfig& config, const Topology& topology) {
    std::vector<LinkEvent> events;
    const HpccConfig::LinkDown& down = config.link_down;
    if (down.after_us == 0) {
        return events;
    }
    for (LinkId id = 0; id < topology.links().size(); ++id) {
        const Link& link = topology.links()[id];
        if ((link.a == down.a && link.b == down.b) || (link.a == down.b && link.b == down.a)) {
            events.push_back({2 * kSecond + down.after_us * kMicrosecond, id, false});
        }
    }
    if (events.empty()) {
        config.fail("LINK_DOWN", "no link joins the nodes " + std::to_string(down.a) + " and " +
                                     std::to_string(down.b));
    }
    return events;
}

}  // namespace sluice
