// SPDX-License-Identifier: Apache-2.0
/// Micro-batches in an AICB file. AICB writes the layers of one stage and one micro-batch `ga`
/// times, between layers that come once: gradient and parameter traffic before, the loss and the
/// optimizer after. The file does not say where the repeats are; they are found by their pattern.
#pragma once

#include <cstddef>
#include <string>

#include "workloads/aicb/aicb_workload.h"

namespace sluice {

/// Layers [first, first + count * length) are `count` micro-batches of `length` layers each.
struct AicbBlocks {
    std::size_t first = 0;
    std::size_t length = 0;
    std::size_t count = 1;
    std::string how;            ///< for people: what was found, or what was assumed
    bool contradicted = false;  ///< ga is above 1, and the layers do not come so often
};

/// With ga above 1 the longest run of layers that comes ga times in a row, compared by name and
/// communication (compute times may differ: AICB's first micro-batch does). Where embedding layers do not come ga
/// times, or a multiple of it, none of the layers do: a run is then of a model's layers that are alike. With ga of 1, or
/// where there is no such run, one micro-batch: the layers from the first "embedding_layer" up to the
/// first "cross_entropy..." or "optimizer..." behind it; all layers where there is none. Linear in
/// the file's length but for at most 256 candidates of the repeat's length.
AicbBlocks find_micro_batches(const AicbWorkload& workload);

}  // namespace sluice
