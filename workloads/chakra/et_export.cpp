// SPDX-License-Identifier: Apache-2.0
#include "workloads/chakra/et_export.h"

#include <limits>
#include <vector>

#include "core/error.h"
#include "workloads/chakra/et_file.h"

namespace sluice::chakra {

namespace {

class Exporter {
  public:
    Exporter(const JobGraph& graph, const std::string& prefix, ImportReport& report)
        : graph_(graph), prefix_(prefix), report_(report), dependencies_(graph.op_count()) {
        for (OpId op = 0; op < graph.op_count(); ++op) {
            for (const OpId next : graph.successors(op)) dependencies_[next].push_back(op);
        }
        position_.resize(graph.op_count());
        for (RankId rank = 0; rank < graph.rank_count(); ++rank) {
            std::uint64_t position = 0;
            for (const OpId op : graph.ops_of(rank)) position_[op] = position++;
        }
    }

    void write() {
        for (RankId rank = 0; rank < graph_.rank_count(); ++rank) {
            EtWriter writer(prefix_ + "." + std::to_string(rank) + ".et", {});
            for (const OpId op : graph_.ops_of(rank)) writer.write(node_of(op));
            writer.close();
        }
        report_.read(prefix_, std::to_string(graph_.rank_count()) + " ranks, " +
                                  std::to_string(graph_.op_count()) + " nodes written");
        const auto note = [&](std::uint64_t count, const char* text) {
            if (count > 0) report_.skipped(prefix_, std::to_string(count) + text);
        };
        note(rounded_, " durations rounded up to whole microseconds");
        note(on_cpu_, " delays written as computations on the CPU");
        note(resources_, " operations whose resource is lost");
    }

  private:
    Node node_of(OpId op) {
        Node node;
        node.id = position_[op];
        node.name = graph_.name(graph_.label(op).name);
        for (const OpId on : dependencies_[op]) {
            if (graph_.rank(on) == graph_.rank(op)) node.data_deps.push_back(position_[on]);
        }
        switch (graph_.kind(op)) {
            case OpKind::compute: add_computation(node, op, false); break;
            case OpKind::task:
                ++resources_;
                add_computation(node, op, false);
                break;
            case OpKind::delay:
                if (graph_.duration(op) == 0) {
                    node.type = NodeType::metadata;
                } else {
                    ++on_cpu_;
                    add_computation(node, op, true);
                }
                break;
            case OpKind::acquire:
            case OpKind::release:
                ++resources_;
                node.type = NodeType::metadata;
                break;
            case OpKind::send:
            case OpKind::recv: add_message(node, op); break;
            case OpKind::signal:
            case OpKind::await:
            case OpKind::meet:
                throw ConfigError(graph_.describe(op) +
                                  " has no Chakra node: only computations, delays and messages "
                                  "can be written");
        }
        return node;
    }

    void add_computation(Node& node, OpId op, bool cpu) {
        node.type = NodeType::comp;
        const Tick duration = graph_.duration(op);
        if (duration % kMicrosecond != 0) ++rounded_;
        node.duration_us =
            static_cast<std::uint64_t>(duration / kMicrosecond + (duration % kMicrosecond != 0));
        node.attributes = {Attribute::boolean("is_cpu_op", cpu)};
    }

    void add_message(Node& node, OpId op) {
        const std::uint32_t index = graph_.target(op);
        if (index > static_cast<std::uint32_t>(std::numeric_limits<std::int32_t>::max())) {
            throw ConfigError("a Chakra trace has at most 2147483648 tags for messages");
        }
        const JobGraph::Message& message = graph_.messages()[index];
        const bool send = op == message.send;
        node.type = send ? NodeType::comm_send : NodeType::comm_recv;
        node.attributes = {
            Attribute::boolean("is_cpu_op", false),
            Attribute::int32("comm_src", static_cast<std::int32_t>(graph_.rank(message.send))),
            Attribute::int32("comm_dst", static_cast<std::int32_t>(graph_.rank(message.recv))),
            Attribute::int32("comm_tag", static_cast<std::int32_t>(index)),
            Attribute::int64("comm_size", message.bytes)};
    }

    const JobGraph& graph_;
    const std::string& prefix_;
    ImportReport& report_;
    std::vector<std::vector<OpId>> dependencies_;
    std::vector<std::uint64_t> position_;  ///< of each operation among its rank's
    std::uint64_t rounded_ = 0;
    std::uint64_t on_cpu_ = 0;
    std::uint64_t resources_ = 0;
};

}  // namespace

void export_job(const JobGraph& graph, const std::string& prefix, ImportReport& report) {
    if (!graph.finished()) throw InternalError("the job graph is not finished");
    Exporter(graph, prefix, report).write();
}

}  // namespace sluice::chakra
