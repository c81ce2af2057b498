// SPDX-License-Identifier: Apache-2.0
#include "core/fold/fold.h"

#include <algorithm>
#include <iterator>

namespace sluice::step {

void Turn::lead(FlowRoute& of_flow) {
    std::copy_n(of_flow.port, 2 * kPathHops, route);
    led = true;
    std::fill_n(of_flow.port, 2 * kPathHops, PortId{kNone});
    std::copy_n(print.port, print.data, of_flow.port);
    std::copy(print.port + print.data, print.port + print.units, of_flow.port + kPathHops);
}

void Turn::restore(FlowRoute& of_flow) const { std::copy_n(route, 2 * kPathHops, of_flow.port); }

std::vector<std::uint32_t> Fold::part_of(std::uint32_t number) const {
    std::vector<std::uint32_t> numbers;
    for (std::uint32_t i = 0; i < image.size(); ++i) {
        const bool same = image[i] != nullptr && turned() && image[i]->part == image[number]->part;
        if (i == number || same) {
            numbers.push_back(i);
        }
    }
    return numbers;
}

FlowGroups Fold::members() const {
    FlowGroups members = {members_of(flow)};
    for (const auto& copy : image) {
        if (copy != nullptr) {
            members.push_back(members_of(copy->flow));
        }
    }
    return members;
}

FlowGroup members_of(const std::vector<FlowSlot>& flows) {
    FlowGroup members;
    std::copy_if(flows.begin(), flows.end(), std::back_inserter(members),
                 [](FlowSlot flow) { return flow != kNone; });
    return members;
}

}  // namespace sluice::step
