// SPDX-License-Identifier: Apache-2.0
#include "core/calibration/counter_class.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <utility>

namespace sluice::hybrid {

namespace {

constexpr double kClasses = 512;

/// Traffic through a port.
struct Passing {
    /// Ascending: 2 * f if the data of flow f pass, 2 * f + 1 if its ACKs do.
    std::vector<std::size_t> users;
    double data = 0;  ///< flows
    double acks = 0;
};

std::map<PortId, Passing> passing_ports(const std::vector<const step::Footprint*>& ways,
                                        bool acks_are_packets) {
    std::map<PortId, Passing> ports;
    for (std::size_t f = 0; f < ways.size(); ++f) {
        for (const PortId port : ways[f]->data) {
            ports[port].users.push_back(2 * f);
            ports[port].data += 1;
        }
        for (std::size_t hop = 0; acks_are_packets && hop < ways[f]->acks.size(); ++hop) {
            ports[ways[f]->acks[hop]].users.push_back(2 * f + 1);
            ports[ways[f]->acks[hop]].acks += 1;
        }
    }
    return ports;
}

/// Classes of one flow's runs of ports.
std::vector<std::int64_t> classes_of(const std::vector<PortId>& way,
                                     const std::map<PortId, Passing>& ports,
                                     const CounterFacts& facts, const CounterAhead& ahead) {
    std::vector<std::int64_t> classes;
    // The first port is the NIC's, which reports nothing.
    for (std::size_t first = 1; first < way.size();) {
        const Passing& passing = ports.at(way[first]);
        std::vector<std::int64_t> places = {0};
        std::size_t next = first + 1;
        for (; next < way.size() && ports.at(way[next]).users == passing.users; ++next) {
            const std::optional<std::int64_t> distance = ahead(way[next - 1], way[next]);
            if (!distance.has_value()) {
                break;
            }
            places.push_back(places.back() + *distance);
        }
        if (next - first > 1) {
            // Between two reports to the flow, every flow that passes sends as much as it does.
            const double bytes = facts.packets_per_ack *
                                 (passing.data * facts.data_bytes + passing.acks * facts.ack_bytes);
            classes.push_back(counter_class(places, static_cast<std::int64_t>(bytes), facts.unit));
        }
        first = next;
    }
    return classes;
}

}  // namespace

namespace {

/// Times, and how likely each is.
class Times {
  public:
    void add(double time, double part) {
        const auto place = std::lower_bound(
            all_.begin(), all_.end(), time,
            [](const std::pair<double, double>& one, double sought) { return one.first < sought; });
        if (place != all_.end() && place->first == time) {
            place->second += part;
        } else {
            all_.insert(place, {time, part});
        }
    }
    auto begin() const { return all_.begin(); }
    auto end() const { return all_.end(); }

  private:
    std::vector<std::pair<double, double>> all_;  ///< by time; few
};

/// Of the counters of one run.
Times counted_times(const Counter* first, const Counter* last, std::int64_t unit) {
    const auto place = [unit](std::int64_t at) { return (at % unit + unit) % unit; };
    // As a first counter stands at each place of a unit, others stand ahead of it, and roll over on arcs of length `rest`.
    std::vector<std::int64_t> bounds = {0, unit};
    for (const Counter* counter = first; counter != last; ++counter) {
        bounds.push_back(place(-counter->bytes % unit - counter->ahead));
        bounds.push_back(place(-counter->ahead));
    }
    std::sort(bounds.begin(), bounds.end());
    Times times;
    for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
        double longest = 0;
        for (const Counter* counter = first; counter != last; ++counter) {
            const std::int64_t rest = counter->bytes % unit;
            const bool rolls_over = place(bounds[i] + counter->ahead) >= unit - rest;
            const std::int64_t counted = counter->bytes - rest + (rolls_over ? unit : 0);
            longest = std::max(longest, static_cast<double>(counted) / counter->rate);
        }
        times.add(longest,
                  static_cast<double>(bounds[i + 1] - bounds[i]) / static_cast<double>(unit));
    }
    return times;
}

}  // namespace

double counted_time(const std::vector<Counter>& counters, std::int64_t unit) {
    // The largest of independent times: how likely each is to be that, from the shortest on.
    Times longest;
    longest.add(0, 1);
    const Counter* const end = counters.data() + counters.size();
    for (const Counter* first = counters.data(); first != end;) {
        const Counter* const next =
            std::find_if(first + 1, end, [](const Counter& counter) { return counter.drifts; });
        Times both;
        for (const auto& [time, part] : counted_times(first, next, unit)) {
            for (const auto& [before, likely] : longest) {
                both.add(std::max(time, before), part * likely);
            }
        }
        longest = std::move(both);
        first = next;
    }
    double mean = 0;
    for (const auto& [time, part] : longest) {
        mean += time * part;
    }
    return mean;
}

double counter_excess(const std::vector<std::int64_t>& ahead, std::int64_t bytes,
                      std::int64_t unit) {
    if (ahead.empty() || bytes <= 0) {
        return 1;
    }
    std::vector<Counter> counters;
    for (const std::int64_t distance : ahead) {
        counters.push_back({distance, 1, bytes});
    }
    return counted_time(counters, unit) / static_cast<double>(bytes);
}

std::int64_t counter_class(const std::vector<std::int64_t>& ahead, std::int64_t bytes,
                           std::int64_t unit) {
    return std::llround(counter_excess(ahead, bytes, unit) * kClasses);
}

std::vector<std::vector<std::int64_t>> counter_classes(
    const std::vector<const step::Footprint*>& ways, const CounterFacts& facts,
    const CounterAhead& ahead) {
    const std::map<PortId, Passing> ports = passing_ports(ways, facts.acks_are_packets);
    std::vector<std::vector<std::int64_t>> classes;
    for (const step::Footprint* const way : ways) {
        classes.push_back(classes_of(way->data, ports, facts, ahead));
    }
    return classes;
}

}  // namespace sluice::hybrid
