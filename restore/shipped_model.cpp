// SPDX-License-Identifier: Apache-2.0
#include "restore/shipped_model.h"

#include <filesystem>
#include <system_error>

namespace sluice::restore {

std::string shipped_model_path() {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        const fs::path installed =
            program.parent_path().parent_path() / "share/sluice/restore/queues.model";
        if (fs::exists(installed, error)) return installed.string();
    }
    return SLUICE_MODEL_DIR "/queues.model";
}

}  // namespace sluice::restore
