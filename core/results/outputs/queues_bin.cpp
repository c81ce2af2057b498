// SPDX-License-Identifier: Apache-2.0
/// queues.bin: what `sluice train` learns from (core/results/queue_trace.h has the form).
#include <algorithm>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/checksum.h"
#include "core/error.h"
#include "core/results/queue_facts.h"
#include "core/results/queue_trace.h"
#include "core/results/run_output.h"

namespace sluice {
namespace {

template <typename Word>
Word clamped(std::int64_t value) {
    return static_cast<Word>(std::clamp<std::int64_t>(value, 0, std::numeric_limits<Word>::max()));
}

template <typename Word>
void append(std::string& bytes, Word word) {
    static_assert(std::is_unsigned<Word>::value, "signed words are shifted as they should not be");
    for (std::size_t i = 0; i < sizeof(Word); ++i) {
        bytes += static_cast<char>(static_cast<std::uint64_t>(word) >> (8 * i) & 0xff);
    }
}

class QueuesBin : public RunOutput {
  public:
    QueuesBin(const std::string& path, const OutputContext& context)
        : file_(path), topology_(context.topology), info_(context.info) {
        if (info_.queues == nullptr) throw InternalError("nobody said how queues are recorded");
        column_of_.assign(topology_.port_count(), kNone);
        for (PortId port = 0; port < topology_.port_count(); ++port) {
            if (topology_.kind(topology_.node_of(port)) == NodeKind::host) continue;
            column_of_[port] = static_cast<std::uint32_t>(ports_.size());
            ports_.push_back(port);
        }
        const std::size_t most = queue_trace::kMostCells / queue_trace::kLeastSamples;
        if (ports_.size() > most) {
            throw ConfigError("output.record_queues: the network has " +
                              std::to_string(ports_.size()) + " switch ports; at most " +
                              std::to_string(most) + " can be recorded");
        }
        most_samples_ = queue_trace::kMostCells / std::max<std::size_t>(ports_.size(), 1);
        sent_.resize(ports_.size());
    }

    bool wants_samples() const override { return true; }

    /// Instants at which nothing is under way are left out: a job that computes is no network at work.
    void sample(const PortSample& sample) override {
        if (steps_.size() == most_samples_) {
            complete_ = false;
            return;
        }
        const Tick step = sample.at / info_.queues->step;
        if (step > std::numeric_limits<std::uint32_t>::max()) {
            complete_ = false;
            return;
        }
        bool at_work = false;
        for (std::size_t column = 0; column < ports_.size() && !at_work; ++column) {
            const PortId port = ports_[column];
            at_work = sample.queue_bytes[port] > 0 || sample.tx_bytes[port] != sent_[column];
        }
        if (!at_work) return;
        steps_.push_back(static_cast<std::uint32_t>(step));
        for (std::size_t column = 0; column < ports_.size(); ++column) {
            const PortId port = ports_[column];
            depths_.push_back(clamped<std::uint32_t>(sample.queue_bytes[port]));
            bytes_.push_back(clamped<std::uint32_t>(sample.tx_bytes[port] - sent_[column]));
            sent_[column] = sample.tx_bytes[port];
        }
    }

    void flow_finished(const FlowReport& report) override { add_flow(report.flow); }
    void flow_open(const FlowRecord& flow) override { add_flow(flow); }

    void finish(const RunOutcome&) override {
        std::sort(changes_.begin(), changes_.end(), [](const Change& a, const Change& b) {
            return std::make_pair(a.column, a.step) < std::make_pair(b.column, b.step);
        });
        std::vector<std::size_t> kept;
        for (std::size_t column = 0; column < ports_.size(); ++column) {
            if (used(column)) kept.push_back(column);
        }
        std::string bytes(queue_trace::kMagic);
        const std::string text = header(kept);
        append(bytes, queue_trace::kVersion);
        append(bytes, static_cast<std::uint32_t>(text.size()));
        bytes += text;
        for (const std::uint32_t step : steps_) append(bytes, step);
        for (const std::size_t column : kept) append_column(bytes, column);
        append(bytes, checksum(bytes));
        file_ << bytes;
    }

    OutputFile& file() override { return file_; }

  private:
    /// A flow came or went: from the instant on.
    struct Change {
        std::uint32_t column = 0;
        std::uint32_t step = 0;
        int by = 0;
    };

    std::size_t cell(std::size_t sample, std::size_t column) const {
        return sample * ports_.size() + column;
    }

    void add_flow(const FlowRecord& flow) {
        for (const PortId port : info_.queues->path(flow)) {
            const std::uint32_t column = column_of_[port];
            if (column == kNone) continue;
            change(column, flow.result.start, 1);
            if (flow.result.finish != kNever) change(column, flow.result.finish, -1);
        }
    }

    void change(std::uint32_t column, Tick at, int by) {
        const Tick step = at / info_.queues->step + 1;  // a sample is of everything before it
        if (!complete_ && (steps_.empty() || step > Tick{steps_.back()})) return;
        changes_.push_back({column, clamped<std::uint32_t>(step), by});
    }

    bool used(std::size_t column) const {
        for (std::size_t sample = 0; sample < steps_.size(); ++sample) {
            if (depths_[cell(sample, column)] > 0 || bytes_[cell(sample, column)] > 0) return true;
        }
        return false;
    }

    std::string header(const std::vector<std::size_t>& kept) const {
        const QueueFacts& facts = *info_.queues;
        nlohmann::ordered_json json;
        json["scenario"] = info_.scenario;
        json["version"] = info_.version;
        json["seed"] = info_.seed;
        json["law"] = facts.law;
        json["base_rtt_ps"] = facts.base_rtt;
        json["step_ps"] = facts.step;
        json["samples"] = steps_.size();
        json["complete"] = complete_;
        json["ports"] = nlohmann::ordered_json::array();
        for (const std::size_t column : kept) {
            const PortId port = ports_[column];
            nlohmann::ordered_json entry;
            entry["port"] = port;
            entry["rate_bps"] = topology_.rate(port).bits_per_second;
            entry["mark_bytes"] = facts.mark_bytes[port];
            entry["to_host"] = topology_.kind(topology_.neighbor(port)) == NodeKind::host;
            json["ports"].push_back(std::move(entry));
        }
        return json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
    }

    void append_column(std::string& bytes, std::size_t column) {
        for (std::size_t i = 0; i < steps_.size(); ++i) append(bytes, depths_[cell(i, column)]);
        for (std::size_t i = 0; i < steps_.size(); ++i) append(bytes, bytes_[cell(i, column)]);
        auto next = std::lower_bound(
            changes_.begin(), changes_.end(), column,
            [](const Change& change, std::size_t wanted) { return change.column < wanted; });
        std::vector<std::uint16_t> counts;
        std::int64_t flows = 0;
        std::uint16_t count = 0;
        for (const std::uint32_t step : steps_) {
            for (; next != changes_.end() && next->column == column && next->step <= step; ++next) {
                flows += next->by;
                ++count;
            }
            append(bytes, clamped<std::uint16_t>(flows));
            counts.push_back(count);
        }
        for (const std::uint16_t number : counts) append(bytes, number);
    }

    OutputFile file_;
    const Topology& topology_;
    const RunInfo& info_;
    std::vector<PortId> ports_;             ///< of switches, by column
    std::vector<std::uint32_t> column_of_;  ///< by port, kNone for those of hosts
    std::size_t most_samples_ = 0;
    bool complete_ = true;
    std::vector<std::uint32_t> steps_;   ///< by sample
    std::vector<std::uint32_t> depths_;  ///< by sample, then column
    std::vector<std::uint32_t> bytes_;   ///< the same: sent since the sample before
    std::vector<std::int64_t> sent_;     ///< by column, until the last sample
    std::vector<Change> changes_;
};

}  // namespace

extern const OutputType kQueuesBin{"queues.bin", "record_queues", false, in_packet_mode,
                                   make_output<QueuesBin>};

}  // namespace sluice
