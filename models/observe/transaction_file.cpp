// SPDX-License-Identifier: Apache-2.0
#include "models/observe/transaction_file.h"

#include <filesystem>

#include "models/observe/ftr_file.h"
#include "models/observe/transaction_database.h"

namespace sluice {

std::unique_ptr<TransactionFile> make_transaction_file(const std::string& path) {
    if (std::filesystem::path(path).extension() == ".txdb") {
        return std::make_unique<TransactionDatabase>(path);
    }
    return std::make_unique<FtrFile>(path);
}

}  // namespace sluice
