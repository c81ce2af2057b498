// SPDX-License-Identifier: Apache-2.0
/// rtt.csv: the round trip of each packet that was acknowledged, in the order of the ACKs' windows.
#include "core/results/run_output.h"

namespace sluice {
namespace {

class RttCsv : public RunOutput {
  public:
    RttCsv(const std::string& path, const OutputContext&) : file_(path) {
        file_ << "flow,sequence,rtt_ps\n";
        file_.preamble_done();
    }
    bool wants_round_trips() const override { return true; }
    void round_trip(const RoundTrip& trip) override {
        file_ << static_cast<std::int64_t>(trip.flow) << "," << std::int64_t{trip.sequence} << ","
              << trip.rtt << "\n";
    }
    void finish(const RunOutcome&) override {}
    OutputFile& file() override { return file_; }

  private:
    OutputFile file_;
};

bool with_packets(const RunInfo& info) { return moves_packets(info.mode); }

}  // namespace

extern const OutputType kRttCsv{"rtt.csv", "rtt", false, with_packets, make_output<RttCsv>};

}  // namespace sluice
