// SPDX-License-Identifier: Apache-2.0
#include "scenario/network_section.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

using congestion::Law;

constexpr std::int64_t kReferenceRate = 100'000'000'000;  ///< the rate that defaults are quoted at
constexpr Bytes kMaxBuffer{std::int64_t{1} << 40};
constexpr std::int32_t kMaxPayload = 65'000;

std::vector<std::pair<const char*, Law>> law_words() {
    return {{"hpcc", Law::hpcc},
            {"dcqcn", Law::dcqcn},
            {"timely", Law::timely},
            {"dctcp", Law::dctcp},
            {"none", Law::none}};
}

std::int64_t rate_key(ConfigSection& section, const char* key, std::int64_t fallback) {
    return section.rate(key, Rate{fallback}).bits_per_second;
}

void read_hpcc(ConfigSection section, congestion::HpccParameters& p) {
    p.target_utilization = section.number("target_utilization", p.target_utilization, 0.01, 1.0);
    p.max_stage = static_cast<int>(section.integer("max_stage", p.max_stage, 0, 1'000'000));
    p.additive_rate = rate_key(section, "additive_rate", p.additive_rate);
    p.fast_reaction = section.flag("fast_reaction", p.fast_reaction);
    p.multi_rate = section.flag("multi_rate", p.multi_rate);
    p.sample_feedback = section.flag("sample_feedback", p.sample_feedback);
    p.int_multiplier =
        static_cast<int>(section.integer("int_multiplier", p.int_multiplier, 1, 4096));
    section.finish();
}

void read_dcqcn(ConfigSection section, congestion::DcqcnParameters& p) {
    p.alpha_interval = section.time("alpha_interval", p.alpha_interval, kNanosecond);
    p.decrease_interval = section.time("decrease_interval", p.decrease_interval, kNanosecond);
    p.increase_interval = section.time("increase_interval", p.increase_interval, kNanosecond);
    p.gain = section.number("gain", p.gain, 1e-9, 1.0);
    p.fast_recovery_stages = static_cast<int>(
        section.integer("fast_recovery_stages", p.fast_recovery_stages, 0, 1'000'000));
    p.additive_rate = rate_key(section, "additive_rate", p.additive_rate);
    p.hyper_rate = rate_key(section, "hyper_rate", p.hyper_rate);
    p.clamp_target_rate = section.flag("clamp_target_rate", p.clamp_target_rate);
    p.rate_on_first_cnp = section.number("rate_on_first_cnp", p.rate_on_first_cnp, 1e-6, 1.0);
    section.finish();
}

void read_timely(ConfigSection section, congestion::TimelyParameters& p) {
    p.t_low = section.time("t_low", p.t_low, kNanosecond);
    p.t_high = section.time("t_high", p.t_high, kNanosecond);
    p.min_rtt = section.time("min_rtt", p.min_rtt, kNanosecond);
    p.ewma = section.number("ewma", p.ewma, 0.0, 1.0);
    p.beta = section.number("beta", p.beta, 0.0, 1.0);
    p.additive_rate = rate_key(section, "additive_rate", p.additive_rate);
    p.hyper_rate = rate_key(section, "hyper_rate", p.hyper_rate);
    p.hyper_after = static_cast<int>(section.integer("hyper_after", p.hyper_after, 0, 1'000'000));
    if (p.t_low > p.t_high) section.fail("t_low", "must not be above t_high");
    section.finish();
}

void read_dctcp(ConfigSection section, congestion::DctcpParameters& p) {
    p.gain = section.number("gain", p.gain, 1e-9, 1.0);
    p.additive_rate = rate_key(section, "additive_rate", p.additive_rate);
    section.finish();
}

/// INT's unit of sent bytes grows with the NIC's rate, so that its counters do not overflow. A unit
/// above a frame makes HPCC see twice the utilization on paths of several hops: a hop's counter then
/// moves by one unit or not at all between two packets, and the law takes the greatest hop.
void bound_int_unit(congestion::Parameters& p, std::int32_t payload) {
    constexpr int kUnit = 128;
    constexpr int kHeaders = 48 + 42;  // of a data packet under HPCC, by default
    const int most = std::max(1, (payload + kHeaders) / kUnit);
    p.hpcc.int_multiplier = std::min(p.hpcc.int_multiplier, most);
}

congestion::Parameters read_congestion(ConfigSection section, Rate nic, std::int32_t payload) {
    const Law law = section.choice("law", Law::hpcc, law_words());
    congestion::Parameters p = congestion::default_parameters(law, nic.bits_per_second);
    bound_int_unit(p, payload);
    p.min_rate = rate_key(section, "min_rate", std::min(p.min_rate, nic.bits_per_second));
    if (p.min_rate > nic.bits_per_second) {
        section.fail("min_rate", "is above the NIC rate of " + format_rate(nic));
    }
    p.pacing = section.flag("pacing", p.pacing);
    p.window = section.flag("window", p.window);
    p.variable_window = section.flag("variable_window", p.variable_window);
    // Another law's table may stay in the file, so that `--set congestion.law=...` is enough to
    // change laws; it is checked, too.
    const auto wanted = [&](const char* key, Law its) { return section.has(key) || law == its; };
    if (wanted("hpcc", Law::hpcc)) read_hpcc(section.table("hpcc"), p.hpcc);
    if (wanted("dcqcn", Law::dcqcn)) read_dcqcn(section.table("dcqcn"), p.dcqcn);
    if (wanted("timely", Law::timely)) read_timely(section.table("timely"), p.timely);
    if (wanted("dctcp", Law::dctcp)) read_dctcp(section.table("dctcp"), p.dctcp);
    section.finish();
    const std::string error = congestion::parameter_error(p);
    if (!error.empty()) section.fail("law", "cannot run so: " + error);
    return p;
}

PacketFormat read_format(ConfigSection& network, Law law) {
    PacketFormat format;
    format.payload = network.packet_bytes("payload", format.payload, 1, kMaxPayload);
    ConfigSection section = network.table("packet");
    format.header = section.packet_bytes("header", format.header, 1, 1024);
    const std::int32_t extra = law == Law::hpcc ? 42 : law == Law::timely ? 8 : 0;
    format.extra_header = section.packet_bytes("extra_header", extra, 0, 1024);
    format.ack = section.packet_bytes("ack", law == Law::hpcc ? 88 : 60, 1, 4096);
    format.pause = section.packet_bytes("pause", format.pause, 1, 4096);
    section.finish();
    return format;
}

/// Headroom and reserve that the largest switch sets aside: what its buffer must exceed.
Bytes set_aside(const Topology& topology, const BufferConfig& buffer) {
    double largest = 0;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.is_host(node)) continue;
        double sum = 0;
        for (std::uint32_t i = 0; i < topology.port_count(node); ++i) {
            const PortId port = topology.first_port(node) + i;
            const double line = static_cast<double>(topology.rate(port).bits_per_second) / 8;
            const double delay =
                static_cast<double>(topology.delay(port)) / static_cast<double>(kSecond);
            sum +=
                buffer.headroom_factor * line * delay + static_cast<double>(buffer.reserve.count);
        }
        largest = std::max(largest, sum);
    }
    return {static_cast<std::int64_t>(std::min(std::ceil(largest), 1e18))};
}

BufferConfig read_buffer(ConfigSection section, const Topology& topology, Rate nic, bool pfc) {
    BufferConfig buffer;
    buffer.reserve = section.bytes("reserve", buffer.reserve, {0}, mebibytes(64));
    buffer.headroom_factor = section.number("headroom_factor", buffer.headroom_factor, 0, 1000);
    buffer.alpha_shift =
        static_cast<int>(section.integer("alpha_shift", buffer.alpha_shift, 0, 20));
    buffer.resume_offset = section.bytes("resume_offset", buffer.resume_offset, {0}, mebibytes(64));
    buffer.egress_alpha = section.number("egress_alpha", buffer.egress_alpha, 0, 1e6);
    const Bytes aside = set_aside(topology, buffer);
    // 32 MiB at 100 Gb/s, in proportion to the NIC rate; more only where ports are so many, or
    // cables so long, that headroom alone would fill it.
    const double scaled = static_cast<double>(buffer.size.count) *
                          static_cast<double>(nic.bits_per_second) /
                          static_cast<double>(kReferenceRate);
    Bytes automatic{std::max<std::int64_t>(static_cast<std::int64_t>(scaled), 64 * 1024)};
    if (pfc && automatic.count / 2 < aside.count) {
        automatic.count = std::min(2 * aside.count, kMaxBuffer.count);
    }
    buffer.size = section.bytes("size", automatic, {4096}, kMaxBuffer);
    if (pfc && !(aside < buffer.size)) {
        section.fail("size",
                     "is " + format_bytes(buffer.size) +
                         ", but PFC headroom and reserve of the largest switch alone take " +
                         format_bytes(aside) +
                         "; give more, or lower headroom_factor, reserve or link delays");
    }
    section.finish();
    return buffer;
}

EcnPoint read_point(ConfigSection& section, Rate rate, const EcnPoint& fallback) {
    EcnPoint point;
    point.rate = rate;
    point.kmin = section.bytes("kmin", fallback.kmin, {0}, kMaxBuffer);
    point.kmax = section.bytes("kmax", fallback.kmax, {0}, kMaxBuffer);
    point.pmax = section.number("pmax", fallback.pmax, 0, 1);
    if (point.kmax < point.kmin) section.fail("kmin", "must not be above kmax");
    return point;
}

Bytes at_rate(Bytes at_reference, Rate rate) {
    const double scaled = static_cast<double>(at_reference.count) *
                          static_cast<double>(rate.bits_per_second) /
                          static_cast<double>(kReferenceRate);
    return {std::max<std::int64_t>(1, static_cast<std::int64_t>(scaled))};
}

EcnConfig read_ecn(ConfigSection section, Law law, Rate nic) {
    EcnConfig ecn;
    ecn.enabled = section.flag("enabled", true);
    const bool step = law == Law::dctcp;  // one threshold, certain above it
    const EcnPoint fallback{nic, at_rate({step ? 300'000 : 400'000}, nic),
                            at_rate({step ? 300'000 : 1'600'000}, nic), step ? 1.0 : 0.2};
    if (section.has("points")) {
        for (const char* key : {"kmin", "kmax", "pmax"}) {
            if (section.has(key)) {
                section.fail(key, "cannot stand beside 'points', which lists it per port rate");
            }
        }
        std::set<std::int64_t> seen;
        for (ConfigSection& entry : section.tables("points")) {
            const Rate rate = entry.rate("rate", std::nullopt);
            if (!seen.insert(rate.bits_per_second).second) {
                entry.fail("rate", "is listed twice");
            }
            const EcnPoint scaled{rate, at_rate({step ? 300'000 : 400'000}, rate),
                                  at_rate({step ? 300'000 : 1'600'000}, rate), fallback.pmax};
            ecn.points.push_back(read_point(entry, rate, scaled));
            entry.finish();
        }
        if (ecn.points.empty()) section.fail("points", "is empty; list at least one rate");
    } else {
        ecn.points.push_back(read_point(section, nic, fallback));
    }
    section.finish();
    return ecn;
}

QueueConfig read_queues(ConfigSection section) {
    QueueConfig queues;
    queues.ack_strict_in_switch = section.flag("ack_strict_in_switch", queues.ack_strict_in_switch);
    queues.ack_strict_at_host = section.flag("ack_strict_at_host", queues.ack_strict_at_host);
    queues.ack_pause_class =
        static_cast<std::uint8_t>(section.integer("ack_pause_class", queues.ack_pause_class, 0, 7));
    if (const auto weights = section.integers("weights", 1, 1'000'000, 7)) {
        if (weights->size() != 7) {
            section.fail("weights", "must list 7 integers, for classes 1 to 7");
        }
        for (std::size_t i = 0; i < 7; ++i) {
            queues.weights[i + 1] = static_cast<std::int32_t>((*weights)[i]);
        }
    }
    section.finish();
    return queues;
}

NicConfig read_nic(ConfigSection section) {
    NicConfig nic;
    nic.ack_every = static_cast<std::int32_t>(section.integer("ack_every", nic.ack_every, 1, 4096));
    nic.ack_chunk = static_cast<std::int32_t>(section.integer("ack_chunk", nic.ack_chunk, 0, 4096));
    nic.back_to_zero = section.flag("back_to_zero", nic.back_to_zero);
    nic.nack_interval = section.time("nack_interval", nic.nack_interval);
    nic.retransmit_timeout = section.time("retransmit_timeout", nic.retransmit_timeout);
    nic.global_base_rtt = section.flag("global_base_rtt", nic.global_base_rtt);
    if (nic.back_to_zero && nic.ack_chunk == 0) {
        section.fail("back_to_zero", "needs an ack_chunk of at least 1 packet to go back within");
    }
    section.finish();
    return nic;
}

/// What that simulator has no word for, or does in a way that nobody wants.
void check_ns3(const NetworkConfig& config, ConfigSection& section) {
    if (config.arithmetic != Arithmetic::ns3) return;
    const auto refuse = [&](const char* what) {
        section.fail("arithmetic", std::string("is \"ns3\", under which ") + what +
                                       "; allowed: the default of that key, or \"exact\"");
    };
    const std::int32_t* const weights = config.queues.weights;
    if (std::any_of(weights + 1, weights + 8, [&](std::int32_t w) { return w != weights[1]; })) {
        refuse("classes are served packet by packet in turn, without network.queues.weights");
    }
    if (config.nic.ack_every != 1) {
        refuse("a flow shorter than network.nic.ack_every would never be acknowledged");
    }
}

void check_int_rates(const Topology& topology, ConfigSection& root, Law law) {
    if (law != Law::hpcc) return;
    std::set<std::int64_t> rates;
    for (const Link& link : topology.links()) rates.insert(link.rate.bits_per_second);
    if (rates.size() > 8) {
        root.fail("topology", "has " + std::to_string(rates.size()) +
                                  " different link rates; HPCC's telemetry can name at most 8");
    }
}

}  // namespace

Rate nic_rate(const Topology& topology) {
    for (const NodeId host : topology.hosts()) {
        for (std::uint32_t i = 0; i < topology.port_count(host); ++i) {
            const PortId port = topology.first_port(host) + i;
            if (topology.kind(topology.neighbor(port)) != NodeKind::nvswitch) {
                return topology.rate(port);
            }
        }
    }
    // GPUs in one box, joined by NVSwitches alone.
    for (const NodeId host : topology.hosts()) {
        if (topology.port_count(host) > 0) return topology.rate(topology.first_port(host));
    }
    throw ConfigError(topology.name + ": no host has a link");
}

NetworkConfig read_network(ConfigSection& root, const Topology& topology) {
    const Rate nic = nic_rate(topology);
    NetworkConfig config;
    ConfigSection section = root.table("network");
    config.congestion =
        read_congestion(root.table("congestion"), nic,
                        section.packet_bytes("payload", config.format.payload, 1, kMaxPayload));
    const Law law = config.congestion.law;
    check_int_rates(topology, root, law);
    config.arithmetic = section.choice("arithmetic", config.arithmetic,
                                       {{"exact", Arithmetic::exact}, {"ns3", Arithmetic::ns3}});
    config.load_balance =
        section.choice("load_balance", config.load_balance,
                       {{"ecmp", LoadBalance::ecmp}, {"spray", LoadBalance::spray}});
    config.format = read_format(section, law);
    config.congestion.payload = config.format.payload;
    config.pfc = section.flag("pfc", config.pfc);
    config.buffer = read_buffer(section.table("buffer"), topology, nic, config.pfc);
    config.ecn = read_ecn(section.table("ecn"), law, nic);
    config.queues = read_queues(section.table("queues"));
    config.nic = read_nic(section.table("nic"));
    check_ns3(config, section);
    section.finish();
    return config;
}

}  // namespace sluice
