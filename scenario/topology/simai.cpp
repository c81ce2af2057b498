// SPDX-License-Identifier: Apache-2.0
#include "scenario/topology/topology_type.h"

namespace sluice {

namespace {

/// The keys of SimAI's generator; `p` holds the template's defaults.
BuildTopology read_simai(ConfigSection& section, SimaiParams p) {
    p.gpus = read_node_count(section, "gpus", p.gpus);
    p.gpu_type = section.text("gpu_type", p.gpu_type);
    p.nvswitches_per_server =
        read_node_count(section, "nvswitches_per_server", p.nvswitches_per_server, 0);
    p.nics_per_asw = read_node_count(section, "nics_per_asw", p.nics_per_asw);
    p.psws = read_node_count(section, "psws", p.psws, 0);
    p.asws_per_psw = read_node_count(section, "asws_per_psw", p.asws_per_psw);
    p.pods = read_node_count(section, "pods", p.pods, 0);
    p.cores = read_node_count(section, "cores", p.cores, 0);
    p.core_oversubscription =
        read_oversubscription(section, "core_oversubscription", p.core_oversubscription);
    p.nic = read_cable(section, "", p.nic);
    // As the generator has it, delay and loss are those of all Ethernet cables, the rate is not.
    p.fabric = read_cable(section, "fabric_", {p.fabric.rate, p.nic.delay, p.nic.loss});
    p.core = read_cable(section, "core_", p.fabric);
    p.nvlink = read_cable(section, "nvlink_", {p.nvlink.rate, p.nvlink.delay, p.nic.loss});
    p.gpus_per_server = read_node_count(section, "gpus_per_server", p.gpus_per_server);
    section.finish();
    return [p] { return build_simai(p); };
}

BuildTopology read_spectrum_x(ConfigSection& section, const ResolvePath&) {
    return read_simai(section, spectrum_x_params());
}

BuildTopology read_alibaba_hpn(ConfigSection& section, const ResolvePath&) {
    return read_simai(section, alibaba_hpn_params(section.flag("dual_plane", false)));
}

BuildTopology read_dcn_plus(ConfigSection& section, const ResolvePath&) {
    return read_simai(section, dcn_plus_params(section.flag("dual_tor", false)));
}

BuildTopology read_simai_free(ConfigSection& section, const ResolvePath&) {
    SimaiParams p;
    p.rail_optimized = section.flag("rail_optimized", p.rail_optimized);
    p.dual_tor = section.flag("dual_tor", p.dual_tor);
    p.dual_plane = section.flag("dual_plane", p.dual_plane);
    return read_simai(section, p);
}

}  // namespace

extern const TopologyType kSpectrumXTopology{"spectrum-x", read_spectrum_x};
extern const TopologyType kAlibabaHpnTopology{"alibaba-hpn", read_alibaba_hpn};
extern const TopologyType kDcnPlusTopology{"dcn-plus", read_dcn_plus};
extern const TopologyType kSimaiTopology{"simai", read_simai_free};

}  // namespace sluice
