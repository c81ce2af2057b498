// SPDX-License-Identifier: Apache-2.0
#include "core/hybrid/stages/ack_streams.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/packet/sender.h"
#include "core/steady/rate_units.h"
#include "core/world/skip.h"

namespace sluice::hybrid {

namespace {

constexpr auto kUnit = static_cast<double>(std::int64_t{1} << step::kCrossShift);
constexpr double kPart = 1 << step::kPartShift;
/// ACKs never take more of a port: what they would beyond is counted, but slows nobody.
constexpr double kMostOfPort = 0.9;
/// A port may be that much too full while it sleeps, so that noise wakes nobody.
constexpr double kTooFull = 1.001;
/// Weight of the latest look at a port that ACKs wait at, or at a flow, and how long it counts, in base RTTs.
constexpr double kLatest = 0.125;
constexpr Tick kLately = 16;
/// A stream's rate has moved if one look differs by this part of it, or the mean of the latest by that.
constexpr double kMoved = 0.05;
constexpr double kDrifted = 0.005;

/// The stream has come to `at`; `parts` of bytes more cross at once.
void advance(step::CrossStream& stream, Tick at, std::int64_t parts = 0) {
    stream.parts = step::crossed_parts(stream, at) + parts;
    stream.since = at;
}

}  // namespace

AckStreams::AckStreams(step::WorldStore& store)
    : store_(store),
      world_(store.world()),
      data_(store.topology().port_count(), 0),
      awaited_(store.topology().port_count(), 0),
      waits_(store.topology().port_count()) {
    store.leave_answers_out();
}

/// Bytes per 2^kCrossShift ticks.
double AckStreams::capacity(PortId port) const {
    return static_cast<double>(world_.egress[port].line_rate) / kBitsPerByteAndTick * kUnit;
}

Tick AckStreams::hop_time(PortId port, std::int32_t bytes) const {
    return world_.egress[port].delay + world_.egress[port].serialization[bytes];
}

Tick AckStreams::local(PortId port, Tick now) const {
    return now - world_.link[world_.egress[port].peer].base;
}

/// local(), of a port that sleeps as it fell asleep: what crosses it then counts from when it wakes.
Tick AckStreams::own_time(PortId port, Tick now) const {
    return world_.cross[port].asleep ? world_.cross[port].since : local(port, now);
}

double AckStreams::across(PortId port) const {
    return static_cast<double>(world_.cross[port].rate) / kUnit;
}

double AckStreams::own(FlowSlot flow) const {
    const bool crosses = flow < streams_.size() && !streams_[flow].crossed.empty();
    return crosses ? static_cast<double>(streams_[flow].crossed.front().rate) / kUnit : 0;
}

std::int64_t AckStreams::crossed_ahead(PortId from, PortId to, Tick now) const {
    const Tick later = hop_time(from, world_.payload + world_.data_overhead);
    return step::crossed(world_.cross[to], own_time(to, now) + later) -
           step::crossed(world_.cross[from], own_time(from, now));
}

void AckStreams::enter(FlowSlot flow, const step::Footprint& way, Tick now) {
    if (flow >= streams_.size()) {
        streams_.resize(std::size_t{flow} + 1);
    }
    Stream& stream = streams_[flow];
    await(stream, false);
    stream = Stream{};
    stream.way = way;
    stream.crossed.resize(way.acks.size());
    stream.counted = acks_of(flow);  // not none where it goes another way than before
    const bool joined =
        !way.acks.empty() && store_.topology().neighbor(way.acks.back()) == world_.spec[flow].src;
    if (!joined) {
        store_.set_answer_time(flow, kNever);
        return;
    }
    const std::int32_t frame = world_.payload + world_.data_overhead;
    stream.base = 0;
    for (const PortId port : way.acks) {
        stream.base += hop_time(port, world_.config->format.ack);
        stream.by_data += hop_time(port, frame);
    }
    stream.base_rtt = stream.base;
    for (const PortId port : way.data) {
        stream.base_rtt += hop_time(port, frame);
    }
    store_.set_answer_time(flow, takes(stream, now));
    await(stream, true);
}

void AckStreams::await(Stream& stream, bool awaited) {
    if (stream.awaited != awaited) {
        stream.awaited = awaited;
        for (const PortId port : stream.way.acks) {
            awaited_[port] += awaited ? 1U : ~0U;
        }
    }
}

/// That it has had, for what was not skipped; complete, it has had them all.
std::int64_t AckStreams::acks_of(FlowSlot flow) const {
    const bool active = world_.sender_at[flow] != kNone;
    const std::uint32_t packets =
        active ? step::sender_of(world_, flow).una : world_.receiver[flow].packets;
    const step::AckPace pace = step::ack_pace(world_.config->nic);
    return active ? pace.of_first(packets) : pace.of_whole(packets);
}

void AckStreams::leave(FlowSlot flow) {
    Stream& stream = streams_[flow];
    count(stream, acks_of(flow));
    left_.push_back(std::move(stream));
    stream = Stream{};
}

void AckStreams::drop_left(Tick now) {
    for (Stream& stream : left_) {
        set(stream, 0, now);
        settle(stream);
    }
    left_.clear();
}

/// Ports have counted a stream of ACKs; now, beyond whole INT units, they have counted the ACKs: as WorldStore::settle_skipped().
void AckStreams::settle(const Stream& stream) {
    const auto unit = static_cast<std::int64_t>(world_.int_units.bytes_unit) << step::kPartShift;
    const std::int64_t bytes = stream.told * world_.config->format.ack;
    for (std::size_t hop = 0; hop < stream.crossed.size(); ++hop) {
        const std::int64_t more = ((bytes << step::kPartShift) - stream.crossed[hop].parts) % unit;
        world_.cross[stream.way.acks[hop]].parts += more < 0 ? more + unit : more;
    }
}

void AckStreams::measure(FlowSlot flow, Tick now) {
    if (flow >= streams_.size() || streams_[flow].base == kNever) {
        return;
    }
    Stream& stream = streams_[flow];
    const step::Sender& sender = step::sender_of(world_, flow);
    const bool first = stream.measured == kNever;
    const Tick since = first ? world_.result[flow].start : stream.measured;
    const Tick at = now - sender.skipped;
    if (at - since < stream.base_rtt) {
        return;
    }
    // Between two ACKs, so that it is not rounded to whole packets; at first there is but what was sent.
    const Tick progress = first ? at : sender.last_progress - sender.skipped;
    const std::int64_t bytes = first ? sender.next_bytes : sender.una_bytes - stream.acked;
    const Tick elapsed = progress - (first ? since : stream.progress);
    const double packets = static_cast<double>(std::max<std::int64_t>(bytes, 0)) / world_.payload;
    const double rate = elapsed > 0 ? packets / static_cast<double>(elapsed) : 0;
    stream.measured = at;
    stream.progress = sender.last_progress - sender.skipped;
    stream.acked = sender.una_bytes;
    follow(stream, std::min(rate, most(stream)), now);
    count(flow);
    for (const PortId port : stream.way.acks) {
        look_at(port, port == stream.way.acks.front(), now);
    }
    store_.set_answer_time(flow, takes(stream, now));
}

/// Whoever shares a port has another rate at each look, and each change of a stream is a jump of the byte counters
/// that HPCC reads: only what has moved is followed at once, what drifts is in the mean.
void AckStreams::follow(Stream& stream, double rate, Tick now) {
    const double frame = world_.payload + world_.data_overhead;
    const double held = static_cast<double>(stream.data) / (frame * kUnit);
    stream.mean += kLatest * (rate - stream.mean);
    if (stream.awaited || std::abs(rate - held) > kMoved * held) {
        stream.mean = rate;
        set(stream, rate, now);
    } else if (std::abs(stream.mean - held) > kDrifted * held) {
        set(stream, stream.mean, now);
    }
}

void AckStreams::hold(FlowSlot flow, double rate, Tick now) {
    streams_[flow].mean = rate;
    set(streams_[flow], rate, now);
}

/// What its ports leave to it, packets per tick: it may have been sending before they knew of other ACKs.
double AckStreams::most(const Stream& stream) const {
    const double frame = world_.payload + world_.data_overhead;
    double most = std::numeric_limits<double>::infinity();
    for (const PortId port : stream.way.data) {
        most = std::min(most, (capacity(port) / kUnit - across(port)) / frame);
    }
    return std::max(most, 0.0);
}

void AckStreams::set(Stream& stream, double rate, Tick now) {
    const StepConfig& config = *world_.config;
    const double frame = world_.payload + world_.data_overhead;
    await(stream, false);
    const double ack = config.format.ack * step::ack_pace(config.nic).per_packet();
    const std::int64_t data = std::llround(rate * frame * kUnit);
    const std::int64_t acks = std::llround(rate * ack * kUnit);
    for (const PortId port : stream.way.data) {
        data_[port] += data - stream.data;
    }
    // HPCC goes by the busiest of several truncated byte counters, so that ports that data and ACKs cross one
    // after the other must show the same data packet the same ACKs, as queues would: what changes reaches
    // the next port when data do. No counter may fall: a constant is added, the same at every port.
    Tick lag = 0;
    for (std::size_t hop = 0; hop < stream.way.acks.size(); ++hop) {
        const PortId port = stream.way.acks[hop];
        step::CrossStream& crossed = stream.crossed[hop];
        const std::int64_t change = acks - crossed.rate;
        const double more = static_cast<double>(change) / kUnit;
        const double jump = more > 0 ? more * static_cast<double>(stream.by_data - lag)
                                     : -more * static_cast<double>(lag);
        const std::int64_t parts = std::llround(jump * kPart);
        const Tick at = own_time(port, now);
        advance(crossed, at, parts);
        crossed.rate = acks;
        change_port(port, change, parts, at);
        lag += hop_time(port, world_.payload + world_.data_overhead);
    }
    stream.data = data;
}

/// Of the streams that cross it, all together.
void AckStreams::change_port(PortId port, std::int64_t more, std::int64_t parts, Tick at) {
    step::CrossStream& cross = world_.cross[port];
    if (more == 0) {
        return;
    }
    changed_.push_back(port);
    advance(cross, at, parts);
    cross.rate += more;
    if (cross.asleep && more > 0 &&
        static_cast<double>(cross.rate + data_[port]) > kTooFull * capacity(port)) {
        overrun_.push_back(port);
    }
    const double share = std::min(static_cast<double>(cross.rate) / capacity(port), kMostOfPort);
    cross.stretch = static_cast<std::uint32_t>(share / (1 - share) *
                                               static_cast<double>(1U << step::kStretchShift));
}

/// A frame of data that is being sent lasts half its time on average. Where ACKs are not strict, they wait for
/// what is queued, too; they leave their NIC (`first`) before data.
void AckStreams::look_at(PortId port, bool first, Tick now) {
    Wait& wait = waits_[port];
    if (wait.seen == now) {
        return;
    }
    const step::Egress& egress = world_.egress[port];
    const double busy = std::min(static_cast<double>(data_[port]) / capacity(port), 1.0);
    double ticks = busy * egress.serialization[world_.payload + world_.data_overhead] / 2;
    if (!first && !world_.ack_strict_in_switch) {
        ticks += egress.queued_bytes / capacity(port) * kUnit;
    }
    wait.ticks = wait.seen == kNever ? ticks : wait.ticks + kLatest * (ticks - wait.ticks);
    wait.seen = now;
}

/// From host to host. What was seen long ago is over.
Tick AckStreams::takes(const Stream& stream, Tick now) const {
    double wait = 0;
    for (const PortId port : stream.way.acks) {
        const bool lately =
            waits_[port].seen != kNever && now - waits_[port].seen < kLately * stream.base_rtt;
        wait += lately ? waits_[port].ticks : 0;
    }
    return stream.base + static_cast<Tick>(wait);
}

void AckStreams::set_asleep(const step::Extent& extent, bool asleep, Tick now) {
    for (const PortId port : extent.ports) {
        step::CrossStream& cross = world_.cross[port];
        if (asleep) {
            advance(cross, local(port, now));
        }
        cross.asleep = asleep;
    }
    for (const NodeId host : extent.hosts) {
        for (PortId port = world_.first_port[host]; port < world_.first_port[host + 1]; ++port) {
            world_.cross[port].asleep = asleep;
        }
    }
}

void AckStreams::count(FlowSlot flow) {
    if (flow < streams_.size() && world_.sender_at[flow] != kNone) {
        count(streams_[flow], acks_of(flow));
    }
}

void AckStreams::count(Stream& stream, std::int64_t acks) {
    if (acks > stream.counted) {
        add(stream, acks - stream.counted);
        stream.counted = acks;
    }
}

void AckStreams::count_skipped(FlowSlot flow, std::int64_t acks) { add(streams_[flow], acks); }

void AckStreams::add(Stream& stream, std::int64_t acks) {
    stream.told += acks;
    for (const PortId port : stream.way.acks) {
        store_.add_crossed(port, acks, acks * world_.config->format.ack);
    }
}

}  // namespace sluice::hybrid
