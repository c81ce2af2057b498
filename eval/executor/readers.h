// SPDX-License-Identifier: Apache-2.0
/// Trials in files that another program wrote.
///
/// A table has a line a row, separated by tabs, semicolons, commas or blanks: the first of these that its first line
/// has. That line names the columns; if all of it is numbers it is a row, and columns are called "1", "2", ..., an
/// only one "value". Cells may be quoted; a quotation ends on its line. Empty lines, and those that begin with '#',
/// are skipped; an empty cell is no value. A column is numeric if at least half of what is in it is numbers, and
/// then nothing else may be in it; other columns, and those without a name, are left out.
///
/// Errors: ConfigError in one line: file, line, what is wrong and what is allowed. A file without a value is one, too.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "eval/trials/trial.h"

namespace sluice::eval {

/// fct.txt of HPCC ns-3 (core/results/fct_line.h): its flows, in the order of its lines.
TrialRecord read_fct(const std::string& path);

/// One trial as a table: each numeric column by its name. If there is a column fct_s (or _ms, _us, _ns, _ps: the first
/// of these), rows that have a value there are flows, too, with start_* and ideal_* in any of these units, and
/// size_bytes or size: none of them below zero, and 0 where it is missing.
TrialRecord read_table(const std::string& path);

struct SampledCandidate {
    std::string label;  ///< empty: the files name none
    std::vector<TrialRecord> trials;
    /// By trial, which of the file's trial names it has: the same number is the same name. Empty: there are no names.
    std::vector<std::uint32_t> numbers;
};

/// Trials that somebody else made. Of several files each is a trial of the only candidate, and so is a single fct.txt.
/// In a single table a column "candidate" (else "label") says whose a row is, and a column "trial" which rows are one
/// trial; without it each row is a trial. These columns are left out. Candidates, and the trials of each, are in the
/// order in which the file first names them.
/// A file is fct.txt if its first line has 8 fields, of which the first two are addresses of 8 hexadecimal digits.
std::vector<SampledCandidate> read_samples(const std::vector<std::string>& paths);

}  // namespace sluice::eval
