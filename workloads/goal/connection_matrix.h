// SPDX-License-Identifier: Apache-2.0
/// htsim's connection matrices, .cm files (csg-htsim, ConnectionMatrix::load):
///     Nodes N / Connections C / Triggers T / Failures F, then, one to a line,
///     SRC->DST [id I] start PICOSECONDS | trigger T size BYTES [send_done_trigger T]
///         [recv_done_trigger T] [msg [M]] [prio P] [addon]
///     trigger id T oneshot | multishot | barrier [count N]
///     failure switch_type TOR|AGG|CORE switch_id S link_id L
/// `#` begins a comment line. As in htsim, ids are from 1, a flow of size 0 has no end, and the
/// messages (msg) of a UEC file share the connection of their id. Beyond htsim, sizes may exceed
/// 2^31 - 1 bytes, and counts that do not agree with the lines are told.
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
        std::int64_t size = 0;  ///< without end: 2^50 bytes
        bool endless = false;
        Tick start = kNever;          ///< kNever: by a trigger
        std::uint32_t queue = kNone;  ///< of a message: its connection, from 0
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
    std::size_t endless = 0;  ///< connections without end
};

ConnectionMatrix read_connection_matrix(TokenReader reader, ImportReport& report);

}  // namespace sluice
