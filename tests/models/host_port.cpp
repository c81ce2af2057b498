// SPDX-License-Identifier: Apache-2.0
/// Operations that a testbench posts at times unknown beforehand: when they take effect, and when they complete.
#include "models/host_port/host_port.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "core/clocks/cell_step.h"
#include "core/engine/driver.h"
#include "core/error.h"
#include "models/foreign/foreign_models.h"
#include "models/network.h"
#include "models/sim_time.h"
#include "tests/models/page_star.h"
#include "tests/support/step_random.h"

namespace sluice::test {
namespace {

Tick now() { return to_ticks(sc_core::sc_time_stamp()); }

HostPortOptions deep(Tick doorbell) {
    HostPortOptions options;
    options.depth = 1U << 20;
    options.doorbell_latency = doorbell;
    return options;
}

/// Posts what a random case's flows carry, each when it starts, at the ports of its hosts.
class RandomPosts : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(RandomPosts);
    RandomPosts(const sc_core::sc_module_name& name, std::uint64_t seed)
        : sc_module(name),
          given(posted_case(seed)),
          routing_(given.topology),
          network_("network", given.topology, routing_, given.config, none_, paths_, nullptr,
                   options()) {
        doorbell = network_.store().world().lookahead;
        for (std::size_t flow = 0; flow < given.flows.size(); ++flow) {
            if (given.flows[flow].start + doorbell < given.stop) {
                order_.push_back(flow);
            }
        }
        std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
            return given.flows[a].start < given.flows[b].start;
        });
        for (const NodeId host : given.topology.hosts()) {
            ports_[host] = std::make_unique<HostPort>(("port" + std::to_string(host)).c_str(),
                                                      network_, host, deep(doorbell));
            ports_[host]->completions().on_each([this](const Completion& made) { take(made); });
        }
        SC_THREAD(post);
    }

    /// Its flows by what is posted, in the order of their starts.
    static Case posted_case(std::uint64_t seed) {
        Case made = random_case(seed);
        made.paths.clear();
        std::stable_sort(made.flows.begin(), made.flows.end(),
                         [](const FlowSpec& a, const FlowSpec& b) {
                             return std::tie(a.src, a.start) < std::tie(b.src, b.start);
                         });
        std::map<std::tuple<NodeId, NodeId, std::uint32_t>, ConnectionId> connections;
        for (FlowSpec& flow : made.flows) {
            const std::uint32_t pair = flow.dport % 3;
            FlowSpec plain;
            plain.src = flow.src;
            plain.dst = flow.dst;
            plain.size = flow.size;
            plain.start = flow.start;
            plain.priority = flow.priority;
            plain.sport = static_cast<std::uint16_t>(10000 + pair);
            const auto next = static_cast<ConnectionId>(connections.size());
            plain.connection =
                connections.try_emplace({flow.src, flow.dst, pair}, next).first->second;
            flow = plain;
        }
        return made;
    }

    /// The same flows, all known before the network runs: by place among the flows.
    std::map<std::size_t, FlowResult> known_beforehand() const {
        Routing routing(given.topology);
        const std::vector<FlowSpec> none;
        step::WorldStore store(given.topology, routing, given.config, none, paths_, nullptr);
        store.begin();
        std::map<FlowId, std::size_t> place;
        for (const std::size_t flow : order_) {
            const Tick at = given.flows[flow].start + doorbell;
            place[store.open_flow(store.world(), given.flows[flow], at)] = flow;
        }
        std::map<std::size_t, FlowResult> known;
        RunHooks hooks;
        hooks.on_finish = [&](const FlowRecord& flow) { known[place.at(flow.id)] = flow.result; };
        step::CellStep step_cell(store.world());
        engine::Driver driver(store, given.events, std::move(hooks));
        driver.advance(given.stop, step_cell);
        return known;
    }

    Case given;
    Tick doorbell = 0;
    std::map<std::uint64_t, Completion> completions;  ///< by tag: the place among the flows

  private:
    NetworkOptions options() const {
        NetworkOptions made;
        made.link_events = given.events;
        made.stop = given.stop;
        return made;
    }
    void post() {
        for (const std::size_t flow : order_) {
            const FlowSpec& spec = given.flows[flow];
            if (spec.start > now()) {
                wait(to_sc_time(spec.start - now()));
            }
            Post post;
            post.peer = spec.dst;
            post.bytes = spec.size;
            post.queue_pair = spec.sport - 10000U;
            post.priority = spec.priority;
            post.tag = flow;
            CHECK(ports_.at(spec.src)->try_post(post));
        }
    }
    void take(const Completion& made) {
        CHECK(made.completed == now());
        completions[made.post.tag] = made;
    }

    std::vector<std::size_t> order_;  ///< of posts: flows
    Routing routing_;
    std::vector<FlowSpec> none_;
    std::vector<FlowPath> paths_;
    Network network_;
    std::map<NodeId, std::unique_ptr<HostPort>> ports_;
};

}  // namespace

TEST_CASE("models.host_port.posts_at_unknown_times_are_what_they_would_be_beforehand") {
    std::vector<std::unique_ptr<RandomPosts>> cases;
    // A hundred thousand are compared by hand: SLUICE_POSTS=5000.
    const char* const given = std::getenv("SLUICE_POSTS");
    const std::uint64_t count = given == nullptr ? 100 : std::stoul(given);
    for (std::uint64_t seed = 71'000; seed < 71'000 + count; ++seed) {
        cases.push_back(
            std::make_unique<RandomPosts>(("case" + std::to_string(seed)).c_str(), seed));
    }
    sc_core::sc_start(sc_core::sc_time(3, sc_core::SC_MS));
    std::size_t compared = 0;
    for (const auto& one : cases) {
        INFO(one->given.name);
        std::map<std::size_t, FlowResult> known = one->known_beforehand();
        std::map<ConnectionId, Tick> latest;  // operations complete in the order of posts
        for (std::size_t flow = 0; flow < one->given.flows.size(); ++flow) {
            const FlowResult& result = known[flow];
            Tick& before = latest[one->given.flows[flow].connection];
            before = std::max(before, result.finish);
            const auto made = one->completions.find(flow);
            if (before == kNever) {
                CHECK(made == one->completions.end());
                continue;
            }
            REQUIRE(made != one->completions.end());
            CHECK(made->second.effective == one->given.flows[flow].start + one->doorbell);
            CHECK(made->second.received == result.received);
            CHECK(made->second.completed == before);
            ++compared;
        }
    }
    MESSAGE(compared << " operations compared");
    CHECK(compared > 500);
}

TEST_CASE("models.host_port.a_read_is_a_request_and_its_answer") {
    Star star;
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    HostPort port("port", network, 0);
    Post read;
    read.operation = Operation::read;
    read.peer = 2;
    read.bytes = 100'000;
    read.tag = 7;
    Post write = read;
    write.operation = Operation::write;
    REQUIRE(port.try_post(read));
    sc_core::sc_start();
    Completion reading;
    REQUIRE(port.completions().take(reading));
    CHECK(reading.post.tag == 7);
    CHECK(reading.completed == reading.received);
    const Tick begin = now();
    REQUIRE(port.try_post(write));
    sc_core::sc_start();
    Completion writing;
    REQUIRE(port.completions().take(writing));
    // The request takes as long to get there as the last ACK takes back, to a frame.
    const Tick read_time = reading.completed - reading.effective;
    const Tick write_time = writing.completed - writing.effective;
    CHECK(writing.effective >= begin);
    CHECK(read_time == doctest::Approx(static_cast<double>(write_time)).epsilon(0.02));
    CHECK_FALSE(port.completions().take(writing));
}

TEST_CASE("models.host_port.a_send_is_notified_at_the_peer_in_time") {
    Star star;
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    HostPort from("from", network, 1);
    HostPort to("to", network, 2);
    Tick arrived = 0;
    to.arrivals().on_each([&](const Arrival& arrival) {
        CHECK(arrival.at == now());
        CHECK(arrival.from == 1);
        CHECK(arrival.bytes == 5000);
        CHECK(arrival.tag == 3);
        arrived = now();
    });
    Post send;
    send.operation = Operation::send;
    send.peer = 2;
    send.bytes = 5000;
    send.tag = 3;
    REQUIRE(from.try_post(send));
    sc_core::sc_start();
    Completion completion;
    REQUIRE(from.completions().take(completion));
    CHECK(completion.received == arrived);
    CHECK(completion.completed > arrived);
}

TEST_CASE("models.host_port.a_read_does_not_overtake_a_write_of_its_queue_pair") {
    Star star;
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    HostPortOptions options;
    options.pcie_bandwidth = 1e9;
    HostPort port("port", network, 0, options);
    Post post;
    post.peer = 2;
    post.bytes = 100'000;  // 100 us to fetch
    REQUIRE(port.try_post(post));
    post.operation = Operation::read;
    post.bytes = 1000;
    REQUIRE(port.try_post(post));
    sc_core::sc_start();
    Completion write;
    Completion read;
    REQUIRE(port.completions().take(write));
    REQUIRE(port.completions().take(read));
    CHECK(write.post.operation == Operation::write);
    CHECK(read.effective == write.effective);
    CHECK(write.received < read.received);
}

TEST_CASE("models.host_port.what_a_port_that_is_gone_has_posted_is_delivered") {
    Star star;
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    HostPort peer("peer", network, 2);
    std::size_t arrived = 0;
    peer.arrivals().on_each([&](const Arrival& arrival) { arrived += arrival.from == 0 ? 1 : 0; });
    auto port = std::make_unique<HostPort>("port", network, 0);
    Post post;
    post.peer = 2;
    post.bytes = 1'000'000;
    for (const Operation operation : {Operation::write, Operation::read, Operation::send}) {
        post.operation = operation;
        REQUIRE(port->try_post(post));
    }
    sc_core::sc_start(5, sc_core::SC_US);
    port.reset();
    sc_core::sc_start();
    CHECK(network.clock().finished());
    CHECK(network.store().living_count() == 0);
    CHECK(arrived == 0);  // nobody says any more who has sent it
}

namespace {

/// Threads that post as fast as the port takes it.
class Busy : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Busy);
    Busy(const sc_core::sc_module_name& name, HostPort& port, int count)
        : sc_module(name), port_(port), count_(count) {
        SC_THREAD(run);
    }
    std::size_t most = 0;
    Completion last;

  private:
    void run() {
        Post post;
        post.peer = 3;
        post.bytes = 10'000;
        for (int i = 0; i < count_; ++i) {
            port_.post(post);
            most = std::max(most, port_.outstanding());
        }
        last = port_.post_and_wait(post);
    }
    HostPort& port_;
    int count_;
};

}  // namespace

TEST_CASE("models.host_port.depth_holds_back_who_posts") {
    Star star;
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    HostPortOptions options;
    options.depth = 4;
    HostPort port("port", network, 0, options);
    std::size_t completed = 0;
    port.completions().on_each([&](const Completion&) { ++completed; });
    Busy busy("busy", port, 100);
    sc_core::sc_start();
    CHECK(busy.most == 4);
    CHECK(completed == 100);
    CHECK(busy.last.sequence == 100);
    CHECK(port.outstanding() == 0);
    CHECK(network.store().living_count() == 0);
    CHECK(network.store().slot_count() < 20);
}

TEST_CASE("models.host_port.latencies_and_pcie_add_up") {
    Star star(congestion::Law::none);
    star.flows.clear();
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    HostPort plain("plain", network, 0);
    HostPortOptions options;
    options.doorbell_latency = 3 * kMicrosecond;
    options.completion_latency = 5 * kMicrosecond;
    options.pcie_bandwidth = 50e9;
    HostPort slow("slow", network, 1, options);
    Post post;
    post.peer = 3;
    post.bytes = 100'000;
    Completion fast;
    Completion late;
    REQUIRE(plain.try_post(post));
    sc_core::sc_start();
    REQUIRE(plain.completions().take(fast));
    REQUIRE(slow.try_post(post));
    sc_core::sc_start();
    REQUIRE(slow.completions().take(late));
    const Tick fetch = 2 * kMicrosecond;  // 100 KB at 50 GB/s
    CHECK(late.effective == late.posted + options.doorbell_latency + fetch);
    CHECK(late.completed - late.effective == fast.completed - fast.effective + 5 * kMicrosecond);
}

namespace {

class Watcher : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Watcher);
    Watcher(const sc_core::sc_module_name& name, const sc_core::sc_event& done) : sc_module(name) {
        SC_METHOD(note);
        sensitive << done;
        dont_initialize();
    }
    Tick done_at = kNever;

  private:
    void note() { done_at = now(); }
};

}  // namespace

TEST_CASE("models.host_port.the_network_is_no_lookahead_ahead_and_stops_when_told") {
    Star star;
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr);
    const Watcher watcher("watcher", network.clock().done());
    const Tick lookahead = network.store().world().lookahead;
    for (int slice = 1; slice <= 50; ++slice) {
        sc_core::sc_start(1, sc_core::SC_US);
        CHECK(network.clock().now() <= now() + lookahead);
    }
    CHECK_FALSE(network.clock().finished());
    sc_core::sc_start();
    CHECK(watcher.done_at == network.clock().engine().reached());
    CHECK(network.clock().finished());
}

TEST_CASE("models.host_port.what_cannot_be_is_refused") {
    Star star;
    star.flows.clear();
    NetworkOptions options;
    options.foreign = {2};
    Network network("network", star.topology, star.routing, star.config, star.flows, star.paths,
                    nullptr, options);
    NetworkOptions free;
    free.free_running = true;
    Network ahead("ahead", star.topology, star.routing, star.config, star.flows, star.paths,
                  nullptr, free);
    const auto refused = [](const char* why, auto&& act) {
        try {
            act();
            FAIL("taken");
        } catch (const ConfigError& error) {
            CHECK(std::string(error.what()).find(why) != std::string::npos);
        }
    };
    refused("free running", [&] { HostPort port("a", ahead, 0); });
    refused("no host of the network's own", [&] { HostPort port("b", network, 2); });
    refused("no host of the network's own", [&] { HostPort port("c", network, 4); });
    refused("no host of the network's own", [&] { HostPort port("d", network, 99); });
    refused("a depth of 0", [&] {
        HostPortOptions none;
        none.depth = 0;
        HostPort port("e", network, 0, none);
    });
    HostPort port("f", network, 0);
    refused("has a port already", [&] { HostPort again("g", network, 0); });
    Post post;
    post.peer = 0;
    post.bytes = 1;
    refused("the peer is node 0", [&] { port.try_post(post); });
    post.peer = 2;
    refused("the peer is node 2", [&] { port.try_post(post); });
    post.peer = 1;
    post.bytes = 0;
    refused("at least 1", [&] { port.try_post(post); });
    post.bytes = 1;
    post.priority = 0;
    refused("allowed: 1 to 7", [&] { port.try_post(post); });
}

}  // namespace sluice::test
