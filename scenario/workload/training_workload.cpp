// SPDX-License-Identifier: Apache-2.0
/// [workload] type = "training": one iteration of a model on all hosts.
#include <algorithm>
#include <limits>

#include <fmt/core.h>

#include "core/error.h"
#include "scenario/node_reader.h"
#include "scenario/workload/collective_options.h"
#include "scenario/workload/data_folders.h"
#include "scenario/workload/workload_part.h"
#include "workloads/model/aiob_profile.h"
#include "workloads/model/gpu.h"
#include "workloads/model/model_file.h"
#include "workloads/training/training.h"
#include "workloads/training/training_memory.h"

namespace sluice {

namespace {

constexpr std::int64_t kMany = 1'000'000'000;

std::uint32_t degree(ConfigSection& section, const char* key, std::uint32_t fallback) {
    return static_cast<std::uint32_t>(section.integer(key, fallback, 1, 16'777'216));
}

/// Hosts that the job may have; of a network whose servers are of unequal size those that fill tensor-parallel
/// groups.
std::uint64_t fitting_hosts(const Topology& topology, const JobSite& site, std::uint32_t tp) {
    if (site.available() < topology.host_count() || tp > topology.gpus_per_server) {
        return site.available();
    }
    std::uint64_t over = 0;
    for (const std::uint32_t size : topology.server_sizes) over += size % tp;
    return site.available() - over;
}

/// Whole layers where they do not divide, unless the scenario says otherwise.
void settle_split(ConfigSection& section, TrainingConfig& config) {
    if (const auto layers = section.integers("layers_per_stage", 1, kMany, 65'536)) {
        config.layers_per_stage = *layers;
    }
    const std::int64_t stages = std::int64_t{config.pp} * config.chunks;
    const bool whole = !config.layers_per_stage.empty() || config.model.layers % stages != 0;
    if (section.has("split") || !whole) return;
    config.split = StageSplit::layers;
    section.note("split", "layers");
}

/// Returns a warning where the degrees leave GPUs over, else "".
std::string read_strategy(ConfigSection& section, const Topology& topology, const JobSite& site,
                          TrainingConfig& config) {
    config.tp = degree(section, "tp", config.tp);
    config.cp = degree(section, "cp", config.cp);
    config.pp = degree(section, "pp", config.pp);
    const std::uint64_t replica = std::uint64_t{config.tp} * config.cp * config.pp;
    const std::uint64_t replicas = fitting_hosts(topology, site, config.tp) / replica;
    config.dp = degree(section, "dp", replicas < 1 ? 1 : static_cast<std::uint32_t>(replicas));
    config.ep = degree(section, "ep", config.ep);
    config.order = section.text("order", config.order);
    config.sequence_parallel = section.flag("sequence_parallel", config.sequence_parallel);
    config.tp_across_servers = section.flag("tp_across_servers", config.tp_across_servers);
    config.split = section.choice<StageSplit>(
        "split", config.split, {{"even", StageSplit::even}, {"layers", StageSplit::layers}});
    config.schedule =
        section.choice<PipelineSchedule>("schedule", config.schedule,
                                         {{"gpipe", PipelineSchedule::gpipe},
                                          {"1f1b", PipelineSchedule::one_f_one_b},
                                          {"interleaved", PipelineSchedule::interleaved},
                                          {"zb-h1", PipelineSchedule::zb_h1},
                                          {"dualpipe", PipelineSchedule::dualpipe}});
    config.chunks =
        degree(section, "chunks", config.schedule == PipelineSchedule::interleaved ? 2 : 1);
    settle_split(section, config);
    config.recompute = section.choice<Recomputation>("recompute", config.recompute,
                                                     {{"none", Recomputation::none},
                                                      {"selective", Recomputation::selective},
                                                      {"full", Recomputation::full}});
    config.detail = section.choice<TrainingDetail>("detail", config.detail,
                                                   {{"auto", TrainingDetail::automatic},
                                                    {"stage", TrainingDetail::stage},
                                                    {"layer", TrainingDetail::layer}});
    const std::uint64_t idle = site.available() % replica;
    if (section.has("dp") || replicas < 1 || idle == 0) return "";
    return fmt::format("{} of {} GPUs stay idle: tp x cp x pp = {} does not divide them", idle,
                       site.available(), replica);
}

void read_sizes(ConfigSection& section, TrainingConfig& config) {
    config.sequence = section.integer("sequence", config.sequence, 1, kMany);
    config.micro_batch = section.integer("micro_batch", config.micro_batch, 1, kMany);
    config.micro_batches = degree(section, "micro_batches", config.micro_batches);
    config.activation_bytes = section.integer("activation_bytes", config.activation_bytes, 1, 16);
    config.gradient_bytes = section.integer("gradient_bytes", config.gradient_bytes, 1, 16);
    config.parameter_bytes = section.integer("parameter_bytes", config.parameter_bytes, 1, 16);
}

/// Megatron-LM's: max(40 M, 1 M x copies) parameters where gradients or parameters overlap, else all
/// at once.
Bytes usual_bucket(const TrainingConfig& config) {
    if (!config.overlap_gradients && !config.overlap_parameters) return Bytes{0};
    const std::int64_t copies = std::int64_t{config.cp} * config.dp;
    return Bytes{std::max<std::int64_t>(40'000'000, 1'000'000 * copies) * config.gradient_bytes};
}

void read_gradients(ConfigSection& section, TrainingConfig& config) {
    config.zero = static_cast<std::uint32_t>(section.integer("zero", config.zero, 0, 3));
    config.overlap_gradients = section.flag("overlap_gradients", config.overlap_gradients);
    config.overlap_parameters = section.flag("overlap_parameters", config.overlap_parameters);
    config.bucket_bytes =
        section.bytes("bucket_bytes", usual_bucket(config), Bytes{0}, Bytes{1'000'000'000'000'000})
            .count;
    config.tied_embeddings = section.flag("tied_embeddings", config.tied_embeddings);
    config.small_reductions = section.flag("small_reductions", config.small_reductions);
}

void read_experts(ConfigSection& section, const Scenario& scenario, TrainingConfig& config) {
    ExpertLoad& load = config.expert_load;
    load.exponent = section.number("expert_skew", load.exponent, 0, 10);
    load.seed = static_cast<std::uint64_t>(section.integer(
        "expert_seed", static_cast<std::int64_t>(scenario.seed),
        std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()));
    load.capacity = section.number("expert_capacity", load.capacity, 0, 1e6);
    config.dispatch_factor = section.number("dispatch_factor", config.dispatch_factor, 1e-3, 16);
    config.node_limit = static_cast<std::uint32_t>(
        section.integer("node_limit", config.model.top_groups, 0, kMany));
    config.all_to_all_window = static_cast<std::uint32_t>(
        section.integer("all_to_all_window", config.all_to_all_window, 0, kMany));
}

void read_profile(ConfigSection& section, const Scenario& scenario, TrainingConfig& config) {
    const AiobProfile profile =
        AiobProfile::read(scenario.resolve(section.text("profile", std::nullopt)));
    // Recomputation adds its own time to the backward pass.
    config.profile_attention = profile.attention();
    config.profile_mlp = profile.mlp();
    config.profile_head = profile.head();
}

/// A slow host: a rank only once the job has its hosts.
struct SlowHost {
    NodeId host = 0;
    double factor = 1;
};

std::vector<SlowHost> read_stragglers(ConfigSection& section, const Topology& topology,
                                      TrainingConfig& config) {
    std::vector<SlowHost> hosts;
    NodeReader nodes(topology);
    for (ConfigSection& entry : section.tables("stragglers")) {
        const double factor = entry.number("factor", std::nullopt, 0.01, 1000);
        if (entry.has("host")) {
            if (entry.has("rank"))
                entry.fail("rank", "cannot be combined with host; give one of them");
            const NodeId host = nodes.host(*entry.raw("host"), "'host'");
            entry.note("host", host);
            hosts.push_back({host, factor});
        } else {
            const auto rank = entry.integer("rank", std::nullopt, 0, 16'777'215);
            config.stragglers.push_back({static_cast<RankId>(rank), factor});
        }
        entry.finish();
    }
    return hosts;
}

/// A slow host that the job does not have does not matter to it.
void add_slow_hosts(const std::vector<SlowHost>& slow, const std::vector<NodeId>& hosts,
                    TrainingConfig& config) {
    for (const SlowHost& entry : slow) {
        const auto found = std::find(hosts.begin(), hosts.end(), entry.host);
        if (found == hosts.end()) continue;
        config.stragglers.push_back({static_cast<RankId>(found - hosts.begin()), entry.factor});
    }
}

/// A number for all operators, a table by kind of operator, or "gpu": what the GPU's file says.
OverlapSlowdown read_slowdown(ConfigSection& section, const Gpu& gpu) {
    const ConfigValue* value = section.raw("overlap_slowdown");
    if (value != nullptr && value->kind == ConfigValue::Kind::table) {
        return read_overlap(section.table("overlap_slowdown"));
    }
    if (value != nullptr && value->kind == ConfigValue::Kind::text) {
        if (section.text("overlap_slowdown", std::nullopt) != "gpu") {
            section.fail("overlap_slowdown",
                         "must be a number, a table or \"gpu\" (as in the GPU's file)");
        }
        if (!gpu.overlap) {
            section.fail("overlap_slowdown", "asks the file of GPU type \"" + gpu.name +
                                                 "\", which has no table [overlap]");
        }
        return *gpu.overlap;
    }
    const double all = section.number("overlap_slowdown", 0.0, 0, 100);
    return {all, all, all};
}

void read_compute(ConfigSection& section, const Scenario& scenario, const Gpu& gpu,
                  TrainingConfig& config) {
    if (section.has("forward_time")) {
        config.forward_time = section.time("forward_time", std::nullopt);
    }
    if (section.has("backward_time")) {
        config.backward_time = section.time("backward_time", std::nullopt);
    }
    if (section.has("weight_time")) {
        config.weight_time = section.time("weight_time", std::nullopt);
    }
    config.optimizer_time = section.time("optimizer_time", config.optimizer_time);
    const ComputeSource usual =
        section.has("profile") ? ComputeSource::profile : ComputeSource::flops;
    config.source = section.choice<ComputeSource>("compute", usual,
                                                  {{"flops", ComputeSource::flops},
                                                   {"roofline", ComputeSource::roofline},
                                                   {"profile", ComputeSource::profile}});
    config.peak_flops = section.number("peak_flops", gpu.peak_flops, 1e6, 1e21);
    config.efficiency = section.number("efficiency", gpu.efficiency, 1e-6, 1);
    config.memory_bytes_per_second = gpu.memory_bytes_per_second * gpu.memory_efficiency;
    if (config.source == ComputeSource::profile) read_profile(section, scenario, config);
    config.compute_jitter = section.number("compute_jitter", config.compute_jitter, 0, 1);
    config.jitter_seed = scenario.seed;
    config.overlap_slowdown = read_slowdown(section, gpu);
}

void read_in_server(ConfigSection& section, const Gpu& gpu, TrainingConfig& config) {
    const Rate nvlink = section.rate("nvlink_bandwidth", Rate{8 * gpu.nvlink_bytes_per_second});
    config.nvlink_bytes_per_second = nvlink.bits_per_second / 8;
    config.nvlink_latency = section.time("nvlink_latency", gpu.nvlink_latency);
    config.network_in_server =
        section.choice<bool>("intra_node", false, {{"computed", false}, {"network", true}});
    std::string interconnect = gpu.usual_interconnect();
    if (section.has("interconnect")) {
        const std::string name = section.text("interconnect", std::nullopt);
        interconnect = name;
        for (const char* other : {"nvlink_bandwidth", "nvlink_latency"}) {
            if (section.has(other))
                section.fail(other, "cannot be combined with interconnect; give one of them");
        }
        try {
            config.intra_node = gpu.intra_node(name);
        } catch (const ConfigError& error) {
            section.fail("interconnect", error.what());
        }
        config.calibrated = true;
    }
    if (const Interconnect* nvls = gpu.find_interconnect("nvls")) config.nvls = nvls->calibration;
    if (gpu.find_interconnect(interconnect) != nullptr) {
        config.nccl = NcclHardware{gpu.nccl_link(interconnect), nullptr, {}};
    }
}

void read_collectives(ConfigSection& section, TrainingConfig& config) {
    ConfigSection algorithms = section.table("algorithms");
    config.algorithms.assign(kCollectiveKinds, CollectiveAlgorithm::automatic);
    for (const auto& [key, kind] : {std::pair{"all_reduce", CollectiveKind::all_reduce},
                                    std::pair{"reduce_scatter", CollectiveKind::reduce_scatter},
                                    std::pair{"all_gather", CollectiveKind::all_gather},
                                    std::pair{"all_to_all", CollectiveKind::all_to_all}}) {
        config.algorithms[static_cast<std::size_t>(kind)] =
            algorithms.choice(key, CollectiveAlgorithm::automatic, collective_algorithm_words());
    }
    algorithms.finish();
    config.channels = read_channels(section);
    config.ring_order = read_ring_order(section);
    config.chunk = section.bytes("chunk", Bytes{0}, Bytes{0}, Bytes{1'000'000'000'000'000}).count;
    config.collective_overhead = section.time("collective_overhead", config.collective_overhead);
    config.step_overhead = section.time("step_overhead", config.step_overhead);
}

/// What a GPU may hold, and whether the job runs even so.
struct MemoryLimit {
    std::int64_t capacity = 0;
    bool allow_oom = false;
};

MemoryLimit read_memory(ConfigSection& section, const Scenario& scenario, const Gpu& gpu,
                        TrainingConfig& config) {
    config.flash_attention = section.flag("flash_attention", config.flash_attention);
    config.dropout = section.flag("dropout", config.dropout);
    config.activation_factor =
        section.number("activation_factor", config.activation_factor, 0.01, 100);
    MemoryLimit limit;
    limit.capacity =
        section.bytes("gpu_memory", Bytes{gpu.memory_bytes}, Bytes{0}, Bytes{1'000'000'000'000'000})
            .count;
    limit.allow_oom = section.flag("allow_oom", scenario.allow_oom);
    return limit;
}

std::string describe_compute(const TrainingConfig& config) {
    const std::string reached =
        fmt::format("{:.0f} TFLOP/s x {:g}", config.peak_flops / 1e12, config.efficiency);
    if (config.forward_time >= 0 && config.backward_time >= 0) return "times are given";
    switch (config.source) {
        case ComputeSource::flops: return "FLOPs / (" + reached + ")";
        case ComputeSource::roofline:
            return fmt::format("roofline, {} and {:.0f} GB/s", reached,
                               config.memory_bytes_per_second / 1e9);
        case ComputeSource::profile: return "measured layers (AIOB profile)";
    }
    return "";
}

std::string describe_strategy(const TrainingConfig& config, TrainingDetail detail) {
    std::string text =
        fmt::format("{}, ZeRO {}, order {}", to_string(config.schedule), config.zero, config.order);
    if (config.chunks > 1) text += fmt::format(", {} chunks", config.chunks);
    const std::uint32_t stages = stage_count(config.pipeline());
    if (!config.layers_per_stage.empty()) {
        const auto [least, most] =
            std::minmax_element(config.layers_per_stage.begin(), config.layers_per_stage.end());
        text += fmt::format(", {} to {} layers a stage", *least, *most);
    } else if (config.model.layers % stages != 0) {
        const std::int64_t least = config.model.layers / stages;
        text += fmt::format(", {} or {} layers a stage", least + 1, least);
    }
    if (config.cp > 1) text += fmt::format(", CP{}", config.cp);
    if (config.recompute == Recomputation::selective) text += ", attention recomputed";
    if (config.recompute == Recomputation::full) text += ", layers recomputed";
    if (config.overlap_gradients) text += ", gradients overlap";
    if (config.overlap_parameters) text += ", parameters overlap";
    if (config.expert_load.exponent > 0) {
        text += fmt::format(", experts skewed by {:g}", config.expert_load.exponent);
    }
    if (config.expert_load.capacity > 0) {
        text += fmt::format(", experts take at most {:g} of the mean", config.expert_load.capacity);
    }
    if (config.ep > 1 && config.node_limit > 0) {
        text += fmt::format(", at most {} servers per token", config.node_limit);
    }
    if (detail == TrainingDetail::layer) return text + ", layer by layer";
    return text + (config.ep > 1 ? ", an all-to-all per micro-batch and stage" : "");
}

/// GPUs of the largest server: of unequal ones those that fill tensor-parallel groups.
std::uint32_t grouped_gpus(const Topology& topology, std::uint32_t tp) {
    const std::uint32_t size = topology.gpus_per_server;
    return topology.server_sizes.empty() || tp > size ? size : size - size % tp;
}

WorkloadPart make_training(TrainingConfig config, const std::vector<SlowHost>& slow,
                           const Topology& topology, const JobSite& site, const MemoryLimit& limit,
                           std::uint32_t queue_pairs) {
    check_training(config, site.available(), grouped_gpus(topology, config.tp));
    WorkloadPart part;
    const TrainingMemory memory = training_memory(config);
    const std::string use = describe_memory(memory, limit.capacity);
    if (!limit.allow_oom) check_memory(memory, limit.capacity);
    if (limit.capacity > 0 && is_out_of_memory(memory.use, limit.capacity)) {
        part.warnings.push_back(fmt::format(
            "the job does not fit its GPUs: it needs {:.1f} GB, they have {:.1f} GB, of which at "
            "most {:.0f}% may be planned with",
            static_cast<double>(memory.use.total()) / 1e9,
            static_cast<double>(limit.capacity) / 1e9, 100 * kUsableMemory));
    }
    const bool uneven = !topology.server_sizes.empty() && config.tp <= topology.gpus_per_server;
    const std::vector<NodeId> hosts = site.take(config.ranks(), uneven ? config.tp : 0);
    add_slow_hosts(slow, hosts, config);
    const RankPlaces places = RankPlaces::on(topology, hosts, queue_pairs);
    if (config.nccl) config.nccl->nic = nic_rates(topology, hosts);
    static_cast<Workload&>(part) = make_workload(training_graph(config, places), hosts);
    part.description = fmt::format(
        "one iteration of {} on {} GPUs (TP{} EP{} DP{} PP{}), {} micro-batches of {} x {} tokens",
        config.model.name, config.ranks(), config.tp, config.ep, config.dp, config.pp,
        config.micro_batches, config.micro_batch, config.sequence);
    const TrainingDetail detail = training_detail(config, tensor_uses_network(config, places));
    part.notes = {"schedule: " + describe_strategy(config, detail),
                  "compute times: " + describe_compute(config), "memory: " + use + " GB"};
    return part;
}

MakeWorkload read_training(const WorkloadTable& table) {
    ConfigSection& section = table.section;
    const Scenario& scenario = table.scenario;
    const JobSite& site = *table.site;
    const Topology& topology = scenario.topology;
    TrainingConfig config;
    config.model = read_model(section, "model", data_folders("models"),
                              [&](const std::string& file) { return scenario.resolve(file); });
    const Gpu gpu = read_gpu(section, "gpu", "A100", data_folders("gpus"),
                             [&](const std::string& file) { return scenario.resolve(file); });
    const std::string idle = read_strategy(section, topology, site, config);
    read_sizes(section, config);
    read_gradients(section, config);
    read_experts(section, scenario, config);
    read_compute(section, scenario, gpu, config);
    read_in_server(section, gpu, config);
    read_collectives(section, config);
    const MemoryLimit limit = read_memory(section, scenario, gpu, config);
    const std::vector<SlowHost> slow = read_stragglers(section, scenario.topology, config);
    const std::uint32_t queue_pairs = read_queue_pairs(section);
    return [config, slow, limit, idle, queue_pairs, &topology, site] {
        WorkloadPart part = make_training(config, slow, topology, site, limit, queue_pairs);
        if (!idle.empty()) part.warnings.push_back(idle);
        return part;
    };
}

}  // namespace

extern const WorkloadType kTraining{"training", WorkloadKind::job, read_training};

}  // namespace sluice
