// SPDX-License-Identifier: Apache-2.0
#include "restore/queue_model.h"

#include <algorithm>

namespace sluice::restore {

std::int64_t depth_unit(const PortContext& context) {
    if (context.mark_bytes > 0) return context.mark_bytes;
    const double bits =
        static_cast<double>(context.line_rate) * static_cast<double>(context.base_rtt) / kSecond;
    return std::max<std::int64_t>(static_cast<std::int64_t>(bits / 8), 1);
}

int QueueModel::place_of(congestion::Law law) const {
    const auto found = std::find(laws.begin(), laws.end(), congestion::law_name(law));
    return found == laws.end() ? -1 : static_cast<int>(found - laws.begin());
}

std::vector<std::string> law_names() {
    std::vector<std::string> names;
    congestion::Parameters parameters;
    congestion::for_each_law(parameters, [&](congestion::Law, const char* name, const auto&,
                                             const auto&) { names.emplace_back(name); });
    return names;
}

}  // namespace sluice::restore
