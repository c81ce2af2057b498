// SPDX-License-Identifier: Apache-2.0
/// The words of AICB's files. Internal to this folder.
#pragma once

#include <cstdint>
#include <string_view>

#include "workloads/aicb/aicb_workload.h"

namespace sluice {

struct AicbPolicyName {
    AicbPolicy policy;
    const char* name;
};
inline constexpr AicbPolicyName kAicbPolicies[] = {
    {AicbPolicy::transformer_fwd_in_bckwd, "HYBRID_TRANSFORMER_FWD_IN_BCKWD"},
    {AicbPolicy::transformer, "HYBRID_TRANSFORMER"},
    {AicbPolicy::data, "DATA"},
    {AicbPolicy::model, "MODEL"},
    {AicbPolicy::data_model, "HYBRID_DATA_MODEL"},
    {AicbPolicy::model_data, "HYBRID_MODEL_DATA"},
    {AicbPolicy::dlrm, "HYBRID_DLRM"},
    {AicbPolicy::dlrm_enhanced, "HYBRID_DLRM_ENHANCED"},
    {AicbPolicy::customized, "HYBRID_CUSTOMIZED"},
    {AicbPolicy::micro, "MICRO"},
    {AicbPolicy::inference, "DISTRIBUTED_INFERENCE"},
};

struct AicbCommName {
    AicbComm comm;
    std::string_view name;
};

/// Of two that begin alike the longer one first.
inline constexpr AicbCommName kAicbComms[] = {
    {AicbComm::none, "NONE"},
    {AicbComm::all_reduce_all_to_all, "ALLREDUCEALLTOALL"},
    {AicbComm::all_reduce, "ALLREDUCE"},
    {AicbComm::all_gather, "ALLGATHER"},
    {AicbComm::reduce_scatter, "REDUCESCATTER"},
    {AicbComm::all_to_all, "ALLTOALL"},
    {AicbComm::broadcast, "BROADCAST"},
};

/// Keys of AicbWorkload::odd_tokens per layer: its fields, and some that are none.
inline constexpr std::uint64_t kAicbFieldSlots = 16;

}  // namespace sluice
