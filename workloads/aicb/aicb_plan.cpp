// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_plan.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "core/error.h"

namespace sluice {

namespace {

/// Channels of a ring of these ranks, as the collective library chooses them.
double channels_of(const CollectiveOptions& options, const std::vector<RankId>& ranks) {
    if (options.channels != kUsualChannels) return options.channels;
    if (options.server == nullptr) return 1;
    std::map<std::uint32_t, std::size_t> servers;
    for (const RankId rank : ranks) ++servers[options.server(rank)];
    if (servers.size() == 1 && !options.channels_in_server) return 1;
    std::size_t least = ranks.size();
    for (const auto& [server, members] : servers) least = std::min(least, members);
    return static_cast<double>(least);
}

/// Operations of the collectives of one group.
class GroupCost {
  public:
    GroupCost(const CollectiveOptions& options, const std::vector<RankId>& ranks)
        : members_(static_cast<double>(ranks.size())),
          channels_(channels_of(options, ranks)),
          message_(2.0 + (options.step_overhead > 0 ? 1 : 0) + (options.receipt_notice ? 2 : 0) +
                   (options.forwarding > 0 ? 1 : 0)),
          computed_(options.computed_in_server && options.server != nullptr &&
                    options.server(ranks.front()) == options.server(ranks.back())) {}

    /// About: two ends per message, and what the options add.
    double operations(CollectiveKind kind) const {
        if (computed_) return 2 * members_;
        const double passes = kind == CollectiveKind::all_reduce ? 2 : 1;
        const double channels = kind == CollectiveKind::all_to_all ? 1 : channels_;
        return message_ * members_ * passes * (members_ - 1) * channels + members_;
    }

  private:
    double members_;
    double channels_;
    double message_;
    bool computed_;
};

}  // namespace

AicbPlan make_plan(const AicbWorkload& workload, const AicbGraphConfig& config) {
    AicbPlan plan;
    plan.blocks = find_micro_batches(workload);
    plan.micro_batches = plan.blocks.count;
    if (config.micro_batches > 0) {
        if (config.micro_batches > plan.blocks.count) {
            throw ConfigError(workload.file, workload.header_line,
                              fmt::format("{} micro-batches are asked for, the file has {}",
                                          config.micro_batches, plan.blocks.count));
        }
        plan.micro_batches = config.micro_batches;
    }
    const std::size_t end = plan.blocks.first + plan.blocks.count * plan.blocks.length;
    for (std::size_t i = 0; i < plan.blocks.first; ++i) {
        plan.head.push_back(static_cast<std::uint32_t>(i));
    }
    for (std::size_t i = end; i < workload.layers.size(); ++i) {
        plan.tail.push_back(static_cast<std::uint32_t>(i));
    }
    return plan;
}

double count_operations(const AicbWorkload& workload, const AicbLayout& layout,
                        const AicbGraphConfig& config) {
    const AicbPlan plan = make_plan(workload, config);
    std::map<AicbGroup, GroupCost> groups;
    double per_stage = 0;
    const double ranks = layout.stage_ranks();
    for (const std::uint32_t layer : plan.everything()) {
        for (std::size_t phase = 0; phase < kAicbPhases; ++phase) {
            const AicbWork& work = workload.layers[layer].work[phase];
            if (work.compute > 0) per_stage += ranks;
            const AicbGroup group = group_of(workload, layer, static_cast<AicbPhase>(phase));
            if (layout.size(group) < 2) continue;
            auto found = groups.find(group);
            if (found == groups.end()) {
                const GroupCost cost(config.collectives, layout.members(group, 0, 0));
                found = groups.emplace(group, cost).first;
            }
            per_stage += layout.count(group) * found->second.operations(collective_kind(work.comm));
        }
    }
    const double boundaries =
        4.0 * static_cast<double>(plan.micro_batches) * ranks * (layout.pp() - 1);
    return per_stage * layout.pp() + boundaries;
}

}  // namespace sluice
