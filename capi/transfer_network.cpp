// SPDX-License-Identifier: Apache-2.0
#include "capi/transfer_network.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <utility>

#include "core/error.h"
#include "core/random.h"
#include "experiment/build_experiment.h"
#include "experiment/configuration_of.h"
#include "scenario/scenario.h"

namespace sluice::capi {

namespace {

constexpr std::uint16_t kFirstSourcePort = 10000;
/// Above, source ports of queue pairs repeat.
constexpr std::uint32_t kSourcePorts = 50000;
constexpr std::uint8_t kUsualPriority = 3;
/// Without any progress for so long, at least, a wait without an end is given up.
constexpr Tick kPatience = kSecond;

std::uint16_t source_port(std::uint32_t number) {
    return static_cast<std::uint16_t>(kFirstSourcePort + number % kSourcePorts);
}

std::uint64_t pair_of_hosts(const sluice_transfer& transfer) {
    return std::uint64_t{transfer.source} << 32 | transfer.destination;
}

Experiment built_of(Scenario& scenario) {
    return scenario.workloads.empty() ? take_network(scenario)
                                      : build_experiment(scenario).experiment;
}

/// What `execute` returns. What fails in the middle of a run is no mistake that leaves all as it was.
template <typename Execute>
Tick executed(Execute&& execute) {
    try {
        return execute();
    } catch (const ConfigError& error) {
        throw std::runtime_error(error.what());
    }
}

/// What the scenario describes, with what is posted beside it.
Experiment experiment_of(ConfigValue values, const std::string& path) {
    if (values.find("mode") == nullptr) {
        set_config(values, "mode", text_value("packet"), "sluice_open()");
    }
    Scenario scenario = make_scenario(std::move(values), path, Workloads::optional);
    if (scenario.mode != Mode::packet) {
        throw ConfigError(path, 0,
                          std::string("mode \"") + mode_name(scenario.mode) +
                              "\": transfers are posted to a network in mode packet; allowed: "
                              "\"packet\", or no mode");
    }
    Experiment experiment = built_of(scenario);
    if (experiment.network.arithmetic == Arithmetic::ns3) {
        throw ConfigError(path, 0,
                          "network.arithmetic = \"ns3\": nothing can be posted to a network that "
                          "keeps ns-3's order of events; allowed: \"exact\"");
    }
    Configuration configuration = configuration_of(experiment, Mode::packet);
    configuration.streamed = true;
    refuse(configuration, "topology.routing", path);
    experiment.application = std::make_unique<Transfers>(std::move(experiment.application));
    return experiment;
}

}  // namespace

TransferNetwork::TransferNetwork(ConfigValue values, const std::string& path)
    : experiment_(experiment_of(std::move(values), path)),
      transfers_(static_cast<Transfers*>(experiment_.application.get())),
      routing_(topology()),
      store_(topology(), routing_, experiment_.network, experiment_.flows, experiment_.paths,
             transfers_),
      engine_(store_),
      step_(store_.world()),
      next_connection_(
          std::max(connection_count(experiment_.flows), transfers_->connection_count())) {
    RunHooks hooks;
    hooks.on_finish = [this](const FlowRecord& flow) { transfers_->finished(flow); };
    engine_.configure(experiment_.link_events, std::move(hooks), experiment_.stop);
    engine_.begin({});
}

std::size_t TransferNetwork::PairHash::operator()(const PairKey& key) const {
    return mix_bits(key.hosts ^ std::uint64_t{key.number} << 17);
}

void TransferNetwork::set_doorbell_latency(Tick latency) {
    if (latency < 0) {
        throw ConfigError("a doorbell latency of " + std::to_string(latency) +
                          " ps; allowed: 0 and above");
    }
    doorbell_latency_ = latency;
}

void TransferNetwork::check(const sluice_transfer& transfer) const {
    for (const std::uint32_t host : {transfer.source, transfer.destination}) {
        if (host >= hosts()) {
            throw ConfigError("a transfer names host " + std::to_string(host) + "; allowed: 0 to " +
                              std::to_string(hosts() - 1));
        }
    }
    if (transfer.source == transfer.destination) {
        throw ConfigError("a transfer from host " + std::to_string(transfer.source) +
                          " to itself; allowed: two different hosts");
    }
    if (transfer.bytes < 1 || transfer.bytes > std::uint64_t{1} << 62) {
        throw ConfigError("a transfer of " + std::to_string(transfer.bytes) +
                          " bytes; allowed: 1 to 2^62");
    }
    if (transfer.priority > 7) {
        throw ConfigError("a transfer of priority " + std::to_string(transfer.priority) +
                          "; allowed: 0 to 7");
    }
}

FlowSpec TransferNetwork::flow_of(const sluice_transfer& transfer) {
    FlowSpec spec;
    spec.src = topology().hosts()[transfer.source];
    spec.dst = topology().hosts()[transfer.destination];
    spec.size = static_cast<std::int64_t>(transfer.bytes);
    spec.priority =
        transfer.priority == 0 ? kUsualPriority : static_cast<std::uint8_t>(transfer.priority);
    const std::uint64_t pair = pair_of_hosts(transfer);
    if (transfer.queue_pair == SLUICE_OWN_QUEUE_PAIR) {
        spec.sport = source_port(own_pairs_[pair]++);
        return spec;
    }
    const auto [place, fresh] =
        queue_pairs_.try_emplace(PairKey{pair, transfer.queue_pair}, next_connection_);
    next_connection_ += fresh ? 1 : 0;
    spec.sport = source_port(transfer.queue_pair);
    spec.connection = place->second;
    return spec;
}

std::int64_t TransferNetwork::post(const sluice_transfer& transfer) {
    check(transfer);
    const Tick from = std::max(now_, transfer.not_before_ps);
    if (from > kNever - 1 - doorbell_latency_) {
        throw ConfigError("a transfer is to take effect " + std::to_string(doorbell_latency_) +
                          " ps after " + std::to_string(from) + " ps; allowed: before 2^63 - 1 ps");
    }
    FlowSpec spec = flow_of(transfer);
    spec.id = transfers_->add(transfer, now_);
    try {
        store_.open_flow(store_.world(), spec, std::max(from + doorbell_latency_, engine_.now()));
    } catch (const ConfigError& error) {
        transfers_->take_back(spec.id);
        throw ConfigError("a transfer from host " + std::to_string(transfer.source) + " to host " +
                          std::to_string(transfer.destination) + ": " + error.what());
    }
    engine_.go_on();
    return transfers_->last_id();
}

void TransferNetwork::check_until(Tick until) const {
    if (until < now_) {
        throw ConfigError("time cannot go back to " + std::to_string(until) +
                          " ps; allowed: now, " + std::to_string(now_) + " ps, and later");
    }
    if (until != kNever && until > experiment_.stop) {
        throw ConfigError("time cannot go on to " + std::to_string(until) +
                          " ps; allowed: up to the scenario's stop, " +
                          std::to_string(experiment_.stop) + " ps");
    }
}

void TransferNetwork::advance(Tick until) {
    check_until(until);
    if (until == kNever) {
        throw ConfigError("time cannot be advanced for ever; allowed: up to 2^63 - 2 ps");
    }
    run_to(until);
    now_ = until;
}

/// Executes everything before `limit`.
void TransferNetwork::run_to(Tick limit) {
    while (!engine_.finished() && engine_.next() < limit) {
        executed([&] { return engine_.run_to(limit, step_); });
    }
    transfers_->settle();
}

/// The same, and stops as soon as something has happened to a transfer. False: nothing has.
bool TransferNetwork::run_to_event(Tick limit) {
    const Tick lookahead = store_.world().lookahead;
    for (Tick next = engine_.next(); next < limit && !engine_.finished();) {
        const Tick end = first_event(std::min(next + lookahead, limit));
        next = executed([&] { return engine_.run_in_lockstep(end, step_, [] {}); });
        transfers_->settle();
        if (transfers_->something_waits()) {
            return true;
        }
        if (limit == kNever) {
            look_for_progress(next);
        }
    }
    return false;
}

bool TransferNetwork::take(bool arrivals, sluice_event& event) {
    while (transfers_->take(event)) {
        if (arrivals || event.kind != SLUICE_ARRIVED) {
            now_ = std::max(now_, event.completion.finished_ps);
            return true;
        }
    }
    return false;
}

bool TransferNetwork::next_event(Tick until, bool arrivals, sluice_event& event) {
    check_until(until);
    next_look_ = now_ + kPatience;
    acknowledged_ = -1;
    const Tick limit = std::min(until, experiment_.stop);
    for (;;) {
        if (take(arrivals, event)) {
            return true;
        }
        if (until == kNever && transfers_->outstanding() == 0) {
            return false;
        }
        if (!run_to_event(limit)) {
            break;
        }
    }
    now_ = limit == kNever ? std::max(now_, engine_.now()) : limit;
    return false;
}

/// May be the last packet that its transfer has to wait for.
bool TransferNetwork::may_end(const step::Packet& packet) const {
    const step::World& world = store_.world();
    if (packet.packet_kind() >= step::PacketKind::pause ||
        !transfers_->has(world.id[packet.flow])) {
        return false;
    }
    if (packet.packet_kind() != step::PacketKind::data) {
        return packet.sequence >= world.receiver[packet.flow].packets;
    }
    return transfers_->watches_arrivals() &&
           (packet.sequence + 1 == world.receiver[packet.flow].packets ||
            step::repeats_selectively(world));
}

/// Of a window that is to end at `end`: the instant after the first one that may be a transfer's end or arrival, or `end`, if
/// that comes first. What arrives in a window is on its links as that begins.
Tick TransferNetwork::first_event(Tick end) {
    step::World& world = store_.world();
    for (const NodeId host : topology().hosts()) {
        if (world.wake[world.home[host]] >= end) {
            continue;
        }
        for (PortId port = world.first_port[host]; port < world.first_port[host + 1]; ++port) {
            step::Wire& wire = world.link[port];
            if (wire.arrival >= end) {
                continue;
            }
            for (std::uint32_t at = wire.head; at != wire.tail; ++at) {
                const Tick arrival = wire.at(at).time + wire.base;
                if (arrival + 1 >= end) {
                    break;
                }
                if (may_end(wire.at(at))) {
                    end = arrival + 1;
                    break;
                }
            }
        }
    }
    return end;
}

/// ConfigError if flows that are under way have not progressed for long, with nothing ahead that would change it.
void TransferNetwork::look_for_progress(Tick at) {
    if (at < next_look_) {
        return;
    }
    next_look_ = at == kNever ? kNever : at + kPatience;
    const std::int64_t acknowledged = step::acknowledged_bytes(store_.world(), store_.slot_count());
    const bool stands =
        acknowledged == acknowledged_ &&
        (experiment_.link_events.empty() || experiment_.link_events.back().at < at) &&
        !store_.network_flows().under_way().empty();
    acknowledged_ = acknowledged;
    if (stands) {
        throw ConfigError(std::to_string(transfers_->outstanding()) +
                          " transfers are outstanding, and none progresses: links are down for "
                          "good, or ports pause each other");
    }
}

}  // namespace sluice::capi
