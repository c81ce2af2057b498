// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/lane_collectives.h"

namespace sluice {

namespace {

void take_over(SlotRun& run, const LaneGroup& group, const std::vector<OpId>& done) {
    for (std::size_t i = 0; i < group.size(); ++i) run.done[group[i]] = done[i];
}

}  // namespace

LaneCollectives::LaneCollectives(const IterationPlan& plan, CollectiveLibrary& library)
    : plan_(plan), library_(library) {}

Members LaneCollectives::members_of(const SlotRun& run, const LaneGroup& group) const {
    Members members;
    members.ranks.reserve(group.size());
    members.after.reserve(group.size());
    for (const Lane lane : group) {
        members.ranks.push_back(plan_.rank(run.device, lane));
        members.after.push_back(run.done[lane]);
    }
    return members;
}

void LaneCollectives::add(SlotRun& run, const LaneGroup& group, CollectiveKind kind,
                          const CollectiveSpec& spec) {
    take_over(run, group, library_.add(kind, spec, members_of(run, group)));
}

void LaneCollectives::add_over(SlotRun& run, const LaneGroups& groups, const char* group_name,
                               CollectiveKind kind, const CollectiveSpec& spec) {
    CollectiveSpec numbered = spec;
    const std::string prefix = "pp" + std::to_string(run.device) + "." + group_name;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        if (groups[g].size() == 1) continue;
        numbered.group = prefix + std::to_string(g);
        add(run, groups[g], kind, numbered);
    }
}

void LaneCollectives::add_uneven(SlotRun& run, const LaneGroup& group, const CollectiveSpec& spec,
                                 const std::vector<std::int64_t>& bytes) {
    take_over(run, group, library_.add_uneven_all_to_all(spec, members_of(run, group), bytes));
}

OpId LaneCollectives::send(RankId from, RankId to, const CollectiveSpec& spec, OpId after) {
    return library_.add_point_to_point(spec, from, to, after).to;
}

}  // namespace sluice
