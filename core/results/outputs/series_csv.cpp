// SPDX-License-Identifier: Apache-2.0
/// series.csv: queues and utilization of ports over time.
#include <string>
#include <vector>

#include "core/results/csv.h"
#include "core/results/run_output.h"
#include "core/topology/node_names.h"

namespace sluice {
namespace {

/// Ports at which nothing is queued and nothing was sent in a step have no row of it.
class SeriesCsv : public RunOutput {
  public:
    SeriesCsv(const std::string& path, const OutputContext& context)
        : file_(path),
          topology_(context.topology),
          names_(context.topology),
          sent_(topology_.port_count(), 0) {
        file_ << "time_ps,port,from,to,queue_bytes,tx_bytes,utilization\n";
        file_.preamble_done();
    }

    bool wants_samples() const override { return true; }
    void sample(const PortSample& sample) override {
        const Tick step = sample.at - last_;
        last_ = sample.at;
        for (PortId port = 0; port < sent_.size(); ++port) {
            const std::int64_t sent = sample.tx_bytes[port] - sent_[port];
            if (sent == 0 && sample.queue_bytes[port] == 0) continue;
            sent_[port] = sample.tx_bytes[port];
            file_ << sample.at << "," << std::int64_t{port} << ","
                  << names_[topology_.node_of(port)] << "," << names_[topology_.neighbor(port)]
                  << "," << sample.queue_bytes[port] << "," << sent << ","
                  << csv_ratio(WideCount{sent} * 8 * kSecond,
                               WideCount{topology_.rate(port).bits_per_second} * step)
                  << "\n";
        }
    }

    void finish(const RunOutcome&) override {}
    OutputFile& file() override { return file_; }

  private:
    OutputFile file_;
    const Topology& topology_;
    NodeNames names_;
    std::vector<std::int64_t> sent_;  ///< by port, until the last sample
    Tick last_ = 0;
};

}  // namespace

extern const OutputType kSeriesCsv{"series.csv", "series", false, in_packet_mode,
                                   make_output<SeriesCsv>};

}  // namespace sluice
