// SPDX-License-Identifier: Apache-2.0
#include "cli/run_memo.h"

#include <fmt/core.h>

#include "core/error.h"
#include "core/memo/store.h"
#include "experiment/memo_fingerprint.h"

namespace sluice {

RunMemo::RunMemo(const RunOptions& options, const Scenario& scenario, Experiment& experiment,
                 const std::string& config_json) {
    if (!has_phases(scenario.mode) || !scenario.phases.memo) return;
    const bool usual = options.memo.empty() && scenario.mode == Mode::wormhole;
    file_ = usual ? memo::default_path() : options.memo;
    memo::Content known;
    try {
        if (!file_.empty()) known = memo::load(file_).content;
    } catch (const ConfigError& error) {
        if (!options.memo.empty()) throw;
        fmt::print(stderr, "sluice: {}; the run goes on without it\n", error.what());
        file_.clear();
    }
    memo_ = std::make_shared<memo::Memo>(known);
    experiment.memo = memo_;
    experiment.memo_fingerprint = memo_fingerprint(config_json);
}

void RunMemo::save() const {
    if (file_.empty()) return;
    const memo::Content news = memo_->news();
    try {
        if (!news.empty()) memo::save(file_, news);
    } catch (const ConfigError& error) {
        fmt::print(stderr, "sluice: {}; what the run has learned is not kept\n", error.what());
    }
}

}  // namespace sluice
