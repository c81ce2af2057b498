// SPDX-License-Identifier: Apache-2.0
/// `sluice workload aicb`: a workload file of AICB's format from a model preset and a strategy.
#include <memory>
#include <optional>

#include <fmt/core.h>
#include "cli/commands.h"
#include "cli/output/terminal.h"
#include "core/error.h"
#include "core/results/output_file.h"
#include "scenario/workload/data_folders.h"
#include "workloads/aicb/aicb_generate.h"
#include "workloads/model/gpu.h"
#include "workloads/model/model_file.h"

namespace sluice {

namespace {

struct AicbOptions {
    std::string model;
    AicbJob job;
    bool compatible = false;
    std::string profile;
    std::string gpu;
    std::string output;
};

int write_aicb(AicbOptions options) {
    options.job.model = find_model(options.model, data_folders("models"));
    if (options.job.sequence == 0) options.job.sequence = options.job.model.sequence;
    std::optional<AiobProfile> profile;
    std::optional<Roofline> speed;
    if (!options.profile.empty()) {
        if (!options.compatible) {
            throw ConfigError(
                "workload aicb: --aiob needs --aicb-compatible; other files take their compute "
                "times from --gpu");
        }
        profile = AiobProfile::read(options.profile);
    }
    if (!options.gpu.empty()) {
        if (options.compatible) {
            throw ConfigError("workload aicb: --gpu is not for --aicb-compatible; give it --aiob");
        }
        speed = roofline(find_gpu(options.gpu, data_folders("gpus")));
    }
    const AicbWorkload workload = options.compatible
                                      ? generate_aicb_compatible(options.job, profile)
                                      : generate_aicb(options.job, speed);
    const std::string text = format_aicb(workload);
    if (options.output.empty()) {
        print_text(text);
        return kExitDone;
    }
    write_output(options.output, text);
    return kExitDone;
}

}  // namespace

Command add_workload_command(CommandLine program) {
    CommandLine app =
        program.add_subcommand("workload", "Write workload files for other tools, from models");
    app.require_subcommand();
    CommandLine aicb = app.add_subcommand("aicb", "A workload .txt as AICB writes for SimAI");
    const auto options = std::make_shared<AicbOptions>();
    AicbJob& job = options->job;
    job.sequence = 0;
    aicb.add_option("--model", options->model, "A model's name or file, e.g. gpt-7b")
        .type_name("NAME")
        .required();
    aicb.add_option("--world", job.world, "GPUs").type_name("N").required();
    aicb.add_option("--tp", job.tp, "Tensor parallelism (default: 1)").type_name("N");
    aicb.add_option("--pp", job.pp, "Pipeline stages (default: 1)").type_name("N");
    aicb.add_option("--ep", job.ep, "Expert parallelism (default: 1)").type_name("N");
    aicb.add_option("--micro-batch", job.micro_batch, "Sequences of a micro-batch (default: 1)")
        .type_name("N");
    aicb.add_option("--global-batch", job.global_batch, "Sequences of a step")
        .type_name("N")
        .required();
    aicb.add_option("--sequence", job.sequence, "Tokens of a sequence (default: the model's)")
        .type_name("N");
    aicb.add_flag("--sp", job.sequence_parallel, "Sequence parallelism");
    aicb.add_flag("--recompute", job.recompute, "Recompute attention");
    aicb.add_flag("--swiglu", job.swiglu, "AICB's SwiGLU, with --aicb-compatible");
    aicb.add_flag("--aicb-compatible", options->compatible,
                  "Write exactly what AICB writes, including its deviations");
    aicb.add_option("--aiob", options->profile, "AIOB's compute times, with --aicb-compatible")
        .type_name("FILE");
    aicb.add_option("--gpu", options->gpu, "GPU type whose roofline gives compute times, e.g. H100")
        .type_name("NAME");
    aicb.add_option("-o,--output", options->output, "Where to write (default: standard output)")
        .type_name("FILE");
    return {app, [options] { return write_aicb(*options); }};
}

}  // namespace sluice
