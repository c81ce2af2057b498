// SPDX-License-Identifier: Apache-2.0
#include "eval/figure/figure.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/core.h>

#include "core/text/human.h"
#include "core/text/printable.h"

namespace sluice::eval {
namespace {

// Pixels, and points of a curve.
constexpr double kWidth = 980;
constexpr double kMargin = 20;
constexpr double kPanelHeight = 300;
constexpr double kFont = 12;
constexpr double kThick = 1.8, kThin = 1.2;
constexpr std::size_t kMostPoints = 400;

constexpr double kMost = 1e100;  // beyond it is as good as infinite
constexpr double kInfinite = std::numeric_limits<double>::infinity();
// Okabe and Ito, with the wine of Tol's palette for their yellow, which is hardly seen on white.
constexpr std::array<const char*, 8> kColors = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                "#E69F00", "#56B4E9", "#000000", "#882255"};
constexpr std::array<const char*, 4> kDashes = {"none", "7 5", "1 4", "9 5 1 5"};

struct Point {
    double x = 0, y = 0;
};

struct Style {
    const char* color = "#555";
    const char* dash = "none";
};
constexpr Style kWanted = {"#555", "5 4"};

Style style_of(std::size_t series) {
    return {kColors[series % kColors.size()], kDashes[series / kColors.size() % kDashes.size()]};
}

bool drawable(double value) { return std::fabs(value) <= kMost; }  // false for NaN

/// A coordinate, with two decimals at most; the sum makes a negative zero a plain one.
std::string num(double value) { return fmt::format("{:g}", std::round(value * 100) / 100 + 0.0); }

bool continues(char c) { return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U; }

/// In pixels, generously, because the viewer's font is not known.
double width_of(const std::string& text) {
    double ems = 0;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        // From 0xe0 on a byte begins East Asian characters and emoji, except 0xe2: signs.
        const bool wide = byte >= 0xe0 && byte != 0xe2;
        if (!continues(c)) ems += wide ? 1.3 : c >= 'A' && c <= 'Z' ? 0.8 : 0.63;
    }
    return ems * kFont;
}

/// The text on one line, or as much of its beginning as fits and an ellipsis.
std::string fitted(const std::string& text, double width) {
    std::string line = printable_line(text);
    if (width_of(line) <= width) return line;
    while (!line.empty() && width_of(line) + kFont > width) {
        while (continues(line.back())) line.pop_back();
        line.pop_back();
    }
    return line + "\xe2\x80\xa6";
}

/// For XML, which does not allow U+FFFE and U+FFFF; control characters are gone by printable_line.
std::string escaped(const std::string& text) {
    std::string safe;
    for (const char c : printable_line(text)) {
        safe += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '>' ? "&gt;" : std::string(1, c);
    }
    for (const char* bad : {"\xef\xbf\xbe", "\xef\xbf\xbf"}) {
        for (std::size_t at; (at = safe.find(bad)) < safe.size();) safe.replace(at, 3, "?");
    }
    return safe;
}

std::string label(Point at, const char* anchor, const std::string& text, const char* more = "") {
    return fmt::format("<text x=\"{}\" y=\"{}\" text-anchor=\"{}\"{}>{}</text>\n", num(at.x),
                       num(at.y), anchor, more, escaped(text));
}

/// Of values that can be drawn; others are not taken in.
struct Range {
    double low = kInfinite;
    double high = -kInfinite;

    void add(double value) {
        if (!drawable(value)) return;
        low = std::min(low, value);
        high = std::max(high, value);
    }
};

struct Axis {
    std::string name;
    bool logarithmic = false;
    bool upright = false;
    double low = 0;   ///< logarithmic: low and high are powers of ten
    double high = 0;  ///< low: there is nothing to show
    double length = kPanelHeight;
    int power = 0;       ///< labels are values over 10^power
    std::string unit{};  ///< of the labels

    double measure(double value) const {
        return !logarithmic ? value : value > 0 ? std::log10(value) : -kInfinite;
    }
    double at(double value) const {
        // The panel cuts off what lies outside; near it, a line keeps its slope.
        const double part = std::clamp((measure(value) - low) / (high - low), -1.0, 2.0);
        return length * (upright ? 1 - part : part);
    }
    std::string title(double room) const {
        const std::string bracket = unit.empty() ? "" : fmt::format(" ({})", unit);
        return fitted(name, room - width_of(bracket)) + bracket;
    }
};

/// An SI prefix that leaves one to three digits before the point, as far as the unit takes prefixes.
void choose_unit(Axis& axis, Unit unit) {
    static const char* const kPrefixes[] = {"p", "n", "\xc2\xb5", "m", "", "k", "M", "G", "T", "P"};
    static const char* const kNames[] = {"s", "", "B", "b/s"};  // in Unit's order
    const double largest = std::log10(std::max(std::fabs(axis.low), std::fabs(axis.high)));
    const double typical = axis.logarithmic ? (axis.low + axis.high) / 2 : largest;
    const bool has_large = unit == Unit::bytes || unit == Unit::bits_per_second;
    const int prefix = std::clamp(static_cast<int>(std::floor(typical / 3)),
                                  unit == Unit::seconds ? -4 : 0, has_large ? 5 : 0);
    axis.power = 3 * prefix;
    axis.unit = fmt::format("{}{}", kPrefixes[prefix + 4], kNames[static_cast<int>(unit)]);
}

/// Covers what is shown, and the ends of intervals as far as they do not squeeze it.
void cover(Axis& axis, const Range& shown, const Range& ends, Unit unit) {
    if (shown.low > shown.high) return;
    axis.logarithmic |= shown.low > 1 / kMost && shown.high / 20 > shown.low;
    const double low = axis.measure(shown.low);
    const double high = axis.measure(shown.high);
    const double reach = high > low ? (high - low) / 2 : kMost;
    axis.low = std::max(std::min(low, axis.measure(ends.low)), low - reach);
    axis.high = std::min(std::max(high, axis.measure(ends.high)), high + reach);
    const double size = std::max(std::fabs(axis.low), std::fabs(axis.high));
    double padding = 0.04 * (axis.high - axis.low);
    // Labels could not tell closer values apart.
    if (padding <= 1e-7 * size) padding = axis.logarithmic ? 0.3 : size > 0 ? 0.05 * size : 1;
    axis.low -= axis.logarithmic || axis.low < 0 ? padding : std::min(padding, axis.low);
    axis.high += padding;
    choose_unit(axis, unit);
}

struct Tick {
    double at = 0;  ///< pixels
    std::string text;
};

/// Values where an axis may be marked; a higher level has fewer. Logarithmic: each digit of each decade, 1, 2
/// and 5, each power of ten, each second one, ... Otherwise: steps of 1, 2 or 5 times a power of ten.
std::vector<double> round_values(const Axis& axis, int level) {
    std::vector<double> values;
    if (axis.logarithmic) {
        static const std::vector<int> kDigits[] = {{1, 2, 3, 4, 5, 6, 7, 8, 9}, {1, 2, 5}, {1}};
        const std::vector<int>& digits = kDigits[std::min(level, 2)];
        for (int power = static_cast<int>(std::floor(axis.low)); power <= axis.high; ++power) {
            if (power % std::max(level - 1, 1) != 0) continue;
            for (const int digit : digits) values.push_back(digit * std::pow(10, power));
        }
        return values;
    }
    const double least_step = (axis.high - axis.low) / (6 - std::min(level, 5));
    double step = std::pow(10, std::floor(std::log10(least_step)));
    for (const double factor : {2.0, 2.5, 2.0}) {
        if (step * 1.000001 < least_step) step *= factor;
    }
    for (double i = std::ceil(axis.low / step); i * step <= axis.high; ++i)
        values.push_back(i * step + 0.0);
    return values;
}

/// As many as can stand side by side.
std::vector<Tick> ticks_of(const Axis& axis) {
    if (axis.low == axis.high) return {};
    const auto crowded = [&](const Tick& a, const Tick& b) {
        return std::fabs(b.at - a.at) <
               (axis.upright ? 20 : (width_of(a.text) + width_of(b.text)) / 2 + 6);
    };
    for (int level = 0;; ++level) {
        std::vector<Tick> ticks;
        const std::vector<double> values = round_values(axis, level);
        const double scale = std::pow(10, axis.power);
        const double step = values.size() > 1 ? (values[1] - values[0]) / scale : 1;
        const int decimals = static_cast<int>(-std::floor(std::log10(step) + 1e-6));
        const bool fixed = !axis.logarithmic && decimals > 0 && decimals < 7;
        for (const double value : values) {
            const double measure = axis.measure(value);
            if (measure < axis.low || measure > axis.high) continue;
            std::string text = fixed ? fmt::format("{:.{}f}", value / scale, decimals)
                                     : fmt::format("{:.9g}", value / scale);
            if (text[0] == '-') text.replace(0, 1, "\xe2\x88\x92");
            ticks.push_back({axis.at(value), text});
        }
        const bool fits = std::adjacent_find(ticks.begin(), ticks.end(), crowded) == ticks.end();
        if (fits || ticks.size() <= 2) return ticks;
    }
}

/// Thinned to at most kMostPoints: each point left out is close to one that stays, and both ends of a longer
/// line stay, so that steps stay steps.
std::string path_of(const std::vector<Point>& points) {
    std::vector<Point> kept = points;
    for (double close = 0.5; kept.size() > kMostPoints; close *= 1.25) {
        const auto far = [&](Point a, Point b) {
            return std::hypot(a.x - b.x, a.y - b.y) >= close;
        };
        kept.assign(1, points.front());
        for (std::size_t i = 1; i < points.size(); ++i) {
            const bool end = i + 1 == points.size();
            const bool stays = end || far(kept.back(), points[i]) || far(points[i], points[i + 1]);
            if (stays) kept.push_back(points[i]);
        }
    }
    std::string path;
    for (const Point& point : kept) {
        path += fmt::format("{}{} {}", path.empty() ? "M" : " ", num(point.x), num(point.y));
    }
    return path;
}

std::string line(const std::vector<Point>& points, Style style, double width) {
    return fmt::format(
        "<path d=\"{}\" stroke=\"{}\" stroke-dasharray=\"{}\" stroke-width=\"{}\"/>\n",
        path_of(points), style.color, style.dash, width);
}

/// What lies between two edges.
std::string band(std::vector<Point> edge, const std::vector<Point>& other, Style style) {
    edge.insert(edge.end(), other.rbegin(), other.rend());
    return fmt::format("<path d=\"{}\" fill=\"{}\" fill-opacity=\"0.16\"/>\n", path_of(edge),
                       style.color);
}

/// The cumulative distribution, across the panel. Values beyond the axis count: it may end below 1.
std::vector<Point> staircase(const std::vector<double>& unsorted, const Axis& x, const Axis& y) {
    std::vector<double> values;
    for (const double value : unsorted) {
        if (!std::isnan(value)) values.push_back(value);
    }
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    std::vector<Point> points = {{0, y.at(0)}};
    for (std::size_t i = 0; i < values.size() && values[i] <= kMost; ++i) {
        const double here = drawable(values[i]) ? x.at(values[i]) : 0;
        if (points.back().x != here) points.insert(points.end(), 2, {here, points.back().y});
        points.back().y = y.at(static_cast<double>(i + 1) / static_cast<double>(values.size()));
    }
    points.push_back({x.length, points.back().y});
    return points;
}

struct Panel {
    Axis x;
    Axis y;
    double left = 0;      ///< of the frame
    std::string bands{};  ///< as lines in coordinates of the frame
    std::string lines{};

    /// Puts the frame, with the labels on its left, between two edges.
    void place(double from, double to) {
        double widest = 0;
        for (const Tick& tick : ticks_of(y)) widest = std::max(widest, width_of(tick.text));
        left = from + widest + 10;
        x.length = to - left;
    }
};

std::string drawn(const Panel& panel, double top) {
    const double width = panel.x.length;
    std::string grid, labels;
    for (const Tick& tick : ticks_of(panel.x)) {
        grid += fmt::format("M{} 0V{}", num(tick.at), kPanelHeight + 5);
        labels += label({tick.at, kPanelHeight + 19}, "middle", tick.text);
    }
    for (const Tick& tick : ticks_of(panel.y)) {
        grid += fmt::format("M-5 {}H{}", num(tick.at), num(width));
        labels += label({-9, tick.at + 4}, "end", tick.text);
    }
    labels += label({0, -10}, "start", panel.y.title(width));
    labels += label({width / 2, kPanelHeight + 40}, "middle", panel.x.title(width));
    if (panel.x.low == panel.x.high) {
        labels += label({width / 2, kPanelHeight / 2}, "middle", "nothing finite to show");
    }
    // The inner drawing cuts off at its edges without an id, which another figure on a page may have.
    return fmt::format(
        "<g transform=\"translate({0} {1})\">\n<path d=\"{2}\" stroke=\"#e2e2e2\"/>\n"
        "<svg width=\"{3}\" height=\"{4}\" fill=\"none\">\n{5}</svg>\n"
        "<rect width=\"{3}\" height=\"{4}\" fill=\"none\" stroke=\"#444\"/>\n{6}</g>\n",
        num(panel.left), num(top), grid, num(width), kPanelHeight, panel.bands + panel.lines,
        labels);
}

Panel distribution(const Figure& figure) {
    // Lines at 0 and 1 keep off the frame.
    Panel panel{{figure.metric}, {"fraction of trials", false, true, -0.03, 1.03}};
    panel.place(kMargin, kWidth / 2 - kMargin);
    Range shown, ends;
    for (const FigureSeries& series : figure.series) {
        for (const double value : series.values) shown.add(value);
        if (series.looks.empty()) continue;
        shown.add(series.looks.back().estimate);
        ends.add(series.looks.back().low);
        ends.add(series.looks.back().high);
    }
    cover(panel.x, shown, ends, figure.unit);
    if (panel.x.low == panel.x.high) return panel;
    for (std::size_t s = 0; s < figure.series.size(); ++s) {
        const Style style = style_of(s);
        panel.lines += line(staircase(figure.series[s].values, panel.x, panel.y), style, kThick);
        if (figure.series[s].looks.empty()) continue;
        const auto& last = figure.series[s].looks.back();
        const auto at = [&](double value) -> std::vector<Point> {
            return {{panel.x.at(value), 0}, {panel.x.at(value), kPanelHeight}};
        };
        if (last.low <= last.high) panel.bands += band(at(last.low), at(last.high), style);
        if (drawable(last.estimate)) panel.lines += line(at(last.estimate), style, kThin);
    }
    return panel;
}

/// The ends of the interval that was wanted around the only candidate's estimate, if it was.
std::vector<double> wanted_ends(const Figure& figure) {
    if (figure.series.size() != 1 || figure.series[0].looks.empty() || !(figure.target > 0))
        return {};
    const double estimate = figure.series[0].looks.back().estimate;
    if (!drawable(figure.target) || !drawable(estimate * (1 + figure.target))) return {};
    return {estimate * (1 - figure.target), estimate * (1 + figure.target)};
}

Panel convergence(const Figure& figure) {
    Panel panel{{"trials", true}, {figure.metric, false, true}};
    // The final intervals are shown in full, earlier ones as they fit.
    Range trials, shown, ends;
    for (const FigureSeries& series : figure.series) {
        for (const auto& look : series.looks) {
            const bool last = &look == &series.looks.back();
            trials.add(std::max(static_cast<double>(look.trials), 1.0));
            shown.add(look.estimate);
            (last ? shown : ends).add(look.low);
            (last ? shown : ends).add(look.high);
        }
    }
    for (const double wanted : wanted_ends(figure)) shown.add(wanted);
    cover(panel.y, shown, ends, figure.unit);
    if (panel.y.low < panel.y.high) cover(panel.x, trials, {}, Unit::none);
    panel.x.low = std::max(panel.x.low, -0.04);  // no ticks below 1
    panel.place(kWidth / 2 + kMargin, kWidth - 2 * kMargin);
    if (panel.x.low == panel.x.high) return panel;
    for (const double wanted : wanted_ends(figure)) {
        const double y = panel.y.at(wanted);
        panel.lines += line({{0, y}, {panel.x.length, y}}, kWanted, kThin);
    }
    for (std::size_t s = 0; s < figure.series.size(); ++s) {
        std::vector<Point> estimates, lows, highs;
        for (const auto& look : figure.series[s].looks) {
            const double x = panel.x.at(std::max(static_cast<double>(look.trials), 1.0));
            if (!std::isnan(look.estimate)) estimates.push_back({x, panel.y.at(look.estimate)});
            if (!(look.low <= look.high)) continue;
            lows.push_back({x, panel.y.at(look.low)});
            highs.push_back({x, panel.y.at(look.high)});
        }
        const Style style = style_of(s);
        panel.bands += band(lows, highs, style);
        panel.lines += line(estimates, style, kThick);
        if (lows.size() == 1) panel.lines += line({lows[0], highs[0]}, style, kThick);
        // A dot, by the round ends of the line.
        if (!estimates.empty()) panel.lines += line({estimates.back(), estimates.back()}, style, 6);
    }
    return panel;
}

/// Rows of samples and what they mean, from y on, which moves to the last one.
std::string legend(const Figure& figure, double& y) {
    std::vector<std::pair<std::string, std::string>> entries;
    for (std::size_t s = 0; s < figure.series.size(); ++s) {
        entries.emplace_back(line({{0, 0}, {24, 0}}, style_of(s), 2.5), figure.series[s].label);
    }
    entries.emplace_back(
        band({{2, -7}, {22, -7}}, {{2, 7}, {22, 7}}, {}) + line({{12, -7}, {12, 7}}, {}, kThin),
        "estimate and interval");
    if (!wanted_ends(figure).empty()) {
        entries.emplace_back(line({{0, 0}, {24, 0}}, kWanted, kThin),
                             fmt::format("wanted: \xc2\xb1{:g}%", figure.target * 100));
    }
    double column = 0;
    for (const auto& entry : entries) column = std::max(column, width_of(entry.second) + 56);
    column = std::min(column, kWidth - 2 * kMargin);
    const auto columns = static_cast<std::size_t>((kWidth - 2 * kMargin) / column);
    std::string svg;
    for (std::size_t i = 0; i < entries.size(); ++i) {
        if (i > 0 && i % columns == 0) y += 20;
        const double x = kMargin + column * static_cast<double>(i % columns);
        const std::string text = fitted(entries[i].second, column - 32);
        svg += fmt::format("<g transform=\"translate({} {})\">\n{}{}</g>\n", num(x), num(y),
                           entries[i].first, label({32, 4}, "start", text));
    }
    return svg;
}

}  // namespace

std::string figure_svg(const Figure& figure) {
    double y = kMargin + kFont;
    std::string body;
    if (!figure.title.empty()) {
        const std::string title = fitted(figure.title, (kWidth - 2 * kMargin) / 1.4);
        body += label({kMargin, y}, "start", title, " font-size=\"16\" font-weight=\"bold\"");
        y += 30;
    }
    if (figure.series.empty()) {
        body += label({kMargin, y}, "start", "no candidates to show");
    } else {
        body += legend(figure, y);
        y += 42;
        body += drawn(distribution(figure), y) + drawn(convergence(figure), y);
        y += kPanelHeight + 44;
        std::size_t beyond = 0;
        for (const FigureSeries& series : figure.series) {
            for (const double v : series.values) beyond += !drawable(v) && !std::isnan(v) ? 1 : 0;
        }
        const std::string note = counted(beyond, "trial", "trials") + " beyond the axis";
        if (beyond > 0) body += label({kMargin, y += 20}, "start", note);
    }
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"sans-serif\" font-size=\"{2}\" "
        "stroke-linecap=\"round\">\n<title>{3}</title>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"white\"/>\n{4}</svg>\n",
        kWidth, num(y + kMargin), kFont, escaped(figure.title), body);
}

}  // namespace sluice::eval
