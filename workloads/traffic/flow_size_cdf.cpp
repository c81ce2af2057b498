// SPDX-License-Identifier: Apache-2.0
#include "workloads/traffic/flow_size_cdf.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/error.h"

namespace sluice {

namespace {

/// Doubles hold every whole number up to here; 9 PB is no flow.
constexpr double kLargestSize = 9.0e15;
constexpr std::size_t kMostPoints = 1'000'000;
constexpr std::uintmax_t kMostFileBytes = std::uintmax_t{64} << 20;

constexpr std::string_view kBlank = " \t\r\v\f";

std::string_view trim(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kBlank);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

/// The number that is all of `text`.
bool parse_number(std::string_view text, double& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() && std::isfinite(value);
}

/// A user's line in an error message: short, one line, printable.
std::string quote(std::string_view line) {
    constexpr std::size_t kShown = 40;
    std::string text;
    for (const char c : line.substr(0, kShown)) text += c >= ' ' && c <= '~' ? c : '?';
    return '"' + text + (line.size() > kShown ? "...\"" : "\"");
}

std::string shown(double value) {
    char text[32];
    const auto end = std::to_chars(text, text + sizeof text, value).ptr;
    return {text, end};
}

}  // namespace

bool FlowSizeCdf::parse_point(std::string_view line, Point& point) {
    std::size_t split = line.find(',');
    if (split == std::string_view::npos) split = line.find_first_of(kBlank);
    if (split == std::string_view::npos) return false;
    return parse_number(trim(line.substr(0, split)), point.size) &&
           parse_number(trim(line.substr(split + 1)), point.percent);
}

void FlowSizeCdf::check_next(const Point& point, const std::string& source, int line) const {
    if (point.size < 0 || point.size > kLargestSize) {
        throw ConfigError(source, line,
                          "size " + shown(point.size) + " is out of range, allowed are 0 to 9e15");
    }
    if (point.percent < 0 || point.percent > 100) {
        throw ConfigError(
            source, line,
            "percent " + shown(point.percent) + " is out of range, allowed are 0 to 100");
    }
    if (points_.empty()) {
        if (point.percent != 0) {
            throw ConfigError(source, line,
                              "the first point must have percent 0, not " + shown(point.percent));
        }
        return;
    }
    if (point.size <= points_.back().size || point.percent <= points_.back().percent) {
        throw ConfigError(source, line,
                          "size and percent must both be larger than in the point "
                          "before (" +
                              shown(points_.back().size) + ", " + shown(points_.back().percent) +
                              ")");
    }
    if (points_.size() >= kMostPoints) {
        throw ConfigError(source, line, "at most 1000000 points are allowed");
    }
}

FlowSizeCdf FlowSizeCdf::parse(std::string_view text, const std::string& source) {
    FlowSizeCdf cdf;
    bool header_allowed = true;
    int number = 0;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        line = trim(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        if (header_allowed && line == "size_bytes,cdf_percent") {
            header_allowed = false;
            continue;
        }
        header_allowed = false;
        Point point;
        if (!parse_point(line, point)) {
            throw ConfigError(source, number,
                              quote(line) + " is not a point: expected size_bytes,cdf_percent");
        }
        cdf.check_next(point, source, number);
        cdf.points_.push_back(point);
    }
    if (cdf.points_.size() < 2) {
        throw ConfigError(source, number, "a distribution needs at least two points");
    }
    if (cdf.points_.back().percent != 100) {
        throw ConfigError(
            source, number,
            "the last point must have percent 100, not " + shown(cdf.points_.back().percent));
    }
    return cdf;
}

FlowSizeCdf FlowSizeCdf::read(const std::string& path) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(path, error)) {
        throw ConfigError(path, 0, "no such file");
    }
    if (std::filesystem::file_size(path, error) > kMostFileBytes || error) {
        throw ConfigError(path, 0, "larger than 64 MiB, no flow-size distribution");
    }
    std::ifstream file(path, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    if (!file.good() && !file.eof()) throw ConfigError(path, 0, "cannot be read");
    return parse(text, path);
}

FlowSizeCdf FlowSizeCdf::find(const std::string& name, const std::vector<std::string>& folders) {
    std::error_code error;
    if (std::filesystem::is_regular_file(name, error)) return read(name);
    std::string known;
    for (const std::string& folder : folders) {
        const std::filesystem::path path = std::filesystem::path(folder) / (name + ".csv");
        if (std::filesystem::is_regular_file(path, error)) return read(path.string());
        std::vector<std::string> names;
        for (std::filesystem::directory_iterator it(folder, error), end; !error && it != end;
             it.increment(error)) {
            if (it->path().extension() == ".csv") names.push_back(it->path().stem().string());
        }
        std::sort(names.begin(), names.end());
        for (const std::string& file : names) known += (known.empty() ? "" : ", ") + file;
    }
    throw ConfigError("flow-size distribution \"" + name + "\" is neither a file nor known" +
                      (known.empty() ? "" : ": known are " + known));
}

std::int64_t FlowSizeCdf::sample(double u) const {
    const double percent = u * 100;
    const auto above =
        std::upper_bound(points_.begin() + 1, points_.end() - 1, percent,
                         [](double value, const Point& point) { return value < point.percent; });
    const Point& a = *(above - 1);
    const Point& b = *above;
    const double size =
        a.size + (b.size - a.size) * ((percent - a.percent) / (b.percent - a.percent));
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(size));
}

double FlowSizeCdf::mean() const {
    double sum = 0;
    for (std::size_t i = 1; i < points_.size(); ++i) {
        sum += (points_[i - 1].size + points_[i].size) / 2 *
               (points_[i].percent - points_[i - 1].percent);
    }
    return sum / 100;
}

std::vector<std::pair<double, double>> FlowSizeCdf::points() const {
    std::vector<std::pair<double, double>> points;
    for (const Point& point : points_) points.emplace_back(point.size, point.percent);
    return points;
}

}  // namespace sluice
