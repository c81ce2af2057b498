// SPDX-License-Identifier: Apache-2.0
/// A leaf-spine network on stock ns-3: TCP with DCTCP, ECN-marking queues, one path per flow. It
/// reads the flow list and paths that the other simulator of the comparison reads, and prints one
/// JSON object. What differs from HPCC-style RDMA and stays: a TCP handshake, marking at enqueue,
/// no PFC, window (not rate) control. What is made equal: payload per packet, an ACK per packet,
/// the window bound, the marking threshold, buffers, propagation and rates.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>
#include <ns3/traffic-control-module.h>

#include "fabric_routing.h"
#include "workload.h"

namespace {

using peers::Fabric;
using peers::Flow;

struct Options {
    Fabric fabric;
    std::string rate = "100Gbps";
    std::string delay = "1us";
    std::string flows;
    std::string paths;
    std::string scheduler = "ns3::MapScheduler";
    std::uint32_t payload = 1000;
    std::uint32_t window = 104000;          ///< bytes in flight per flow
    std::uint32_t mark_threshold = 300000;  ///< bytes queued at a port
    std::uint32_t buffer = 33554432;        ///< bytes per port
};

Options parse(int argc, char** argv) {
    Options options;
    ns3::CommandLine command(__FILE__);
    command.AddValue("leaves", "leaf switches", options.fabric.leaves);
    command.AddValue("spines", "spine switches", options.fabric.spines);
    command.AddValue("hosts", "hosts per leaf", options.fabric.hosts_per_leaf);
    command.AddValue("rate", "of every link", options.rate);
    command.AddValue("delay", "of every link", options.delay);
    command.AddValue("flows", "flow.txt, HPCC ns-3's columns", options.flows);
    command.AddValue("paths", "flow_paths.csv: src,dst,sport,path", options.paths);
    command.AddValue("scheduler", "ns-3's event list", options.scheduler);
    command.AddValue("payload", "bytes per segment", options.payload);
    command.AddValue("window", "bytes in flight per flow", options.window);
    command.AddValue("mark", "queued bytes from which packets are marked", options.mark_threshold);
    command.AddValue("buffer", "bytes per port", options.buffer);
    command.Parse(argc, argv);
    if (options.flows.empty() || options.paths.empty()) {
        throw std::runtime_error("--flows and --paths are needed");
    }
    return options;
}

void set_defaults(const Options& options) {
    using namespace ns3;
    GlobalValue::Bind("SchedulerType", StringValue(options.scheduler));
    GlobalValue::Bind("ChecksumEnabled", BooleanValue(false));
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpDctcp::GetTypeId()));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(options.payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd",
                       UintegerValue(options.window / options.payload));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(options.window));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(4)));
    // Marking is a step at the threshold on the instantaneous queue, as DCTCP wants it.
    const double threshold = options.mark_threshold;
    Config::SetDefault("ns3::RedQueueDisc::MinTh", DoubleValue(threshold));
    Config::SetDefault("ns3::RedQueueDisc::MaxTh", DoubleValue(threshold));
    Config::SetDefault("ns3::RedQueueDisc::QW", DoubleValue(1));
    Config::SetDefault("ns3::RedQueueDisc::Gentle", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::UseEcn", BooleanValue(true));
    Config::SetDefault("ns3::RedQueueDisc::UseHardDrop", BooleanValue(false));
    Config::SetDefault("ns3::RedQueueDisc::MeanPktSize", UintegerValue(options.payload + 42));
    Config::SetDefault("ns3::RedQueueDisc::MaxSize",
                       QueueSizeValue(QueueSize(QueueSizeUnit::BYTES, options.buffer)));
}

/// The network: what is built, and what it counts.
class Network {
  public:
    Network(const Options& options, const peers::SpineTable& spines)
        : options_(options), spines_(spines) {
        const Fabric& fabric = options.fabric;
        hosts_.Create(fabric.hosts());
        leaves_.Create(fabric.leaves);
        spine_nodes_.Create(fabric.spines);
        install_stacks();
        for (std::uint32_t h = 0; h < fabric.hosts(); ++h) {
            connect(hosts_.Get(h), leaves_.Get(fabric.leaf_of(h)));
            address_host(h);
        }
        for (std::uint32_t l = 0; l < fabric.leaves; ++l) {
            for (std::uint32_t s = 0; s < fabric.spines; ++s) {
                connect(leaves_.Get(l), spine_nodes_.Get(s));
            }
        }
        number_switch_ports();
    }

    ns3::Ptr<ns3::Node> host(std::uint32_t index) const { return hosts_.Get(index); }
    std::uint64_t packet_hops() const { return packet_hops_; }

    std::uint64_t marks() const {
        std::uint64_t total = 0;
        for (std::uint32_t i = 0; i < queues_.GetN(); ++i) {
            const auto& stats = queues_.Get(i)->GetStats();
            total += stats.nTotalMarkedPackets;
        }
        return total;
    }
    std::uint64_t drops() const {
        std::uint64_t total = 0;
        for (std::uint32_t i = 0; i < queues_.GetN(); ++i) {
            total += queues_.Get(i)->GetStats().nTotalDroppedPackets;
        }
        return total;
    }

  private:
    void install_stacks() {
        ns3::InternetStackHelper stack;
        stack.SetIpv6StackInstall(false);
        stack.SetRoutingHelper(ns3::Ipv4StaticRoutingHelper());
        stack.Install(hosts_);
        stack.Install(leaves_);
        stack.Install(spine_nodes_);
        const Fabric fabric = options_.fabric;
        for (std::uint32_t l = 0; l < fabric.leaves; ++l) {
            // A leaf's ports: its hosts, then the spines.
            set_routing(leaves_.Get(l), [this, fabric, l](std::uint32_t src, std::uint32_t dst,
                                                          std::uint16_t sport) {
                if (fabric.leaf_of(dst) == l) return dst % fabric.hosts_per_leaf;
                return fabric.hosts_per_leaf + spines_.spine(src, dst, sport);
            });
        }
        for (std::uint32_t s = 0; s < fabric.spines; ++s) {
            set_routing(spine_nodes_.Get(s),
                        [fabric](std::uint32_t, std::uint32_t dst, std::uint16_t) {
                            return fabric.leaf_of(dst);
                        });
        }
    }

    static void set_routing(ns3::Ptr<ns3::Node> node, peers::FabricRouting::Choice choice) {
        node->GetObject<ns3::Ipv4>()->SetRoutingProtocol(
            ns3::CreateObject<peers::FabricRouting>(std::move(choice)));
    }

    void connect(ns3::Ptr<ns3::Node> below, ns3::Ptr<ns3::Node> above) {
        ns3::PointToPointHelper cable;
        cable.SetDeviceAttribute("DataRate", ns3::StringValue(options_.rate));
        cable.SetChannelAttribute("Delay", ns3::StringValue(options_.delay));
        // Switch ports hold one packet and leave the queue to the marking discipline above them;
        // a host keeps its own packets, of which its flows' windows bound the number.
        cable.SetQueue("ns3::DropTailQueue", "MaxSize", ns3::StringValue("1p"));
        const ns3::NetDeviceContainer ends = cable.Install(below, above);
        const bool from_host = below->GetId() < hosts_.GetN();
        for (std::uint32_t i = 0; i < 2; ++i) {
            const auto device = ns3::DynamicCast<ns3::PointToPointNetDevice>(ends.Get(i));
            device->SetMtu(static_cast<std::uint16_t>(options_.payload + 100));
            device->TraceConnectWithoutContext(
                "PhyTxBegin", ns3::MakeCallback(&Network::count_transmission, this));
            if (i == 0 && from_host) {
                device->GetQueue()->SetMaxSize(ns3::QueueSize("1000000p"));
                continue;
            }
            ns3::TrafficControlHelper marking;
            marking.SetRootQueueDisc("ns3::RedQueueDisc", "LinkBandwidth",
                                     ns3::StringValue(options_.rate), "LinkDelay",
                                     ns3::StringValue(options_.delay));
            queues_.Add(marking.Install(ns3::NetDeviceContainer(device)));
        }
    }

    void address_host(std::uint32_t h) {
        const auto ipv4 = hosts_.Get(h)->GetObject<ns3::Ipv4>();
        const auto device = hosts_.Get(h)->GetDevice(hosts_.Get(h)->GetNDevices() - 1);
        const std::uint32_t interface = ipv4->AddInterface(device);
        ipv4->AddAddress(interface, ns3::Ipv4InterfaceAddress(peers::host_address(h),
                                                              ns3::Ipv4Mask("255.255.255.255")));
        ipv4->SetUp(interface);
        ns3::Ipv4StaticRoutingHelper().GetStaticRouting(ipv4)->SetDefaultRoute(
            ns3::Ipv4Address::GetZero(), interface);
    }

    /// Interface n + 1 of a switch is its n-th cable. Switch addresses are never a destination.
    void number_switch_ports() {
        std::uint32_t next = 0xac100001;  // 172.16.0.1
        for (const ns3::NodeContainer& nodes : {leaves_, spine_nodes_}) {
            for (std::uint32_t n = 0; n < nodes.GetN(); ++n) {
                const auto ipv4 = nodes.Get(n)->GetObject<ns3::Ipv4>();
                for (std::uint32_t d = 0; d < nodes.Get(n)->GetNDevices(); ++d) {
                    const auto device = nodes.Get(n)->GetDevice(d);
                    if (ipv4->GetInterfaceForDevice(device) >= 0) continue;  // loopback
                    const std::uint32_t interface = ipv4->AddInterface(device);
                    ipv4->AddAddress(interface,
                                     ns3::Ipv4InterfaceAddress(ns3::Ipv4Address(next++),
                                                               ns3::Ipv4Mask("255.255.255.255")));
                    ipv4->SetUp(interface);
                }
            }
        }
    }

    void count_transmission(ns3::Ptr<const ns3::Packet>) { ++packet_hops_; }

    const Options& options_;
    const peers::SpineTable& spines_;
    ns3::NodeContainer hosts_;
    ns3::NodeContainer leaves_;
    ns3::NodeContainer spine_nodes_;
    ns3::QueueDiscContainer queues_;
    std::uint64_t packet_hops_ = 0;
};

/// One flow: a connection that carries `size` bytes and stays open, so that no closing packets
/// count. It is complete when the sender has the ACK of its last byte.
class Transfer {
  public:
    Transfer(const Flow& flow, const Network& network, std::size_t& unfinished)
        : flow_(flow), network_(network), unfinished_(unfinished) {
        ns3::Simulator::Schedule(ns3::Seconds(flow.start), &Transfer::begin, this);
    }

    bool done() const { return done_; }
    double completion_time() const { return (finish_ - start_).GetSeconds(); }

  private:
    void begin() {
        start_ = ns3::Simulator::Now();
        socket_ =
            ns3::Socket::CreateSocket(network_.host(flow_.src), ns3::TcpSocketFactory::GetTypeId());
        socket_->SetAttribute("SndBufSize", ns3::UintegerValue(flow_.size));
        socket_->SetSendCallback(ns3::MakeCallback(&Transfer::acknowledged, this));
        const ns3::InetSocketAddress local(peers::host_address(flow_.src), flow_.tcp_port);
        const ns3::InetSocketAddress remote(peers::host_address(flow_.dst), flow_.dport);
        if (socket_->Bind(local) != 0 || socket_->Connect(remote) != 0) {
            throw std::runtime_error("ns-3 refused a connection");
        }
        if (socket_->Send(ns3::Create<ns3::Packet>(flow_.size)) < 0) {
            throw std::runtime_error("ns-3 refused a flow's data");
        }
    }

    /// Called with the free send buffer after each ACK: all of it is free when all is delivered.
    void acknowledged(ns3::Ptr<ns3::Socket>, std::uint32_t available) {
        if (done_ || available < flow_.size) return;
        done_ = true;
        finish_ = ns3::Simulator::Now();
        if (--unfinished_ == 0) ns3::Simulator::Stop();
    }

    Flow flow_;
    const Network& network_;
    std::size_t& unfinished_;
    ns3::Ptr<ns3::Socket> socket_;
    ns3::Time start_;
    ns3::Time finish_;
    bool done_ = false;
};

/// The receiving side of a host: takes what arrives.
class Sink {
  public:
    Sink(ns3::Ptr<ns3::Node> host, std::uint16_t port) {
        listener_ = ns3::Socket::CreateSocket(host, ns3::TcpSocketFactory::GetTypeId());
        listener_->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), port));
        listener_->Listen();
        listener_->SetAcceptCallback(
            ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
            ns3::MakeCallback(&Sink::accepted, this));
    }
    std::uint64_t received() const { return received_; }

  private:
    void accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address&) {
        socket->SetRecvCallback(ns3::MakeCallback(&Sink::read, this));
        connections_.push_back(socket);
    }
    void read(ns3::Ptr<ns3::Socket> socket) {
        while (const ns3::Ptr<ns3::Packet> packet = socket->Recv()) received_ += packet->GetSize();
    }

    ns3::Ptr<ns3::Socket> listener_;
    std::vector<ns3::Ptr<ns3::Socket>> connections_;
    std::uint64_t received_ = 0;
};

double user_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) +
           static_cast<double>(usage.ru_utime.tv_usec) * 1e-6;
}

double percentile(const std::vector<double>& sorted, double percent) {
    const auto rank =
        static_cast<std::size_t>(std::ceil(percent / 100 * static_cast<double>(sorted.size())));
    return sorted[std::max<std::size_t>(rank, 1) - 1];
}

int run(int argc, char** argv) {
    const Options options = parse(argc, argv);
    const std::vector<Flow> flows = peers::read_flows(options.flows, options.fabric);
    const peers::SpineTable spines(options.paths, options.fabric, flows);
    set_defaults(options);

    const double user_at_start = user_seconds();
    Network network(options, spines);
    std::map<std::pair<std::uint32_t, std::uint16_t>, std::unique_ptr<Sink>> sinks;
    std::vector<std::unique_ptr<Transfer>> transfers;
    std::size_t unfinished = flows.size();
    std::uint64_t bytes = 0;
    for (const Flow& flow : flows) {
        auto& sink = sinks[{flow.dst, flow.dport}];
        if (!sink) sink = std::make_unique<Sink>(network.host(flow.dst), flow.dport);
        transfers.push_back(std::make_unique<Transfer>(flow, network, unfinished));
        bytes += flow.size;
    }

    const double user_before = user_seconds();
    const auto wall_before = std::chrono::steady_clock::now();
    ns3::Simulator::Stop(ns3::Seconds(60));
    ns3::Simulator::Run();
    const double user_s = user_seconds() - user_before;
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - wall_before;

    std::vector<double> times;
    double sum = 0;
    for (const auto& transfer : transfers) {
        if (!transfer->done()) continue;
        times.push_back(transfer->completion_time());
        sum += times.back();
    }
    if (times.empty()) throw std::runtime_error("no flow completed");
    std::sort(times.begin(), times.end());
    std::uint64_t received = 0;
    for (const auto& [key, sink] : sinks) received += sink->received();
    if (times.size() == flows.size() && received != bytes) {
        throw std::runtime_error("bytes received differ from bytes sent");
    }
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    std::printf(
        "{\"flows\": %zu, \"flows_completed\": %zu, \"bytes\": %llu, \"packet_hops\": %llu, "
        "\"events\": %llu, \"ecn_marks\": %llu, \"drops\": %llu, \"elaboration_s\": %.6f, "
        "\"user_s\": %.6f, \"wall_s\": %.6f, \"packet_hops_per_s\": %.1f, "
        "\"peak_rss_bytes\": %llu, \"fct_s\": {\"mean\": %.9f, \"p50\": %.9f, \"p99\": %.9f, "
        "\"max\": %.9f}}\n",
        flows.size(), times.size(), static_cast<unsigned long long>(bytes),
        static_cast<unsigned long long>(network.packet_hops()),
        static_cast<unsigned long long>(ns3::Simulator::GetEventCount()),
        static_cast<unsigned long long>(network.marks()),
        static_cast<unsigned long long>(network.drops()), user_before - user_at_start, user_s,
        wall.count(), static_cast<double>(network.packet_hops()) / user_s,
        static_cast<unsigned long long>(usage.ru_maxrss) * 1024,
        sum / static_cast<double>(times.size()), percentile(times, 50), percentile(times, 99),
        times.back());
    ns3::Simulator::Destroy();
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(argc, argv);
    } catch (const std::exception& error) {
        std::fprintf(stderr, "ns3_leaf_spine: %s\n", error.what());
        return 2;
    }
}
