// SPDX-License-Identifier: Apache-2.0
/// `sluice batch --device`: the options, and the devices that they name.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "cli/command_line.h"
#include "experiment/batch/batch_file.h"
#include "experiment/run.h"
#include "gpu/lane/image.h"
#include "gpu/lane/lane_devices.h"

namespace sluice {

struct DeviceOptions {
    std::string device = "cpu";
    std::string memory;       ///< of each device, for lanes; "": what is free
    std::string lane_memory;  ///< of each lane, at most; "": no limit of its own
    unsigned gpus = 1;
    unsigned gang = 1;
    unsigned lanes = 0;  ///< experiments on all devices at once; 0: not said
};

void add_device_options(CommandLine app, DeviceOptions& options);

/// Experiments at a time, each with a thread of its own; `threads`: as many as the user wants, 0 if he has not said.
/// ConfigError.
unsigned lanes_at_once(const DeviceOptions& options, unsigned threads);

/// Of each lane. ConfigError; also where no device is asked for.
gpu::LaneMemory lane_memory(const DeviceOptions& options);

/// Null: the modes' own engines. At most `lanes` lanes at once. ConfigError.
std::unique_ptr<gpu::LaneDevices> make_devices(const DeviceOptions& options, unsigned lanes);

/// Makes runs on the devices, which outlive it. Empty where there are none: every mode's own engine.
RunMaker lane_maker(gpu::LaneDevices* devices, const gpu::LaneMemory& memory);

/// What --plan says of them; "" for the modes' own engines. ConfigError.
std::string plan_devices(const DeviceOptions& options, const Batch& batch, unsigned lanes,
                         bool allow_oom);

}  // namespace sluice
