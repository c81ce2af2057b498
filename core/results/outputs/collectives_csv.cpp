// SPDX-License-Identifier: Apache-2.0
#include "core/results/csv.h"
#include "core/results/run_output.h"

namespace sluice {
namespace {

class CollectivesCsv : public RunOutput {
  public:
    CollectivesCsv(const std::string& path, const OutputContext&) : file_(path) {
        file_ << "job,collective,kind,group,ranks,flows,bytes,start_ps,finish_ps,duration_ps\n";
        file_.preamble_done();
    }

    void collective_finished(const CollectiveRecord& record) override {
        file_ << csv_field(record.job) << ',' << std::int64_t{record.id} << ','
              << csv_field(record.kind) << ',' << csv_field(record.group) << ','
              << std::int64_t{record.ranks} << ',' << std::int64_t{record.flows} << ','
              << record.bytes << ',' << record.start << ',' << record.finish << ','
              << record.finish - record.start << '\n';
    }

    OutputFile& file() override { return file_; }

  private:
    OutputFile file_;
};

}  // namespace

extern const OutputType kCollectivesCsv{"collectives.csv", nullptr, true, every_run,
                                        make_output<CollectivesCsv>};

}  // namespace sluice
