// SPDX-License-Identifier: Apache-2.0
#include "experiment/run_memo.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/memo/digest.h"
#include "core/memo/store.h"

namespace sluice {

RunMemo::RunMemo(std::string file, bool asked, const std::string& config_json,
                 Experiment& experiment) {
    if (!experiment.phases.memo) return;
    file_ = std::move(file);
    memo::Content known;
    try {
        if (!file_.empty()) known = memo::load(file_).content;
    } catch (const ConfigError& error) {
        if (asked) throw;
        note_ = std::string(error.what()) + "; the run goes on without it";
        file_.clear();
    }
    memo_ = std::make_shared<memo::Memo>(known);
    experiment.memo = memo_;
    experiment.memo_fingerprint = memo_fingerprint(config_json);
}

std::string RunMemo::save() const {
    if (file_.empty()) return "";
    try {
        const memo::Content news = memo_->news();
        if (!news.empty()) memo::save(file_, news);
    } catch (const ConfigError& error) {
        return std::string(error.what()) + "; the results of this run are not stored";
    }
    return "";
}

std::vector<std::int64_t> memo_fingerprint(const std::string& config_json) {
    const nlohmann::json config = nlohmann::json::parse(config_json);
    memo::Digester digester;
    for (const char* section : {"network", "congestion", "phases"}) {
        nlohmann::json values = config.value(section, nlohmann::json::object());
        for (const char* key : {"memo", "episodes", "memo_tolerance", "audit",
                                "audit_tolerance"}) {  // of what is done with it
            values.erase(key);
        }
        for (const char letter : values.dump()) {
            digester.take(static_cast<unsigned char>(letter));
        }
    }
    return {static_cast<std::int64_t>(digester.digest().high),
            static_cast<std::int64_t>(digester.digest().low)};
}

}  // namespace sluice
