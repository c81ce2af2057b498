// SPDX-License-Identifier: Apache-2.0
#include "models/observe/port_waves.h"

#include <algorithm>

#include "core/error.h"
#include "models/observe/watched_ports.h"

namespace sluice {
namespace {

std::string binary(std::int64_t value) {
    std::string bits;
    do {
        bits.insert(bits.begin(), (value & 1) != 0 ? '1' : '0');
        value >>= 1;
    } while (value != 0);
    return bits;
}

}  // namespace

PortWaves::PortWaves(const std::string& path, const Topology& topology, std::vector<PortId> ports,
                     Tick rate_every)
    : PortWaves(std::make_unique<OutputFile>(path), topology, std::move(ports), rate_every) {}

PortWaves::PortWaves(OutputFile& file, const Topology& topology, std::vector<PortId> ports,
                     Tick rate_every)
    : file_(file), rate_every_(rate_every) {
    if (rate_every <= 0) {
        throw ConfigError("waves: an interval of " + std::to_string(rate_every) +
                          " ps for rates; allowed: above 0");
    }
    for (const PortId port : watched_ports(topology, std::move(ports))) {
        Watched watched;
        watched.port = port;
        ports_.push_back(watched);
    }
    header(topology);
}

/// Of printable characters, as short as they come.
std::string PortWaves::name(std::size_t place, Signal signal) const {
    std::size_t number = place * kSignals + signal;
    std::string name;
    do {
        name.push_back(static_cast<char>('!' + number % 94));
        number /= 94;
    } while (number > 0);
    return name;
}

void PortWaves::header(const Topology& topology) {
    file_ << "$version sluice $end\n$timescale 1 ps $end\n$scope module network $end\n";
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        file_ << "$scope module " << port_name(topology, ports_[i].port) << " $end\n"
              << "$var wire 32 " << name(i, kQueue) << " queue_bytes $end\n"
              << "$var wire 8 " << name(i, kPaused) << " paused $end\n"
              << "$var real 64 " << name(i, kRate) << " rate_bps $end\n"
              << "$var wire 1 " << name(i, kSkipped) << " skipped $end\n$upscope $end\n";
    }
    file_ << "$upscope $end\n$enddefinitions $end\n#0\n$dumpvars\n";
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        file_ << "b0 " << name(i, kQueue) << "\nb0 " << name(i, kPaused) << "\nr0 "
              << name(i, kRate) << "\n0" << name(i, kSkipped) << "\n";
    }
    file_ << "$end\n";
    file_.preamble_done();
    written_ = 0;
}

bool PortWaves::watches(PortId port) const {
    return std::any_of(ports_.begin(), ports_.end(),
                       [&](const Watched& watched) { return watched.port == port; });
}

void PortWaves::set(std::size_t place, Signal signal, std::int64_t value, Tick at) {
    std::int64_t& last = ports_[place].value[signal];
    if (value == last) {
        return;
    }
    last = value;
    std::string text;
    switch (signal) {
        case kRate: text = "r" + std::to_string(value) + " "; break;
        case kSkipped: text = value != 0 ? "1" : "0"; break;
        default: text = "b" + binary(value) + " ";
    }
    changes_.push_back({at, text + name(place, signal)});
}

/// Intervals that end by `now`.
void PortWaves::close_intervals(std::size_t place, Tick now) {
    Watched& watched = ports_[place];
    const Tick interval = now / rate_every_;
    if (interval == watched.interval) {
        return;
    }
    const auto rate = static_cast<std::int64_t>(
        static_cast<double>(watched.sent - watched.sent_before) * 8 *
        (static_cast<double>(kSecond) / static_cast<double>(rate_every_)));
    set(place, kRate, rate, (watched.interval + 1) * rate_every_);
    if (interval > watched.interval + 1) {
        set(place, kRate, 0, (watched.interval + 2) * rate_every_);
    }
    watched.sent_before = watched.sent;
    watched.interval = interval;
}

void PortWaves::passed(const step::World& world, Tick now) {
    if (now <= passed_) {
        return;
    }
    const Tick told = std::max({latest_, passed_, Tick{0}});
    passed_ = now;
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        Watched& watched = ports_[i];
        const Tick base = world.link[world.egress[watched.port].out].base;
        if (base != watched.base) {
            watched.base = base;
            set(i, kSkipped, 1, told);
            set(i, kSkipped, 0, now);
        }
        close_intervals(i, now);
    }
    write_before(now);
}

void PortWaves::stepped(const step::World& world, PortId port, Tick now) {
    const auto found = std::lower_bound(
        ports_.begin(), ports_.end(), port,
        [](const Watched& watched, PortId wanted) { return watched.port < wanted; });
    const auto place = static_cast<std::size_t>(found - ports_.begin());
    const step::Egress& egress = world.egress[port];
    close_intervals(place, now);
    found->sent = egress.tx_bytes;
    set(place, kQueue, egress.queued_bytes, now);
    set(place, kPaused, egress.paused, now);
    latest_ = std::max(latest_, now);
}

void PortWaves::write_before(Tick now) {
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const Change& a, const Change& b) { return a.at < b.at; });
    auto change = changes_.begin();
    for (; change != changes_.end() && change->at < now; ++change) {
        if (change->at != written_) {
            file_ << "#" << change->at << "\n";
            written_ = change->at;
        }
        file_ << change->text << "\n";
    }
    changes_.erase(changes_.begin(), change);
}

void PortWaves::finish(Tick end) {
    for (std::size_t i = 0; i < ports_.size(); ++i) {
        close_intervals(i, end);
    }
    write_before(kNever);
    if (end > written_) {
        file_ << "#" << end << "\n";
    }
    if (own_ != nullptr) {
        own_->commit();
    }
}

}  // namespace sluice
