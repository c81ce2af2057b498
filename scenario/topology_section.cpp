// SPDX-License-Identifier: Apache-2.0
#include "scenario/topology_section.h"

#include "core/text/quantity.h"
#include "core/error.h"
#include "core/topology/builders.h"
#include "core/topology/connectivity.h"
#include "core/topology/limits.h"
#include "core/topology/topology_file.h"

namespace sluice {

namespace {

constexpr Tick kMaxDelay = kSecond;

std::int64_t count(ConfigSection& section, const char* key, std::int64_t fallback,
                   std::int64_t lowest = 1) {
    return section.integer(key, fallback, lowest, kMaxNodes);
}

/// The keys PREFIXrate, PREFIXdelay and PREFIXloss.
Cable read_cable(ConfigSection& section, const std::string& prefix, const Cable& fallback) {
    Cable cable;
    cable.rate = section.rate(prefix + "rate", fallback.rate);
    cable.delay = section.time(prefix + "delay", fallback.delay, 0, kMaxDelay);
    cable.loss = section.number(prefix + "loss", fallback.loss, 0, 0.999);
    return cable;
}

/// "3:1": capacity down to capacity up.
Oversubscription read_oversubscription(ConfigSection& section, const char* key,
                                       const Oversubscription& fallback = {}) {
    const std::string text =
        section.text(key, std::to_string(fallback.down) + ":" + std::to_string(fallback.up));
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) {
        section.fail(key, "is " + shown_text(text) + "; must be DOWN:UP, such as \"3:1\"");
    }
    const std::string place = section.where(key);
    const std::string what = std::string("'") + key + "'";
    return {parse_integer(text.substr(0, colon), {place, 0, what}, 1, 1000),
            parse_integer(text.substr(colon + 1), {place, 0, what}, 1, 1000)};
}

using Resolve = std::function<std::string(const std::string&)>;
using Build = std::function<Topology()>;
/// Reads a type's keys and says how to build it: the reader's messages have their place in the
/// file, the builder's have none yet.
using Reader = Build (*)(ConfigSection&, const Resolve&);

Build read_dumbbell(ConfigSection& section, const Resolve&) {
    DumbbellParams p;
    p.left_hosts = count(section, "left_hosts", p.left_hosts);
    p.right_hosts = count(section, "right_hosts", p.right_hosts);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.bottleneck = read_cable(section, "bottleneck_", p.host_cable);
    section.finish();
    return [p] { return build_dumbbell(p); };
}

Build read_star(ConfigSection& section, const Resolve&) {
    StarParams p;
    p.hosts = count(section, "hosts", p.hosts);
    p.host_cable = read_cable(section, "", p.host_cable);
    section.finish();
    return [p] { return build_star(p); };
}

Build read_leaf_spine(ConfigSection& section, const Resolve&) {
    LeafSpineParams p;
    p.leaves = count(section, "leaves", p.leaves);
    p.spines = count(section, "spines", p.spines);
    p.hosts_per_leaf = count(section, "hosts_per_leaf", p.hosts_per_leaf);
    p.cables_per_spine = count(section, "cables_per_spine", p.cables_per_spine);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    section.finish();
    return [p] { return build_leaf_spine(p); };
}

Build read_fat_tree(ConfigSection& section, const Resolve&) {
    FatTreeParams p;
    p.k = count(section, "k", p.k);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    section.finish();
    return [p] { return build_fat_tree(p); };
}

Build read_rail(ConfigSection& section, const Resolve&) {
    RailParams p;
    p.gpus = count(section, "gpus", p.gpus);
    p.servers_per_segment = count(section, "servers_per_segment", p.servers_per_segment);
    p.spines = count(section, "spines", p.spines, 0);
    p.cables_per_spine = count(section, "cables_per_spine", p.cables_per_spine);
    p.nvswitches_per_server = count(section, "nvswitches_per_server", p.nvswitches_per_server, 0);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    if (p.nvswitches_per_server > 0) p.nvlink = read_cable(section, "nvlink_", p.nvlink);
    p.gpus_per_server = count(section, "gpus_per_server", p.gpus_per_server);
    section.finish();
    return [p] { return build_rail(p); };
}

/// The keys of SimAI's generator; `p` holds the template's defaults.
Build read_simai(ConfigSection& section, SimaiParams p) {
    p.gpus = count(section, "gpus", p.gpus);
    p.gpu_type = section.text("gpu_type", p.gpu_type);
    p.nvswitches_per_server = count(section, "nvswitches_per_server", p.nvswitches_per_server, 0);
    p.nics_per_asw = count(section, "nics_per_asw", p.nics_per_asw);
    p.psws = count(section, "psws", p.psws, 0);
    p.asws_per_psw = count(section, "asws_per_psw", p.asws_per_psw);
    p.pods = count(section, "pods", p.pods, 0);
    p.cores = count(section, "cores", p.cores, 0);
    p.core_oversubscription =
        read_oversubscription(section, "core_oversubscription", p.core_oversubscription);
    p.nic = read_cable(section, "", p.nic);
    // As the generator has it, delay and loss are those of all Ethernet cables, the rate is not.
    p.fabric = read_cable(section, "fabric_", {p.fabric.rate, p.nic.delay, p.nic.loss});
    p.core = read_cable(section, "core_", p.fabric);
    p.nvlink = read_cable(section, "nvlink_", {p.nvlink.rate, p.nvlink.delay, p.nic.loss});
    p.gpus_per_server = count(section, "gpus_per_server", p.gpus_per_server);
    section.finish();
    return [p] { return build_simai(p); };
}

Build read_spectrum_x(ConfigSection& section, const Resolve&) {
    return read_simai(section, spectrum_x_params());
}

Build read_alibaba_hpn(ConfigSection& section, const Resolve&) {
    return read_simai(section, alibaba_hpn_params(section.flag("dual_plane", false)));
}

Build read_dcn_plus(ConfigSection& section, const Resolve&) {
    return read_simai(section, dcn_plus_params(section.flag("dual_tor", false)));
}

Build read_simai_free(ConfigSection& section, const Resolve&) {
    SimaiParams p;
    p.rail_optimized = section.flag("rail_optimized", p.rail_optimized);
    p.dual_tor = section.flag("dual_tor", p.dual_tor);
    p.dual_plane = section.flag("dual_plane", p.dual_plane);
    return read_simai(section, p);
}

Build read_three_tier(ConfigSection& section, const Resolve&) {
    ThreeTierParams p;
    p.pods = count(section, "pods", p.pods);
    p.leaves_per_pod = count(section, "leaves_per_pod", p.leaves_per_pod);
    p.hosts_per_leaf = count(section, "hosts_per_leaf", p.hosts_per_leaf);
    p.aggs_per_pod = count(section, "aggs_per_pod", p.aggs_per_pod);
    p.cores = count(section, "cores", p.cores);
    p.leaf = read_oversubscription(section, "leaf_oversubscription");
    p.agg = read_oversubscription(section, "agg_oversubscription");
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_delay = section.time("fabric_delay", p.host_cable.delay, 0, kMaxDelay);
    p.fabric_loss = section.number("fabric_loss", p.host_cable.loss, 0, 0.999);
    section.finish();
    return [p] { return build_three_tier(p); };
}

Build read_full_mesh(ConfigSection& section, const Resolve&) {
    FullMeshParams p;
    p.switches = count(section, "switches", p.switches);
    p.hosts_per_switch = count(section, "hosts_per_switch", p.hosts_per_switch);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    section.finish();
    return [p] { return build_full_mesh(p); };
}

Build read_torus(ConfigSection& section, const Resolve&) {
    TorusParams p;
    if (const auto dimensions = section.integers("dimensions", 2, kMaxNodes, 3)) {
        p.dimensions = *dimensions;
    }
    p.hosts_per_switch = count(section, "hosts_per_switch", p.hosts_per_switch);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.fabric_cable = read_cable(section, "fabric_", p.host_cable);
    section.finish();
    return [p] { return build_torus(p); };
}

Build read_dragonfly(ConfigSection& section, const Resolve&) {
    DragonflyParams p;
    p.routers_per_group = count(section, "routers_per_group", p.routers_per_group);
    p.hosts_per_router = count(section, "hosts_per_router", p.hosts_per_router);
    p.global_cables_per_router =
        count(section, "global_cables_per_router", p.global_cables_per_router);
    p.groups = count(section, "groups", p.groups, 0);
    p.host_cable = read_cable(section, "", p.host_cable);
    p.local_cable = read_cable(section, "local_", p.host_cable);
    p.global_cable = read_cable(section, "global_", p.host_cable);
    section.finish();
    return [p] { return build_dragonfly(p); };
}

Build read_bcube(ConfigSection& section, const Resolve&) {
    BCubeParams p;
    p.n = count(section, "n", p.n);
    p.k = section.integer("k", p.k, 0, 8);
    p.cable = read_cable(section, "", p.cable);
    p.server_cable.delay = p.cable.delay;
    // Rate 0 means the server's cables together; it is no rate that a scenario could name.
    if (section.has("server_rate")) {
        p.server_cable.rate = section.rate("server_rate", std::nullopt);
    }
    p.server_cable.delay = section.time("server_delay", p.server_cable.delay, 0, kMaxDelay);
    section.finish();
    return [p] { return build_bcube(p); };
}

Build read_file(ConfigSection& section, const Resolve& resolve) {
    const std::string path = section.text("path", std::nullopt);
    section.finish();
    return [file = resolve(path)] { return read_topology_file(file); };
}

struct Type {
    const char* name;
    Reader read;
};

constexpr Type kTypes[] = {
    {"dumbbell", read_dumbbell},
    {"star", read_star},
    {"leaf-spine", read_leaf_spine},
    {"fat-tree", read_fat_tree},
    {"rail-optimized", read_rail},
    {"three-tier", read_three_tier},
    {"full-mesh", read_full_mesh},
    {"torus", read_torus},
    {"dragonfly", read_dragonfly},
    {"bcube", read_bcube},
    {"spectrum-x", read_spectrum_x},
    {"alibaba-hpn", read_alibaba_hpn},
    {"dcn-plus", read_dcn_plus},
    {"simai", read_simai_free},
    {"file", read_file},
};

}  // namespace

std::vector<std::string> topology_types() {
    std::vector<std::string> names;
    for (const Type& type : kTypes) names.emplace_back(type.name);
    return names;
}

Topology build_topology(ConfigSection section, const Resolve& resolve) {
    const std::size_t type = section.choice_index("type", "", topology_types());
    // Hosts [s g, (s + 1) g) are one server. A topology.txt may say itself how many those are.
    const bool given = section.has("gpus_per_server");
    const Build build = kTypes[type].read(section, resolve);
    Topology topology = [&] {
        try {
            Topology built = build();
            if (const auto pair = find_unreachable_hosts(built)) {
                throw ConfigError(built.name + ": not connected: no path from host " +
                                  std::to_string(pair->first) + " to host " +
                                  std::to_string(pair->second) +
                                  " (packets do not pass through hosts)");
            }
            return built;
        } catch (const ConfigError& error) {
            throw ConfigError(section.where("type") + ": " + error.what());
        }
    }();
    const auto servers = static_cast<std::uint32_t>(given ? count(section, "gpus_per_server", 1)
                                                          : topology.gpus_per_server);
    // A network that was built or written with servers of this size may end in a short one.
    if (servers != topology.gpus_per_server) {
        topology.gpus_per_server = servers;
        if (topology.host_count() % topology.gpus_per_server != 0) {
            section.fail("gpus_per_server",
                         "does not divide the " + std::to_string(topology.host_count()) + " hosts");
        }
    }
    return topology;
}

}  // namespace sluice
