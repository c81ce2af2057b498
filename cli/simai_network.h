// SPDX-License-Identifier: Apache-2.0
/// What SimAI does to a network that an HPCC config alone does not say.
#pragma once

#include "core/packet/network_config.h"
#include "core/text/import_report.h"
#include "core/topology/topology.h"
#include "workloads/hpcc/hpcc_config.h"

namespace sluice {

/// SimAI reads GLOBAL_T and takes it as 1: windows are those of the longest round trip, so that they
/// never limit a flow inside a server.
void force_global_window(HpccConfig& config, ImportReport& report);

/// SimAI's sequence numbers have 8 bytes, HPCC's 4: headers of 52 bytes, and ACKs that are longer by as
/// much where they are not padded to 60.
void widen_sequence_numbers(PacketFormat& format);

/// With a host for every NVSwitch, in their order and behind all other nodes, on cables like its own
/// to the same GPUs: SimAI's NVSwitches are ends of flows when they reduce (NVLS).
Topology with_nvswitch_hosts(const Topology& topology);

/// How long a host takes to send a message of so many bytes when nothing else leaves it, by its
/// cable into the server (`inside`) or into the network.
Tick departure_time(const Topology& topology, const PacketFormat& packet, NodeId host, bool inside,
                    std::int64_t bytes);

}  // namespace sluice
