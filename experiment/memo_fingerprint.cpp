// SPDX-License-Identifier: Apache-2.0
#include "experiment/memo_fingerprint.h"

#include <nlohmann/json.hpp>

#include "core/memo/digest.h"

namespace sluice {

std::vector<std::int64_t> memo_fingerprint(const std::string& config_json) {
    const nlohmann::json config = nlohmann::json::parse(config_json);
    memo::Digester digester;
    for (const char* section : {"network", "congestion", "phases"}) {
        nlohmann::json values = config.value(section, nlohmann::json::object());
        values.erase("memo");
        values.erase("memo_tolerance");
        for (const char letter : values.dump()) {
            digester.take(static_cast<unsigned char>(letter));
        }
    }
    return {static_cast<std::int64_t>(digester.digest().high),
            static_cast<std::int64_t>(digester.digest().low)};
}

}  // namespace sluice
