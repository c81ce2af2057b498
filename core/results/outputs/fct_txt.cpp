// SPDX-License-Identifier: Apache-2.0
#include "core/error.h"
#include "core/results/fct_line.h"
#include "core/results/run_output.h"

namespace sluice {
namespace {

class FctTxt : public RunOutput {
  public:
    FctTxt(const std::string& path, const OutputContext&) : file_(path) {}

    bool wants_flows() const override { return true; }
    void flow_finished(const FlowReport& report) override {
        if (report.ideal <= 0) {
            throw InternalError("fct.txt needs every flow's ideal completion time");
        }
        file_ << fct_line(report.flow.spec, report.flow.result, report.ideal);
    }

    OutputFile& file() override { return file_; }

  private:
    OutputFile file_;
};

}  // namespace

extern const OutputType kFctTxt{"fct.txt", "fct", false, every_run, make_output<FctTxt>};

}  // namespace sluice
