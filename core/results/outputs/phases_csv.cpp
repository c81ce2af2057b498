// SPDX-License-Identifier: Apache-2.0
#include "core/results/run_output.h"

namespace sluice {
namespace {

class PhasesCsv : public RunOutput {
  public:
    PhasesCsv(const std::string& path, const OutputContext&) : file_(path) {
        file_ << "partition,phase,start_ps,end_ps,ended_by,flows,bytes_skipped,hops_saved\n";
        file_.preamble_done();
    }

    void phase(const PhaseRecord& record) override {
        file_ << std::int64_t{record.partition} << ',' << phase_name(record.phase) << ','
              << record.start << ',' << record.end << ',' << phase_end_name(record.ended_by) << ','
              << std::int64_t{record.flows} << ',' << record.bytes_skipped << ','
              << record.hops_saved << '\n';
    }

    OutputFile& file() override { return file_; }

  private:
    OutputFile file_;
};

bool in_mode_with_phases(const RunInfo& info) { return has_phases(info.mode); }

}  // namespace

extern const OutputType kPhasesCsv{"phases.csv", nullptr, true, in_mode_with_phases,
                                   make_output<PhasesCsv>};

}  // namespace sluice
