// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_writer.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/error.h"

namespace sluice {

namespace {

constexpr std::int64_t kUpdate = 100;  ///< ns, as AICB writes
constexpr std::int64_t kMostLines = 10'000'000;

}  // namespace

std::int64_t aicb_replicas(const AicbJob& job) { return job.world / (job.tp * job.pp); }

std::int64_t aicb_micro_batches(const AicbJob& job) {
    return job.global_batch / (job.micro_batch * aicb_replicas(job));
}

void check_aicb_job(const AicbJob& job) {
    check_model(job.model);
    const auto refuse = [&](const std::string& message) {
        throw ConfigError("AICB workload of " + job.model.name + ": " + message);
    };
    for (const std::int64_t degree :
         {job.world, job.tp, job.pp, job.ep, job.micro_batch, job.global_batch, job.sequence}) {
        if (degree < 1 || degree > 1'000'000'000) {
            refuse("degrees, batches and the sequence must be 1 to 10^9");
        }
    }
    if (job.world % (job.tp * job.pp) != 0) {
        refuse(fmt::format("tp {} x pp {} does not divide {} GPUs", job.tp, job.pp, job.world));
    }
    if (aicb_replicas(job) % job.ep != 0) {
        refuse(fmt::format("ep {} does not divide dp {}", job.ep, aicb_replicas(job)));
    }
    if (job.model.layers % job.pp != 0) {
        refuse(fmt::format("pp {} does not divide {} layers: the file describes one stage for all",
                           job.pp, job.model.layers));
    }
    if (job.global_batch % (job.micro_batch * aicb_replicas(job)) != 0) {
        refuse(fmt::format("micro-batch {} x dp {} does not divide the global batch {}",
                           job.micro_batch, aicb_replicas(job), job.global_batch));
    }
    if (job.model.experts > 0 && job.model.experts % job.ep != 0) {
        refuse(fmt::format("ep {} does not divide {} experts", job.ep, job.model.experts));
    }
    if (aicb_micro_batches(job) > kMostLines / (10 * (job.model.layers / job.pp + 2))) {
        refuse(fmt::format("{} micro-batches are more than {} lines", aicb_micro_batches(job),
                           kMostLines));
    }
}

std::int64_t aicb_activation(const AicbJob& job) {
    return 2 * job.micro_batch * job.sequence * job.model.hidden;
}

AicbWriter::AicbWriter(const AicbJob& job) {
    work_.file = "generated";
    AicbHeader& header = work_.header;
    header.tp = job.tp;
    header.ep = job.ep;
    header.pp = job.pp;
    header.vpp = job.model.layers / job.pp;
    header.ga = aicb_micro_batches(job);
    header.all_gpus = job.world;
    if (job.pp > 1) {
        header.pp_comm = aicb_activation(job) / (job.sequence_parallel ? job.tp : 1);
    }
}

void AicbWriter::add(const std::string& name, std::int64_t forward_time, const AicbLine& forward,
                     std::int64_t input_time, const AicbLine& input, std::int64_t weight_time,
                     const AicbLine& weight) {
    AicbLayer layer;
    layer.work[kForward] = {forward_time, forward.bytes, forward.comm, forward.suffix};
    layer.work[kInputGradient] = {input_time, input.bytes, input.comm, input.suffix};
    layer.work[kWeightGradient] = {weight_time, weight.bytes, weight.comm, weight.suffix};
    layer.update = kUpdate;
    const auto known = std::find(work_.names.begin(), work_.names.end(), name);
    layer.name = static_cast<std::uint32_t>(known - work_.names.begin());
    if (known == work_.names.end()) work_.names.push_back(name);
    layer.line = static_cast<std::int32_t>(work_.layers.size() + 3);
    work_.layers.push_back(layer);
}

void AicbWriter::add_loss(const AicbJob& job, std::int64_t time) {
    for (int i = 1; i <= 3; ++i) {
        add(fmt::format("cross_entropy{}", i), time,
            {AicbComm::all_reduce, 4 * job.sequence * job.micro_batch}, {});
    }
}

void AicbWriter::add_optimizer(std::int64_t time) {
    for (int i = 1; i <= 4; ++i) {
        add(fmt::format("optimizer{}", i), time, {AicbComm::all_reduce, 4}, {});
    }
}

AicbWorkload AicbWriter::finish() {
    work_.header_tokens = aicb_header_tokens(work_.header);
    return std::move(work_);
}

}  // namespace sluice
