// SPDX-License-Identifier: Apache-2.0
#include "core/results/csv.h"
#include "core/results/run_output.h"

namespace sluice {
namespace {

class FlowsCsv : public RunOutput {
  public:
    FlowsCsv(const std::string& path, const OutputContext& context)
        : file_(path), packets_(moves_packets(context.info.mode)) {
        file_ << "flow,src,dst,sport,dport,priority,label,size_bytes,start_ps,received_ps,"
                 "finish_ps,fct_ps,ideal_ps,slowdown,retransmitted_bytes\n";
        file_.preamble_done();
    }

    bool wants_flows() const override { return true; }
    void flow_finished(const FlowReport& report) override {
        const FlowSpec& spec = report.flow.spec;
        const FlowResult& result = report.flow.result;
        const Tick fct = result.finish - result.start;
        file_ << static_cast<std::int64_t>(report.flow.id) << ',' << std::int64_t{spec.src} << ','
              << std::int64_t{spec.dst} << ',' << std::int64_t{spec.sport} << ','
              << std::int64_t{spec.dport} << ',' << std::int64_t{spec.priority} << ','
              << csv_field(report.label) << ',' << spec.size << ',' << result.start << ','
              << result.received << ',' << result.finish << ',' << fct << ',';
        if (report.ideal > 0) file_ << report.ideal;
        file_ << ',' << csv_ratio(fct, report.ideal) << ',';
        if (packets_) file_ << result.retransmitted;
        file_ << '\n';
    }

    OutputFile& file() override { return file_; }

  private:
    OutputFile file_;
    bool packets_;
};

}  // namespace

extern const OutputType kFlowsCsv{"flows.csv", "flows", true, every_run, make_output<FlowsCsv>};

}  // namespace sluice
