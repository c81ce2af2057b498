// SPDX-License-Identifier: Apache-2.0
#include "flowlevel/analytical_network.h"

#include <algorithm>
#include <queue>
#include <string>
#include <unordered_map>

#include "core/error.h"

namespace sluice::flowlevel {

namespace {

constexpr std::uint64_t kMostRanks = 1U << 24;
/// Later than this nothing ends: a double of nanoseconds that a Tick can hold.
constexpr double kMostNanoseconds = 4e15;

Tick whole_nanoseconds(double nanoseconds) {
    if (!(nanoseconds < kMostNanoseconds)) {
        throw ConfigError("a message takes more than 46 days in the analytical network");
    }
    return static_cast<Tick>(nanoseconds) * kNanosecond;
}

/// In the original's own order of operations: its whole nanoseconds depend on it.
double serialization_of(const AnalyticalDimension& dimension, std::int64_t bytes) {
    return static_cast<double>(bytes) / (dimension.bandwidth * (1 << 30) / 1'000'000'000);
}

/// Steps round a ring of n from a to b the shorter way, negative if anticlockwise.
std::int64_t ring_steps(std::uint32_t a, std::uint32_t b, std::uint32_t n) {
    const std::uint32_t clockwise = b >= a ? b - a : b + n - a;
    return n - clockwise < clockwise ? -static_cast<std::int64_t>(n - clockwise) : clockwise;
}

std::uint32_t hop_count(const AnalyticalDimension& dimension, std::uint32_t a, std::uint32_t b) {
    switch (dimension.kind) {
        case DimensionKind::ring:
            return static_cast<std::uint32_t>(std::abs(ring_steps(a, b, dimension.npus)));
        case DimensionKind::fully_connected: return 1;
        case DimensionKind::switch_: return 2;
    }
    throw InternalError("unknown kind of dimension");
}

void check(const AnalyticalConfig& config) {
    if (config.dimensions.empty()) throw ConfigError("a network needs at least one dimension");
    std::uint64_t ranks = 1;
    for (const AnalyticalDimension& dimension : config.dimensions) {
        if (dimension.npus < 1) throw ConfigError("a dimension needs at least one NPU");
        if (!(dimension.bandwidth > 0)) throw ConfigError("bandwidth must be above 0");
        if (!(dimension.latency >= 0)) throw ConfigError("latency must be 0 or more");
        ranks *= dimension.npus;
        if (ranks > kMostRanks) throw ConfigError("a network has at most 16777216 NPUs");
    }
}

/// A link: from a rank, or from the switch of a dimension's slice that `rank` is in, to the next
/// rank round the ring, to a rank or to the switch.
struct Hop {
    std::uint64_t link;
    std::uint32_t dimension;
};

}  // namespace

std::uint64_t AnalyticalConfig::rank_count() const {
    std::uint64_t ranks = 1;
    for (const AnalyticalDimension& dimension : dimensions) ranks *= dimension.npus;
    return ranks;
}

Tick analytical_delay(const AnalyticalConfig& config, std::uint32_t src, std::uint32_t dst,
                      std::int64_t bytes) {
    check(config);
    Tick delay = 0;
    for (const AnalyticalDimension& dimension : config.dimensions) {
        const std::uint32_t a = src % dimension.npus;
        const std::uint32_t b = dst % dimension.npus;
        src /= dimension.npus;
        dst /= dimension.npus;
        if (a == b) continue;
        const double serialization = serialization_of(dimension, bytes);
        const std::uint32_t hops = hop_count(dimension, a, b);
        if (!config.congestion_aware) {
            return whole_nanoseconds(hops * dimension.latency + serialization);
        }
        delay += hops * whole_nanoseconds(dimension.latency + serialization);
    }
    return delay;
}

struct AnalyticalRun::Impl {
    enum class Kind : std::uint8_t { timer, arrival, link_free };
    struct Event {
        Tick at;
        std::uint64_t order;
        std::uint64_t id;  ///< timer: its token; arrival: the flow; link_free: the link
        std::uint32_t host;
        Kind kind;
        friend bool operator>(const Event& a, const Event& b) {
            return a.at != b.at ? a.at > b.at : a.order > b.order;
        }
    };
    struct Link {
        bool busy = false;
        std::queue<FlowId> waiting;
    };
    /// A message on its way, in the congestion-aware network.
    struct Journey {
        std::vector<Hop> hops;
        std::size_t next = 0;
    };
    /// A flow that was opened while running, until it has arrived.
    struct Opened {
        FlowSpec spec;
        Journey journey;
    };
    struct Host final : HostServices {
        explicit Host(Impl& i) : impl(i) {}
        FlowId open_flow(const FlowSpec& spec, Tick at) override { return impl.open(spec, at); }
        void start_flow(FlowId flow, Tick at) override { impl.start(flow, at); }
        void set_timer(NodeId host, Tick at, std::uint64_t token) override {
            if (at < impl.now) throw InternalError("a timer in the past");
            impl.schedule(at, Kind::timer, token, host);
        }
        Tick lookahead() const override { return 0; }
        Impl& impl;
    };

    Impl(const AnalyticalConfig& c, const std::vector<FlowSpec>& f, Application& a)
        : config(c), flows(f), application(a), services(*this) {
        check(config);
        for (const FlowSpec& flow : flows) check_ends(flow);
        journeys.resize(config.congestion_aware ? flows.size() : 0);
    }

    void check_ends(const FlowSpec& flow) const {
        if (flow.src < config.rank_count() && flow.dst < config.rank_count()) return;
        throw ConfigError("a message is between ranks " + std::to_string(flow.src) + " and " +
                          std::to_string(flow.dst) + "; the network has " +
                          std::to_string(config.rank_count()));
    }

    const FlowSpec& spec_of(FlowId flow) const {
        return flow < flows.size() ? flows[flow] : opened.at(flow).spec;
    }
    Journey& journey_of(FlowId flow) {
        return flow < journeys.size() ? journeys[flow] : opened.at(flow).journey;
    }

    FlowId open(const FlowSpec& given, Tick at) {
        FlowSpec spec = given;
        if (spec.id == kNoFlow) spec.id = opened_flow_id(spec.src, opened_by[spec.src]++);
        check_ends(spec);
        if (spec.id < flows.size() || !opened.try_emplace(spec.id, Opened{spec, {}}).second) {
            throw InternalError("two flows have the id " + std::to_string(spec.id));
        }
        start(spec.id, at);
        return spec.id;
    }

    void schedule(Tick at, Kind kind, std::uint64_t id, std::uint32_t host) {
        events.push({at, scheduled++, id, host, kind});
    }

    void start(FlowId flow, Tick at) {
        if (at != now) throw InternalError("a flow must start at the instant of its callback");
        const FlowSpec& spec = spec_of(flow);
        if (!config.congestion_aware) {
            schedule(now + analytical_delay(config, spec.src, spec.dst, spec.size), Kind::arrival,
                     flow, spec.dst);
            return;
        }
        journey_of(flow).hops = route(spec.src, spec.dst);
        forward(flow);
    }

    /// Links are numbered (rank or slice's first rank, dimension, role): role 0 clockwise or to the
    /// switch, 1 anticlockwise or from the switch, 2 + coordinate of the peer if fully connected.
    static std::uint64_t link_id(std::uint32_t rank, std::size_t dimension, std::uint64_t role) {
        return (static_cast<std::uint64_t>(rank) << 40) | (dimension << 32) | role;
    }

    std::vector<Hop> route(std::uint32_t src, std::uint32_t dst) const {
        std::vector<Hop> hops;
        std::uint32_t stride = 1;
        std::uint32_t at = src;
        for (std::size_t d = 0; d < config.dimensions.size(); ++d) {
            const AnalyticalDimension& dimension = config.dimensions[d];
            const std::uint32_t n = dimension.npus;
            const std::uint32_t a = src / stride % n;
            const std::uint32_t b = dst / stride % n;
            const std::uint32_t base = at - a * stride;
            const auto index = static_cast<std::uint32_t>(d);
            if (a != b && dimension.kind == DimensionKind::ring) {
                std::int64_t steps = ring_steps(a, b, n);
                const bool back = steps < 0;
                for (std::uint32_t here = a; here != b; here = (here + (back ? n - 1 : 1)) % n) {
                    hops.push_back({link_id(base + here * stride, d, back ? 1 : 0), index});
                }
            } else if (a != b && dimension.kind == DimensionKind::fully_connected) {
                hops.push_back({link_id(at, d, 2 + std::uint64_t{b}), index});
            } else if (a != b) {
                hops.push_back({link_id(at, d, 0), index});
                hops.push_back({link_id(base + b * stride, d, 1), index});
            }
            at = base + b * stride;
            stride *= n;
        }
        return hops;
    }

    /// Puts a message on its next link, or behind those that wait for it.
    void forward(FlowId flow) {
        Journey& journey = journey_of(flow);
        Link& link = links[journey.hops[journey.next].link];
        if (link.busy) {
            link.waiting.push(flow);
        } else {
            transmit(flow, link);
        }
    }

    void transmit(FlowId flow, Link& link) {
        Journey& journey = journey_of(flow);
        const Hop& hop = journey.hops[journey.next++];
        const AnalyticalDimension& dimension = config.dimensions[hop.dimension];
        const FlowSpec& spec = spec_of(flow);
        const double serialization = serialization_of(dimension, spec.size);
        link.busy = true;
        schedule(now + whole_nanoseconds(dimension.latency + serialization), Kind::arrival, flow,
                 spec.dst);
        schedule(now + whole_nanoseconds(serialization), Kind::link_free, hop.link, 0);
    }

    void arrive(FlowId flow) {
        if (config.congestion_aware) {
            Journey& journey = journey_of(flow);
            if (journey.next < journey.hops.size()) {
                forward(flow);
                return;
            }
            journey.hops = {};
        }
        ++delivered;
        const FlowSpec spec = spec_of(flow);
        application.on_received(spec.dst, flow, now, services);
        application.on_sent(spec.src, flow, now, services);
        opened.erase(flow);
    }

    void free_link(std::uint64_t id) {
        Link& link = links[id];
        link.busy = false;
        if (link.waiting.empty()) return;
        const FlowId flow = link.waiting.front();
        link.waiting.pop();
        transmit(flow, link);
    }

    void run(const std::function<bool(Tick)>& on_progress) {
        for (std::uint32_t rank = 0; rank < config.rank_count(); ++rank) {
            application.on_begin(rank, services);
        }
        while (!events.empty()) {
            const Event event = events.top();
            events.pop();
            now = event.at;
            switch (event.kind) {
                case Kind::timer: application.on_timer(event.host, event.id, now, services); break;
                case Kind::arrival: arrive(static_cast<FlowId>(event.id)); break;
                case Kind::link_free: free_link(event.id); break;
            }
            if ((++done & 0xffff) == 0 && on_progress && !on_progress(now)) return;
        }
    }

    const AnalyticalConfig& config;
    const std::vector<FlowSpec>& flows;
    Application& application;
    Host services;
    Tick now = 0;
    std::uint64_t scheduled = 0;
    std::uint64_t done = 0;
    std::uint64_t delivered = 0;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events;
    std::unordered_map<std::uint64_t, Link> links;
    std::vector<Journey> journeys;  ///< of the list's flows
    std::unordered_map<FlowId, Opened> opened;
    std::unordered_map<NodeId, std::uint32_t> opened_by;  ///< by host: flows numbered here
};

AnalyticalRun::AnalyticalRun(const AnalyticalConfig& config, const std::vector<FlowSpec>& flows,
                             Application& application)
    : impl_(std::make_unique<Impl>(config, flows, application)) {}
AnalyticalRun::~AnalyticalRun() = default;

void AnalyticalRun::run(const std::function<bool(Tick now)>& on_progress) {
    impl_->run(on_progress);
}
Tick AnalyticalRun::now() const { return impl_->now; }
std::uint64_t AnalyticalRun::events() const { return impl_->done; }
std::uint64_t AnalyticalRun::delivered() const { return impl_->delivered; }

}  // namespace sluice::flowlevel
