// SPDX-License-Identifier: Apache-2.0
/// AICB's files as text, from what was read or generated.
#include <algorithm>

#include "core/error.h"
#include "workloads/aicb/aicb_words.h"
#include "workloads/aicb/aicb_workload.h"

namespace sluice {

namespace {

std::string comm_token(const AicbWork& work) {
    std::string token(
        std::find_if(std::begin(kAicbComms), std::end(kAicbComms), [&](const AicbCommName& comm) {
            return comm.comm == work.comm;
        })->name);
    if (work.suffix == AicbSuffix::ep) token += "_EP";
    if (work.suffix == AicbSuffix::dp_ep) token += "_DP_EP";
    return token;
}

}  // namespace

const char* to_string(AicbPolicy policy) {
    for (const AicbPolicyName& known : kAicbPolicies) {
        if (known.policy == policy) return known.name;
    }
    throw InternalError("no such AICB policy");
}

std::string format_aicb(const AicbWorkload& workload) {
    std::string text;
    for (const std::string& token : workload.header_tokens) {
        text += (text.empty() ? "" : " ") + token;
    }
    text += '\n';
    text += workload.count_token.empty() ? std::to_string(workload.layers.size())
                                         : workload.count_token;
    text += '\n';
    const bool customized = workload.header.policy == AicbPolicy::customized;
    for (std::size_t i = 0; i < workload.layers.size(); ++i) {
        const AicbLayer& layer = workload.layers[i];
        std::vector<std::string> fields = {workload.name(layer), std::to_string(layer.dependency)};
        for (const AicbWork& work : layer.work) {
            fields.push_back(std::to_string(work.compute));
            fields.push_back(comm_token(work));
            fields.push_back(std::to_string(work.bytes));
        }
        fields.push_back(std::to_string(layer.update));
        if (customized) fields.emplace_back(to_string(layer.policy));
        for (std::size_t field = 0; field < fields.size(); ++field) {
            const auto odd = workload.odd_tokens.find(kAicbFieldSlots * i + field);
            text += odd != workload.odd_tokens.end() ? odd->second : fields[field];
            text += field + 1 < fields.size() ? '\t' : '\n';
        }
    }
    return text;
}

std::vector<std::string> aicb_header_tokens(const AicbHeader& header) {
    std::vector<std::string> tokens = {to_string(header.policy)};
    const auto add = [&](const char* key, std::int64_t value) {
        tokens.emplace_back(key);
        tokens.push_back(std::to_string(value));
    };
    const auto add_list = [&](const char* key, const std::vector<std::int64_t>& list) {
        add(key, static_cast<std::int64_t>(list.size()));
        for (const std::int64_t layer : list) tokens.push_back(std::to_string(layer));
    };
    add("model_parallel_NPU_group:", header.tp);
    add("ep:", header.ep);
    add("pp:", header.pp);
    add("vpp:", header.vpp);
    add("ga:", header.ga);
    add("all_gpus:", header.all_gpus);
    add_list("checkpoints:", header.checkpoints);
    add_list("checkpoint_initiates:", header.checkpoint_initiates);
    add("pp_comm:", header.pp_comm);
    return tokens;
}

}  // namespace sluice
