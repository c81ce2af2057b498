// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_layout.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/error.h"

namespace sluice {

namespace {

/// The group of a communication without suffix.
AicbGroup plain_group(AicbPolicy policy, std::size_t layer, AicbPhase phase) {
    const bool weights = phase == kWeightGradient;
    switch (policy) {
        case AicbPolicy::dlrm:
        case AicbPolicy::dlrm_enhanced:
            // The embedding tables are spread over all ranks.
            if (layer == 0) return AicbGroup::all;
            return weights ? AicbGroup::all : AicbGroup::none;
        case AicbPolicy::data:
        case AicbPolicy::micro: return weights ? AicbGroup::all : AicbGroup::none;
        case AicbPolicy::model:
        case AicbPolicy::inference: return weights ? AicbGroup::none : AicbGroup::tp;
        case AicbPolicy::transformer_fwd_in_bckwd:
        case AicbPolicy::transformer:
        case AicbPolicy::data_model:
        case AicbPolicy::model_data:
        case AicbPolicy::customized: break;
    }
    return weights ? AicbGroup::dp : AicbGroup::tp;
}

/// TP where the file does not say it.
RankId default_tp(const AicbWorkload& workload, RankId world, std::uint32_t gpus_per_server) {
    const RankId server = std::min<RankId>(world, gpus_per_server);
    switch (workload.header.policy) {
        case AicbPolicy::model:
        case AicbPolicy::inference: return world;
        case AicbPolicy::data_model: return server;
        case AicbPolicy::model_data: return world / server;
        default: return 1;
    }
}

RankId at_least_one(std::int64_t degree) { return degree < 1 ? 1 : static_cast<RankId>(degree); }

}  // namespace

const char* to_string(AicbGroup group) {
    switch (group) {
        case AicbGroup::none: return "none";
        case AicbGroup::tp: return "tp";
        case AicbGroup::dp: return "dp";
        case AicbGroup::ep: return "ep";
        case AicbGroup::dp_ep: return "dp_ep";
        case AicbGroup::all: return "all";
    }
    throw InternalError("no such AICB group");
}

AicbGroup group_of(const AicbWorkload& workload, std::size_t layer, AicbPhase phase) {
    const AicbWork& work = workload.layers[layer].work[phase];
    if (!carries(work.comm) || work.bytes == 0) return AicbGroup::none;
    switch (work.suffix) {
        case AicbSuffix::plain: return plain_group(workload.layers[layer].policy, layer, phase);
        case AicbSuffix::ep: return AicbGroup::ep;
        case AicbSuffix::dp_ep: return AicbGroup::dp_ep;
        case AicbSuffix::unknown: return AicbGroup::none;
    }
    return AicbGroup::none;
}

AicbLayout::AicbLayout(const AicbWorkload& workload, RankId hosts, std::uint32_t gpus_per_server,
                       RankId gpus, ImportReport& report) {
    const AicbHeader& header = workload.header;
    const auto refuse = [&](const std::string& message) {
        throw ConfigError(workload.file, workload.header_line, message);
    };
    world_ = gpus > 0 ? gpus : header.all_gpus > 0 ? static_cast<RankId>(header.all_gpus) : hosts;
    if (world_ > hosts) {
        refuse(fmt::format("the workload is of {} GPUs, the topology has {}", world_, hosts));
    }
    if (gpus > 0 && header.all_gpus > 0 && gpus != header.all_gpus) {
        report.skipped(workload.where(),
                       fmt::format("all_gpus is {}; {} are used, as asked", header.all_gpus, gpus));
    } else if (gpus == 0 && header.all_gpus == 0) {
        report.read(workload.where(), fmt::format("names no all_gpus: all {} GPUs of the topology "
                                                  "are used",
                                                  hosts));
    } else if (world_ < hosts) {
        report.skipped(workload.where(), fmt::format("the workload is of {} GPUs and the topology "
                                                     "has {}: GPUs {} to {} are idle",
                                                     world_, hosts, world_, hosts - 1));
    }
    tp_ = header.tp > 0 ? static_cast<RankId>(header.tp)
                        : std::max<RankId>(1, default_tp(workload, world_, gpus_per_server));
    ep_ = at_least_one(header.ep);
    pp_ = at_least_one(header.pp);
    dp_fastest_ = header.policy == AicbPolicy::model_data;
    const bool transformer = header.policy == AicbPolicy::transformer_fwd_in_bckwd ||
                             header.policy == AicbPolicy::transformer;
    if (pp_ > 1 && !transformer) {
        refuse(
            fmt::format("pp is {}; policy {} has no pipeline, HYBRID_TRANSFORMER and "
                        "HYBRID_TRANSFORMER_FWD_IN_BCKWD have",
                        pp_, to_string(header.policy)));
    }
    const std::uint64_t replica = std::uint64_t{tp_} * pp_;
    if (replica > world_ || world_ % replica != 0) {
        refuse(fmt::format("tp {} x pp {} = {} does not divide the {} GPUs", tp_, pp_, replica,
                           world_));
    }
    dp_ = static_cast<RankId>(world_ / replica);
    if (dp_ % ep_ != 0) {
        refuse(fmt::format("ep {} does not divide dp {} (= {} GPUs / tp {} / pp {})", ep_, dp_,
                           world_, tp_, pp_));
    }
    report.read(workload.where(),
                fmt::format("{} GPUs: tp {}, ep {}, dp {}, pp {}", world_, tp_, ep_, dp_, pp_));
}

RankId AicbLayout::size(AicbGroup group) const {
    switch (group) {
        case AicbGroup::none: return 1;
        case AicbGroup::tp: return tp_;
        case AicbGroup::dp: return dp_;
        case AicbGroup::ep: return ep_;
        case AicbGroup::dp_ep: return dp_ / ep_;
        case AicbGroup::all: return stage_ranks();
    }
    throw InternalError("no such AICB group");
}

RankId AicbLayout::count(AicbGroup group) const { return stage_ranks() / size(group); }

std::vector<RankId> AicbLayout::members(AicbGroup group, RankId stage, RankId index) const {
    const RankId n = size(group);
    std::vector<RankId> ranks(n);
    // A rank of a stage is (replica d, position t); groups fix t, d or part of d.
    const auto rank = [&](RankId d, RankId t) {
        return stage * stage_ranks() + (dp_fastest_ ? t * dp_ + d : d * tp_ + t);
    };
    for (RankId m = 0; m < n; ++m) {
        switch (group) {
            case AicbGroup::none: ranks[m] = stage * stage_ranks() + index; break;
            case AicbGroup::all: ranks[m] = stage * stage_ranks() + m; break;
            case AicbGroup::tp: ranks[m] = rank(index, m); break;
            case AicbGroup::dp: ranks[m] = rank(m, index); break;
            case AicbGroup::ep: ranks[m] = rank(index / tp_ * ep_ + m, index % tp_); break;
            case AicbGroup::dp_ep: ranks[m] = rank(m * ep_ + index / tp_, index % tp_); break;
        }
    }
    return ranks;
}

}  // namespace sluice
