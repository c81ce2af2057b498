// SPDX-License-Identifier: Apache-2.0
#include "core/results/csv_reader.h"

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "core/text/quantity.h"

namespace sluice {

namespace {

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
constexpr double kLargest = std::numeric_limits<double>::max();

}  // namespace

CsvReader::CsvReader(std::string path, const std::vector<std::string>& wanted)
    : path_(std::move(path)), in_(path_) {
    if (!next_line()) throw ConfigError(path_, 0, "is missing or empty");
    for (const std::string& name : wanted) {
        const auto found = std::find(fields_.begin(), fields_.end(), name);
        if (found == fields_.end()) throw ConfigError(path_, 1, "has no column " + name);
        columns_.push_back(static_cast<std::size_t>(found - fields_.begin()));
    }
    width_ = fields_.size();
}

bool CsvReader::next() {
    if (!next_line()) return false;
    if (fields_.size() != width_) {
        throw ConfigError(path_, row_,
                          "has " + std::to_string(fields_.size()) + " fields, the header " +
                              std::to_string(width_));
    }
    return true;
}

std::int64_t CsvReader::number(std::size_t n) const {
    return parse_integer(text(n), {path_, row_, "a field"}, 0, kMost);
}

double CsvReader::real(std::size_t n) const {
    return parse_real(text(n), {path_, row_, "a field"}, -kLargest, kLargest);
}

bool CsvReader::next_line() {
    if (!std::getline(in_, line_)) return false;
    ++row_;
    if (in_.eof()) throw ConfigError(path_, row_, "the file ends within this line");
    std::size_t count = 0;
    const auto begin_field = [&]() -> std::string& {
        if (count == fields_.size()) fields_.emplace_back();
        fields_[count].clear();
        return fields_[count++];
    };
    std::string* field = &begin_field();
    bool quoted = false;
    for (std::size_t i = 0; i < line_.size(); ++i) {
        const char c = line_[i];
        if (quoted && c == '"' && i + 1 < line_.size() && line_[i + 1] == '"') {
            *field += line_[++i];
        } else if (c == '"') {
            quoted = !quoted;
        } else if (c == ',' && !quoted) {
            field = &begin_field();
        } else {
            *field += c;
        }
    }
    fields_.resize(count);
    return true;
}

}  // namespace sluice
