// SPDX-License-Identifier: Apache-2.0
/// Operations of host ports as a file for SCViewer (transaction_file.h): a stream per port, a generator per kind of operation, a transaction
/// per operation, from its post to its completion.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/host_port/host_port.h"
#include "models/observe/transaction_file.h"

namespace sluice {

class PortRecording {
  public:
    /// ConfigError if the file can't be written. Its format is by its name (make_transaction_file()).
    explicit PortRecording(const std::string& path);
    ~PortRecording();

    /// Records what `port` completes from here on, by whomever it was posted. It must outlive the port's last completion.
    void add(HostPort& port);
    /// After the run: what is outstanding still is not in the file, which gets its name.
    void finish() { file_->finish(); }

  private:
    class Row;

    std::unique_ptr<TransactionFile> file_;
    std::vector<std::unique_ptr<Row>> rows_;
};

}  // namespace sluice
