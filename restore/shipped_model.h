// SPDX-License-Identifier: Apache-2.0
/// The model that comes with the program, made by bench/restore/train_shipped.
#pragma once

#include <string>

namespace sluice::restore {

/// Its file: beside the installed program, else in the source tree. Not opened here.
std::string shipped_model_path();

}  // namespace sluice::restore
