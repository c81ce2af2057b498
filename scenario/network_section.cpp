// SPDX-License-Identifier: Apache-2.0
#include "scenario/network_section.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/packet/buffer.h"
#include "core/packet/policies/policies.h"
#include "core/routing/base_rtt.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

using congestion::Law;

constexpr std::int64_t kReferenceRate = 100'000'000'000;  ///< the rate that defaults are quoted at
constexpr Bytes kMaxBuffer{std::int64_t{1} << 40};
constexpr std::int32_t kMaxPayload = 65'000;

std::int64_t rate_key(ConfigSection& section, const char* key, std::int64_t fallback) {
    return section.rate(key, Rate{fallback}).bits_per_second;
}

/// Reads the parameters that a law describes (congestion::LawHooks) from its table.
class ParameterReader {
  public:
    explicit ParameterReader(ConfigSection& section) : section_(section) {}

    void number(const char* name, double& value, double lowest, double highest) {
        value = section_.number(name, value, lowest, highest);
    }
    void integer(const char* name, int& value, std::int64_t lowest, std::int64_t highest) {
        value = static_cast<int>(section_.integer(name, value, lowest, highest));
    }
    void time(const char* name, Tick& value, Tick lowest, Tick highest) {
        value = section_.time(name, value, lowest, highest);
    }
    void flag(const char* name, bool& value) { value = section_.flag(name, value); }
    void rate(const char* name, std::int64_t& value) { value = rate_key(section_, name, value); }

  private:
    ConfigSection& section_;
};

template <class Hooks, class Parameters>
void read_law(ConfigSection section, Hooks law, Parameters& parameters) {
    ParameterReader reader(section);
    law.describe(parameters, reader);
    const congestion::Conflict conflict = law.conflict(parameters);
    if (conflict.name != nullptr) section.fail(conflict.name, conflict.rule);
    section.finish();
}

congestion::Parameters read_congestion(ConfigSection section, Rate nic, std::int32_t payload) {
    std::vector<std::pair<const char*, Law>> words;
    congestion::Parameters p;
    congestion::for_each_law(
        p, [&](Law its, const char* name, auto, auto&) { words.emplace_back(name, its); });
    const Law law = section.choice("law", p.law, words);
    p = congestion::default_parameters(law, nic.bits_per_second);
    congestion::fit_to_packets(p, payload);
    p.min_rate = rate_key(section, "min_rate", std::min(p.min_rate, nic.bits_per_second));
    if (p.min_rate > nic.bits_per_second) {
        section.fail("min_rate", "is above the NIC rate of " + format_rate(nic));
    }
    p.pacing = section.flag("pacing", p.pacing);
    p.window = section.flag("window", p.window);
    p.variable_window = section.flag("variable_window", p.variable_window);
    p.sprayed_window = section.number("sprayed_window", p.sprayed_window, 0.1, 16);
    // Another law's table may stay in the file, so that `--set congestion.law=...` is enough to
    // change laws; it is checked, too.
    congestion::for_each_law(p, [&](Law its, const char* name, auto hooks, auto& parameters) {
        if (section.has(name) || law == its) read_law(section.table(name), hooks, parameters);
    });
    section.finish();
    return p;
}

PacketFormat read_format(ConfigSection& network, Law law) {
    PacketFormat format;
    format.payload = network.packet_bytes("payload", format.payload, 1, kMaxPayload);
    ConfigSection section = network.table("packet");
    format.header = section.packet_bytes("header", format.header, 1, 1024);
    const congestion::Traits its = congestion::traits(law);
    format.extra_header = section.packet_bytes("extra_header", its.extra_header, 0, 1024);
    format.ack = section.packet_bytes("ack", its.ack(), 1, 4096);
    format.pause = section.packet_bytes("pause", format.pause, 1, 4096);
    section.finish();
    return format;
}

/// Headroom and reserve that the largest switch sets aside: what its buffer must exceed.
Bytes set_aside(const Topology& topology, const NetworkConfig& config) {
    std::int64_t largest = 0;
    for (NodeId node = 0; node < topology.node_count(); ++node) {
        if (topology.is_host(node)) continue;
        std::int64_t sum = 0;
        for (PortId port = topology.first_port(node); port < topology.first_port(node + 1);
             ++port) {
            sum += config.buffer.reserve.count +
                   step::pfc_headroom(config, topology.rate(port), topology.delay(port));
            sum = std::min(sum, kMaxBuffer.count);
        }
        largest = std::max(largest, sum);
    }
    return {largest};
}

/// `config` is read as far as headroom depends on it; its buffer becomes the table's.
void read_buffer(ConfigSection section, const Topology& topology, Rate nic, NetworkConfig& config) {
    BufferConfig& buffer = config.buffer;
    buffer.reserve = section.bytes("reserve", buffer.reserve, {0}, mebibytes(64));
    buffer.headroom_factor = section.number("headroom_factor", buffer.headroom_factor, 0, 1000);
    buffer.admission = section.choice("admission", buffer.admission, admission_words());
    buffer.alpha_shift =
        static_cast<int>(section.integer("alpha_shift", buffer.alpha_shift, 0, 20));
    buffer.resume_offset = section.bytes("resume_offset", buffer.resume_offset, {0}, mebibytes(64));
    buffer.egress_alpha = section.number("egress_alpha", buffer.egress_alpha, 0, 1e6);
    if (buffer.admission == Admission::static_threshold || section.has("static_threshold")) {
        buffer.static_threshold = section.bytes("static_threshold", std::nullopt, {1}, kMaxBuffer);
    }
    const Bytes aside = set_aside(topology, config);
    // 32 MiB at 100 Gb/s, in proportion to the NIC rate; more only where ports are so many, or
    // cables so long, that headroom alone would fill it.
    const double scaled = static_cast<double>(buffer.size.count) *
                          static_cast<double>(nic.bits_per_second) /
                          static_cast<double>(kReferenceRate);
    Bytes automatic{std::max<std::int64_t>(static_cast<std::int64_t>(scaled), 64 * 1024)};
    if (config.pfc && automatic.count / 2 < aside.count) {
        automatic.count = std::min(2 * aside.count, kMaxBuffer.count);
    }
    buffer.size = section.bytes("size", automatic, {4096}, kMaxBuffer);
    if (config.pfc && !(aside < buffer.size)) {
        section.fail("size",
                     "is " + format_bytes(buffer.size) +
                         ", but PFC headroom and reserve of the largest switch alone take " +
                         format_bytes(aside) +
                         "; give more, or lower headroom_factor, reserve or link delays");
    }
    section.finish();
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

EcnConfig read_ecn(ConfigSection section, Law law, Rate nic, Marking& marking) {
    EcnConfig ecn;
    ecn.enabled = section.flag("enabled", true);
    marking = section.choice("marking", marking, marking_words());
    const congestion::Traits its = congestion::traits(law);
    const auto point_at = [&](Rate rate) {
        return EcnPoint{rate, at_rate({its.ecn_kmin}, rate), at_rate({its.ecn_kmax}, rate),
                        its.ecn_pmax};
    };
    if (section.has("points")) {
        for (const char* key : {"kmin", "kmax", "pmax"}) section.has(key);  // refused later
        std::set<std::int64_t> seen;
        for (ConfigSection& entry : section.tables("points")) {
            const Rate rate = entry.rate("rate", std::nullopt);
            if (!seen.insert(rate.bits_per_second).second) {
                entry.fail("rate", "is listed twice");
            }
            ecn.points.push_back(read_point(entry, rate, point_at(rate)));
            entry.finish();
        }
        if (ecn.points.empty()) section.fail("points", "is empty; list at least one rate");
    } else {
        ecn.points.push_back(read_point(section, nic, point_at(nic)));
    }
    section.finish();
    return ecn;
}

QueueConfig read_queues(ConfigSection section) {
    QueueConfig queues;
    queues.scheduler = section.choice("scheduler", queues.scheduler, scheduler_words());
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

/// So long that an ACK is back before, from the farthest host and from behind queues.
Tick default_timeout(const Topology& topology, const NetworkConfig& config) {
    constexpr Tick kRoundTrips = 4;
    const Tick least = config.nic.retransmit_timeout;
    // A path crosses each switch once at most: most networks are so small that this settles it.
    const BaseRttConfig base = {config.format.payload, config.arithmetic};
    Tick slowest = 0;
    for (const Link& link : topology.links()) {
        const Tick packet = serialization_time(base.payload, link.rate, base.arithmetic);
        slowest = std::max(slowest, 2 * link.delay + packet);
    }
    const auto links = static_cast<Tick>(topology.node_count() - topology.hosts().size() + 1);
    if (slowest <= least / kRoundTrips / links) return least;
    const Tick round_trip = network_base_rtt(topology, base).rtt;
    const Tick whole = (kRoundTrips * round_trip + kMillisecond - 1) / kMillisecond;
    return std::max(least, whole * kMillisecond);
}

NicConfig read_nic(ConfigSection section, Tick timeout) {
    NicConfig nic;
    nic.transport = section.choice(
        "transport", nic.transport,
        {{"go-back-n", Transport::go_back_n}, {"selective-repeat", Transport::selective_repeat}});
    nic.reorder_window = static_cast<std::uint32_t>(
        section.integer("reorder_window", nic.reorder_window, 64, 16'384));
    if ((nic.reorder_window & (nic.reorder_window - 1)) != 0) {
        section.fail("reorder_window", "must be a power of two, from 64 to 16384 packets");
    }
    nic.reorder_threshold = static_cast<std::uint32_t>(
        section.integer("reorder_threshold", nic.reorder_window / 2, 1, nic.reorder_window - 1));
    nic.ack_every = static_cast<std::int32_t>(section.integer("ack_every", nic.ack_every, 1, 4096));
    nic.ack_chunk = static_cast<std::int32_t>(section.integer("ack_chunk", nic.ack_chunk, 0, 4096));
    nic.ack_early = section.flag("ack_early", nic.ack_early);
    nic.back_to_zero = section.flag("back_to_zero", nic.back_to_zero);
    nic.nack_interval = section.time("nack_interval", nic.nack_interval);
    nic.retransmit_timeout = section.time("retransmit_timeout", timeout);
    nic.global_base_rtt = section.flag("global_base_rtt", nic.global_base_rtt);
    section.finish();
    return nic;
}

void check_int_rates(const Topology& topology, ConfigSection& root, Law law) {
    const std::size_t rates = distinct_rates(topology).size();
    if (congestion::traits(law).uses_int && rates > congestion::kMaxIntRates) {
        root.fail("topology", "has " + std::to_string(rates) +
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

/// Bit p: flows of priority p are sprayed, beside what load_balance says of all.
std::uint8_t read_sprayed(ConfigSection& section) {
    unsigned sprayed = 0;
    if (const auto priorities = section.integers("sprayed_priorities", 1, 7, 7)) {
        for (const std::int64_t priority : *priorities) {
            sprayed |= 1U << priority;
        }
    }
    return static_cast<std::uint8_t>(sprayed);
}

TrimConfig read_trim(ConfigSection section) {
    const Bytes most{0x7fffffff};
    TrimConfig trim;
    trim.threshold = section.bytes("threshold", Bytes{trim.threshold}, Bytes{0}, most).count;
    if (section.has("reference_rate")) {
        trim.reference_rate = section.rate("reference_rate", std::nullopt);
    }
    trim.victim = section.choice(
        "victim", trim.victim, {{"arriving", TrimVictim::arriving}, {"drawn", TrimVictim::drawn}});
    trim.priority = static_cast<std::uint8_t>(section.integer("priority", trim.priority, 0, 7));
    trim.queue = section.bytes("queue", Bytes{trim.queue}, Bytes{0}, most).count;
    section.finish();
    return trim;
}

SprayConfig read_spray(ConfigSection& section, const PacketFormat& format) {
    constexpr std::int64_t kFramesOfBand = 4;
    const std::int64_t frame = std::int64_t{format.payload} + format.header + format.extra_header;
    SprayConfig spray;
    spray.band =
        section.bytes("adaptive_band", Bytes{kFramesOfBand * frame}, Bytes{1}, mebibytes(1024))
            .count;
    spray.flowlet_gap = section.time("flowlet_gap", spray.flowlet_gap);
    spray.entropy_values = static_cast<std::uint32_t>(
        section.integer("entropy_values", spray.entropy_values, 1, 1 << step::kEntropyBits));
    spray.entropy_order =
        section.choice("entropy_order", spray.entropy_order,
                       {{"rotated", EntropyOrder::rotated}, {"permuted", EntropyOrder::permuted}});
    if (spray.entropy_order == EntropyOrder::permuted &&
        (spray.entropy_values & (spray.entropy_values - 1)) != 0) {
        section.fail("entropy_order",
                     "is \"permuted\", which needs a power of two of entropy_values");
    }
    spray.entropy_recycle = section.flag("entropy_recycle", spray.entropy_recycle);
    spray.entropy_avoid = section.flag("entropy_avoid", spray.entropy_avoid);
    return spray;
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
    config.load_balance = section.choice("load_balance", config.load_balance,
                                         {{"ecmp", LoadBalance::ecmp},
                                          {"spray", LoadBalance::spray},
                                          {"round-robin", LoadBalance::round_robin},
                                          {"adaptive", LoadBalance::adaptive},
                                          {"flowlet", LoadBalance::flowlet},
                                          {"entropy", LoadBalance::entropy}});
    config.sprayed_priorities = read_sprayed(section);
    config.format = read_format(section, law);
    config.spray = read_spray(section, config.format);
    config.congestion.payload = config.format.payload;
    config.pfc = section.flag("pfc", config.pfc);
    read_buffer(section.table("buffer"), topology, nic, config);
    config.ecn = read_ecn(section.table("ecn"), law, nic, config.marking);
    config.queues = read_queues(section.table("queues"));
    config.trim = read_trim(section.table("trim"));
    config.nic = read_nic(section.table("nic"), default_timeout(topology, config));
    section.finish();
    return config;
}

}  // namespace sluice
