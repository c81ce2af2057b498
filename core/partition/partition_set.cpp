// SPDX-License-Identifier: Apache-2.0
#include "core/partition/partition_set.h"

#include <algorithm>
#include <functional>
#include <string>

#include "core/error.h"

namespace sluice {
namespace {

[[noreturn]] void fail(const char* what, std::uint32_t id, const char* problem) {
    throw InternalError("PartitionSet: " + std::string(what) + " " + std::to_string(id) + " " +
                        problem);
}

template <typename T>
std::size_t bytes(const std::vector<T>& column) {
    return column.capacity() * sizeof(T);
}

}  // namespace

PartitionSet::PartitionSet(std::size_t resources, std::size_t flows)
    : resources_(resources), slot_of_(flows, kNone), of_size_(1, 0) {}

PartitionSet::Entry PartitionSet::enter(FlowSlot flow, FlowId name,
                                        const std::vector<ResourceId>& resources) {
    if (flow == kNone || contains(flow)) {
        fail("flow", flow, "cannot enter: it is a member already, or no flow");
    }
    if (resources.empty()) {
        fail("flow", flow, "uses no resource");
    }
    const ResourceId highest = *std::max_element(resources.begin(), resources.end());
    if (highest == kNone) {
        fail("flow", flow, "uses a resource that is none");
    }
    if (highest >= resources_.size()) {
        resources_.resize(std::max<std::size_t>(highest + std::size_t{1}, resources_.size() * 2));
    }

    // Into scratch first: `resources` may be a member's own list, which moves if members_ grows.
    uses_.clear();
    touched_.clear();
    const std::uint64_t mark = next_mark_++;
    for (const ResourceId r : resources) {
        Resource& resource = resources_[r];
        if (resource.mark == mark) {
            continue;
        }
        resource.mark = mark;
        uses_.push_back(r);
        if (resource.partition != kNone) {
            touched_.push_back(resource.partition);
        }
    }
    std::sort(touched_.begin(), touched_.end());
    touched_.erase(std::unique(touched_.begin(), touched_.end()), touched_.end());

    Entry entry;
    entry.partition = touched_.empty() ? take_id() : largest_of(touched_);
    const std::size_t before = partitions_[entry.partition].flows.size();
    for (const PartitionId id : touched_) {
        if (id != entry.partition) {
            absorb(entry.partition, id);
            entry.absorbed.push_back(id);
        }
    }
    const std::uint32_t slot = take_member(flow);
    Member& member = members_[slot];
    member.name = name;
    member.resources.assign(uses_.begin(), uses_.end());
    for (std::uint32_t use = 0; use < uses_.size(); ++use) {
        Resource& resource = resources_[uses_[use]];
        if (resource.partition == kNone) {
            add_resource(entry.partition, uses_[use]);
        }
        member.place.push_back(static_cast<std::uint32_t>(resource.users.size()));
        resource.users.push_back({slot, use});
    }
    add_flow(entry.partition, slot);
    count_size(before, partitions_[entry.partition].flows.size());
    return entry;
}

PartitionSet::Exit PartitionSet::leave(FlowSlot flow) {
    const PartitionId id = member(flow).partition;
    const std::uint32_t slot = slot_of_[flow];
    const std::size_t before = partitions_[id].flows.size();
    remove_uses(id, slot);
    remove_flow(id, slot);
    slot_of_[flow] = kNone;
    free_members_.push_back(slot);

    Exit exit;
    if (before == 1) {
        count_size(before, 0);
        release_id(id);
        return exit;
    }
    exit.partition = id;
    search();
    if (!finished_.empty()) {
        split(id, exit.split_off);
    }
    count_size(before, partitions_[id].flows.size());
    return exit;
}

bool PartitionSet::contains(FlowSlot flow) const {
    return flow < slot_of_.size() && slot_of_[flow] != kNone;
}

PartitionId PartitionSet::partition_of(FlowSlot flow) const {
    return contains(flow) ? members_[slot_of_[flow]].partition : kNone;
}

PartitionId PartitionSet::partition_of_resource(ResourceId r) const {
    return r < resources_.size() ? resources_[r].partition : kNone;
}

const std::vector<FlowSlot>& PartitionSet::flows(PartitionId id) const {
    return partition(id).flows;
}

const std::vector<ResourceId>& PartitionSet::resources(PartitionId id) const {
    return partition(id).resources;
}

const std::vector<ResourceId>& PartitionSet::resources_of(FlowSlot flow) const {
    return member(flow).resources;
}

std::vector<PartitionId> PartitionSet::partitions() const {
    std::vector<PartitionId> ids;
    ids.reserve(count_);
    for (PartitionId id = 0; id < partitions_.size(); ++id) {
        if (!partitions_[id].flows.empty()) {
            ids.push_back(id);
        }
    }
    return ids;
}

std::size_t PartitionSet::memory_bytes() const {
    std::size_t sum = bytes(resources_) + bytes(slot_of_) + bytes(members_) + bytes(free_members_) +
                      bytes(partitions_) + bytes(free_ids_) + bytes(of_size_) + bytes(uses_) +
                      bytes(touched_) + bytes(seeds_) + bytes(searches_) + bytes(active_) +
                      bytes(finished_) + bytes(parts_);
    for (const Resource& resource : resources_) {
        sum += bytes(resource.users);
    }
    for (const Member& member : members_) {
        sum += bytes(member.resources) + bytes(member.place);
    }
    for (const Partition& partition : partitions_) {
        sum += bytes(partition.flows) + bytes(partition.resources);
    }
    return sum;
}

const PartitionSet::Member& PartitionSet::member(FlowSlot flow) const {
    if (!contains(flow)) {
        fail("flow", flow, "is not a member");
    }
    return members_[slot_of_[flow]];
}

const PartitionSet::Partition& PartitionSet::partition(PartitionId id) const {
    if (id >= partitions_.size() || partitions_[id].flows.empty()) {
        fail("partition", id, "does not exist");
    }
    return partitions_[id];
}

std::uint32_t PartitionSet::take_member(FlowSlot flow) {
    if (flow >= slot_of_.size()) {
        slot_of_.resize(std::max<std::size_t>(flow + std::size_t{1}, slot_of_.size() * 2), kNone);
    }
    if (free_members_.empty()) {
        free_members_.push_back(static_cast<std::uint32_t>(members_.size()));
        members_.emplace_back();
    }
    const std::uint32_t slot = free_members_.back();
    free_members_.pop_back();
    slot_of_[flow] = slot;
    Member& member = members_[slot];
    member.flow = flow;
    member.place.clear();
    return slot;
}

PartitionId PartitionSet::take_id() {
    ++count_;
    if (free_ids_.empty()) {
        partitions_.emplace_back();
        return static_cast<PartitionId>(partitions_.size() - 1);
    }
    std::pop_heap(free_ids_.begin(), free_ids_.end(), std::greater<>());
    const PartitionId id = free_ids_.back();
    free_ids_.pop_back();
    return id;
}

void PartitionSet::release_id(PartitionId id) {
    --count_;
    free_ids_.push_back(id);
    std::push_heap(free_ids_.begin(), free_ids_.end(), std::greater<>());
}

PartitionId PartitionSet::largest_of(const std::vector<PartitionId>& ids) const {
    return *std::max_element(ids.begin(), ids.end(), [this](PartitionId a, PartitionId b) {
        return partitions_[a].flows.size() < partitions_[b].flows.size();
    });
}

/// A partition's number of flows changes. The way down costs no more than the change itself: what
/// the largest loses goes in one flow or was just moved into a part of its own.
void PartitionSet::count_size(std::size_t before, std::size_t after) {
    if (after >= of_size_.size()) {
        of_size_.resize(std::max(after + 1, of_size_.size() * 2), 0);
    }
    if (before > 0) {
        --of_size_[before];
    }
    if (after > 0) {
        ++of_size_[after];
    }
    largest_ = std::max(largest_, after);
    while (largest_ > 0 && of_size_[largest_] == 0) {
        --largest_;
    }
}

void PartitionSet::add_flow(PartitionId id, std::uint32_t slot) {
    std::vector<FlowSlot>& flows = partitions_[id].flows;
    Member& member = members_[slot];
    member.partition = id;
    member.position = static_cast<std::uint32_t>(flows.size());
    flows.push_back(member.flow);
}

void PartitionSet::remove_flow(PartitionId id, std::uint32_t slot) {
    std::vector<FlowSlot>& flows = partitions_[id].flows;
    const std::uint32_t position = members_[slot].position;
    const FlowSlot last = flows.back();
    flows[position] = last;
    members_[slot_of_[last]].position = position;
    flows.pop_back();
}

void PartitionSet::add_resource(PartitionId id, ResourceId r) {
    std::vector<ResourceId>& list = partitions_[id].resources;
    Resource& resource = resources_[r];
    resource.partition = id;
    resource.position = static_cast<std::uint32_t>(list.size());
    list.push_back(r);
}

void PartitionSet::remove_resource(PartitionId id, ResourceId r) {
    std::vector<ResourceId>& list = partitions_[id].resources;
    const std::uint32_t position = resources_[r].position;
    const ResourceId last = list.back();
    list[position] = last;
    resources_[last].position = position;
    list.pop_back();
    resources_[r].partition = kNone;
}

void PartitionSet::absorb(PartitionId into, PartitionId id) {
    count_size(partitions_[id].flows.size(), 0);
    for (const FlowSlot flow : partitions_[id].flows) {
        add_flow(into, slot_of_[flow]);
    }
    for (const ResourceId r : partitions_[id].resources) {
        add_resource(into, r);
    }
    examined_ += partitions_[id].flows.size() + partitions_[id].resources.size();
    partitions_[id].flows.clear();
    partitions_[id].resources.clear();
    release_id(id);
}

/// Takes a member off its resources' lists; those that others still use become the seeds.
void PartitionSet::remove_uses(PartitionId id, std::uint32_t slot) {
    seeds_.clear();
    Member& member = members_[slot];
    for (std::size_t use = 0; use < member.resources.size(); ++use) {
        const ResourceId r = member.resources[use];
        std::vector<User>& users = resources_[r].users;
        const User last = users.back();
        const std::uint32_t place = member.place[use];
        users[place] = last;
        members_[last.member].place[last.use] = place;
        users.pop_back();
        if (users.empty()) {
            remove_resource(id, r);
        } else {
            seeds_.push_back(r);
        }
    }
}

void PartitionSet::move(const Part& part, PartitionId from, PartitionId to) {
    std::uint32_t slot = part.first;
    for (std::uint32_t i = 0; i < part.flows; ++i) {
        remove_flow(from, slot);
        add_flow(to, slot);
        for (const ResourceId r : members_[slot].resources) {
            if (resources_[r].partition == from) {
                remove_resource(from, r);
                add_resource(to, r);
            }
        }
        examined_ += members_[slot].resources.size();
        slot = members_[slot].next;
    }
}

}  // namespace sluice
