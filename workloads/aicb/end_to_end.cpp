// SPDX-License-Identifier: Apache-2.0
#include "workloads/aicb/end_to_end.h"

#include <algorithm>

#include <fmt/core.h>

#include "core/error.h"

namespace sluice {

namespace {

constexpr double kNanosecondsPerMicrosecond = 1000;
/// The order in which the file has a layer's parts.
constexpr AicbPhase kColumns[] = {kForward, kWeightGradient, kInputGradient};

double nanoseconds(Tick ticks) {
    return static_cast<double>(ticks) / static_cast<double>(kNanosecond);
}

double& part_of(AicbTotals& totals, AicbGroup group, AicbPhase phase) {
    switch (group) {
        case AicbGroup::tp: return totals.tp;
        case AicbGroup::ep: return totals.ep;
        case AicbGroup::dp: return totals.dp;
        case AicbGroup::dp_ep: return totals.dp_ep;
        case AicbGroup::all: return phase == kWeightGradient ? totals.dp : totals.tp;
        case AicbGroup::none: break;
    }
    throw InternalError("a communication without group has no part");
}

struct Span {
    Tick start = 0;
    Tick end = 0;
};

/// When rank 0 computed, or waited for something that has been counted: disjoint, in order.
class Busy {
  public:
    void add(const Span& span) {
        spans_.push_back(span);
        before_.push_back(sum_);
        sum_ += span.end - span.start;
    }

    /// Busy time before `instant`.
    Tick until(Tick instant) const {
        const auto next =
            std::upper_bound(spans_.begin(), spans_.end(), instant,
                             [](Tick at, const Span& span) { return at < span.start; });
        if (next == spans_.begin()) return 0;
        const auto index = static_cast<std::size_t>(next - spans_.begin()) - 1;
        return before_[index] + std::min(instant, spans_[index].end) - spans_[index].start;
    }

  private:
    std::vector<Span> spans_;
    std::vector<Tick> before_;
    Tick sum_ = 0;
};

class Measurement {
  public:
    Measurement(const AicbWorkload& workload, const JobApplication& application)
        : workload_(workload), application_(application) {
        result_.layers.resize(workload.layers.size());
    }

    AicbEndToEnd run(const std::vector<AicbRecord>& records, AicbAccount account,
                     const AicbHeader& header) {
        std::vector<AicbRecord> hidden;
        for (const AicbRecord& record : records) {
            if (record.kind == AicbRecord::Kind::communication && !record.blocking) {
                times(record).communication += length(record);
                hidden.push_back(record);
            } else {
                take(record);
            }
        }
        if (account == AicbAccount::simai) {
            account_as_simai(hidden, header);
            return std::move(result_);
        }
        std::sort(hidden.begin(), hidden.end(), [&](const AicbRecord& a, const AicbRecord& b) {
            return span(a).end < span(b).end;
        });
        for (const AicbRecord& record : hidden) uncover(record);
        AicbTotals& totals = result_.totals;
        totals.total = nanoseconds(application_.last_end());
        totals.exposed = totals.total - totals.compute - totals.bubble - totals.pp;
        return std::move(result_);
    }

  private:
    AicbPhaseTimes& times(const AicbRecord& record) {
        return result_.layers[record.layer][record.phase];
    }

    Span span(const AicbRecord& record) const {
        return {record.from == kNone ? 0 : application_.end(record.from),
                application_.end(record.to)};
    }

    double length(const AicbRecord& record) const {
        return nanoseconds(span(record).end - span(record).start);
    }

    void take(const AicbRecord& record) {
        Span at = span(record);
        AicbTotals& totals = result_.totals;
        switch (record.kind) {
            case AicbRecord::Kind::compute:
                at.start = application_.start(record.to);
                times(record).compute += nanoseconds(at.end - at.start);
                totals.compute += nanoseconds(at.end - at.start);
                break;
            case AicbRecord::Kind::communication:
                times(record).communication += length(record);
                times(record).exposed += length(record);
                part_of(totals, record.group, record.phase) += length(record);
                break;
            case AicbRecord::Kind::boundary: {
                const Tick sent = std::clamp(application_.start(record.send), at.start, at.end);
                totals.bubble += nanoseconds(sent - at.start);
                totals.pp += nanoseconds(at.end - sent);
                break;
            }
        }
        if (at.end > at.start) busy_.add(at);
        program_end_ = std::max(program_end_, at.end);
    }

    void account_as_simai(const std::vector<AicbRecord>& hidden, const AicbHeader& header) {
        AicbTotals& totals = result_.totals;
        for (const AicbRecord& record : hidden) {
            if (record.layer != 0) continue;
            const double waited = nanoseconds(std::max<Tick>(0, span(record).end - program_end_));
            times(record).exposed += waited;
            part_of(totals, record.group, record.phase) += waited;
        }
        Tick end = program_end_;
        for (const AicbRecord& record : hidden) end = std::max(end, span(record).end);
        totals.total = nanoseconds(end);
        totals.exposed = totals.total - totals.compute;
        const std::int64_t slots = header.ga * header.vpp;
        if (header.pp < 2 || slots < 1) return;
        double stage = 0;
        for (std::size_t layer = 0; layer < result_.layers.size(); ++layer) {
            if (workload_.name(workload_.layers[layer]) == "embedding_layer") continue;
            for (const AicbPhase phase : kColumns) stage += result_.layers[layer][phase].compute;
            stage += result_.layers[layer][kForward].exposed;
            stage += result_.layers[layer][kInputGradient].exposed;
        }
        totals.bubble = stage * static_cast<double>(header.pp - 1) / static_cast<double>(slots);
    }

    /// The part of a communication beside the program during which nothing else went on.
    void uncover(const AicbRecord& record) {
        const Span at = span(record);
        const Tick from = std::max(at.start, counted_);
        if (from >= at.end) return;
        const Tick idle = at.end - from - (busy_.until(at.end) - busy_.until(from));
        counted_ = at.end;
        times(record).exposed += nanoseconds(idle);
        part_of(result_.totals, record.group, record.phase) += nanoseconds(idle);
    }

    const AicbWorkload& workload_;
    const JobApplication& application_;
    AicbEndToEnd result_;
    Busy busy_;
    Tick program_end_ = 0;
    Tick counted_ = 0;
};

class Writer {
  public:
    Writer(const AicbWorkload& workload, const AicbLayout& layout, const AicbEndToEnd& result,
           EndToEndStyle style, std::string run)
        : workload_(workload),
          layout_(layout),
          result_(result),
          simulated_(style == EndToEndStyle::simulated),
          run_(std::move(run)) {}

    std::string text(const std::string& file) const {
        std::string text = fmt::format(
            "layer_name,{},fwd compute,wg compute,ig compute,fwd exposed comm,wg exposed comm,ig "
            "exposed comm,fwd total comm,algbw,busbw,wg total comm,algbw,busbw,ig total "
            "comm,algbw,busbw{}\n",
            run_, simulated_ ? ",workload finished at" : "");
        for (std::size_t layer = 0; layer < workload_.layers.size(); ++layer) text += row(layer);
        if (simulated_) text += sums();
        return text + summary(file);
    }

  private:
    std::string time(double ns) const {
        const double us = ns / kNanosecondsPerMicrosecond;
        return simulated_ ? fmt::format("{:.6f}", us) : fmt::format("{:.0f}", us);
    }

    std::string bandwidths(std::size_t layer, AicbPhase phase, double ns) const {
        const AicbWork& work = workload_.layers[layer].work[phase];
        const RankId members = layout_.size(group_of(workload_, layer, phase));
        double algorithm = 0;
        double bus = 0;
        if (ns > 0 && members > 1) {
            algorithm = static_cast<double>(work.bytes) / (ns * 1e-9) / kGibi;
            bus = algorithm * wire_factor(collective_kind(work.comm), members);
        }
        return simulated_ ? fmt::format(",{:.6f},{:.6f}", algorithm, bus)
                          : fmt::format(",{:.2f},{:.2f}", algorithm, bus);
    }

    std::string row(std::size_t layer) const {
        std::string text = fmt::format("{},{}", workload_.name(workload_.layers[layer]), run_);
        const auto& times = result_.layers[layer];
        for (const AicbPhase phase : kColumns) text += "," + time(times[phase].compute);
        for (const AicbPhase phase : kColumns) text += "," + time(times[phase].exposed);
        for (const AicbPhase phase : kColumns) {
            text += "," + time(times[phase].communication);
            text += bandwidths(layer, phase, times[phase].communication);
        }
        if (simulated_) text += "," + time(result_.totals.total);
        return text + "\n";
    }

    std::string sums() const {
        std::array<AicbPhaseTimes, kAicbPhases> sum;
        for (const auto& layer : result_.layers) {
            for (std::size_t phase = 0; phase < kAicbPhases; ++phase) {
                sum[phase].compute += layer[phase].compute;
                sum[phase].exposed += layer[phase].exposed;
                sum[phase].communication += layer[phase].communication;
            }
        }
        std::string text = "SUM," + run_;
        for (const AicbPhase phase : kColumns) text += "," + time(sum[phase].compute);
        for (const AicbPhase phase : kColumns) text += "," + time(sum[phase].exposed);
        for (const AicbPhase phase : kColumns) {
            text += "," + time(sum[phase].communication) + ",NONE,NONE";
        }
        const AicbTotals& totals = result_.totals;
        return text + fmt::format("\ntotal exposed comm,{},total comp,{},total time,{}\n",
                                  time(totals.total - totals.compute), time(totals.compute),
                                  time(totals.total));
    }

    std::string summary(const std::string& file) const {
        const AicbTotals& totals = result_.totals;
        std::string values = file;
        for (const double part : {totals.dp, totals.dp_ep, totals.tp, totals.ep, totals.pp,
                                  totals.bubble, totals.compute, totals.exposed}) {
            values += fmt::format(", {:.0f} ({:.2f}%)", part / kNanosecondsPerMicrosecond,
                                  totals.total > 0 ? 100 * part / totals.total : 0.0);
        }
        return fmt::format(
            "File name, Expose DP comm, Expose DP_EP comm, Expose TP comm, Expose_EP_comm, "
            "Expose_PP_comm, bubble time, total comp, total exposed comm, Total time\n{}, {:.0f}\n",
            values, totals.total / kNanosecondsPerMicrosecond);
    }

    const AicbWorkload& workload_;
    const AicbLayout& layout_;
    const AicbEndToEnd& result_;
    bool simulated_;
    std::string run_;
};

}  // namespace

AicbEndToEnd measure_aicb(const AicbWorkload& workload, const std::vector<AicbRecord>& records,
                          const JobApplication& application, AicbAccount account,
                          const AicbHeader& header) {
    if (!application.complete()) throw InternalError("an unfinished run has no end-to-end times");
    return Measurement(workload, application).run(records, account, header);
}

std::string format_end_to_end(const AicbWorkload& workload, const AicbLayout& layout,
                              const AicbEndToEnd& result, EndToEndStyle style,
                              const std::string& run, const std::string& file) {
    return Writer(workload, layout, result, style, run).text(file);
}

}  // namespace sluice
