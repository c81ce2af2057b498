// SPDX-License-Identifier: Apache-2.0
#include "core/episodes/episode_shape.h"

#include "core/steady/rate_units.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace sluice::hybrid {

namespace {

constexpr double kEndless = 1e300;
/// Relative difference of times that are the same.
constexpr double kSameEnd = 1e-9;

/// Flows that share equally, from one change of their rates to the next.
class EqualShares {
  public:
    EqualShares(const Shape& shape, const std::vector<double>& starts)
        : shape_(shape),
          starts_(starts),
          left_(shape.size),
          ends_(starts.size(), 0),
          rate_(starts.size(), 0),
          users_(shape.rate.size(), 0),
          by_start_(starts.size()) {
        std::iota(by_start_.begin(), by_start_.end(), 0);
        std::sort(by_start_.begin(), by_start_.end(),
                  [&](std::size_t a, std::size_t b) { return starts[a] < starts[b]; });
        first_ = starts[by_start_.front()];
        now_ = first_;
    }

    /// Until all have ended. `visit(flow, from, to)`: of every flow under way, whose rate is the same meanwhile.
    template <class Visit>
    void run(Visit&& visit) {
        while (next_ < starts_.size() || !active_.empty()) {
            step(visit);
        }
    }
    double sent(std::size_t flow) const { return shape_.size[flow] - left_[flow]; }
    double rate(std::size_t flow) const { return rate_[flow]; }
    std::vector<double> take_ends() { return std::move(ends_); }

  private:
    template <class Visit>
    void step(Visit& visit) {
        for (; next_ < starts_.size() && starts_[by_start_[next_]] <= now_; ++next_) {
            active_.push_back(by_start_[next_]);
            for (const std::uint32_t port : shape_.ports[by_start_[next_]]) {
                users_[port] += 1;
            }
        }
        double until = next_ < starts_.size() ? starts_[by_start_[next_]] : kEndless;
        for (const std::size_t flow : active_) {
            rate_[flow] = kEndless;
            for (const std::uint32_t port : shape_.ports[flow]) {
                rate_[flow] = std::min(rate_[flow], shape_.rate[port] / users_[port]);
            }
            ends_[flow] = now_ + left_[flow] / rate_[flow];
            until = std::min(until, ends_[flow]);
        }
        for (const std::size_t flow : active_) {
            visit(flow, now_, until);
        }
        // Those that end together do so in one step, whatever the last digits say; of what is over too soon for these,
        // one does.
        const double almost = until + (until - first_) * kSameEnd;
        const auto ended = [&](std::size_t flow) {
            left_[flow] -= rate_[flow] * (until - now_);
            if (ends_[flow] > almost) {
                return false;
            }
            ends_[flow] = until;
            for (const std::uint32_t port : shape_.ports[flow]) {
                users_[port] -= 1;
            }
            return true;
        };
        active_.erase(std::remove_if(active_.begin(), active_.end(), ended), active_.end());
        now_ = until;
    }

    const Shape& shape_;
    const std::vector<double>& starts_;
    std::vector<double> left_;   ///< by flow, bytes
    std::vector<double> ends_;   ///< by flow
    std::vector<double> rate_;   ///< by flow, bytes per tick
    std::vector<double> users_;  ///< by port
    std::vector<std::size_t> by_start_;
    std::vector<std::size_t> active_;
    std::size_t next_ = 0;  ///< to start
    double first_ = 0;
    double now_ = 0;
};

}  // namespace

std::set<PortId> full_ports(const std::vector<EpisodeFlow>& flows,
                            const EpisodeMemory::Describe& describe) {
    std::map<PortId, double> users;  // of first and last ports
    for (const EpisodeFlow& flow : flows) {
        users[flow.data.front()] += 1;
        if (flow.data.size() > 1) {
            users[flow.data.back()] += 1;
        }
    }
    std::map<PortId, double> loads;
    std::set<PortId> full;
    for (const EpisodeFlow& flow : flows) {
        const auto part = [&](PortId port) {
            return static_cast<double>(describe(port).rate) / users[port];
        };
        const double first = part(flow.data.front());
        const double last = part(flow.data.back());
        full.insert(last < first ? flow.data.back() : flow.data.front());
        for (const PortId port : flow.data) {
            loads[port] += std::min(first, last);
        }
    }
    for (const auto& [port, load] : loads) {
        if (load >= kFullLoad * static_cast<double>(describe(port).rate)) {
            full.insert(port);
        }
    }
    return full;
}

Shape shape_of(const std::vector<EpisodeFlow>& flows, const std::vector<std::uint32_t>& order,
               const EpisodeMemory::Describe& describe) {
    Shape shape;
    const std::set<PortId> full = full_ports(flows, describe);
    std::map<PortId, std::uint32_t> index;
    for (const PortId port : full) {
        index.emplace(port, static_cast<std::uint32_t>(shape.rate.size()));
        shape.rate.push_back(static_cast<double>(describe(port).rate) / kBitsPerByteAndTick);
    }
    for (const std::uint32_t place : order) {
        shape.size.push_back(static_cast<double>(flows[place].size));
        shape.ports.emplace_back();
        for (const PortId port : flows[place].data) {
            if (full.count(port) != 0) {
                shape.ports.back().push_back(index[port]);
            }
        }
    }
    return shape;
}

std::vector<double> shared_ends(const Shape& shape, const std::vector<double>& starts) {
    EqualShares shares(shape, starts);
    shares.run([](std::size_t, double, double) {});
    return shares.take_ends();
}

std::vector<double> shared_bytes(const Shape& shape, const std::vector<double>& starts,
                                 const std::vector<double>& at) {
    std::vector<double> bytes(starts.size(), 0);
    EqualShares shares(shape, starts);
    shares.run([&](std::size_t flow, double from, double to) {
        const double until = std::min(at[flow], to);
        if (until > from) {
            bytes[flow] = shares.sent(flow) + shares.rate(flow) * (until - from);
        }
    });
    return bytes;
}

std::vector<double> told_bytes(const Episode& episode, const EpisodeMemory::Describe& describe,
                               Tick now) {
    std::vector<std::uint32_t> order(episode.flows.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<double> starts;
    for (const EpisodeFlow& flow : episode.flows) {
        starts.push_back(static_cast<double>(flow.start - episode.begin));
    }
    const Shape shape = shape_of(episode.flows, order, describe);
    const std::vector<double> ends = shared_ends(shape, starts);
    std::vector<double> at;
    for (std::size_t i = 0; i < order.size(); ++i) {
        const EpisodeFlow& flow = episode.flows[i];
        const Tick last_sent = episode.foreseen[i].received - flow.base_rtt / 2;
        const auto takes = static_cast<double>(std::max<Tick>(last_sent - flow.start, 1));
        at.push_back(starts[i] +
                     static_cast<double>(now - flow.start) / takes * (ends[i] - starts[i]));
    }
    return shared_bytes(shape, starts, at);
}

}  // namespace sluice::hybrid
