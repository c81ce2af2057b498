// SPDX-License-Identifier: Apache-2.0
#include "core/audit/draws.h"

#include <algorithm>
#include <cmath>

#include "core/random.h"

namespace sluice::audit {

namespace {

constexpr std::uint64_t kAuditDraws = 0x6175646974;
/// What is drawn counts at least this part of the mean of those before.
constexpr double kLeastWeight = 0.1;
/// By so much the draws catch up where less was spent than is due.
constexpr double kMostFactor = 4;
/// The part of its share that an audit aims at, so that luck seldom takes more than that.
constexpr double kAim = 0.8;
/// Packet-hops where ACKs are no packets, of as many where they are: each includes what an ACK takes.
constexpr double kWithoutAcks = 0.5;
/// Of the advance, packet-hops at once.
constexpr double kFirstAdvance = 32'768;
/// More than is due makes draws rarer by this power of the ratio.
constexpr double kBrake = 8;
/// Nothing is to take, in expectation, more than one of so many parts of what is due.
constexpr double kFewestAudits = 128;
/// The first of each stratum are drawn with that probability at least, unless one took more than one of so
/// many parts of what is due: what nothing was drawn of nothing is known of.
constexpr int kFirst = 4;
constexpr double kFirstProbability = 0.5;
constexpr double kFewestFirst = 10;
/// Packet-hops that a candidate counts with at least. The audit of a skip in which nothing is sent costs none, and there is a
/// division by the cost.
constexpr double kLeastCost = 1;

}  // namespace

double Draws::draw(const Candidate& candidate) {
    const double probability = probability_of(candidate);
    return draws(candidate.stratum, probability) ? probability : 0;
}

double Draws::due() const {
    // Every packet-hop is two events.
    return std::max({kAim * share_ * static_cast<double>(world_.events) / 2, kFirstAdvance,
                     progress_ * advance_ * (world_.answers == nullptr ? 1 : kWithoutAcks)});
}

/// The more it weighs and the less it costs, the likelier it is drawn; such that all that is due is spent, if what
/// comes goes on to be what it was.
double Draws::probability_of(const Candidate& candidate) {
    const double cost = std::max(candidate.cost, kLeastCost);
    if (candidate.certain) {
        return 1;
    }
    ++candidates_;
    weights_ += candidate.weight;
    const double least = kLeastWeight * weights_ / static_cast<double>(candidates_);
    const double worth = std::max(candidate.weight, least) / std::sqrt(cost);
    worth_of_cost_ += worth * cost;
    const double ahead = std::max(planned_, spent_) / due();
    const double factor =
        ahead < 1 ? std::min(kMostFactor, 1 / (ahead * ahead)) : std::pow(ahead, -kBrake);
    const double most = candidate.copies * due() / (kFewestAudits * cost);
    const double usual = std::min({1.0, factor * worth * due() / worth_of_cost_, most});
    const bool early = seen_[candidate.stratum]++ < kFirst;
    const double first = std::min(kFirstProbability, due() / (kFewestFirst * cost));
    const double probability = early ? std::max(usual, first) : usual;
    planned_ += probability * cost;
    return probability;
}

/// Of what is alike every so many are drawn, by a random start.
bool Draws::draws(int stratum, double probability) {
    const auto known = passed_.find(stratum);
    if (known == passed_.end()) {
        const auto number = static_cast<std::uint64_t>(stratum);
        passed_[stratum] = uniform(seed_, random_stream(kAuditDraws, number), 0);
    }
    double& passed = passed_[stratum];
    const double before = std::floor(passed);
    passed += probability;
    return std::floor(passed) > before;
}

}  // namespace sluice::audit
