// SPDX-License-Identifier: Apache-2.0
#include "models/observe/link_capture.h"

#include <algorithm>

#include "core/error.h"
#include "core/topology/node_names.h"
#include "models/observe/roce_frame.h"
#include "models/observe/watched_ports.h"

namespace sluice {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0a0d0d0a;
constexpr std::uint32_t kInterface = 1;
constexpr std::uint32_t kEnhancedPacket = 6;
constexpr std::uint16_t kEthernetLink = 1;
constexpr char kTimestampDigits = 12;  // if_tsresol: 10^-12 s

/// Numbers of a block have the machine's order, which the section header shows.
template <class T>
void put(std::string& block, T value) {
    block.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put_padded(std::string& block, const std::string& bytes) {
    block += bytes;
    block.append((4 - bytes.size() % 4) % 4, '\0');
}

void put_option(std::string& block, std::uint16_t code, const std::string& value) {
    put(block, code);
    put(block, static_cast<std::uint16_t>(value.size()));
    put_padded(block, value);
}

void write_block(OutputFile& file, std::uint32_t type, const std::string& body) {
    std::string whole;
    const auto length = static_cast<std::uint32_t>(body.size() + 12);
    put(whole, type);
    put(whole, length);
    whole += body;
    put(whole, length);
    file << std::string_view(whole);
}

void write_section_header(OutputFile& file) {
    std::string body;
    put(body, std::uint32_t{0x1a2b3c4d});
    put(body, std::uint16_t{1});
    put(body, std::uint16_t{0});
    put(body, std::int64_t{-1});  // length unknown
    put_option(body, 4, "sluice");
    put(body, std::uint32_t{0});
    write_block(file, kSectionHeader, body);
}

void write_interface(OutputFile& file, const std::string& name, Rate rate) {
    std::string body;
    put(body, kEthernetLink);
    put(body, std::uint16_t{0});
    put(body, std::uint32_t{0});  // frames are whole
    put_option(body, 2, name);
    std::string speed;
    put(speed, static_cast<std::uint64_t>(rate.bits_per_second));
    put_option(body, 8, speed);
    put_option(body, 9, std::string(1, kTimestampDigits));
    put_option(body, 13, std::string(1, '\0'));  // no FCS
    put(body, std::uint32_t{0});
    write_block(file, kInterface, body);
}

}  // namespace

LinkCapture::LinkCapture(const std::string& path, const Topology& topology,
                         std::vector<PortId> ports, std::int64_t most_bytes)
    : LinkCapture(std::make_unique<OutputFile>(path), topology, std::move(ports), most_bytes) {}

LinkCapture::LinkCapture(OutputFile& file, const Topology& topology, std::vector<PortId> ports,
                         std::int64_t most_bytes)
    : file_(file),
      topology_(topology),
      ports_(watched_ports(topology, std::move(ports))),
      room_(most_bytes) {
    write_section_header(file_);
    for (const PortId port : ports_) {
        write_interface(file_, port_name(topology, port), topology.rate(port));
    }
    file_.preamble_done();
}

bool LinkCapture::watches(PortId port) const {
    return std::binary_search(ports_.begin(), ports_.end(), port);
}

void LinkCapture::sent(const step::World& world, PortId port, const step::Packet& packet,
                       Tick arrival) {
    const auto interface = static_cast<std::uint32_t>(
        std::lower_bound(ports_.begin(), ports_.end(), port) - ports_.begin());
    waiting_.emplace(std::make_pair(arrival, interface),
                     roce_frame(world, topology_, port, packet));
}

void LinkCapture::passed(const step::World&, Tick now) {
    while (!waiting_.empty() && waiting_.begin()->first.first <= now) {
        const auto& [key, frame] = *waiting_.begin();
        write(key.first, key.second, frame);
        waiting_.erase(waiting_.begin());
    }
}

void LinkCapture::write(Tick arrival, std::uint32_t interface, const std::string& frame) {
    const auto bytes = static_cast<std::int64_t>(frame.size());
    if (bytes > room_) {
        room_ = 0;
        ++left_out_;
        return;
    }
    room_ -= bytes;
    ++frames_;
    std::string body;
    put(body, interface);
    put(body, static_cast<std::uint32_t>(static_cast<std::uint64_t>(arrival) >> 32));
    put(body, static_cast<std::uint32_t>(arrival));
    put(body, static_cast<std::uint32_t>(bytes));
    put(body, static_cast<std::uint32_t>(bytes));
    put_padded(body, frame);
    write_block(file_, kEnhancedPacket, body);
}

void LinkCapture::finish() {
    for (const auto& [key, frame] : waiting_) {
        write(key.first, key.second, frame);
    }
    waiting_.clear();
    if (own_ != nullptr) {
        own_->commit();
    }
}

}  // namespace sluice
