// SPDX-License-Identifier: Apache-2.0
#include "workloads/model/aiob_profile.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/error.h"
#include "core/text/config_value.h"
#include "core/text/tokens.h"

namespace sluice {

namespace {

constexpr std::size_t kMostParts = 1000;
/// A part of a layer that takes longer than an hour is a slip of units.
constexpr double kLongestMicroseconds = 3.6e9;

struct Line {
    std::string_view key;
    std::string_view value;
};

std::string_view trim(std::string_view text) {
    constexpr std::string_view kBlank = " \t\r\v\f";
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

Line split_line(const TokenReader& reader, std::string_view line) {
    const std::size_t colon = line.find(':');
    const std::string_view key = trim(line.substr(0, colon));
    if (colon == std::string_view::npos || key.empty()) {
        reader.fail(shown_text(std::string(line)) +
                    " is no line of an AIOB profile: expected \"NAME:\" or "
                    "\"time_gpu_avg: MICROSECONDS\"");
    }
    return {key, trim(line.substr(colon + 1))};
}

bool starts_with(std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
}

/// Where a part keeps the time of this name; null: no such time.
Tick* time_field(AiobProfile::Part& part, std::string_view name) {
    if (name == "time_gpu_max") return &part.max;
    if (name == "time_gpu_min") return &part.min;
    if (name == "time_gpu_avg") return &part.avg;
    return nullptr;
}

void read_time(const TokenReader& reader, std::vector<AiobProfile::Part>& parts, const Line& line) {
    if (parts.empty()) reader.fail("a time before the name of the part that it belongs to");
    Tick* field = time_field(parts.back(), line.key);
    if (field == nullptr) {
        reader.fail(shown_text(std::string(line.key)) +
                    " is not known; allowed are time_gpu_max, time_gpu_min and time_gpu_avg");
    }
    if (*field >= 0) {
        reader.fail(std::string(line.key) + " of \"" + parts.back().name + "\" is given twice");
    }
    const double value = parse_real(line.value, reader.place(line.key), 0, kLongestMicroseconds);
    *field = std::llround(value * static_cast<double>(kMicrosecond));
}

void open_part(const TokenReader& reader, std::vector<AiobProfile::Part>& parts,
               std::string_view name) {
    const auto same = [name](const AiobProfile::Part& part) { return part.name == name; };
    if (std::any_of(parts.begin(), parts.end(), same)) {
        reader.fail("part " + shown_text(std::string(name)) + " is given twice");
    }
    if (parts.size() == kMostParts) reader.fail("more than 1000 parts");
    parts.push_back({std::string(name), reader.line()});
}

}  // namespace

AiobProfile AiobProfile::parse(std::string_view text, const std::string& source) {
    TokenReader reader(source, std::string(text));
    AiobProfile profile;
    profile.source_ = source;
    std::string_view raw;
    while (reader.next_line(raw)) {
        raw = trim(raw);
        if (raw.empty()) continue;
        const Line line = split_line(reader, raw);
        if (starts_with(line.key, "time_")) {
            read_time(reader, profile.parts_, line);
        } else if (line.key == "train_iter") {
            parse_integer(line.value, reader.place(line.key), 0, 1'000'000'000);
        } else if (line.value.empty()) {
            open_part(reader, profile.parts_, line.key);
        } else {
            reader.fail(shown_text(std::string(line.key)) +
                        " has a value; only train_iter and times have one");
        }
    }
    if (profile.parts_.empty()) {
        throw ConfigError(source, 1, "no part of a model is in this file: is it an AIOB profile?");
    }
    return profile;
}

AiobProfile AiobProfile::read(const std::string& path) {
    TokenReader reader = TokenReader::open(path);
    std::string text;
    std::string_view line;
    while (reader.next_line(line)) (text += line) += '\n';
    return parse(text, path);
}

const AiobProfile::Part* AiobProfile::find(std::string_view name) const {
    for (const Part& part : parts_) {
        if (part.name == name) return &part;
    }
    return nullptr;
}

Tick AiobProfile::needed(const char* name, Tick Part::*time, const char* time_name) const {
    const Part* part = find(name);
    if (part == nullptr) {
        throw ConfigError(source_, 0, std::string("part \"") + name + "\" is missing");
    }
    if (part->*time < 0) {
        throw ConfigError(source_, part->line,
                          std::string("part \"") + name + "\" has no " + time_name);
    }
    return part->*time;
}

Tick AiobProfile::sum(std::string_view start, const char* norm, bool recompute) const {
    Tick total = 0;
    bool found = false;
    for (const Part& part : parts_) {
        const bool named = part.name.find(start) != std::string::npos;
        if ((!named && part.name != norm) || part.avg < 0) continue;
        const bool again = recompute && part.name.find("flash") != std::string::npos;
        total += again ? 2 * part.avg : part.avg;
        found = found || named;
    }
    if (!found) {
        throw ConfigError(
            source_, 0,
            "no part named " + std::string(start) + "* with a time_gpu_avg is in the profile");
    }
    return total;
}

Tick AiobProfile::attention(bool recompute) const { return sum("atten", "layernorm", recompute); }
Tick AiobProfile::mlp() const { return sum("mlp", "layernorm2", false); }
Tick AiobProfile::embedding() const { return needed("Emb", &Part::avg, "time_gpu_avg"); }
Tick AiobProfile::head() const { return needed("logit_time", &Part::avg, "time_gpu_avg"); }
Tick AiobProfile::embedding_gradient() const {
    return needed("param_time", &Part::avg, "time_gpu_avg");
}
Tick AiobProfile::optimizer() const {
    return needed("param_time", &Part::min, "time_gpu_min") + embedding_gradient();
}

}  // namespace sluice
