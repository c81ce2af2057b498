// SPDX-License-Identifier: Apache-2.0
/// The Chakra traces of a job, one per rank, checked and in columns.
/// What is modelled of a node: its type, whether it occupies the CPU, its duration or size, what it
/// waits for (control and data dependencies alike), and what its type needs besides. Everything else
/// that a trace may hold (times of recording, tensors, stacks) is informational and left out.
/// Invariants of a trace without misfits: nodes are in ascending order of their ids; every dependency
/// is a node of the same trace; no node waits for itself in any number of steps.
/// Storage: 21 bytes per node, 4 per dependency, and 8 more per node where ids are not consecutive;
/// 56 for each communication and 16 for each computation that differs from all others of its rank.
/// Errors: ConfigError for a file that cannot be read as a trace; what contradicts itself is a misfit
/// of the report, in FILE:node form.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ids.h"
#include "core/text/import_report.h"
#include "workloads/chakra/et_node.h"

namespace sluice::chakra {

/// What a communication node says.
struct Communication {
    CollectiveType type = CollectiveType::all_reduce;
    bool dims_given = false;
    std::uint8_t dim_count = 0;
    std::uint32_t group = kNone;  ///< index into Trace::group_names; kNone: the world
    std::uint32_t src = kNone;    ///< kNone: not given
    std::uint32_t dst = kNone;
    std::int64_t tag = 0;
    std::int64_t priority = 0;
    std::uint64_t dims = 0;  ///< involved_dim: bit d is dimension d
    std::uint64_t duration_us = 0;
};

/// What the roofline model needs of a computation.
struct Work {
    std::int64_t operations = 0;
    std::int64_t bytes = 0;
};

/// A communicator group that a METADATA node or a comm_group file defines; no ranks: all of them.
struct Group {
    std::string name;
    std::vector<std::uint32_t> ranks;
};

/// A trace as it is stored. Nodes are numbered by their place.
struct TraceColumns {
    std::string path;
    std::uint64_t first_id = 0;
    std::vector<std::uint64_t> ids;  ///< empty: consecutive
    std::vector<std::uint8_t> type;
    std::vector<std::uint64_t> value;
    std::vector<std::uint32_t> extra;
    std::vector<std::uint32_t> name;
    std::vector<std::uint32_t> begin;
    std::vector<std::uint32_t> deps;
    std::vector<Communication> comms;
    std::vector<Work> works;  ///< a memory access with a duration has it as its operations
    std::vector<std::string> names;
    std::vector<std::string> group_names;
    std::vector<Group> groups;
    bool ascending = true;  ///< every dependency has a smaller id
};

class Trace {
  public:
    /// Reads one rank's file. Notes go to `report`.
    static Trace read(const std::string& path, ImportReport& report);
    Trace() = default;
    explicit Trace(TraceColumns columns) : columns_(std::move(columns)) {}

    const std::string& path() const { return columns_.path; }
    std::size_t size() const { return columns_.type.size(); }
    std::uint64_t id(std::size_t node) const {
        return columns_.ids.empty() ? columns_.first_id + node : columns_.ids[node];
    }
    NodeType type(std::size_t node) const {
        return static_cast<NodeType>(columns_.type[node] & 0x7f);
    }
    bool on_cpu(std::size_t node) const { return (columns_.type[node] & 0x80) != 0; }
    /// A computation's duration in us; a communication's or memory access's bytes; else 0.
    std::uint64_t value(std::size_t node) const { return columns_.value[node]; }
    /// Of communication nodes only.
    const Communication& communication(std::size_t node) const {
        return columns_.comms[columns_.extra[node]];
    }
    /// Of a computation; null: it does not say.
    const Work* work(std::size_t node) const {
        return type(node) == NodeType::comp && columns_.extra[node] != kNone
                   ? &columns_.works[columns_.extra[node]]
                   : nullptr;
    }
    /// How long it took when it was recorded; 0: not known, or neither computation, communication
    /// nor memory access.
    std::uint64_t duration_us(std::size_t node) const;
    std::string_view name(std::size_t node) const { return columns_.names[columns_.name[node]]; }
    const std::uint32_t* deps_begin(std::size_t node) const {
        return columns_.deps.data() + columns_.begin[node];
    }
    const std::uint32_t* deps_end(std::size_t node) const {
        return columns_.deps.data() + columns_.begin[node + 1];
    }
    const std::vector<std::string>& group_names() const { return columns_.group_names; }
    const std::vector<Group>& groups() const { return columns_.groups; }
    /// Positions of nodes in the order in which one after the other could run, of those that could
    /// the least id first: the order in which a rank issues its communications if all take no time.
    std::vector<std::uint32_t> issue_order() const;
    /// "trace.0.et:node 17".
    std::string where(std::size_t node) const;
    std::size_t memory_bytes() const;

  private:
    TraceColumns columns_;
};

/// The files of a job, by rank: PREFIX.0.et, PREFIX.1.et, ... (or .et.gz, .json, .json.gz), or all
/// such files of a folder, which must have one prefix. ConfigError if there is none, or a rank
/// before the last is missing.
std::vector<std::string> find_traces(const std::string& prefix_or_folder);

/// Reads them on up to `threads` threads; the result and the notes do not depend on how many.
std::vector<Trace> read_traces(const std::vector<std::string>& files, unsigned threads,
                               ImportReport& report);

/// Threads for reading traces: as many as there are processors.
unsigned reading_threads();

}  // namespace sluice::chakra
