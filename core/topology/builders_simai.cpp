// SPDX-License-Identifier: Apache-2.0
/// The templates of SimAI's topology generator, and the free form between them.
#include <algorithm>

#include "core/text/quantity.h"
#include "core/topology/builder_support.h"
#include "core/topology/builders.h"
#include "core/topology/limits.h"
#include "core/topology/topology_io.h"

namespace sluice {

using build::Builder;
using build::capped_product;
using build::require;
using build::require_between;
using build::require_rate;

namespace {

using Template = SimaiParams::Template;

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// The name that the generator gives the file.
std::string network_name(const SimaiParams& p) {
    const std::string gpus =
        std::to_string(p.gpus) + "g_" + std::to_string(p.gpus_per_server) + "gps_";
    const std::string tors = p.dual_tor ? "DualToR" : "SingleToR";
    const std::string planes = p.dual_plane ? "DualPlane_" : "SinglePlane_";
    const std::string tail = format_rate(p.nic.rate) + "_" + p.gpu_type;
    switch (p.origin) {
        case Template::spectrum_x: return "Spectrum-X_" + gpus + tail;
        case Template::alibaba_hpn: return "AlibabaHPN_" + gpus + tors + "_" + planes + tail;
        case Template::dcn_plus: return "DCN+" + tors + "_" + gpus + tail;
        case Template::free: break;
    }
    if (!p.rail_optimized) return "No_Rail_Opti_" + gpus + tors + "_" + tail;
    if (!p.dual_tor) return "Rail_Opti_" + tors + "_" + gpus + tail;
    return "Rail_Opti_" + gpus + tors + "_" + planes + tail;
}

/// What the parameters come to.
struct Plan {
    std::int64_t servers = 0;
    std::int64_t asws_per_segment = 0;  ///< of one set
    std::int64_t sets = 1;
    std::int64_t segments = 0;
    std::int64_t segments_per_pod = 0;
    std::int64_t pods = 1;
    std::int64_t cores = 0;

    std::int64_t asws_per_set() const { return segments * asws_per_segment; }
};

void check_counts(const std::string& name, const SimaiParams& p) {
    require_between(name, "gpus", p.gpus, 1, kMaxNodes);
    require_between(name, "gpus_per_server", p.gpus_per_server, 1, p.gpus);
    require_between(name, "nvswitches_per_server", p.nvswitches_per_server, 0, kMaxNodes);
    require_between(name, "nics_per_asw", p.nics_per_asw, 1, kMaxNodes);
    require_between(name, "psws", p.psws, 0, kMaxNodes);
    require_between(name, "asws_per_psw", p.asws_per_psw, 1, kMaxNodes);
    require_between(name, "pods", p.pods, 0, kMaxNodes);
    require_between(name, "cores", p.cores, 0, kMaxNodes);
    require_between(name, "core oversubscription (down)", p.core_oversubscription.down, 1,
                    1'000'000);
    require_between(name, "core oversubscription (up)", p.core_oversubscription.up, 1, 1'000'000);
    require(p.gpu_type.empty() || is_gpu_type(p.gpu_type), name,
            "gpu_type \"" + p.gpu_type + "\" is not one word such as H100");
    require(!p.dual_plane || (p.rail_optimized && p.dual_tor), name,
            "dual_plane needs rail_optimized and dual_tor");
    require(!p.dual_plane || p.psws != 1, name, "dual_plane needs two psws at least");
}

/// Segments that a pod holds, the generator's way: where a rail-optimized network has two sets of
/// ASWs, it counts one of them.
std::int64_t pod_capacity(const std::string& name, const SimaiParams& p, const Plan& plan) {
    const std::int64_t counted =
        p.rail_optimized ? plan.asws_per_segment : plan.asws_per_segment * plan.sets;
    require(p.asws_per_psw >= counted, name,
            "asws_per_psw " + std::to_string(p.asws_per_psw) + " does not hold one segment of " +
                std::to_string(counted) + " ASWs");
    return p.asws_per_psw / counted;
}

/// Cores that carry what the ASWs of a full pod send, by the oversubscription.
std::int64_t needed_cores(const SimaiParams& p, const Plan& plan) {
    __extension__ typedef unsigned __int128 Wide;
    const std::int64_t sets = p.dual_plane ? 1 : plan.sets;
    const Wide down = static_cast<Wide>(plan.segments_per_pod * plan.asws_per_segment * sets) *
                      static_cast<Wide>(p.fabric.rate.bits_per_second) *
                      static_cast<Wide>(p.core_oversubscription.up);
    const Wide each = static_cast<Wide>(p.core.rate.bits_per_second) *
                      static_cast<Wide>(p.core_oversubscription.down);
    const Wide per_psw = std::min((down + each - 1) / each, static_cast<Wide>(kMaxNodes) + 1);
    return capped_product(p.psws, static_cast<std::int64_t>(per_psw), kMaxNodes);
}

Plan plan_network(const std::string& name, const SimaiParams& p) {
    Plan plan;
    plan.servers = ceil_div(p.gpus, p.gpus_per_server);
    plan.asws_per_segment = p.rail_optimized ? p.gpus_per_server : 1;
    plan.sets = p.dual_tor ? 2 : 1;
    plan.segments =
        ceil_div(p.gpus, capped_product(p.nics_per_asw, plan.asws_per_segment, kMaxNodes));
    const std::int64_t capacity = pod_capacity(name, p, plan);
    plan.pods = p.pods > 0 ? p.pods : ceil_div(plan.segments, capacity);
    plan.segments_per_pod = p.pods > 0 ? ceil_div(plan.segments, p.pods) : capacity;
    require(plan.segments_per_pod <= capacity, name,
            std::to_string(p.gpus) + " GPUs exceed " + std::to_string(p.pods) + " pods of " +
                std::to_string(capacity) + " segments (pods 0 takes as many as needed)");
    require(ceil_div(plan.segments, plan.segments_per_pod) == plan.pods, name,
            std::to_string(plan.segments) + " segments do not fill " + std::to_string(plan.pods) +
                " pods; lower nics_per_asw or pods");
    require(plan.pods > 1 || p.cores == 0, name, "cores join several pods; there is one");
    if (plan.pods == 1) return plan;
    require(p.psws > 0, name, "several pods need psws to join them");
    require(p.cores % p.psws == 0, name,
            "cores " + std::to_string(p.cores) + " is not a multiple of psws " +
                std::to_string(p.psws));
    require_rate(name, "fabric", p.fabric.rate);
    require_rate(name, "core", p.core.rate);
    plan.cores = p.cores > 0 ? p.cores : needed_cores(p, plan);
    return plan;
}

class SimaiBuilder {
  public:
    SimaiBuilder(const std::string& name, const SimaiParams& params, const Plan& plan)
        : p_(params), plan_(plan), builder_(name, node_total(), link_total()) {}

    Topology build() {
        builder_.add(NodeKind::host, p_.gpus);
        nvswitch_ = builder_.add(NodeKind::nvswitch, plan_.servers * p_.nvswitches_per_server);
        asw_ = builder_.add(NodeKind::ethernet, plan_.sets * plan_.asws_per_set());
        psw_ = builder_.add(NodeKind::ethernet, plan_.pods * p_.psws);
        core_ = builder_.add(NodeKind::ethernet, plan_.cores);
        for (std::int64_t gpu = 0; gpu < p_.gpus; ++gpu) join_gpu(gpu);
        for (std::int64_t set = 0; set < plan_.sets; ++set) {
            for (std::int64_t i = 0; i < plan_.asws_per_set(); ++i) join_asw(set, i);
        }
        if (plan_.cores > 0) {
            for (std::int64_t i = 0; i < plan_.pods * p_.psws; ++i) join_psw(i);
        }
        Topology topology = builder_.finish();
        topology.gpus_per_server = static_cast<std::uint32_t>(p_.gpus_per_server);
        topology.gpu_type = p_.gpu_type;
        return topology;
    }

  private:
    std::int64_t node_total() const {
        return p_.gpus + capped_product(plan_.servers, p_.nvswitches_per_server, kMaxNodes) +
               capped_product(plan_.sets, plan_.asws_per_set(), kMaxNodes) +
               capped_product(plan_.pods, p_.psws, kMaxNodes) + plan_.cores;
    }

    std::int64_t link_total() const {
        const std::int64_t nvlinks = capped_product(p_.gpus, p_.nvswitches_per_server, kMaxLinks);
        // In two planes every ASW joins half of its pod's PSWs.
        const std::int64_t sets = p_.dual_plane ? 1 : plan_.sets;
        const std::int64_t asw_links =
            capped_product(sets * plan_.asws_per_set(), p_.psws, kMaxLinks);
        return nvlinks + plan_.sets * p_.gpus + asw_links +
               capped_product(plan_.pods, plan_.cores, kMaxLinks);
    }

    void join_gpu(std::int64_t gpu) {
        const std::int64_t server = gpu / p_.gpus_per_server;
        for (std::int64_t j = 0; j < p_.nvswitches_per_server; ++j) {
            builder_.join(gpu, nvswitch_ + server * p_.nvswitches_per_server + j, p_.nvlink);
        }
        // A segment holds nics_per_asw GPUs of each of its rails.
        const std::int64_t segment = gpu / plan_.asws_per_segment / p_.nics_per_asw;
        const std::int64_t asw = segment * plan_.asws_per_segment + gpu % plan_.asws_per_segment;
        for (std::int64_t set = 0; set < plan_.sets; ++set) {
            builder_.join(gpu, asw_ + set * plan_.asws_per_set() + asw, p_.nic);
        }
    }

    void join_asw(std::int64_t set, std::int64_t index) {
        const std::int64_t pod = index / plan_.asws_per_segment / plan_.segments_per_pod;
        const std::int64_t half = ceil_div(p_.psws, 2);
        const std::int64_t first = p_.dual_plane && set == 1 ? half : 0;
        const std::int64_t last = p_.dual_plane && set == 0 ? half : p_.psws;
        for (std::int64_t j = first; j < last; ++j) {
            builder_.join(asw_ + set * plan_.asws_per_set() + index, psw_ + pod * p_.psws + j,
                          p_.fabric);
        }
    }

    void join_psw(std::int64_t index) {
        const std::int64_t own = plan_.cores / p_.psws;
        for (std::int64_t j = 0; j < own; ++j) {
            builder_.join(psw_ + index, core_ + index % p_.psws * own + j, p_.core);
        }
    }

    const SimaiParams& p_;
    const Plan& plan_;
    Builder builder_;
    std::int64_t nvswitch_ = 0;
    std::int64_t asw_ = 0;
    std::int64_t psw_ = 0;
    std::int64_t core_ = 0;
};

}  // namespace

SimaiParams spectrum_x_params() {
    SimaiParams p;
    p.origin = Template::spectrum_x;
    p.rail_optimized = true;
    p.gpus = 4096;
    return p;
}

SimaiParams alibaba_hpn_params(bool dual_plane) {
    SimaiParams p;
    p.origin = Template::alibaba_hpn;
    p.rail_optimized = true;
    p.dual_tor = true;
    p.dual_plane = dual_plane;
    p.gpus = 15'360;
    p.nic.rate = gigabits_per_second(200);
    p.nics_per_asw = 128;
    p.psws = 120;
    p.asws_per_psw = dual_plane ? 120 : 240;
    p.core_oversubscription = {15, 1};
    return p;
}

SimaiParams dcn_plus_params(bool dual_tor) {
    SimaiParams p;
    p.origin = Template::dcn_plus;
    p.dual_tor = dual_tor;
    p.gpus = 512;
    p.nic.rate = gigabits_per_second(dual_tor ? 200 : 400);
    p.nics_per_asw = dual_tor ? 128 : 64;
    p.psws = 8;
    p.asws_per_psw = 8;
    return p;
}

Topology build_simai(const SimaiParams& params) {
    constexpr const char* kNames[] = {"simai", "spectrum-x", "alibaba-hpn", "dcn-plus"};
    const std::string name = kNames[static_cast<int>(params.origin)];
    check_counts(name, params);
    const Plan plan = plan_network(name, params);
    Topology topology = SimaiBuilder(name, params, plan).build();
    topology.name = network_name(params);
    return topology;
}

}  // namespace sluice
