// SPDX-License-Identifier: Apache-2.0
#include "core/job/job_set.h"

#include <algorithm>
#include <utility>

#include "core/error.h"

namespace sluice {

namespace {

/// An engine's services to one of several jobs.
class JobServices final : public HostServices {
  public:
    JobServices(HostServices& engine, std::size_t job) : engine_(engine), job_(job) {}

    FlowId open_flow(const FlowSpec& spec, Tick at) override { return engine_.open_flow(spec, at); }
    void start_flow(FlowId flow, Tick at) override { engine_.start_flow(flow, at); }
    void set_timer(NodeId host, Tick at, std::uint64_t token) override {
        engine_.set_timer(host, at, token | (std::uint64_t{job_} << job::kJobShift));
    }
    Tick lookahead() const override { return engine_.lookahead(); }

  private:
    HostServices& engine_;
    std::size_t job_;
};

}  // namespace

void JobSet::add(std::unique_ptr<JobApplication> job, Tick start) {
    if (jobs_.size() >= kMostJobs) {
        throw ConfigError("an experiment has at most " + std::to_string(kMostJobs) + " jobs");
    }
    const auto index = static_cast<std::uint32_t>(jobs_.size());
    for (RankId rank = 0; rank < job->graph().rank_count(); ++rank) {
        const NodeId host = job->host(rank);
        if (host >= job_by_host_.size()) job_by_host_.resize(host + std::size_t{1}, kNone);
        if (job_by_host_[host] != kNone) {
            throw InternalError("host " + std::to_string(host) + " is given to two jobs");
        }
        job_by_host_[host] = index;
    }
    jobs_.push_back({std::move(job), start});
}

std::size_t JobSet::job_on(NodeId host) const {
    return host < job_by_host_.size() ? job_by_host_[host] : kNone;
}

std::size_t JobSet::job_of(FlowId flow) const {
    const auto after = std::upper_bound(
        jobs_.begin(), jobs_.end(), flow,
        [](FlowId id, const Job& job) { return id < job.application->first_flow(); });
    return after == jobs_.begin() ? jobs_.size()
                                  : static_cast<std::size_t>(after - jobs_.begin() - 1);
}

Tick JobSet::signal_lookahead() const {
    Tick least = kNever;
    for (const Job& job : jobs_) least = std::min(least, job.application->signal_lookahead());
    return least;
}

void JobSet::on_begin(NodeId host, HostServices& services) {
    const std::size_t index = job_on(host);
    if (index >= jobs_.size()) return;
    JobServices own(services, index);
    jobs_[index].application->reset(host);
    if (jobs_[index].start == 0) {
        jobs_[index].application->begin(host, 0, own);
    } else {
        services.set_timer(host, jobs_[index].start, job::kStart);
    }
}

void JobSet::on_received(NodeId host, FlowId flow, Tick now, HostServices& services) {
    const std::size_t index = job_of(flow);
    if (index >= jobs_.size()) return;
    JobServices own(services, index);
    jobs_[index].application->on_received(host, flow, now, own);
}

void JobSet::on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) {
    const std::size_t index = job_of(flow);
    if (index >= jobs_.size()) return;
    JobServices own(services, index);
    jobs_[index].application->on_sent(host, flow, now, own);
}

void JobSet::on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) {
    const std::size_t index = (token & job::kStart) != 0
                                  ? job_on(host)
                                  : static_cast<std::size_t>(token >> job::kJobShift);
    if (index >= jobs_.size()) return;
    JobServices own(services, index);
    if ((token & job::kStart) != 0) {
        jobs_[index].application->begin(host, now, own);
    } else {
        jobs_[index].application->on_timer(host, token & job::kOwnToken, now, own);
    }
}

}  // namespace sluice
