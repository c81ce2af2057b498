// SPDX-License-Identifier: Apache-2.0
#include "experiment/batch/batch_table.h"

#include <algorithm>

#include "core/results/output_file.h"

namespace sluice {

namespace {

constexpr std::chrono::steady_clock::duration kPause = std::chrono::seconds(1);
constexpr int kShareOfTime = 100;

}  // namespace

BatchTable::BatchTable(const std::string& path, const std::vector<std::string>& keys,
                       std::size_t experiments)
    : path_(path), header_(batch_csv_header(keys)), lines_(experiments) {
    check_output_name(path_);
}

void BatchTable::add(const BatchRow& row) {
    lines_[row.experiment] = batch_csv_line(row);
    is_new_ = true;
}

void BatchTable::write() {
    const Clock::time_point begin = Clock::now();
    OutputFile file(path_);
    file << header_;
    for (const std::string& line : lines_) file << line;
    file.commit();
    is_new_ = false;
    const Clock::time_point end = Clock::now();
    due_ = end + std::max(kPause, kShareOfTime * (end - begin));
}

void BatchTable::write_if_due() {
    if (is_new_ && Clock::now() >= due_) write();
}

}  // namespace sluice
