// SPDX-License-Identifier: Apache-2.0
/// The form of queues.bin: queue depths of switch ports over time, in columns (docs/outputs.md). Written by
/// core/results/outputs/queues_bin.cpp, read by restore/queue_trace.cpp.
///     8 bytes  "SLUICEQT"
///     u32      version, u32 length of the header
///     header   JSON: scenario, law, base_rtt_ps, step_ps, samples, complete, ports, ...
///     u32      of each sample its instant, in steps from 0, ascending
///     then, port by port of the header's list, of each sample:
///     u32      bytes queued; u32 bytes sent since the sample before
///     u16      flows whose data leave by the port; u16 how many such flows have come or gone, mod 2^16
///     u64      checksum() of everything before (core/checksum.h)
/// Little endian. Values that do not fit are the largest that do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace sluice::queue_trace {

inline constexpr std::string_view kMagic = "SLUICEQT";
inline constexpr std::uint32_t kVersion = 1;
/// Ports x samples of one file: 48 MiB of columns.
inline constexpr std::size_t kMostCells = std::size_t{1} << 22;
/// Fewer samples than this hold no sequence and what came of it.
inline constexpr std::size_t kLeastSamples = 256;
inline constexpr std::size_t kCellBytes = 12;
inline constexpr std::size_t kSampleBytes = 4;
/// Of its header: more is no header of ours.
inline constexpr std::size_t kMostHeader = std::size_t{1} << 24;

}  // namespace sluice::queue_trace
