// SPDX-License-Identifier: Apache-2.0
#include "workloads/hpcc/hpcc_config.h"

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>
#include <variant>

#include <nlohmann/json.hpp>

#include "core/error.h"
#include "core/text/tokens.h"

namespace sluice {
namespace {

using C = HpccConfig;

/// A key that some simulator of the family reads and Sluice does not model.
struct NotModelled {};

using Setting = std::variant<NotModelled, bool C::*, std::int64_t C::*, double C::*, Rate C::*,
                             std::string C::*, C::RateMap C::*, C::LinkDown C::*>;

struct Key {
    const char* name;
    Setting field;
    double lowest = 0;  ///< of a number, or of a map's values
    double highest = 0;
};

constexpr double kMaxMicroseconds = 1e9;
constexpr double kMaxNanoseconds = 9e15;
constexpr double kMaxBytes = 1e9;
constexpr double kMaxSteps = 1e6;
/// Distinct port rates that a map may list.
constexpr std::int64_t kMaxMapEntries = 1000;

const Key kKeys[] = {
    {"ENABLE_QCN", &C::enable_qcn},
    {"ENABLE_PFC", &C::enable_pfc},
    {"PACKET_PAYLOAD_SIZE", &C::payload, 1, 60'000},
    {"TOPOLOGY_FILE", &C::topology_file},
    {"FLOW_FILE", &C::flow_file},
    {"TRACE_FILE", &C::trace_file},
    {"TRACE_OUTPUT_FILE", &C::trace_output_file},
    {"FCT_OUTPUT_FILE", &C::fct_output_file},
    {"PFC_OUTPUT_FILE", &C::pfc_output_file},
    {"QLEN_MON_FILE", &C::qlen_file},
    {"SIMULATOR_STOP_TIME", &C::stop_s, 0, 1e300},
    {"CC_MODE", &C::cc_mode, 0, 1000},
    {"ALPHA_RESUME_INTERVAL", &C::alpha_resume_us, 0, kMaxMicroseconds},
    {"RATE_DECREASE_INTERVAL", &C::rate_decrease_us, 0, kMaxMicroseconds},
    {"RP_TIMER", &C::rp_timer_us, 0, kMaxMicroseconds},
    {"CLAMP_TARGET_RATE", &C::clamp_target_rate},
    {"EWMA_GAIN", &C::ewma_gain, 0, 1},
    {"FAST_RECOVERY_TIMES", &C::fast_recovery_times, 0, kMaxSteps},
    {"RATE_AI", &C::rate_ai},
    {"RATE_HAI", &C::rate_hai},
    {"MIN_RATE", &C::min_rate},
    {"DCTCP_RATE_AI", &C::dctcp_rate_ai},
    {"ERROR_RATE_PER_LINK", &C::error_rate, 0, 0.999999},
    {"L2_CHUNK_SIZE", &C::chunk, 0, kMaxBytes},
    {"L2_ACK_INTERVAL", &C::ack_interval, 0, kMaxBytes},
    {"L2_BACK_TO_ZERO", &C::back_to_zero},
    {"HAS_WIN", &C::has_window},
    {"GLOBAL_T", &C::global_t},
    {"VAR_WIN", &C::variable_window},
    {"FAST_REACT", &C::fast_react},
    {"U_TARGET", &C::u_target, 0.01, 10},
    {"MI_THRESH", &C::mi_thresh, 0, kMaxSteps},
    {"INT_MULTI", &C::int_multi, 1, kMaxSteps},
    {"MULTI_RATE", &C::multi_rate},
    {"SAMPLE_FEEDBACK", &C::sample_feedback},
    {"RATE_BOUND", &C::rate_bound},
    {"ACK_HIGH_PRIO", &C::ack_high_prio},
    {"ENABLE_TRACE", &C::enable_trace},
    {"LINK_DOWN", &C::link_down},
    {"KMAX_MAP", &C::kmax, 0, kMaxBytes / 1000},
    {"KMIN_MAP", &C::kmin, 0, kMaxBytes / 1000},
    {"PMAX_MAP", &C::pmax, 0, 1},
    {"BUFFER_SIZE", &C::buffer_mib, 1, 1'000'000},
    {"QLEN_MON_START", &C::qlen_from_ns, 0, kMaxNanoseconds},
    {"QLEN_MON_END", &C::qlen_to_ns, 0, kMaxNanoseconds},
    {"RANDOM_SEED", &C::random_seed, 0, 4294967295.0},
    // Forks' keys, and those of the original that stand for what is not there.
    {"NIC_TOTAL_PAUSE_TIME", NotModelled{}},
    {"LB_MODE", NotModelled{}},
    {"ENABLE_IRN", NotModelled{}},
    {"BW_MON_FILE", NotModelled{}},
    {"RATE_MON_FILE", NotModelled{}},
    {"CNP_MON_FILE", NotModelled{}},
    {"CNP_OUTPUT_FILE", NotModelled{}},
    {"FLOW_INPUT_FILE", NotModelled{}},
    {"VOQ_MON_FILE", NotModelled{}},
    {"VOQ_MON_DETAIL_FILE", NotModelled{}},
    {"UPLINK_MON_FILE", NotModelled{}},
    {"CONN_MON_FILE", NotModelled{}},
    {"EST_ERROR_MON_FILE", NotModelled{}},
};

/// Keys whose value changes nothing in the original either (or nothing in what is modelled here:
/// PINT's, without PINT; monitors' clocks, without the monitors). Read and dropped.
const char* const kWithoutEffect[] = {
    "USE_DYNAMIC_PFC_THRESHOLD",
    "PAUSE_TIME",
    "DATA_RATE",
    "LINK_DELAY",
    "PINT_LOG_BASE",
    "PINT_PROB",
    "MON_START",
    "MON_END",
    "QP_MON_INTERVAL",
    "BW_MON_INTERVAL",
    "QLEN_MON_INTERVAL",
    "SW_MONITORING_INTERVAL",
    "LOAD",
    "FLOWGEN_START_TIME",
    "FLOWGEN_STOP_TIME",
    "CONWEAVE_TX_EXPIRY_TIME",
    "CONWEAVE_REPLY_TIMEOUT_EXTRA",
    "CONWEAVE_PATH_PAUSE_TIME",
    "CONWEAVE_EXTRA_VOQ_FLUSH_TIME",
    "CONWEAVE_DEFAULT_VOQ_WAITING_TIME",
};

/// More than a screenful of complaints about one file helps nobody.
constexpr std::size_t kMaxNotes = 20;

bool looks_like_key(std::string_view token) {
    return token.size() > 1 && token[0] >= 'A' && token[0] <= 'Z' &&
           std::all_of(token.begin(), token.end(), [](char c) {
               return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
           });
}

const Key* find_key(const std::string& token) {
    const auto* const found = std::find_if(std::begin(kKeys), std::end(kKeys),
                                           [&](const Key& key) { return token == key.name; });
    return found == std::end(kKeys) ? nullptr : found;
}

bool without_effect(const std::string& token) {
    return std::find(std::begin(kWithoutEffect), std::end(kWithoutEffect), token) !=
           std::end(kWithoutEffect);
}

class Parser {
  public:
    Parser(const std::string& path, TokenReader reader) : reader_(std::move(reader)) {
        config_.path = path;
    }

    HpccConfig run() {
        while (!reader_.at_end()) {
            if (reader_.peek()[0] == '{') {
                skip_comment();
            } else {
                read_key(std::string(reader_.next("a key")));
            }
        }
        if (!not_modelled_.empty()) {
            config_.notes.push_back(config_.path + ": not modelled: " + not_modelled_);
        }
        if (unknown_ > kMaxNotes) {
            config_.notes.push_back(config_.path + ": and " + std::to_string(unknown_ - kMaxNotes) +
                                    " more pieces of unknown text");
        }
        return std::move(config_);
    }

  private:
    void skip_comment();
    void read_key(const std::string& token);
    void read_value(const Key& key);
    void read_map(const Key& key, C::RateMap& map);
    void skip_unknown(const std::string& token);

    TokenReader reader_;
    HpccConfig config_;
    std::string not_modelled_;
    std::size_t unknown_ = 0;
};

void Parser::skip_comment() {
    std::string_view token = reader_.next("a comment");
    const std::string closing =
        "the closing brace of the comment of line " + std::to_string(reader_.line());
    while (token.find('}') == token.npos) {
        token = reader_.next(closing);
    }
}

void Parser::read_key(const std::string& token) {
    const Key* const key = find_key(token);
    if (key != nullptr) {
        config_.lines[token] = reader_.line();
        read_value(*key);
    } else if (without_effect(token)) {
        reader_.next("the value of " + token);
    } else {
        skip_unknown(token);
    }
}

void Parser::read_value(const Key& key) {
    const std::string name = key.name;
    const auto integer = [&](std::int64_t lowest, std::int64_t highest) {
        return reader_.next_integer(name, lowest, highest);
    };
    if (const auto* flag = std::get_if<bool C::*>(&key.field)) {
        config_.*(*flag) = integer(0, 4294967295) != 0;
    } else if (const auto* number = std::get_if<std::int64_t C::*>(&key.field)) {
        config_.*(*number) =
            integer(static_cast<std::int64_t>(key.lowest), static_cast<std::int64_t>(key.highest));
    } else if (const auto* real = std::get_if<double C::*>(&key.field)) {
        config_.*(*real) = reader_.next_real(name, key.lowest, key.highest);
    } else if (const auto* rate = std::get_if<Rate C::*>(&key.field)) {
        config_.*(*rate) = reader_.next_rate(name);
    } else if (const auto* text = std::get_if<std::string C::*>(&key.field)) {
        config_.*(*text) = std::string(reader_.next("the value of " + name));
    } else if (const auto* map = std::get_if<C::RateMap C::*>(&key.field)) {
        read_map(key, config_.*(*map));
    } else if (const auto* down = std::get_if<C::LinkDown C::*>(&key.field)) {
        C::LinkDown& link = config_.*(*down);
        link.after_us = integer(0, static_cast<std::int64_t>(kMaxMicroseconds));
        link.a = integer(0, 4294967295);
        link.b = integer(0, 4294967295);
    } else {
        const std::string_view value = reader_.next("the value of " + name);
        if (value != "0") {
            not_modelled_ += (not_modelled_.empty() ? "" : ", ") + name;
        }
    }
}

void Parser::read_map(const Key& key, C::RateMap& map) {
    const std::string name = key.name;
    const std::int64_t entries = reader_.next_integer(name + "'s count", 0, kMaxMapEntries);
    map.clear();
    for (std::int64_t i = 0; i < entries; ++i) {
        const std::int64_t rate =
            reader_.next_integer(name + "'s port rate in b/s", 1, 1'000'000'000'000'000);
        const double value = reader_.next_real(name + "'s value", key.lowest, key.highest);
        const auto same = std::find_if(map.begin(), map.end(), [&](const auto& entry) {
            return entry.first.bits_per_second == rate;
        });
        if (same != map.end()) {
            same->second = value;  // the last one counts
        } else {
            map.emplace_back(Rate{rate}, value);
        }
    }
}

/// The original looks at token after token for a key that it knows; so does this, but says so.
void Parser::skip_unknown(const std::string& token) {
    const int line = reader_.line();
    std::string skipped;
    while (!reader_.at_end()) {
        const std::string next(reader_.peek());
        if (next[0] == '{' || looks_like_key(next)) {
            break;
        }
        reader_.next("text");
        skipped += skipped.size() < 40 ? " " + next.substr(0, 40) : "";
    }
    if (++unknown_ <= kMaxNotes) {
        const char* const what = looks_like_key(token) ? "unknown key " : "unknown text ";
        config_.notes.push_back(config_.path + ":" + std::to_string(line) + ": " + what +
                                token.substr(0, 60) + skipped + " skipped");
    }
}

nlohmann::ordered_json to_json(const HpccConfig& config, const Key& key) {
    return std::visit(
        [&](auto field) -> nlohmann::ordered_json {
            using Type = decltype(field);
            if constexpr (std::is_same_v<Type, NotModelled>) {
                return nullptr;
            } else if constexpr (std::is_same_v<Type, Rate C::*>) {
                return (config.*field).bits_per_second;
            } else if constexpr (std::is_same_v<Type, C::LinkDown C::*>) {
                const C::LinkDown& down = config.*field;
                return {down.after_us, down.a, down.b};
            } else if constexpr (std::is_same_v<Type, C::RateMap C::*>) {
                auto list = nlohmann::ordered_json::array();
                for (const auto& [rate, value] : config.*field) {
                    list.push_back({rate.bits_per_second, value});
                }
                return list;
            } else {
                return config.*field;
            }
        },
        key.field);
}

}  // namespace

void HpccConfig::fail(const std::string& key, const std::string& message) const {
    const auto line = lines.find(key);
    throw ConfigError(path, line == lines.end() ? 0 : line->second, key + ": " + message);
}

HpccConfig parse_hpcc_config(const std::string& path, std::string text) {
    return Parser(path, TokenReader(path, std::move(text))).run();
}

HpccConfig read_hpcc_config(const std::string& path) {
    return Parser(path, TokenReader::open(path)).run();
}

std::string hpcc_config_json(const HpccConfig& config) {
    nlohmann::ordered_json json;
    json["file"] = config.path;
    for (const Key& key : kKeys) {
        if (!std::holds_alternative<NotModelled>(key.field)) {
            json[key.name] = to_json(config, key);
        }
    }
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace sluice
