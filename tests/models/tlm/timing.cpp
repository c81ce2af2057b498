// SPDX-License-Identifier: Apache-2.0
/// Completions do not depend on how a transaction comes: by b_transport() or by phases, with its time annotated or waited
/// for, or posted at the port.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/models/tlm/traffic.h"

namespace sluice::test {
namespace {

/// A transaction that takes effect at an instant.
struct Planned {
    Tick at = 0;
    Tick ahead = 0;  ///< by so much its call comes before
    Drawn drawn;
    Tick completed = kNever;
};

enum class Kind : std::uint8_t { loose, approximate, annotated, port };

Case timing_case() {
    Dice dice(77);
    Case made;
    made.topology = random_links(dice, build_leaf_spine({2, 2, 2, 1, {}, {}}), {}, true);
    made.config = config_for(congestion::Law::dcqcn, gigabits_per_second(100));
    return made;
}

/// Of each host, in the order of their instants.
std::vector<std::vector<Planned>> planned(const Topology& topology) {
    std::vector<std::vector<Planned>> plans;
    const std::vector<NodeId>& hosts = topology.hosts();
    for (const NodeId host : hosts) {
        Shadow shadow(host, hosts, 99 + host);
        std::vector<Planned>& plan = plans.emplace_back(150);
        Tick at = 20 * kMicrosecond;
        for (Planned& one : plan) {
            at += shadow.dice().size(7.0);
            one.at = at;
            one.ahead = shadow.dice().size(7.0);
            do {
                shadow.draw(one.drawn, shadow.any_peer(), shadow.dice().below(kPairs));
            } while (one.drawn.status != tlm::TLM_OK_RESPONSE || one.drawn.peer == host);
        }
    }
    return plans;
}

/// A thread that makes one transaction, or one after the other.
class Actor : public sc_core::sc_module {
  public:
    SC_HAS_PROCESS(Actor);
    Actor(const sc_core::sc_module_name& name, std::function<void()> program)
        : sc_module(name), program_(std::move(program)) {
        SC_THREAD(run);
    }

  private:
    void run() { program_(); }
    std::function<void()> program_;
};

/// A network to which the same transactions come in one of the ways.
class Way : public sc_core::sc_module {
  public:
    Way(const sc_core::sc_module_name& name, Kind kind, Tick doorbell)
        : sc_module(name),
          case_(timing_case()),
          routing_(case_.topology),
          plans(planned(case_.topology)),
          network_("network", case_.topology, routing_, case_.config, none_, paths_, nullptr),
          fabric_("fabric", network_, traffic_windows(case_.topology), port_options(doorbell)) {
        const std::vector<NodeId>& hosts = case_.topology.hosts();
        for (std::size_t i = 0; i < hosts.size(); ++i) {
            const std::string number = std::to_string(i);
            memories_.push_back(std::make_unique<TlmMemory>(("memory" + number).c_str()));
            fabric_.memory(hosts[i]).bind(memories_.back()->socket);
            cpus_.push_back(std::make_unique<Cpu>(("cpu" + number).c_str()));
            cpus_.back()->socket.bind(fabric_.target(hosts[i]));
            if (kind == Kind::loose) {
                for (Planned& one : plans[i]) {
                    add([this, i, &one] { block(*cpus_[i], one); });
                }
            } else if (kind == Kind::port) {
                add([this, i, host = hosts[i]] { post(fabric_.port(host), plans[i]); });
            } else {
                add([this, i, kind] { phases(*cpus_[i], plans[i], kind == Kind::annotated); });
            }
        }
    }
    Tick lookahead() const { return network_.store().world().lookahead; }

  private:
    static HostPortOptions port_options(Tick doorbell) {
        HostPortOptions made;
        made.depth = 1000;
        made.doorbell_latency = doorbell;
        return made;
    }
    void add(std::function<void()> program) {
        actors_.push_back(std::make_unique<Actor>(
            ("actor" + std::to_string(actors_.size())).c_str(), std::move(program)));
    }
    static void wait_until(Tick at) {
        if (at > sc_now()) {
            sc_core::wait(until(at));
        }
    }
    void block(Cpu& cpu, Planned& one) {
        wait_until(one.at - one.ahead);
        tlm::tlm_generic_payload payload;
        fill(payload, one.drawn);
        sc_core::sc_time delay = until(one.at);
        cpu.socket->b_transport(payload, delay);
        payload.clear_extension<RdmaExtension>();
        CHECK(payload.is_response_ok());
        one.completed = sc_now();
    }
    void phases(Cpu& cpu, std::vector<Planned>& plan, bool annotated) {
        sc_core::sc_event end_req;
        cpu.backward = [&](tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                           sc_core::sc_time& /*delay*/) {
            if (phase == tlm::END_REQ) {
                end_req.notify();
                return tlm::TLM_ACCEPTED;
            }
            running_.at(&payload)->completed = sc_now();
            payload.clear_extension<RdmaExtension>();
            payload.release();
            return tlm::TLM_COMPLETED;
        };
        for (Planned& one : plan) {
            wait_until(annotated ? one.at - one.ahead : one.at);
            tlm::tlm_generic_payload& payload = pool_.take();
            payload.acquire();
            fill(payload, one.drawn);
            running_[&payload] = &one;
            tlm::tlm_phase phase = tlm::BEGIN_REQ;
            sc_core::sc_time delay = until(one.at);
            if (cpu.socket->nb_transport_fw(payload, phase, delay) == tlm::TLM_ACCEPTED) {
                sc_core::wait(end_req);
                CHECK(sc_now() == one.at);
            }
        }
        sc_core::wait(10, sc_core::SC_MS);  // for responses, which use what is here
    }
    void post(HostPort& port, std::vector<Planned>& plan) {
        port.completions().on_each(
            [&plan](const Completion& made) { plan[made.post.tag].completed = sc_now(); });
        for (std::size_t i = 0; i < plan.size(); ++i) {
            wait_until(plan[i].at);
            const Drawn& drawn = plan[i].drawn;
            Post post;
            post.operation = drawn.read ? Operation::read : Operation::write;
            post.peer = drawn.peer;
            post.bytes = static_cast<std::int64_t>(drawn.data.size());
            post.queue_pair = drawn.rdma.queue_pair;
            post.priority = drawn.rdma.priority;
            post.tag = i;
            CHECK(port.try_post(post));
        }
    }

    Case case_;
    Routing routing_;
    std::vector<FlowSpec> none_;
    std::vector<FlowPath> paths_;

  public:
    std::vector<std::vector<Planned>> plans;

  private:
    Network network_;
    TlmFabric fabric_;
    std::vector<std::unique_ptr<TlmMemory>> memories_;
    std::vector<std::unique_ptr<Cpu>> cpus_;
    std::vector<std::unique_ptr<Actor>> actors_;
    PayloadPool pool_;
    std::map<tlm::tlm_generic_payload*, Planned*> running_;
};

/// The largest difference between the completions of two ways.
Tick compare(const Way& a, const Way& b) {
    Tick largest = 0;
    for (std::size_t host = 0; host < a.plans.size(); ++host) {
        for (std::size_t i = 0; i < a.plans[host].size(); ++i) {
            const Tick first = a.plans[host][i].completed;
            const Tick second = b.plans[host][i].completed;
            REQUIRE(first != kNever);
            REQUIRE(second != kNever);
            largest = std::max(largest, std::abs(first - second));
        }
    }
    return largest;
}

void check_ways(Tick quantum, Tick doorbell, Tick allowed) {
    tlm::tlm_global_quantum::instance().set(to_sc_time(quantum));
    Way loose("loose", Kind::loose, doorbell);
    Way approximate("approximate", Kind::approximate, doorbell);
    Way annotated("annotated", Kind::annotated, doorbell);
    Way port("port", Kind::port, doorbell);
    REQUIRE((doorbell == 0 || doorbell >= std::max(quantum, port.lookahead())));
    sc_core::sc_start();
    const Tick differences[] = {compare(port, approximate), compare(port, annotated),
                                compare(port, loose)};
    for (const Tick difference : differences) {
        MESSAGE("differs by at most " << difference << " ps");
        CHECK(difference <= allowed);
    }
}

}  // namespace

TEST_CASE("models.tlm.timing.is_the_same_in_every_way") { check_ways(0, 10 * kMicrosecond, 0); }

TEST_CASE("models.tlm.timing.is_the_same_in_every_way_with_a_quantum") {
    check_ways(10 * kMicrosecond, 10 * kMicrosecond, 0);
}

TEST_CASE("models.tlm.timing.without_a_doorbell_latency_differs_by_the_quantum_at_most") {
    check_ways(10 * kMicrosecond, 0, 10 * kMicrosecond);
}

}  // namespace sluice::test
