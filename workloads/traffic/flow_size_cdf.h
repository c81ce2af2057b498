// SPDX-License-Identifier: Apache-2.0
/// A distribution of flow sizes, given by points of its cumulative distribution and linear in
/// between.
/// Text form: one point a line, `size_bytes,cdf_percent` (comma or blanks); blank lines, `#`
/// comments and one header line are allowed, CRLF too. The first point has percent 0, the last
/// 100, and both columns increase strictly. Both the CSV form and the two-column files of the HPCC
/// traffic generator read as that.
/// Errors: ConfigError "file:line: ...".
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

class FlowSizeCdf {
  public:
    /// `source` names the text in errors.
    static FlowSizeCdf parse(std::string_view text, const std::string& source);
    static FlowSizeCdf read(const std::string& path);
    /// Reads `name` if it is a file, else `folder/name.csv` of the first folder that has it.
    static FlowSizeCdf find(const std::string& name, const std::vector<std::string>& folders);

    /// The size at quantile u, 0 <= u < 1: interpolated, cut to whole bytes, at least 1.
    std::int64_t sample(double u) const;
    /// Mean of the interpolated distribution in bytes (trapezoids), before cutting.
    double mean() const;
    /// Bytes and the percent of flows that are at most so long, ascending.
    std::vector<std::pair<double, double>> points() const;
    std::size_t point_count() const { return points_.size(); }
    double largest() const { return points_.back().size; }

  private:
    struct Point {
        double size = 0;  ///< bytes
        double percent = 0;
    };

    static bool parse_point(std::string_view line, Point& point);
    void check_next(const Point& point, const std::string& source, int line) const;

    std::vector<Point> points_;
};

}  // namespace sluice
