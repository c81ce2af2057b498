// SPDX-License-Identifier: Apache-2.0
#include "core/audit/told.h"

#include <algorithm>
#include <cmath>

namespace sluice::audit {

namespace {

/// Numbers of an audit in the memo: Found's.
constexpr std::size_t kNumbers = 4;
/// An interval takes so many.
constexpr std::size_t kFewestClusters = 2;

double foreseen_time(const hybrid::Episode& episode, std::size_t flow) {
    return static_cast<double>(episode.foreseen[flow].finish - episode.flows[flow].start);
}

/// From the begin to the last byte.
double foreseen_length(const hybrid::Episode& episode) {
    Tick last = 0;
    for (const hybrid::EpisodeEnd& end : episode.foreseen) {
        last = std::max(last, end.received);
    }
    return static_cast<double>(last - episode.begin);
}

}  // namespace

int stratum_of(double time) { return std::ilogb(time); }

/// What is known of the episode's kind, by earlier runs at least.
ToldAudit::Kind& ToldAudit::kind_of(const hybrid::Episode& episode) {
    const auto [found, fresh] = kinds_.try_emplace(episode.key);
    Kind& kind = found->second;
    if (!fresh) {
        return kind;
    }
    double time = 0;
    for (std::size_t i = 0; i < episode.flows.size(); ++i) {
        time += foreseen_time(episode, i) / static_cast<double>(episode.flows.size());
    }
    kind.stratum = stratum_of(time);
    const memo::Entry* const entry = memo_ == nullptr ? nullptr : memo_->find(episode.key, 0);
    for (std::size_t i = 0; entry != nullptr && i < entry->audits.size(); ++i) {
        const std::vector<double>& values = entry->audits[i].values;
        if (values.size() == kNumbers) {
            kind.found.push_back({0, values[0], values[1], values[2], values[3]});
            ++inherited_;
        }
    }
    return kind;
}

bool ToldAudit::may_tell(const hybrid::Episode& episode) {
    const Kind& kind = kind_of(episode);
    const std::size_t own = kind.found.size();
    return own > 0 && (kind.flows > 0 ? 0 : own) + clusters() >= kFewestClusters;
}

void ToldAudit::told(const hybrid::Episode& episode) {
    Kind& kind = kind_of(episode);
    const auto flows = static_cast<double>(episode.flows.size());
    kind.flows += flows;
    kind.time += flows * foreseen_length(episode);
    flows_ += flows;
    ++told_;
}

void ToldAudit::compared(const hybrid::Episode& episode, double probability, Tick now) {
    Found found;
    found.weight = 1 / probability;
    found.flows = static_cast<double>(episode.flows.size());
    double late = 0;
    double time = 0;
    Tick last = 0;
    for (std::size_t i = 0; i < episode.flows.size(); ++i) {
        const hybrid::EpisodeFlow& flow = episode.flows[i];
        late += static_cast<double>(flow.finish - episode.foreseen[i].finish);
        time += foreseen_time(episode, i);
        last = std::max(last, flow.received);
    }
    found.shares = found.flows * late / time;
    const double length = foreseen_length(episode);
    found.time = found.flows * length;
    found.lost = found.flows * (static_cast<double>(last - episode.begin) - length);
    largest_ = std::max(largest_, std::abs(found.shares) / found.flows);
    ++compared_;
    kind_of(episode).found.push_back(found);
    if (memo_ != nullptr) {
        memo_->add_audit(episode.key, now, {{found.shares, found.flows, found.lost, found.time}});
    }
}

bool ToldAudit::enough() const { return told_ == 0 || clusters() >= kFewestClusters; }

std::size_t ToldAudit::clusters() const {
    std::size_t count = 0;
    for (const auto& [digest, kind] : kinds_) {
        count += kind.flows > 0 ? kind.found.size() : 0;
    }
    return count;
}

/// What was found of a kind, with a weight each.
std::vector<ToldAudit::Found> ToldAudit::weighted(const Kind& kind) {
    std::vector<Found> found = kind.found;
    double own = 0;
    double weights = 0;
    for (const Found& one : found) {
        own += one.weight > 0 ? 1 : 0;
        weights += one.weight;
    }
    for (Found& one : found) {
        one.weight = one.weight > 0 ? one.weight : own > 0 ? weights / own : 1;
    }
    return found;
}

ToldAudit::Lost ToldAudit::lost() const {
    StratifiedRatio shares;
    StratifiedRatio times;
    std::uint64_t cluster = 0;
    for (const auto& [digest, kind] : kinds_) {
        if (kind.flows == 0) {
            continue;
        }
        shares.count(kind.stratum, kind.flows);
        times.count(kind.stratum, kind.time);
        const std::vector<Found> all = weighted(kind);
        double flows = 0;
        double time = 0;
        for (const Found& found : all) {
            flows += found.weight * found.flows;
            time += found.weight * found.time;
        }
        for (const Found& found : all) {
            const double by_flows = found.weight * kind.flows / flows;
            const double by_time = found.weight * kind.time / time;
            shares.add(kind.stratum, cluster, by_flows * found.shares, by_flows * found.flows);
            times.add(kind.stratum, cluster, by_time * found.lost, by_time * found.time);
            ++cluster;
        }
    }
    return {shares.total(), times.total()};
}

}  // namespace sluice::audit
