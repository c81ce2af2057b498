// SPDX-License-Identifier: Apache-2.0
/// Any bytes are operations that a testbench posts at ports of a small network at times of its own. Operations complete
/// once, those of a queue pair in the order of their posts, at SystemC's time; without losses all of them do.
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "experiment/build_experiment.h"
#include "models/host_port/host_port.h"
#include "models/network.h"
#include "models/sim_time.h"
#include "scenario/scenario.h"
#include "tests/fuzz/random_network.h"

namespace sluice::fuzz {
namespace {

class Testbench : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Testbench);
    /// Posts at most `bytes`, and what is short.
    Testbench(const sc_core::sc_module_name& name, Experiment& experiment, Choices& choices,
              std::int64_t bytes)
        : sc_module(name),
          choices_(choices),
          bytes_(bytes),
          routing_(experiment.topology),
          network_("network", experiment.topology, routing_, experiment.network, none_, paths_,
                   nullptr, options(experiment)),
          hosts_(experiment.topology.hosts()) {
        HostPortOptions options;
        options.depth = choices.pick({128, 1, 4});
        options.doorbell_latency = choices.pick({0, 1, 700'000, 3'000'000});
        options.completion_latency = choices.pick({0, 250'000});
        options.pcie_bandwidth = choices.pick({0.0, 32e9, 1e9});
        for (const NodeId host : hosts_) {
            ports_.push_back(std::make_unique<HostPort>(("port" + std::to_string(host)).c_str(),
                                                        network_, host, options));
            HostPort& port = *ports_.back();
            port.completions().on_each([&](const Completion& made) { take(port, made); });
            port.arrivals().on_each(
                [this](const Arrival& arrival) { require(arrival.bytes > 0 && sends_ > 0); });
        }
        SC_METHOD(act);
    }

    std::size_t left() const { return posted_ - completed_; }

  private:
    static NetworkOptions options(const Experiment& experiment) {
        NetworkOptions made;
        made.link_events = experiment.link_events;
        made.stop = experiment.stop;
        return made;
    }

    void act() {
        for (std::uint32_t posts = 1 + choices_.below(4); posts > 0; --posts) post();
        if (++rounds_ < 20 && choices_.left()) {
            next_trigger(to_sc_time(choices_.pick({0, 1, 500'000, 10'000'000, 70'000'000})));
        }
    }

    void post() {
        const std::uint32_t from = choices_.below(static_cast<std::uint32_t>(ports_.size()));
        Post post;
        post.operation = choices_.pick({Operation::write, Operation::read, Operation::send});
        post.peer = hosts_[choices_.below(static_cast<std::uint32_t>(hosts_.size()))];
        post.bytes = choices_.pick({1, 4097, 100'000, 400'000, 0});
        if (post.bytes > bytes_) post.bytes = 4097;
        post.queue_pair = choices_.below(3);
        post.priority = static_cast<std::uint8_t>(choices_.below(9));
        post.tag = posted_;
        try {
            if (!ports_[from]->try_post(post)) return;
        } catch (const ConfigError& error) {
            require_line(error.what());
            return;
        }
        ++posted_;
        bytes_ -= post.bytes;
        sends_ += post.operation == Operation::send ? 1 : 0;
    }

    void take(const HostPort& port, const Completion& made) {
        require(made.completed == to_ticks(sc_core::sc_time_stamp()));
        require(made.post.tag < posted_ && made.effective >= made.posted);
        require(made.received <= made.completed);
        const auto pair = std::make_tuple(port.host(), made.post.peer, made.post.queue_pair);
        const auto [before, first] = latest_.emplace(pair, made.sequence);
        require(first || before->second < made.sequence);
        before->second = made.sequence;
        ++completed_;
    }

    Choices& choices_;
    std::int64_t bytes_;  ///< left
    Routing routing_;
    std::vector<FlowSpec> none_;
    std::vector<FlowPath> paths_;
    Network network_;
    std::vector<NodeId> hosts_;
    std::vector<std::unique_ptr<HostPort>> ports_;
    std::map<std::tuple<NodeId, NodeId, std::uint32_t>, std::uint64_t> latest_;
    std::size_t posted_ = 0;
    std::size_t completed_ = 0;
    std::size_t sends_ = 0;
    int rounds_ = 0;
};

/// A process has one elaboration for each context.
void new_context() {
    sc_core::sc_curr_simcontext = new sc_core::sc_simcontext;
    sc_core::sc_default_global_context = sc_core::sc_curr_simcontext;
}

void run(const RandomNetwork& network, Choices& choices) {
    const std::string text = network.head + network.tables;
    Scenario scenario = make_scenario(parse_config(text, "input"), "input", Workloads::optional);
    Experiment experiment = take_network(scenario);
    Testbench testbench("testbench", experiment, choices, most_bytes(network));
    // Longer than anything takes that is not cut off: 400 kB at 25 Gb/s, lost and sent again.
    sc_core::sc_start(sc_core::sc_time(500, sc_core::SC_MS));
    const bool cut_off = network.cut_off || text.find("loss") != std::string::npos;
    require(cut_off || testbench.left() == 0);
}

}  // namespace
}  // namespace sluice::fuzz

// NOLINTNEXTLINE(readability-identifier-naming): the name that libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace sluice::fuzz;
    new_context();
    Choices choices(data, size);
    const RandomNetwork network = random_network(choices, false);
    try {
        run(network, choices);
    } catch (const sluice::ConfigError& error) {
        require_line(error.what());
    }
    return 0;
}

/// SystemC's library asks for it, and the fuzzer has a main() of its own.
int sc_main(int /*argc*/, char** /*argv*/) { return 1; }

/// A context that is replaced stays: SystemC has no way to take one apart.
// NOLINTNEXTLINE(readability-identifier-naming): the name that the leak checker calls.
extern "C" int __lsan_is_turned_off() { return 1; }
