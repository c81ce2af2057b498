// SPDX-License-Identifier: Apache-2.0
/// The depth of a switch port's queue after a skip, predicted from what it was before: HyGra, section
/// V-C, eq. 9 (the sequence), 10 (the encoder) and 11 (the depth at resumption); beyond the paper, what
/// the port knows besides, and quantiles instead of one depth. The model and how it is trained:
/// docs/restoration.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/congestion/laws.h"
#include "core/units.h"

namespace sluice::restore {

/// A sequence is of samples this many to a base RTT, unless packets are too few for it
/// (steady::sampling_period): the phase controller's own.
inline constexpr int kSamplesPerBaseRtt = 4;

/// What is predicted of the depth at resumption: the share of cases that are below.
inline constexpr std::array<double, 5> kQuantiles{0.1, 0.25, 0.5, 0.75, 0.9};
inline constexpr std::size_t kMedian = 2;

/// What a port knows beside its queue. All of it at the last sample before the skip.
struct PortContext {
    congestion::Law law{};
    std::int64_t line_rate = 0;  ///< of the port, bits/s, > 0
    std::int64_t mark_bytes =
        0;                   ///< where it begins to mark; 0 where the law does not react to marks
    Tick base_rtt = 0;       ///< the largest of the flows skipped together, > 0
    Tick step = 0;           ///< between two samples of the sequence, > 0
    Tick skip = 0;           ///< length of the skip, >= 0
    std::int64_t flows = 0;  ///< whose data leave by the port
    double utilization = 0;  ///< bytes sent over the sequence, by what the line could have
    bool to_host = false;    ///< its cable ends at a host
};

/// A port that asks. `depths`: bytes queued at each sample, oldest first, the last one at the skip's
/// beginning; at least one. Of a longer sequence the newest count, a shorter one is taken to have stood
/// at its first depth before.
struct PortQuery {
    std::vector<std::int64_t> depths;
    PortContext context;
};

/// Bytes, ascending, none negative: a depth for each of kQuantiles.
using DepthQuantiles = std::array<std::int64_t, kQuantiles.size()>;

/// What depths are measured in, bytes: the marking threshold where the law reacts to marks, else the
/// port's bandwidth-delay product; at least 1.
std::int64_t depth_unit(const PortContext& context);

/// Sizes of an encoder. Within limits a model's file may choose them (restore/model_file.h).
struct ModelShape {
    int steps = 64;  ///< samples of a sequence, a multiple of 8
    int width = 32;  ///< of a sample inside the encoder, a multiple of heads
    int layers = 2;
    int heads = 4;
    int hidden = 64;  ///< of the feed-forward parts
};

/// A linear function of the sequence and the context, one for each law: what the encoder is held against.
struct LinearModel {
    /// By law of the model, then input: depths in units, context, 1. An empty row predicts the last depth.
    std::vector<std::vector<double>> weights;
};

/// A trained model. `weights` in the order of weight_blocks() (restore/encoder.h).
struct QueueModel {
    ModelShape shape;
    std::vector<std::string> laws;  ///< by name, in the order of their places in the context
    std::vector<float> weights;
    LinearModel linear;
    /// Where it comes from: JSON (seed, epochs, data, version, ...).
    std::string provenance = "{}";

    /// The law's place in `laws`; -1: it was not trained for this law.
    int place_of(congestion::Law law) const;
};

/// The names of all laws of this build.
std::vector<std::string> law_names();

}  // namespace sluice::restore
