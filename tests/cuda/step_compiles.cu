// SPDX-License-Identifier: Apache-2.0
/// The step of a node and every congestion law, compiled for a device: the batch engine needs no
/// second copy of them. Nothing here is run.
#include "core/packet/nic.h"

namespace {

using namespace sluice;

/// One world per block, one thread per node: steps every node in a window.
__global__ void step_worlds(step::World* worlds, step::SwitchScratch* scratch, Tick begin,
                            Tick end) {
    step::World& world = worlds[blockIdx.x];
    for (NodeId node = threadIdx.x; node < world.node_count; node += blockDim.x) {
        if (world.wake[node] >= end) {
            continue;
        }
        if (world.is_host[node] != 0) {
            step::host_step(world, step::whole_node(node), end);
        } else {
            step::switch_step(world, scratch[blockIdx.x * blockDim.x + threadIdx.x],
                              step::whole_node(node), begin, end);
        }
    }
}

/// Every entry point of the laws, for all laws.
__global__ void drive_laws(congestion::State* states, const congestion::Parameters* parameters,
                           const congestion::IntRates* rates, const congestion::Ack* acks,
                           std::int64_t* windows) {
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    congestion::start(states[i], parameters[i], 100'000'000'000, 104'000, 8'320'000);
    congestion::on_ack(states[i], parameters[i], *rates, acks[i]);
    const Tick due = congestion::next_timer(states[i], parameters[i]);
    if (due != kNever) {
        congestion::on_timer(states[i], parameters[i], due);
    }
    windows[i] =
        congestion::window(states[i], parameters[i]) + congestion::slowest_period(parameters[i]);
}

}  // namespace

void launch(step::World* worlds, step::SwitchScratch* scratch, congestion::State* states,
            const congestion::Parameters* parameters, const congestion::IntRates* rates,
            const congestion::Ack* acks, std::int64_t* windows) {
    step_worlds<<<1, 32>>>(worlds, scratch, 0, kMicrosecond);
    drive_laws<<<1, 32>>>(states, parameters, rates, acks, windows);
}
