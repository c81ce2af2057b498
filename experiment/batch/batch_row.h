// SPDX-License-Identifier: Apache-2.0
/// What came of one experiment of a batch: a row of batch.csv and of batch.db. Columns: docs/batch.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/memo/memo.h"
#include "experiment/run_to_folder.h"

namespace sluice {

enum class BatchStatus : std::uint8_t {
    done,
    cut_off,  ///< its stop time came first
    left,     ///< it came to rest, or to a standstill, with work left
    oom,      ///< it does not fit the memory of its GPUs: not simulated
    refused,  ///< its scenario is wrong
    failed,   ///< the program failed
};

const char* status_name(BatchStatus status);

/// A figure of a row; none where the mode or the run has none.
using BatchFigure = std::variant<std::monostate, std::int64_t, double>;

struct BatchRow {
    std::size_t experiment = 0;
    BatchStatus status = BatchStatus::failed;
    std::vector<BatchFigure> figures;  ///< by batch_figures(); empty: all none
    std::string reason;                ///< of what is not done, one line
    std::vector<std::string> values;   ///< of what varies, by column
    std::string digest;                ///< of its scenario, by which a later batch knows it again
    bool over_memory = false;          ///< it was simulated though it does not fit its GPUs' memory
    bool folder = false;               ///< it has left runs/NUMBER
    std::string declined;              ///< why the host did it where a device was asked; not kept
    std::uint64_t recalled_skips = 0;  ///< at rates from the batch's memo; not kept
    memo::Content learned;             ///< what it adds to the batch's memo
};

/// How a figure is called, and what it is.
struct BatchFigureType {
    const char* name;
    bool whole;     ///< an integer
    bool measured;  ///< by a clock: differs from run to run
};

/// In the order of the columns.
const std::vector<BatchFigureType>& batch_figures();
/// The figure of a row, by name; none if the row has none.
BatchFigure figure_of(const BatchRow& row, std::string_view name);

BatchRow row_of(std::size_t experiment, const RunReport& report, Mode mode);
/// Of an experiment that did not run.
BatchRow row_of_error(std::size_t experiment, BatchStatus status, const std::string& reason);

/// "experiment,status,KEYS,FIGURES,reason", and a line a row.
std::string batch_csv_header(const std::vector<std::string>& keys);
std::string batch_csv_line(const BatchRow& row);

}  // namespace sluice
