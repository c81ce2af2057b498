// SPDX-License-Identifier: Apache-2.0
/// htsim's connection matrices, .cm files (csg-htsim, ConnectionMatrix::load):
///     Nodes N / Connections C / Triggers T / Failures F, then, one to a line,
///     SRC->DST [id I] start PICOSECONDS | trigger T size BYTES [send_done_trigger T]
///         [recv_done_trigger T] [prio P] [addon]
///     trigger id T oneshot | multishot | barrier [count N]
///     failure switch_type TOR|AGG|CORE switch_id S link_id L
/// `#` begins a comment line. As in htsim, ids are from 1 and the counts of the header must agree
/// with the lines. Beyond htsim, sizes may exceed 2^31 - 1 bytes.
/// prio, addon and failures have no meaning here: they are read and told as skipped.
/// Errors: ConfigError with file and line.
#pragma once

#include <string>
#include <vector>

#include "core/ids.h"
#include "core/text/import_report.h"
#include "core/text/tokens.h"
#include "core/units.h"

namespace sluice {

struct ConnectionMatrix {
    struct Connection {
        std::uint32_t src = 0;
        std::uint32_t dst = 0;
        std::int64_t size = 0;
        Tick start = kNever;  ///< kNever: by a trigger
        /// Indices of triggers, or kNone.
        std::uint32_t send_done = kNone;  ///< activated by the last ACK at the source
        std::uint32_t recv_done = kNone;  ///< activated by the last byte at the destination
    };
    enum class TriggerType : std::uint8_t {
        oneshot,    ///< the first activation starts all targets
        multishot,  ///< each activation starts the next target
        barrier,    ///< the activation number `count` starts all targets
    };
    struct Trigger {
        std::uint32_t id = 0;
        TriggerType type = TriggerType::oneshot;
        std::uint32_t count = 0;             ///< of a barrier
        std::vector<std::uint32_t> targets;  ///< connections, in file order
    };
    std::uint32_t nodes = 0;
    std::vector<Connection> connections;
    std::vector<Trigger> triggers;
};

ConnectionMatrix read_connection_matrix(TokenReader reader, ImportReport& report);

}  // namespace sluice
