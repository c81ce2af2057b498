// SPDX-License-Identifier: Apache-2.0
/// A scenario whose keys are CCI parameters (Accellera SystemC Configuration, Control and Inspection, 1.0): what the broker
/// presets below its name is read as an override of the file, and every key, defaults included, is then published, for any
/// tool to look at. Only for programs that have CCI: link sluice::cci.
#pragma once

#include <cci_configuration>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/text/config_value.h"
#include "experiment/build_experiment.h"
#include "scenario/effective_keys.h"
#include "scenario/scenario.h"

namespace sluice {

class CciScenario {
  public:
    /// The file `path`, with presets such as "NAME.congestion.law". Call it when all presets are made.
    /// ConfigError if a preset names no key, or its value does not fit; the message names the preset. `ports`: as
    /// build_experiment() takes them.
    CciScenario(const std::string& name, const std::string& path, cci::cci_broker_handle broker,
                HostPorts ports = HostPorts::none)
        : scenario_(read(name, path, broker)), built_(build_experiment(scenario_, ports)) {
        const cci::cci_originator origin(name);
        for (const EffectiveKey& key : effective_keys(*scenario_.effective)) {
            std::visit(
                [&](const auto& value) { publish(name + "." + key.name, value, broker, origin); },
                key.value);
        }
    }

    const Scenario& scenario() const { return scenario_; }
    /// What ExperimentNetwork takes.
    const BuiltExperiment& built() const { return built_; }

  private:
    /// The scenario is read once: nobody may change a parameter afterwards.
    template <class T>
    using Parameter = cci::cci_param<T, cci::CCI_IMMUTABLE_PARAM>;

    static Scenario read(const std::string& name, const std::string& path,
                         cci::cci_broker_handle broker) {
        ConfigValue values = load_config(path);
        const std::string prefix = name + ".";
        for (const auto& [preset, value] : broker.get_unconsumed_preset_values()) {
            if (preset.compare(0, prefix.size(), prefix) == 0) {
                set_config(values, preset.substr(prefix.size()), config_value(value, preset),
                           "CCI preset " + preset);
            }
        }
        return make_scenario(std::move(values), path, Workloads::optional);
    }

    static ConfigValue config_value(const cci::cci_value& value, const std::string& preset) {
        if (value.is_bool()) {
            return boolean_value(value.get_bool());
        }
        if (value.is_string()) {
            return text_value(value.get_string().c_str());
        }
        ConfigValue out;
        if (value.is_int64()) {
            out.kind = ConfigValue::Kind::integer;
            out.integer = value.get_int64();
        } else if (value.is_number()) {
            return number_value(value.get_number());
        } else if (value.is_list()) {
            out.kind = ConfigValue::Kind::array;
            for (const cci::cci_value entry : value.get_list()) {
                out.array.push_back(config_value(entry, preset));
            }
        } else if (value.is_map()) {
            for (const auto& entry : value.get_map()) {
                out.table.push_back(
                    {entry.key, {}, config_value(cci::cci_value(entry.value), preset)});
            }
        } else {
            throw ConfigError("CCI preset " + preset + ": has no value");
        }
        return out;
    }

    /// As what it was preset, if it was: a quantity may be a number ("network.payload"), a list of hosts a name. A list or
    /// table is published by its members.
    template <class T>
    void publish(const std::string& name, const T& value, cci::cci_broker_handle broker,
                 const cci::cci_originator& origin) {
        const cci::cci_value preset = broker.get_preset_cci_value(name);
        if (preset.is_null()) {
            add<T>(name, value, broker, origin);
        } else if (preset.is_bool()) {
            add<bool>(name, preset.get_bool(), broker, origin);
        } else if (preset.is_int64()) {
            add<std::int64_t>(name, preset.get_int64(), broker, origin);
        } else if (preset.is_number()) {
            add<double>(name, preset.get_number(), broker, origin);
        } else if (preset.is_string()) {
            add<std::string>(name, preset.get_string().c_str(), broker, origin);
        }
    }
    template <class T>
    void add(const std::string& name, const T& value, cci::cci_broker_handle broker,
             const cci::cci_originator& origin) {
        parameters_.push_back(std::make_shared<Parameter<T>>(
            name, value, broker, "docs/scenario.md", cci::CCI_ABSOLUTE_NAME, origin));
    }

    Scenario scenario_;
    BuiltExperiment built_;
    std::vector<std::shared_ptr<void>> parameters_;  ///< Parameter<T>
};

}  // namespace sluice
