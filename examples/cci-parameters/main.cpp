// SPDX-License-Identifier: Apache-2.0
/// A scenario configured by CCI: a tool presets some of its keys, and reads all of them.
#include <cci_configuration>
#include <cstdio>
#include <string>
#include <systemc>

#include "core/error.h"
#include "experiment/testbench/cci_scenario.h"
#include "experiment/testbench/experiment_network.h"

namespace {

void run(const char* path, cci::cci_broker_handle tool) {
    const sluice::CciScenario scenario("net", path, tool);
    for (const cci::cci_param_untyped_handle& parameter : tool.get_param_handles()) {
        std::printf("%s = %s%s\n", parameter.name(), parameter.get_cci_value().to_json().c_str(),
                    parameter.is_preset_value() ? " (preset)" : "");
    }
    sluice::ExperimentNetwork network("network", scenario.built().experiment,
                                      scenario.scenario().mode);
    sc_core::sc_start();
    network.finish();
    std::size_t complete = 0;
    for (const sluice::FlowResult& result : network.network().store().results()) {
        complete += result.finish != sluice::kNever;
    }
    std::printf("%zu flows complete at %s\n", complete,
                sc_core::sc_time_stamp().to_string().c_str());
}

}  // namespace

int sc_main(int argc, char** argv) {
    cci_utils::broker broker("broker");
    cci::cci_broker_handle tool = cci::cci_register_broker(broker);
    for (int i = 2; i < argc; ++i) {
        const std::string preset = argv[i];
        const std::size_t equals = preset.find('=');
        if (equals != std::string::npos) {
            tool.set_preset_cci_value(preset.substr(0, equals),
                                      cci::cci_value::from_json(preset.substr(equals + 1)));
        }
    }
    if (argc < 2) {
        std::fprintf(stderr, "usage: cci-parameters SCENARIO [net.KEY=JSON ...]\n");
        return 2;
    }
    try {
        run(argv[1], tool);
    } catch (const sluice::ConfigError& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 2;
    }
    return 0;
}
