// SPDX-License-Identifier: Apache-2.0
/// The course of a training: a table, and a figure that any browser shows.
#pragma once

#include <string>
#include <vector>

#include "restore/training.h"

namespace sluice::restore {

/// Columns epoch,training,validation,best.
std::string loss_csv(const std::vector<Epoch>& epochs);
/// Both losses over the epochs, as SVG. `title` is plain text.
std::string loss_svg(const std::vector<Epoch>& epochs, const std::string& title);

}  // namespace sluice::restore
