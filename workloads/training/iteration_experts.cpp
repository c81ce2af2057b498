// SPDX-License-Identifier: Apache-2.0
/// Exchange of tokens between ranks and experts.
#include <cmath>
#include <map>

#include "core/error.h"
#include "workloads/training/expert_load.h"
#include "workloads/training/iteration_builder.h"

namespace sluice {

namespace {

/// parts[i] to member i from every member, or with `back` the other way round.
std::vector<std::int64_t> matrix_of(const std::vector<std::int64_t>& parts, bool back) {
    const std::size_t n = parts.size();
    std::vector<std::int64_t> bytes(n * n, 0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (i != j) bytes[i * n + j] = parts[back ? i : j];
        }
    }
    return bytes;
}

}  // namespace

const std::vector<double>& IterationBuilder::shares_of(std::int64_t layer) {
    std::vector<double>& shares = layer_shares_[static_cast<std::size_t>(layer)];
    if (shares.empty()) {
        const ModelShape& model = config_.model;
        shares = member_shares(
            expert_shares(config_.expert_load, model.experts, model.top_k, layer), config_.ep);
    }
    return shares;
}

/// How much longer a step takes on a lane whose experts have more than the mean to do.
double IterationBuilder::expert_slowdown(std::uint32_t stage, const Step& step, Lane lane) {
    const std::vector<double>& shares = shares_of(costs_.stages[stage].range.first + step.layer);
    const double load = shares[member_index_[lane]] * static_cast<double>(shares.size());
    return 1 + step.routed * (load - 1);
}

void IterationBuilder::exchange(SlotRun& run, const Step& step) {
    open_slot(run);
    CollectiveSpec spec;
    spec.name = layer_name(run, step);
    spec.cls = OpClass::ep;
    const bool dispatch = step.kind == StepKind::to_experts && step.forward;
    spec.bytes = dispatch ? costs_.dispatch_bytes : costs_.combine_bytes;
    const LaneGroups& groups = groups_.experts();
    for (std::size_t g = 0; g < groups.size(); ++g) {
        spec.group = "pp" + std::to_string(run.device) + ".ep" + std::to_string(g);
        if (config_.node_limit > 0 && exchange_by_server(run, step, groups[g], spec)) continue;
        if (config_.expert_load.uneven()) {
            const std::int64_t layer = costs_.stages[run.stage].range.first + step.layer;
            const std::vector<std::int64_t> parts = deal_bytes(spec.bytes, shares_of(layer));
            const bool back = step.kind == StepKind::from_experts;
            take_over(run, groups[g],
                      library_.add_uneven_all_to_all(spec, members_of(run, groups[g]),
                                                     matrix_of(parts, back)));
        } else {
            take_over(run, groups[g],
                      library_.add(CollectiveKind::all_to_all, spec, members_of(run, groups[g])));
        }
    }
}

void IterationBuilder::exchange_all(SlotRun& run, const Step& step) {
    CollectiveSpec spec;
    spec.name = layer_name(run, step);
    spec.cls = OpClass::ep;
    spec.bytes = step.bytes;
    add_over(run, groups_.experts(), "ep", CollectiveKind::all_to_all, spec);
}

namespace {

/// How many members of a group each server has: the same everywhere, or ConfigError.
template <typename Servers>
std::size_t members_of_each(const Servers& servers, const std::string& group) {
    const std::size_t places = servers.begin()->second.size();
    for (const auto& [server, members] : servers) {
        if (members.size() == places) continue;
        throw ConfigError("node_limit needs expert groups with as many members in every server: " +
                          group + " has " + std::to_string(places) + " in one and " +
                          std::to_string(members.size()) + " in another");
    }
    return places;
}

}  // namespace

/// Node-limited routing: one copy of a token to each server that it visits, to the member in the
/// sender's place there, which hands it to the server's experts; results the same way back, summed
/// in the server. Returns false where the group is in one server.
bool IterationBuilder::exchange_by_server(SlotRun& run, const Step& step, const LaneGroup& group,
                                          const CollectiveSpec& spec) {
    std::map<std::uint32_t, LaneGroup> servers;
    std::map<std::uint32_t, double> popularity;
    const std::vector<double>& shares =
        shares_of(costs_.stages[run.stage].range.first + step.layer);
    for (std::size_t i = 0; i < group.size(); ++i) {
        const std::uint32_t server = places_.server[rank(run.device, group[i])];
        servers[server].push_back(group[i]);
        popularity[server] += shares[i];
    }
    if (servers.size() == 1) return false;
    const std::size_t places = members_of_each(servers, spec.group);
    std::vector<double> visits;
    for (const auto& [server, share] : popularity) visits.push_back(share);
    visits = server_visits(visits, config_.node_limit, config_.model.top_k);
    const std::int64_t one_copy = spec.bytes / config_.model.top_k;
    const bool back = step.kind == StepKind::from_experts;
    const auto across = [&] {
        std::vector<std::int64_t> parts;
        for (const double visit : visits) {
            parts.push_back(std::llround(static_cast<double>(one_copy) * visit));
        }
        for (std::size_t place = 0; place < places; ++place) {
            LaneGroup rail;
            for (const auto& [server, members] : servers) rail.push_back(members[place]);
            CollectiveSpec named = spec;
            named.name += " servers";
            named.group += ".rail" + std::to_string(place);
            named.bytes = one_copy;
            take_over(run, rail,
                      library_.add_uneven_all_to_all(named, members_of(run, rail),
                                                     matrix_of(parts, back)));
        }
    };
    const auto inside = [&] {
        std::size_t number = 0;
        for (const auto& [server, members] : servers) {
            std::vector<double> local;
            for (const Lane lane : members) local.push_back(shares[member_index_[lane]]);
            // Every member forwards what came from its place in all servers.
            const auto all = spec.bytes * static_cast<std::int64_t>(servers.size());
            CollectiveSpec named = spec;
            named.group += ".server" + std::to_string(number++);
            named.bytes = all;
            take_over(run, members,
                      library_.add_uneven_all_to_all(named, members_of(run, members),
                                                     matrix_of(deal_bytes(all, local), back)));
        }
    };
    if (back) {
        inside();
        across();
    } else {
        across();
        inside();
    }
    return true;
}

}  // namespace sluice
