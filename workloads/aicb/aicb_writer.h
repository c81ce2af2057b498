// SPDX-License-Identifier: Apache-2.0
/// What both ways to generate an AICB file share: its header, its lines. Internal to this folder.
#pragma once

#include <cstdint>
#include <string>

#include "workloads/aicb/aicb_generate.h"

namespace sluice {

constexpr std::int64_t kAicbNoTime = 1;  ///< ns, of a layer whose compute time is not known

/// ConfigError where the degrees, batches and layers do not fit each other.
void check_aicb_job(const AicbJob& job);
std::int64_t aicb_replicas(const AicbJob& job);
std::int64_t aicb_micro_batches(const AicbJob& job);
/// Bytes of an activation of a micro-batch: what tensor parallelism exchanges.
std::int64_t aicb_activation(const AicbJob& job);

/// A communication of a line.
struct AicbLine {
    AicbComm comm = AicbComm::none;
    std::int64_t bytes = 0;
    AicbSuffix suffix = AicbSuffix::plain;
};

class AicbWriter {
  public:
    explicit AicbWriter(const AicbJob& job);

    AicbHeader& header() { return work_.header; }

    void add(const std::string& name, std::int64_t forward_time, const AicbLine& forward,
             std::int64_t input_time, const AicbLine& input, std::int64_t weight_time,
             const AicbLine& weight);
    /// All of a layer's parts as long.
    void add(const std::string& name, std::int64_t time, const AicbLine& forward,
             const AicbLine& input, const AicbLine& weight = {}) {
        add(name, time, forward, time, input, time, weight);
    }
    /// The loss and the optimizer's checks: `time` each.
    void add_loss(const AicbJob& job, std::int64_t time);
    void add_optimizer(std::int64_t time);

    AicbWorkload finish();

  private:
    AicbWorkload work_;
};

}  // namespace sluice
