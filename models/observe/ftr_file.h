// SPDX-License-Identifier: Apache-2.0
/// Transactions as an FTR file (fast transaction recording), which SCViewer and readers of SCC's LWTR open: CBOR, uncompressed
/// chunks, times in ps. Source: the format's description in Minres/LWTR4SC (src/ftr/ftr_writer.h).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/results/output_file.h"
#include "core/units.h"
#include "models/observe/cbor_writer.h"
#include "models/observe/transaction_file.h"

namespace sluice {

class FtrFile final : public TransactionFile {
  public:
    /// ConfigError if it can't be written.
    explicit FtrFile(const std::string& path);

    std::uint64_t add_stream(const std::string& name, const std::string& kind) override;
    std::uint64_t add_generator(const std::string& name, std::uint64_t stream) override;
    void add(std::uint64_t generator, Tick begin, Tick end,
             const std::vector<TransactionAttribute>& attributes) override;
    void finish() override;

  private:
    /// Transactions of a stream that are not written yet.
    struct Block {
        CborWriter content;
        Tick begin = kNever;
        Tick end = 0;
    };

    std::uint64_t known(const std::string& text);
    void write_chunk(std::uint64_t tag, const CborWriter& content);
    void write_names();
    void write_block(std::uint64_t stream);

    OutputFile file_;
    std::map<std::string, std::uint64_t> names_;  ///< texts that are told by number
    std::vector<std::string> new_names_;          ///< not written yet
    CborWriter directory_;                        ///< streams and generators, likewise
    std::vector<Block> blocks_;                   ///< by stream, from 1
    std::vector<std::uint64_t> stream_of_;        ///< by generator, from 1
    std::uint64_t transactions_ = 0;
};

}  // namespace sluice
