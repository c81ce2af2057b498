// SPDX-License-Identifier: Apache-2.0
/// An experiment in a testbench: in every mode with packets, beside what host ports post at times unknown beforehand.
#include "experiment/testbench/experiment_network.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/random.h"
#include "experiment/build_experiment.h"
#include "experiment/modes/mode_run.h"
#include "models/foreign/foreign_models.h"
#include "models/host_port/host_port.h"
#include "models/sim_time.h"
#include "scenario/scenario.h"

namespace sluice::test {
namespace {

using foreign::FifoSwitch;

constexpr std::uint32_t kHosts = 32;

/// Eight rails, in each of which four hosts write to the next one, `rounds` times, `bytes` each: eight copies of one part.
std::string rings(const std::string& law, int rounds, const std::string& bytes) {
    std::string text =
        "[topology]\ntype = \"rail-optimized\"\ngpus = 32\ngpus_per_server = 8\n"
        "servers_per_segment = 4\n[congestion]\nlaw = \"" +
        law + "\"\n[workload]\ntype = \"flows\"\nlist = [\n";
    for (int round = 0; round < rounds; ++round) {
        for (std::uint32_t host = 0; host < kHosts; ++host) {
            text += "[" + std::to_string(host) + ", " + std::to_string((host + 8) % kHosts) +
                    ", \"" + bytes + "\", \"" + std::to_string(1500 * round) + "us\"],\n";
        }
    }
    return text + "]\n";
}

BuiltExperiment built(const std::string& text, Mode mode) {
    Scenario scenario =
        parse_scenario(std::string("mode = \"") + mode_name(mode) + "\"\n" + text, "test.toml");
    return build_experiment(scenario);
}

/// An experiment's network, and a process that posts at one host from time to time.
class Bench : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Bench);
    Bench(const sc_core::sc_module_name& name, const std::string& text, Mode mode, bool fold,
          std::size_t posts, std::uint64_t seed = 1)
        : sc_module(name), built_(built(text, mode)), left_(posts), state_(seed) {
        built_.experiment.fold = fold;
        NetworkOptions options;
        options.hooks.on_finish = [this](const FlowRecord& flow) {
            if (flow.id < built_.experiment.flows.size()) {
                finish[flow.id] = flow.result.finish;
            }
        };
        network =
            std::make_unique<ExperimentNetwork>("experiment", built_.experiment, mode, options);
        if (posts > 0) {
            HostPortOptions exact;
            exact.doorbell_latency = network->network().store().world().lookahead;
            port_ = std::make_unique<HostPort>("port", network->network(), 9, exact);
            port_->completions().on_each([this](const Completion& made) {
                CHECK(made.completed == to_ticks(sc_core::sc_time_stamp()));
                completed.push_back(made);
            });
            SC_THREAD(post);
        }
    }
    std::map<FlowId, Tick> finish;  ///< of the experiment's flows
    std::vector<Completion> completed;
    std::unique_ptr<ExperimentNetwork> network;

  private:
    void post() {
        const auto draw = [&](std::uint64_t below) {
            return (state_ = mix_bits(state_ + 1)) % below;
        };
        for (; left_ > 0; --left_) {
            wait(to_sc_time(1 + static_cast<Tick>(draw(60'000'000))));
            Post post;
            post.peer = (10 + static_cast<NodeId>(draw(kHosts - 1))) % kHosts;
            post.bytes = 1 + static_cast<std::int64_t>(draw(40'000));
            post.operation = draw(3) == 0 ? Operation::read : Operation::write;
            post.queue_pair = static_cast<std::uint32_t>(draw(2));
            post.tag = left_;
            port_->post(post);
        }
    }
    BuiltExperiment built_;
    std::unique_ptr<HostPort> port_;
    std::size_t left_;
    std::uint64_t state_;
};

Tick last(const std::map<FlowId, Tick>& finish) {
    Tick end = 0;
    for (const auto& [flow, at] : finish) {
        end = std::max(end, at);
    }
    return end;
}

}  // namespace

TEST_CASE("experiment.testbench.an_experiment_runs_as_it_does_alone") {
    std::vector<std::unique_ptr<Bench>> benches;
    std::vector<std::map<FlowId, Tick>> alone;
    std::vector<std::uint64_t> skips;
    for (const std::string law : {"hpcc", "dcqcn", "none"}) {
        for (const Mode mode : {Mode::packet, Mode::hybrid, Mode::wormhole}) {
            const std::string text = rings(law, 2, "2MB");
            const BuiltExperiment built_alone = built(text, mode);
            const auto run = make_run(built_alone.experiment, mode, Caller::loop);
            run->run({});
            alone.emplace_back();
            for (FlowId flow = 0; flow < run->results().size(); ++flow) {
                alone.back()[flow] = run->results()[flow].finish;
            }
            skips.push_back(run->counters().phases.skips);
            benches.push_back(std::make_unique<Bench>(
                ("bench" + std::to_string(benches.size())).c_str(), text, mode, true, 0));
        }
    }
    sc_core::sc_start();
    std::uint64_t skipped = 0;
    for (std::size_t i = 0; i < benches.size(); ++i) {
        CAPTURE(i);
        benches[i]->network->finish();
        CHECK(benches[i]->finish == alone[i]);
        CHECK(benches[i]->network->counters().phases.skips == skips[i]);
        skipped += skips[i];
    }
    CHECK(skipped > 0);
}

TEST_CASE("experiment.testbench.posts_beside_copies_are_what_they_are_beside_each_by_itself") {
    std::vector<std::unique_ptr<Bench>> folded;
    std::vector<std::unique_ptr<Bench>> plain;
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        for (const Mode mode : {Mode::packet, Mode::hybrid, Mode::wormhole}) {
            const std::string name = std::to_string(seed) + mode_name(mode);
            const std::string text = rings(seed % 2 == 0 ? "hpcc" : "dcqcn", 2, "2MB");
            folded.push_back(
                std::make_unique<Bench>(("folded" + name).c_str(), text, mode, true, 40, seed));
            plain.push_back(
                std::make_unique<Bench>(("plain" + name).c_str(), text, mode, false, 40, seed));
        }
    }
    sc_core::sc_start();
    std::uint64_t copies = 0;
    for (std::size_t i = 0; i < folded.size(); ++i) {
        CAPTURE(i);
        CHECK(folded[i]->finish == plain[i]->finish);
        CHECK(folded[i]->finish.size() == 2 * kHosts);
        REQUIRE(folded[i]->completed.size() == 40);
        REQUIRE(plain[i]->completed.size() == 40);
        for (std::size_t k = 0; k < 40; ++k) {
            CHECK(folded[i]->completed[k].post.tag == plain[i]->completed[k].post.tag);
            CHECK(folded[i]->completed[k].completed == plain[i]->completed[k].completed);
        }
        CHECK(plain[i]->network->counters().fold.images == 0);
        copies += folded[i]->network->counters().fold.images > 0 ? 1 : 0;
    }
    CHECK(copies == folded.size());
}

TEST_CASE("experiment.testbench.what_skips_is_near_to_packets_and_loses_no_post") {
    std::vector<std::unique_ptr<Bench>> packets;
    std::vector<std::unique_ptr<Bench>> skips;
    for (const std::string wake : {"partition", "data"}) {
        const std::string text =
            rings("hpcc", 3, "8MB") + "[phases]\nwake = \"" + wake + "\"\naudit = 0\n";
        packets.push_back(
            std::make_unique<Bench>(("packets" + wake).c_str(), text, Mode::packet, true, 100));
        skips.push_back(
            std::make_unique<Bench>(("skips" + wake).c_str(), text, Mode::hybrid, true, 100));
    }
    sc_core::sc_start();
    for (std::size_t i = 0; i < skips.size(); ++i) {
        ExperimentNetwork& network = *skips[i]->network;
        network.finish();
        const RunCounters counters = network.counters();
        CHECK(counters.phases.skips > 10);
        CHECK(counters.phases.skip_backs > 0);
        CHECK(counters.packet_hops < packets[i]->network->counters().packet_hops / 2);
        REQUIRE(skips[i]->completed.size() == 100);
        std::map<std::uint64_t, std::uint64_t> next;  // by peer and queue pair
        for (const Completion& made : skips[i]->completed) {
            CHECK(made.effective == made.posted + network.network().store().world().lookahead);
            std::uint64_t& least = next[std::uint64_t{made.post.peer} << 32 | made.post.queue_pair];
            CHECK(made.sequence >= least);
            least = made.sequence + 1;
        }
        CHECK(static_cast<double>(last(skips[i]->finish)) ==
              doctest::Approx(static_cast<double>(last(packets[i]->finish))).epsilon(0.005));
    }
}

TEST_CASE("experiment.testbench.what_a_port_has_running_is_executed") {
    const std::string text =
        "[topology]\ntype = \"star\"\nhosts = 4\n[workload]\ntype = \"flows\"\n"
        "list = [[0, 1, \"20MB\"]]\n[phases]\naudit = 0\n";
    const BuiltExperiment packets = built(text, Mode::packet);
    const BuiltExperiment hybrid = built(text, Mode::hybrid);
    ExperimentNetwork in_packets("in_packets", packets.experiment, Mode::packet);
    ExperimentNetwork skipping("skipping", hybrid.experiment, Mode::hybrid);
    HostPortOptions exact;
    exact.doorbell_latency = skipping.network().store().world().lookahead;
    HostPort one("one", in_packets.network(), 2, exact);
    HostPort two("two", skipping.network(), 2, exact);
    Post post;
    post.peer = 3;
    post.bytes = 20'000'000;
    REQUIRE(one.try_post(post));
    REQUIRE(two.try_post(post));
    sc_core::sc_start(sc_core::sc_time(700, sc_core::SC_US));
    // The flow skips, what was posted does not; they share no port.
    CHECK(skipping.counters().phases.skips > 0);
    CHECK(skipping.counters().packet_hops > in_packets.counters().packet_hops / 2 - 1000);
    CHECK(skipping.counters().packet_hops < in_packets.counters().packet_hops * 2 / 3);
    // Now something meets the flow in its skip: from the port, and by the network itself, from the flow's own host.
    const Tick now = to_ticks(sc_core::sc_time_stamp());
    post.peer = 1;
    post.bytes = 100'000;
    post.queue_pair = 1;
    REQUIRE(two.try_post(post));
    FlowSpec spec;
    spec.src = 0;
    spec.dst = 3;
    spec.size = 1000;
    const FlowId opened = skipping.network().open_flow(spec, now + 20'000'000);
    CHECK(opened != kNoFlow);
    sc_core::sc_start();
    skipping.finish();
    CHECK(skipping.counters().phases.skip_backs >= 1);
    Completion alone;
    Completion long_one;
    Completion short_one;
    REQUIRE(one.completions().take(alone));
    REQUIRE(two.completions().take(short_one));
    REQUIRE(two.completions().take(long_one));
    CHECK(short_one.post.bytes == 100'000);
    CHECK(short_one.effective == now + exact.doorbell_latency);
    // The short one has taken the port for a while.
    CHECK(long_one.completed > alone.completed);
    CHECK(long_one.completed < alone.completed + 20'000'000);
    CHECK(skipping.network().store().living_count() == 0);
}

namespace {

/// Two hosts write to and read from others by turns, on two queue pairs each, and may be skipped meanwhile.
struct Streams {
    Streams(const std::string& name, const std::string& wake, Mode mode)
        : experiment(built("[topology]\ntype = \"star\"\nhosts = 4\n[workload]\ntype = \"flows\"\n"
                           "list = [[0, 1, \"1kB\"]]\n[phases]\naudit = 0\nwake = \"" +
                               wake + "\"\n",
                           mode)),
          network(name.c_str(), experiment.experiment, mode) {
        HostPortOptions options;
        options.doorbell_latency = network.network().store().world().lookahead;
        options.may_skip = true;
        for (NodeId host = 0; host < 2; ++host) {
            ports.push_back(std::make_unique<HostPort>((name + std::to_string(host)).c_str(),
                                                       network.network(), host, options));
            for (std::uint32_t i = 0; i < kPosts; ++i) {
                Post post;
                post.peer = 2 + host;
                post.bytes = 5'000'000 + 100'000 * i;
                post.operation = i % 3 == 2 ? Operation::read : Operation::write;
                post.queue_pair = i % 2;
                post.tag = i;
                REQUIRE(ports.back()->try_post(post));
            }
        }
    }
    /// The instants at which they complete, in the order of each queue pair.
    double completed() {
        double sum = 0;
        for (const auto& port : ports) {
            std::vector<std::uint64_t> tags;
            std::vector<std::uint64_t> next(2, 0);
            for (Completion one; port->completions().take(one); tags.push_back(one.post.tag)) {
                CHECK(one.post.tag >= next[one.post.queue_pair]);
                next[one.post.queue_pair] = one.post.tag;
                sum += static_cast<double>(one.completed);
            }
            CHECK(tags.size() == kPosts);
        }
        return sum;
    }

    static constexpr std::uint32_t kPosts = 12;
    BuiltExperiment experiment;
    ExperimentNetwork network;
    std::vector<std::unique_ptr<HostPort>> ports;
};

}  // namespace

TEST_CASE("experiment.testbench.what_a_port_has_running_is_skipped_where_it_may_be") {
    const std::string wakes[] = {"partition", "data"};
    std::vector<std::unique_ptr<Streams>> packets;
    std::vector<std::unique_ptr<Streams>> skips;
    for (const std::string& wake : wakes) {
        packets.push_back(std::make_unique<Streams>("packets_" + wake, wake, Mode::packet));
        skips.push_back(std::make_unique<Streams>("skips_" + wake, wake, Mode::hybrid));
    }
    sc_core::sc_start();
    for (std::size_t i = 0; i < skips.size(); ++i) {
        skips[i]->network.finish();
        INFO(wakes[i]);
        CHECK(skips[i]->completed() == doctest::Approx(packets[i]->completed()).epsilon(0.02));
        CHECK(3 * skips[i]->network.counters().packet_hops <
              2 * packets[i]->network.counters().packet_hops);
    }
}

namespace {

class OwnSwitch : public Switch {
  public:
    using Switch::Switch;
    void step(const step::Cell& cell, Tick begin, Tick end) override {
        ++windows;
        Switch::step(cell, begin, end);
    }
    std::uint64_t windows = 0;
};

constexpr NodeId kFirstLeaf = 4;

}  // namespace

TEST_CASE("experiment.testbench.what_passes_by_models_of_ones_own_is_executed") {
    // One flow under either leaf; the first leaf is one's own.
    const std::string text =
        "[topology]\ntype = \"leaf-spine\"\nleaves = 2\nspines = 1\nhosts_per_leaf = 2\n"
        "[congestion]\nlaw = \"dcqcn\"\n[workload]\ntype = \"flows\"\n"
        "list = [[0, 1, \"10MB\"], [2, 3, \"10MB\"]]\n[phases]\naudit = 0\n";
    const BuiltExperiment packets = built(text, Mode::packet);
    const BuiltExperiment hybrid = built(text, Mode::hybrid);
    NetworkOptions own;
    OwnSwitch* leaf = nullptr;
    own.make_node = [&](const char* name, NodeId id, const Node::Context& context,
                        step::SwitchScratch& scratch) -> std::unique_ptr<Node> {
        if (id != kFirstLeaf) {
            return nullptr;
        }
        auto made = std::make_unique<OwnSwitch>(name, id, context, scratch);
        leaf = made.get();
        return made;
    };
    NetworkOptions foreign;
    foreign.foreign.push_back(kFirstLeaf);
    ExperimentNetwork in_packets("in_packets", packets.experiment, Mode::packet);
    ExperimentNetwork subclass("subclass", hybrid.experiment, Mode::hybrid, own);
    ExperimentNetwork foreign_packets("foreign_packets", packets.experiment, Mode::packet, foreign);
    ExperimentNetwork foreign_hybrid("foreign_hybrid", hybrid.experiment, Mode::hybrid, foreign);
    std::vector<std::unique_ptr<FifoSwitch>> fifos;
    for (ExperimentNetwork* one : {&foreign_packets, &foreign_hybrid}) {
        fifos.push_back(
            std::make_unique<FifoSwitch>((std::string(one->basename()) + "_leaf").c_str(),
                                         packets.experiment.topology, kFirstLeaf, one->network()));
    }
    sc_core::sc_start();
    const auto finish = [](ExperimentNetwork& one, FlowId flow) {
        return one.network().store().results()[flow].finish;
    };
    for (ExperimentNetwork* one : {&subclass, &foreign_hybrid}) {
        one->finish();
        CHECK(static_cast<double>(finish(*one, 1)) ==
              doctest::Approx(static_cast<double>(finish(in_packets, 1))).epsilon(0.01));
    }
    CHECK(subclass.counters().phases.skips > 0);
    CHECK(finish(subclass, 0) == finish(in_packets, 0));
    CHECK(leaf->windows > 500);
    CHECK(finish(foreign_hybrid, 0) == finish(foreign_packets, 0));
}

TEST_CASE("experiment.testbench.modes_and_options_that_do_not_fit") {
    const std::string text = rings("hpcc", 1, "1MB");
    const BuiltExperiment flow = built(text, Mode::flow);
    CHECK_THROWS_WITH_AS(ExperimentNetwork("a", flow.experiment, Mode::flow),
                         doctest::Contains("allowed: packet, hybrid, wormhole"), ConfigError);
    const BuiltExperiment hybrid = built(text, Mode::hybrid);
    NetworkOptions options;
    options.partition_clocks = true;
    CHECK_THROWS_WITH_AS(ExperimentNetwork("b", hybrid.experiment, Mode::hybrid, options),
                         doctest::Contains("one clock"), ConfigError);
}

}  // namespace sluice::test
