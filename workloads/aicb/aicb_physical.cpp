// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/aicb_physical.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include <fmt/core.h>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

constexpr std::size_t kMostRows = 10'000'000;

/// Fields of a CSV line; "..." may hold commas, as tuples of shapes do.
std::vector<std::string> csv_fields(std::string_view line) {
    std::vector<std::string> fields(1);
    bool quoted = false;
    for (const char c : line) {
        if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            fields.emplace_back();
        } else if (c != '\r') {
            fields.back() += c;
        }
    }
    return fields;
}

/// "CommType.all_reduce" without what comes before the point.
std::string enumerator(const std::string& text) {
    const std::size_t point = text.rfind('.');
    return point == std::string::npos ? text : text.substr(point + 1);
}

std::optional<CollectiveKind> kind_of(const std::string& type) {
    static const std::unordered_map<std::string, CollectiveKind> kKinds = {
        {"all_reduce", CollectiveKind::all_reduce},
        {"all_gather", CollectiveKind::all_gather},
        {"all_gather_into_tensor", CollectiveKind::all_gather},
        {"reduce_scatter", CollectiveKind::reduce_scatter},
        {"reduce_scatter_tensor", CollectiveKind::reduce_scatter},
        {"all_to_all", CollectiveKind::all_to_all},
        {"all_to_all_single", CollectiveKind::all_to_all},
        {"broadcast", CollectiveKind::broadcast},
        {"reduce", CollectiveKind::reduce},
    };
    const auto found = kKinds.find(type);
    if (found == kKinds.end()) return std::nullopt;
    return found->second;
}

std::optional<AicbGroup> group_named(const std::string& name) {
    static const std::unordered_map<std::string, AicbGroup> kGroups = {
        {"tp_group", AicbGroup::tp},       {"dp_group", AicbGroup::dp},
        {"ep_group", AicbGroup::ep},       {"ep_dp_group", AicbGroup::dp_ep},
        {"dp_ep_group", AicbGroup::dp_ep}, {"all", AicbGroup::all},
    };
    const auto found = kGroups.find(name);
    if (found == kGroups.end()) return std::nullopt;
    return found->second;
}

class PhysicalParser {
  public:
    PhysicalParser(TokenReader& reader, ImportReport& report, std::size_t rows)
        : reader_(reader), report_(report), rows_(rows) {}

    AicbPhysical run() {
        result_.workload.file = reader_.file();
        result_.workload.header.policy = AicbPolicy::transformer;
        read_heads();
        std::string_view line;
        while (reader_.next_line(line)) {
            if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
            if (line.front() == '[') {
                report_.doubtful(here(),
                                 "another pipeline stage's rows begin; those of the first "
                                 "stage are run, on its ranks");
                break;
            }
            if (rows_ > 0 && result_.rows.size() == rows_) {
                report_.skipped(here(), fmt::format("the rows after the first {} collectives, as "
                                                    "asked",
                                                    rows_));
                break;
            }
            read_row(line);
        }
        if (result_.rows.empty()) reader_.fail("has no row with a collective");
        report_.read(reader_.file(),
                     fmt::format("{} collectives of every rank", result_.rows.size()));
        return std::move(result_);
    }

  private:
    std::string here() const { return fmt::format("{}:{}", reader_.file(), reader_.line()); }

    /// `[rank0 ~ rankN]`, if it is there, and the columns' names.
    void read_heads() {
        std::string_view line;
        if (!reader_.next_line(line)) reader_.fail("is empty; it begins with the columns' names");
        if (!line.empty() && line.front() == '[') {
            const std::size_t last = line.rfind("rank");
            if (last == std::string_view::npos) reader_.fail("the first line names no ranks");
            const std::string_view number = line.substr(last + 4);
            result_.workload.header.all_gpus =
                1 + parse_integer(number.substr(0, number.find_first_not_of("0123456789")),
                                  reader_.place("last rank"), 0, AicbWorkload::kMostGpus - 1);
            result_.workload.header_line = reader_.line();
            if (!reader_.next_line(line)) reader_.fail("ends before the columns' names");
        }
        const std::vector<std::string> names = csv_fields(line);
        for (std::size_t i = 0; i < names.size(); ++i) columns_.emplace(names[i], i);
        for (const char* needed : {"comm_type", "comm_group", "msg_size"}) {
            if (columns_.count(needed) == 0) {
                reader_.fail(fmt::format("has no column {}", needed));
            }
        }
    }

    std::string field(const std::vector<std::string>& fields, const char* column) const {
        const auto found = columns_.find(column);
        return found == columns_.end() || found->second >= fields.size() ? ""
                                                                         : fields[found->second];
    }

    void read_row(std::string_view line) {
        const std::vector<std::string> fields = csv_fields(line);
        const std::string type = enumerator(field(fields, "comm_type"));
        if (type == "isend" || type == "irecv") {
            report_.doubtful(here(),
                             type + ": what the pipeline's other ranks do is not in the file");
            return;
        }
        if (type == "epoch_end" || type == "barrier" || type == "computation") {
            report_.skipped(here(), type);
            return;
        }
        const std::optional<CollectiveKind> kind = kind_of(type);
        const std::string name = enumerator(field(fields, "comm_group"));
        const std::optional<AicbGroup> group = group_named(name);
        if (!kind) reader_.fail(fmt::format("unknown comm_type \"{}\"", type));
        if (name == "pp_group") {
            if (field(fields, "comm_group_size") == "1") {
                report_.skipped(here(), "pp_group of one stage");
            } else {
                report_.doubtful(here(), type +
                                             " of pp_group: what the pipeline's other stages do "
                                             "is not in the file");
            }
            return;
        }
        if (!group) {
            reader_.fail(
                fmt::format("unknown comm_group \"{}\"; known are tp_group, dp_group, "
                            "ep_group, dp_ep_group and pp_group",
                            name));
        }
        AicbPhysicalRow row;
        row.kind = *kind;
        row.group = *group;
        row.line = reader_.line();
        row.bytes = parse_integer(field(fields, "msg_size"), reader_.place("msg_size"), 0,
                                  AicbWorkload::kMostBytes);
        row.stage = field(fields, "stage");
        const std::string count = field(fields, "count");
        if (!count.empty() && count != "None") {
            row.count = static_cast<std::uint32_t>(
                parse_integer(count, reader_.place("count"), 0, AicbPhysical::kMostRepeats));
        }
        note_degree(*group, field(fields, "comm_group_size"));
        if (row.bytes == 0 || row.count == 0) {
            report_.skipped(here(), type + " of no bytes");
            return;
        }
        if (result_.rows.size() == kMostRows) reader_.fail("has more rows than 10,000,000");
        result_.rows.push_back(std::move(row));
    }

    /// The sizes of TP and EP groups are the job's degrees.
    void note_degree(AicbGroup group, const std::string& text) {
        if (text.empty() || text == "None") return;
        const std::int64_t size =
            parse_integer(text, reader_.place("comm_group_size"), 1, AicbWorkload::kMostGpus);
        AicbHeader& header = result_.workload.header;
        std::int64_t* degree = group == AicbGroup::tp   ? &header.tp
                               : group == AicbGroup::ep ? &header.ep
                                                        : nullptr;
        if (degree == nullptr) return;
        if (*degree != 0 && *degree != size) {
            reader_.fail(fmt::format("comm_group_size {}; the rows above have {} for this group",
                                     size, *degree));
        }
        *degree = size;
    }

    TokenReader& reader_;
    ImportReport& report_;
    const std::size_t rows_;
    AicbPhysical result_;
    std::unordered_map<std::string, std::size_t> columns_;
};

OpClass class_of(AicbGroup group) {
    switch (group) {
        case AicbGroup::tp: return OpClass::tp;
        case AicbGroup::ep: return OpClass::ep;
        default: return OpClass::dp;
    }
}

}  // namespace

AicbPhysical parse_aicb_physical(TokenReader& reader, ImportReport& report, std::size_t rows) {
    return PhysicalParser(reader, report, rows).run();
}

JobGraph build_aicb_physical(const AicbPhysical& physical, const AicbLayout& layout,
                             const CollectiveOptions& options, double most_operations) {
    double operations = 0;
    std::size_t fitting = 0;
    for (const AicbPhysicalRow& row : physical.rows) {
        const double members = layout.size(row.group);
        operations += 4.0 * row.count * layout.count(row.group) * members * (members - 1);
        if (operations <= most_operations) ++fitting;
    }
    if (operations > most_operations) {
        throw ConfigError(
            physical.workload.file, 0,
            fmt::format("is about {:.3g} operations on {} GPUs, some {:.1f} GB of "
                        "memory; at most {:.3g} are built: rows = {} takes the "
                        "first of its {} collectives, operations = {:.0f} all",
                        operations, layout.world(), operations * kBytesOfAicbOperation / 1e9,
                        most_operations, std::max<std::size_t>(fitting, 1), physical.rows.size(),
                        operations + 1));
    }
    JobGraph graph(layout.world());
    CollectiveLibrary library(graph, options);
    std::vector<OpId> cursor(layout.world(), kNone);
    for (const AicbPhysicalRow& row : physical.rows) {
        if (layout.size(row.group) < 2) continue;
        for (std::uint32_t repeat = 0; repeat < row.count; ++repeat) {
            for (RankId index = 0; index < layout.count(row.group); ++index) {
                Members members{layout.members(row.group, 0, index), {}};
                for (const RankId rank : members.ranks) members.after.push_back(cursor[rank]);
                const CollectiveSpec spec{row.stage,
                                          fmt::format("{}{}", to_string(row.group), index),
                                          class_of(row.group), row.bytes};
                const std::vector<OpId> done = library.add(row.kind, spec, members);
                for (std::size_t m = 0; m < done.size(); ++m) cursor[members.ranks[m]] = done[m];
            }
        }
    }
    return graph;
}

}  // namespace sluice
