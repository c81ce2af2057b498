// SPDX-License-Identifier: Apache-2.0
/// The workload .txt of AICB, SimAI and ASTRA-sim 1.x: one line of policy and parallel degrees, the
/// number of layers, and one line of 12 fields per layer (HYBRID_CUSTOMIZED: 13). Fields and units:
/// docs/models/aicb.md.
/// Read without loss: format_aicb() gives back every token that was read, also those that mean
/// nothing here. Read leniently: any blanks, CRLF, blank lines, keys with or without a colon and in
/// any case, whole numbers written as floats ("2621440.0").
/// Errors: ConfigError "file:line: ..." for a file that the original would misread: a wrong number
/// of layers, a field that is missing or is no number, an unknown policy or communication type.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/text/import_report.h"
#include "core/text/tokens.h"
#include "workloads/model/intra_node.h"

namespace sluice {

enum class AicbPolicy : std::uint8_t {
    transformer_fwd_in_bckwd,  ///< what AICB writes
    transformer,
    data,
    model,
    data_model,
    model_data,
    dlrm,
    dlrm_enhanced,
    customized,  ///< every layer names its own
    micro,
    inference,
};

/// The name in a file: "HYBRID_TRANSFORMER", ...
const char* to_string(AicbPolicy policy);

enum class AicbComm : std::uint8_t {
    none,
    all_reduce,
    all_gather,
    reduce_scatter,
    all_to_all,
    all_reduce_all_to_all,  ///< carried as an all-reduce, as SimAI reads it
    broadcast,              ///< of old files; carries nothing, as in SimAI
};

/// What follows the type: "ALLTOALL_EP". `plain` is TP forward and for input gradients, DP for
/// weight gradients. `unknown` has no group: nothing is carried.
enum class AicbSuffix : std::uint8_t { plain, ep, dp_ep, unknown };

/// Whether it carries anything, and as what.
bool carries(AicbComm comm);
CollectiveKind collective_kind(AicbComm comm);

enum AicbPhase : std::uint8_t { kForward, kInputGradient, kWeightGradient };
inline constexpr std::size_t kAicbPhases = 3;

struct AicbWork {
    std::int64_t compute = 0;  ///< ns
    std::int64_t bytes = 0;    ///< full tensor over the group (nccl-tests)
    AicbComm comm = AicbComm::none;
    AicbSuffix suffix = AicbSuffix::plain;

    friend bool operator==(const AicbWork& a, const AicbWork& b) {
        return a.compute == b.compute && a.bytes == b.bytes && a.comm == b.comm &&
               a.suffix == b.suffix;
    }
};

struct AicbLayer {
    std::array<AicbWork, kAicbPhases> work;
    std::int64_t update = 0;       ///< ns; follows every communication of the layer
    std::int64_t dependency = -1;  ///< not used by the original either
    std::uint32_t name = 0;        ///< index of AicbWorkload::names
    std::int32_t line = 0;
    AicbPolicy policy = AicbPolicy::transformer_fwd_in_bckwd;  ///< of HYBRID_CUSTOMIZED lines
};

struct AicbHeader {
    AicbPolicy policy = AicbPolicy::transformer_fwd_in_bckwd;
    /// 0: not given.
    std::int64_t tp = 0;
    std::int64_t ep = 0;
    std::int64_t pp = 0;
    std::int64_t vpp = 0;  ///< AICB: layers per stage
    std::int64_t ga = 0;   ///< micro-batches per step
    std::int64_t all_gpus = 0;
    std::int64_t pp_comm = 0;  ///< bytes of one boundary activation of one rank
    std::int64_t dlrm_last_bottom_layer = -1;
    std::vector<std::int64_t> checkpoints;           ///< layers, ascending
    std::vector<std::int64_t> checkpoint_initiates;  ///< layers, ascending
};

struct AicbWorkload {
    static constexpr std::int64_t kLongestCompute = 10'000'000'000'000;  ///< ns
    static constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
    static constexpr std::int64_t kMostGpus = 16'777'216;

    std::string file;
    int header_line = 1;
    AicbHeader header;
    std::vector<std::string> header_tokens;  ///< of the first line, as written
    std::vector<std::string> names;
    std::vector<AicbLayer> layers;
    /// Tokens that are written otherwise than format_aicb() would: by 16 x layer + field, field 0
    /// the name; and the number of layers.
    std::unordered_map<std::uint64_t, std::string> odd_tokens;
    std::string count_token;

    const std::string& name(const AicbLayer& layer) const { return names[layer.name]; }
    /// "file:line" of a layer, and of the header.
    std::string where(const AicbLayer& layer) const;
    std::string where() const;
};

/// The whole of `reader`, or its first `rows` layers.
AicbWorkload parse_aicb(TokenReader& reader, ImportReport& report, std::size_t rows = 0);
AicbWorkload read_aicb(const std::string& path, ImportReport& report, std::size_t rows = 0);

/// The file's text: its tokens, one blank in the first line and one tab in the layers' between them.
std::string format_aicb(const AicbWorkload& workload);

/// The tokens of a first line that says `header`, as AICB writes it.
std::vector<std::string> aicb_header_tokens(const AicbHeader& header);

}  // namespace sluice
