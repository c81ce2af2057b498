// SPDX-License-Identifier: Apache-2.0
/// Transactions of 4 KiB over a 2-hop path, per user-second: eight hosts of a star write to the next one each, with 16
/// writes outstanding, by host ports or by TLM. The same flows, known beforehand, then go through the step functions in a
/// plain loop, and must finish at the same instants. Prints one line of JSON.
///
/// usage: host_port_transactions port|at|lt COUNT PAYLOAD
///   COUNT transactions in all, packets of PAYLOAD bytes
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "core/clocks/cell_step.h"
#include "core/engine/driver.h"
#include "core/random.h"
#include "core/topology/builders.h"
#include "models/network.h"
#include "models/sim_time.h"
#include "models/tlm/tlm_fabric.h"
#include "models/tlm/tlm_memory.h"

namespace {

using namespace sluice;

constexpr std::uint32_t kHosts = 8;
constexpr std::uint32_t kDepth = 16;
constexpr unsigned int kBytes = 4096;
constexpr std::uint64_t kWindow = 1U << 20;

double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

NetworkConfig network_config(std::int32_t payload) {
    NetworkConfig config;
    config.congestion = congestion::default_parameters(congestion::Law::dcqcn, 100'000'000'000);
    config.format.payload = payload;
    config.congestion.payload = payload;
    config.format.extra_header = 0;
    config.format.ack = 60;
    return config;
}

Topology star() {
    StarParams params;
    params.hosts = kHosts;
    return build_star(params);
}

NodeId next_host(NodeId host) { return (host + 1) % kHosts; }

/// What became of the flows, in whatever order: an answer that two runs can compare.
struct Finished {
    void add(const FlowRecord& flow) {
        ++count;
        digest += mix_bits(static_cast<std::uint64_t>(flow.result.finish) * kHosts + flow.spec.src);
    }
    std::uint64_t count = 0;
    std::uint64_t digest = 0;
};

/// Posts the next write as one completes.
class Poster final : public PostObserver {
  public:
    Poster(HostPort& port, std::uint64_t count) : port_(port), left_(count) {}
    void begin() {
        for (std::uint32_t i = 0; i < kDepth; ++i) {
            post();
        }
    }
    void on_completed(const Completion& /*completion*/) override { post(); }

  private:
    void post() {
        if (left_ == 0) {
            return;
        }
        --left_;
        Post post;
        post.peer = next_host(port_.host());
        post.bytes = kBytes;
        port_.try_post(post, this);
    }
    HostPort& port_;
    std::uint64_t left_;
};

/// The same by b_transport() in so many threads, or by phases.
class Initiator : public sc_core::sc_module,
                  public tlm::tlm_bw_transport_if<>,
                  public tlm::tlm_mm_interface {
  public:
    SC_HAS_PROCESS(Initiator);
    Initiator(const sc_core::sc_module_name& name, NodeId host, std::uint64_t count, bool blocking)
        : sc_module(name), socket("socket"), host_(host), left_(count), data_(kBytes, 0x5a) {
        socket.bind(*this);
        for (std::uint32_t i = 0; i < kDepth; ++i) {
            payloads_.push_back(std::make_unique<tlm::tlm_generic_payload>(this));
            idle_.push_back(payloads_.back().get());
        }
        if (blocking) {
            for (std::uint32_t i = 0; i < kDepth; ++i) {
                threads_.push_back(
                    std::make_unique<Thread>(("thread" + std::to_string(i)).c_str(), *this));
            }
        } else {
            SC_METHOD(request);
            sensitive << room_;
        }
    }
    tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                                       sc_core::sc_time& /*delay*/) override {
        if (phase == tlm::BEGIN_RESP) {
            check(payload);
            payload.release();
            room_.notify(sc_core::SC_ZERO_TIME);
            return tlm::TLM_COMPLETED;
        }
        return tlm::TLM_ACCEPTED;
    }
    void invalidate_direct_mem_ptr(sc_dt::uint64 /*begin*/, sc_dt::uint64 /*end*/) override {}
    void free(tlm::tlm_generic_payload* payload) override { idle_.push_back(payload); }

    tlm::tlm_initiator_socket<32> socket;
    std::uint64_t completed = 0;

  private:
    struct Thread : sc_core::sc_module {
        SC_HAS_PROCESS(Thread);
        Thread(const sc_core::sc_module_name& name, Initiator& given) : sc_module(name), of(given) {
            SC_THREAD(run);
        }
        void run() { of.block(); }
        Initiator& of;
    };

    void set_up(tlm::tlm_generic_payload& payload) {
        payload.set_command(tlm::TLM_WRITE_COMMAND);
        payload.set_address(next_host(host_) * kWindow);
        payload.set_data_ptr(data_.data());
        payload.set_data_length(kBytes);
        payload.set_streaming_width(kBytes);
        payload.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    }
    void check(const tlm::tlm_generic_payload& payload) {
        completed += payload.is_response_ok() ? 1 : 0;
    }
    void request() {
        while (left_ > 0 && !idle_.empty()) {
            --left_;
            tlm::tlm_generic_payload& payload = *idle_.back();
            idle_.pop_back();
            payload.acquire();
            set_up(payload);
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            socket->nb_transport_fw(payload, phase, delay);  // there is room: it is TLM_UPDATED
        }
    }
    void block() {
        tlm::tlm_generic_payload payload;
        while (left_ > 0) {
            --left_;
            set_up(payload);
            sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
            socket->b_transport(payload, delay);
            check(payload);
        }
    }

    NodeId host_;
    std::uint64_t left_;
    std::vector<unsigned char> data_;
    std::vector<std::unique_ptr<tlm::tlm_generic_payload>> payloads_;
    std::vector<tlm::tlm_generic_payload*> idle_;
    std::vector<std::unique_ptr<Thread>> threads_;
    sc_core::sc_event room_;
};

struct Measured {
    double user = 0;
    std::uint64_t hops = 0;
    Finished finished;
};

/// The initiators and memories of a fabric.
struct TlmSide {
    TlmSide(Network& network, const HostPortOptions& options, std::uint64_t count, bool blocking)
        : fabric("fabric", network, windows(), options) {
        for (NodeId host = 0; host < kHosts; ++host) {
            const std::string number = std::to_string(host);
            memories.push_back(std::make_unique<TlmMemory>(("memory" + number).c_str()));
            fabric.memory(host).bind(memories.back()->socket);
            initiators.push_back(
                std::make_unique<Initiator>(("initiator" + number).c_str(), host, count, blocking));
            initiators.back()->socket.bind(fabric.target(host));
        }
    }
    static AddressMap windows() {
        AddressMap map;
        for (NodeId host = 0; host < kHosts; ++host) {
            map.add(host, host * kWindow, kWindow);
        }
        return map;
    }
    TlmFabric fabric;
    std::vector<std::unique_ptr<TlmMemory>> memories;
    std::vector<std::unique_ptr<Initiator>> initiators;
};

/// `flows` gets those that there were, each with its start.
Measured by_systemc(const std::string& way, std::uint64_t count, const Topology& topology,
                    const NetworkConfig& config, std::vector<FlowSpec>& flows) {
    Routing routing(topology);
    const std::vector<FlowSpec> none;
    const std::vector<FlowPath> paths;
    Measured measured;
    NetworkOptions network_options;
    network_options.hooks.on_finish = [&](const FlowRecord& flow) {
        measured.finished.add(flow);
        flows.push_back(flow.spec);
        flows.back().start = flow.result.start;
    };
    Network network("network", topology, routing, config, none, paths, nullptr, network_options);
    HostPortOptions options;
    options.doorbell_latency = network.store().world().lookahead;
    std::vector<std::unique_ptr<HostPort>> ports;
    std::deque<Poster> posters;
    std::unique_ptr<TlmSide> tlm;
    if (way != "port") {
        tlm = std::make_unique<TlmSide>(network, options, count / kHosts, way == "lt");
    }
    for (NodeId host = 0; way == "port" && host < kHosts; ++host) {
        ports.push_back(std::make_unique<HostPort>(("port" + std::to_string(host)).c_str(), network,
                                                   host, options));
        posters.emplace_back(*ports.back(), count / kHosts).begin();
    }
    const double begin = user_seconds();
    sc_core::sc_start();
    measured.user = user_seconds() - begin;
    measured.hops = network.counters().packet_hops;
    return measured;
}

Measured by_plain_loop(const Topology& topology, const NetworkConfig& config,
                       const std::vector<FlowSpec>& flows) {
    Routing routing(topology);
    const std::vector<FlowPath> paths;
    step::WorldStore store(topology, routing, config, flows, paths, nullptr);
    step::CellStep step_cell(store.world());
    Measured measured;
    RunHooks hooks;
    std::vector<FlowSpec> seen;  // as the network's hook does
    seen.reserve(flows.size());
    hooks.on_finish = [&](const FlowRecord& flow) {
        measured.finished.add(flow);
        seen.push_back(flow.spec);
        seen.back().start = flow.result.start;
    };
    const double begin = user_seconds();
    store.begin();
    engine::Driver driver(store, {}, std::move(hooks));
    driver.advance(kNever, step_cell);
    measured.user = user_seconds() - begin;
    measured.hops = store.counters().packet_hops;
    return measured;
}

int run(const std::string& way, std::uint64_t count, std::int32_t payload) {
    const Topology topology = star();
    const NetworkConfig config = network_config(payload);
    std::vector<FlowSpec> flows;
    flows.reserve(count);
    const Measured systemc = by_systemc(way, count, topology, config, flows);
    for (FlowSpec& flow : flows) {
        flow.id = kNoFlow;
        flow.connection = flow.src;
    }
    const Measured loop = by_plain_loop(topology, config, flows);
    const bool same = systemc.hops == loop.hops &&
                      systemc.finished.count == count / kHosts * kHosts &&
                      systemc.finished.count == loop.finished.count &&
                      systemc.finished.digest == loop.finished.digest;
    std::printf(
        "{\"way\": \"%s\", \"payload\": %d, \"transactions\": %llu, \"packet_hops\": %llu, "
        "\"user_s\": %.4f, \"transactions_per_s\": %.0f, \"packet_hops_per_s\": %.0f, "
        "\"loop_user_s\": %.4f, \"loop_packet_hops_per_s\": %.0f, \"same\": %s}\n",
        way.c_str(), payload, static_cast<unsigned long long>(systemc.finished.count),
        static_cast<unsigned long long>(systemc.hops), systemc.user,
        static_cast<double>(systemc.finished.count) / systemc.user,
        static_cast<double>(systemc.hops) / systemc.user, loop.user,
        static_cast<double>(loop.hops) / loop.user, same ? "true" : "false");
    return same ? 0 : 1;
}

}  // namespace

int sc_main(int argc, char** argv) {
    const std::string way = argc == 4 ? argv[1] : "";
    if (way != "port" && way != "at" && way != "lt") {
        std::fprintf(stderr, "usage: host_port_transactions port|at|lt COUNT PAYLOAD\n");
        return 2;
    }
    try {
        return run(way, std::stoull(argv[2]), std::stoi(argv[3]));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "host_port_transactions: %s\n", error.what());
        return 2;
    }
}
