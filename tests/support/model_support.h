// SPDX-License-Identifier: Apache-2.0
/// The models and GPU types of the source tree, for tests.
#pragma once

#include <string>
#include <vector>

#include "workloads/model/gpu.h"
#include "workloads/model/model_file.h"

namespace sluice {

inline std::vector<std::string> model_folders() {
    return {SLUICE_SOURCE_DIR "/workloads/data/models"};
}

inline std::vector<std::string> gpu_folders() { return {SLUICE_SOURCE_DIR "/workloads/data/gpus"}; }

inline ModelShape preset(const std::string& name) { return find_model(name, model_folders()); }

inline Gpu gpu(const std::string& name) { return find_gpu(name, gpu_folders()); }

}  // namespace sluice
