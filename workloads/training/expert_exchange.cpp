// SPDX-License-Identifier: Apache-2.0
#include "workloads/training/expert_exchange.h"

#include <cmath>
#include <map>

#include "core/error.h"
#include "workloads/training/expert_load.h"

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

ExpertExchange::ExpertExchange(const IterationPlan& plan, LaneCollectives& collectives)
    : plan_(plan),
      collectives_(collectives),
      layer_shares_(static_cast<std::size_t>(plan.config.model.layers)),
      member_index_(plan.lanes) {
    for (const LaneGroup& group : plan.groups.experts()) {
        for (std::size_t i = 0; i < group.size(); ++i) {
            member_index_[group[i]] = static_cast<Lane>(i);
        }
    }
}

const std::vector<double>& ExpertExchange::shares_of(std::int64_t layer) {
    std::vector<double>& shares = layer_shares_[static_cast<std::size_t>(layer)];
    if (shares.empty()) {
        const ModelShape& model = plan_.config.model;
        shares = member_shares(
            expert_shares(plan_.config.expert_load, model.experts, model.top_k, layer),
            plan_.config.ep);
    }
    return shares;
}

double ExpertExchange::slowdown(std::uint32_t stage, const Step& step, Lane lane) {
    const std::vector<double>& shares = shares_of(plan_.layer_number(stage, step.layer));
    const double load = shares[member_index_[lane]] * static_cast<double>(shares.size());
    return 1 + step.routed * (load - 1);
}

void ExpertExchange::add(SlotRun& run, const Step& step) {
    CollectiveSpec spec;
    spec.name = step_name(plan_, run, step);
    spec.cls = OpClass::ep;
    const bool dispatch = step.kind == StepKind::to_experts && step.forward;
    spec.bytes = dispatch ? plan_.costs.dispatch_bytes : plan_.costs.combine_bytes;
    const LaneGroups& groups = plan_.groups.experts();
    for (std::size_t g = 0; g < groups.size(); ++g) {
        spec.group = "pp" + std::to_string(run.device) + ".ep" + std::to_string(g);
        if (plan_.config.node_limit > 0 && exchange_by_server(run, step, groups[g], spec)) continue;
        if (plan_.config.expert_load.uneven()) {
            const std::int64_t layer = plan_.layer_number(run.stage, step.layer);
            const std::vector<std::int64_t> parts = deal_bytes(spec.bytes, shares_of(layer));
            const bool back = step.kind == StepKind::from_experts;
            collectives_.add_uneven(run, groups[g], spec, matrix_of(parts, back));
        } else {
            collectives_.add(run, groups[g], CollectiveKind::all_to_all, spec);
        }
    }
}

void ExpertExchange::add_all(SlotRun& run, const Step& step) {
    CollectiveSpec spec;
    spec.name = step_name(plan_, run, step);
    spec.cls = OpClass::ep;
    spec.bytes = step.bytes;
    collectives_.add_over(run, plan_.groups.experts(), "ep", CollectiveKind::all_to_all, spec);
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
bool ExpertExchange::exchange_by_server(SlotRun& run, const Step& step, const LaneGroup& group,
                                        const CollectiveSpec& spec) {
    std::map<std::uint32_t, LaneGroup> servers;
    std::map<std::uint32_t, double> popularity;
    const std::vector<double>& shares = shares_of(plan_.layer_number(run.stage, step.layer));
    for (std::size_t i = 0; i < group.size(); ++i) {
        const std::uint32_t server = plan_.places.server[plan_.rank(run.device, group[i])];
        servers[server].push_back(group[i]);
        popularity[server] += shares[i];
    }
    if (servers.size() == 1) return false;
    const std::size_t places = members_of_each(servers, spec.group);
    std::vector<double> visits;
    for (const auto& [server, share] : popularity) visits.push_back(share);
    visits = server_visits(visits, plan_.config.node_limit, plan_.config.model.top_k);
    const std::int64_t one_copy = spec.bytes / plan_.config.model.top_k;
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
            collectives_.add_uneven(run, rail, named, matrix_of(parts, back));
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
            collectives_.add_uneven(run, members, named, matrix_of(deal_bytes(all, local), back));
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
