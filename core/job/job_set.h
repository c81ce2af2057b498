// SPDX-License-Identifier: Apache-2.0
/// Several jobs on one network, each on hosts of its own and from its own start time.
/// A job's callbacks know nothing of the others: timers carry the number of their job, flows belong
/// to the job whose range of ids holds them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/flow/application.h"
#include "core/job/job_application.h"

namespace sluice {

class JobSet final : public Application {
  public:
    /// At most kMostJobs, in order of their flows' ids. Its hosts must be nobody else's.
    static constexpr std::size_t kMostJobs = 65'536;
    void add(std::unique_ptr<JobApplication> job, Tick start);

    bool waits_at(NodeId host) const override { return job_on(host) < jobs_.size(); }
    Tick signal_lookahead() const override;
    void on_begin(NodeId host, HostServices& services) override;
    void on_received(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_sent(NodeId host, FlowId flow, Tick now, HostServices& services) override;
    void on_timer(NodeId host, std::uint64_t token, Tick now, HostServices& services) override;

    std::size_t size() const { return jobs_.size(); }
    const JobApplication& job(std::size_t index) const { return *jobs_[index].application; }
    Tick start(std::size_t index) const { return jobs_[index].start; }

  private:
    struct Job {
        std::unique_ptr<JobApplication> application;
        Tick start = 0;
    };

    std::size_t job_on(NodeId host) const;
    std::size_t job_of(FlowId flow) const;

    std::vector<Job> jobs_;
    std::vector<std::uint32_t> job_by_host_;  ///< by node id; kNone: no job's
};

}  // namespace sluice
