// SPDX-License-Identifier: Apache-2.0
/// `sluice report`: results of runs, batches, comparisons and evaluations as one page that needs nothing else.
#pragma once

#include <string>
#include <vector>

namespace sluice::report {

/// What a page was made of, for a line on the terminal.
struct PageSource {
    std::string path;
    std::string name;
    std::vector<std::string> answers;  ///< a sentence a page
};

struct Page {
    std::string html;
    std::vector<PageSource> sources;
};

/// `paths`: folders of runs, comparisons, evaluations and batches, their summary.json, compare.json, evaluation.json, or
/// a batch's .db. ConfigError names the file, and says what is wrong with it.
Page make_page(const std::vector<std::string>& paths, const std::string& version);

/// The program was built with the library that draws the charts. Without it make_page() refuses.
bool has_charts();

}  // namespace sluice::report
