// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/random.h"
#include "eval/figure/figure.h"

using namespace sluice;
using namespace sluice::eval;

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

std::size_t times(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

/// Empty if each & begins one of the entities that need no declaration.
std::string fault_of_text(const std::string& text) {
    for (std::size_t at = text.find('&'); at != std::string::npos; at = text.find('&', at + 1)) {
        const std::string rest = text.substr(at, 5);
        const bool known =
            rest == "&amp;" || rest.substr(0, 4) == "&lt;" || rest.substr(0, 4) == "&gt;";
        if (!known) return "a bare & before " + rest;
    }
    for (const char c : text) {
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return "a control character";
    }
    return has(text, "\xef\xbf\xbe") || has(text, "\xef\xbf\xbf") ? "no character of XML" : "";
}

/// What keeps it from being well-formed XML of one element, as far as figures use XML; empty: nothing.
std::string fault_of(const std::string& xml) {
    if (std::string fault = fault_of_text(xml); !fault.empty()) return fault;
    std::vector<std::string> open;
    std::size_t roots = 0;
    for (std::size_t at = 0; (at = xml.find('<', at)) != std::string::npos;) {
        const std::size_t end = xml.find('>', at);
        if (end == std::string::npos) return "a tag without an end";
        std::string tag = xml.substr(at + 1, end - at - 1);
        if (has(tag, "<")) return "a bare < before " + tag;
        if (std::count(tag.begin(), tag.end(), '"') % 2 != 0) return "an open quote in " + tag;
        at = end;
        if (tag[0] == '/') {
            if (open.empty() || open.back() != tag.substr(1)) return "an unexpected " + tag;
            open.pop_back();
            continue;
        }
        if (open.empty()) ++roots;
        if (tag.back() == '/') continue;
        open.push_back(tag.substr(0, tag.find(' ')));
    }
    if (!open.empty()) return "an open " + open.back();
    return roots == 1 ? "" : fmt::format("{} roots", roots);
}

/// The values of all attributes of this name.
std::vector<std::string> attributes(const std::string& svg, const std::string& name) {
    std::vector<std::string> values;
    const std::string begin = " " + name + "=\"";
    for (std::size_t at = 0; (at = svg.find(begin, at)) != std::string::npos;) {
        at += begin.size();
        values.push_back(svg.substr(at, svg.find('"', at) - at));
    }
    return values;
}

/// The points of a path of straight lines.
std::vector<std::pair<double, double>> points_of(std::string path) {
    path.erase(std::remove(path.begin(), path.end(), 'M'), path.end());
    std::istringstream numbers(path);
    std::vector<std::pair<double, double>> points;
    for (double x = 0, y = 0; numbers >> x >> y;) points.emplace_back(x, y);
    return points;
}

/// Of each candidate's curves, those with the most points first.
std::vector<std::pair<double, double>> longest_curve(const std::string& svg) {
    std::vector<std::pair<double, double>> longest;
    for (const std::string& path : attributes(svg, "d")) {
        if (has(path, "V") || has(path, "H")) continue;
        auto points = points_of(path);
        if (points.size() > longest.size()) longest = std::move(points);
    }
    return longest;
}

/// Nothing that a viewer rejects: whatever a figure is of.
void check_sound(const Figure& figure) {
    const std::string svg = figure_svg(figure);
    CHECK(fault_of(svg) == "");
    std::string small = svg;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    CHECK_FALSE(has(small, "nan"));
    CHECK_FALSE(has(small, "inf"));
    for (const char* name : {"d", "x", "y", "width", "height", "transform", "viewBox"}) {
        for (const std::string& value : attributes(svg, name)) {
            for (std::size_t dot = value.find('.'); dot < value.size();
                 dot = value.find('.', dot + 1)) {
                const auto digit = [&](std::size_t i) {
                    return i < value.size() && std::isdigit(static_cast<unsigned char>(value[i]));
                };
                CHECK_FALSE((digit(dot + 1) && digit(dot + 2) && digit(dot + 3)));
            }
            CHECK_FALSE(has(value, "e-"));
            CHECK_FALSE(has(value, "e+"));
        }
    }
    CHECK(svg == figure_svg(figure));
}

Figure figure_of(std::vector<double> values, Unit unit = Unit::seconds) {
    Figure figure;
    figure.title = "trial";
    figure.metric = "fct";
    figure.unit = unit;
    figure.target = 0.05;
    figure.series.push_back({"ecmp", std::move(values), {}});
    return figure;
}

/// `trials` values around `mean` and a look at each of them from the second on.
FigureSeries made_up(const std::string& label, std::uint64_t seed, std::size_t trials,
                     double mean) {
    FigureSeries series;
    series.label = label;
    double sum = 0;
    for (std::size_t i = 1; i <= trials; ++i) {
        const double draw = uniform(seed, 0, i);
        series.values.push_back(mean * (1 - std::log(draw + 1e-12)));
        sum += series.values.back();
        const double estimate = sum / static_cast<double>(i);
        const double half = 2 * mean / std::sqrt(static_cast<double>(i));
        if (i > 1) series.looks.push_back({i, estimate, estimate - half, estimate + half});
    }
    return series;
}

}  // namespace

TEST_CASE("unit.eval.figure.checker_finds_faults") {
    CHECK(fault_of("<svg><a/><b c=\"d\">e &amp; f</b></svg>") == "");
    CHECK(fault_of("<svg><b></svg></b>") != "");
    CHECK(fault_of("<svg>") != "");
    CHECK(fault_of("<svg/><svg/>") != "");
    CHECK(fault_of("<svg>a & b</svg>") != "");
    CHECK(fault_of("<svg>a < b</svg>") != "");
    CHECK(fault_of("<svg a=\"></svg>") != "");
}

TEST_CASE("unit.eval.figure.sound_for_odd_values") {
    const double huge = std::numeric_limits<double>::max();
    const double tiny = std::numeric_limits<double>::denorm_min();
    const std::vector<std::vector<double>> cases = {
        {},
        {1},
        {0},
        {0, 0, 0},
        {-3, -3},
        {-1, 2, 5},
        {kInfinite},
        {-kInfinite, kInfinite},
        {kUnknown},
        {kUnknown, 1, kInfinite},
        {huge, -huge},
        {huge, 1},
        {tiny, 2 * tiny},
        {1e-100, 1e100},
        {-1e100, 1e100},
        {1, std::nextafter(1.0, 2.0)},
        {1e9, 1e9 + 1},
        {1e-9, 19e-9},
        {1e-9, 21e-9},
        {1, 2, 3, 1e12},
    };
    for (const Unit unit : {Unit::seconds, Unit::none, Unit::bytes, Unit::bits_per_second}) {
        for (const std::vector<double>& values : cases) {
            Figure figure = figure_of(values, unit);
            check_sound(figure);
            // The same values as estimates and as ends of intervals.
            for (std::size_t i = 0; i < values.size(); ++i) {
                figure.series[0].looks.push_back({i, values[i], -kInfinite, kInfinite});
                figure.series[0].looks.push_back({i + 1, values[i], values.front(), values.back()});
                check_sound(figure);
                for (const double low : {-kInfinite, 0.0, kUnknown, -huge, values[i]}) {
                    figure.series[0].looks.back().low = low;
                    figure.target = low == 0 ? huge : 0.05;
                    check_sound(figure);
                }
            }
            figure.series.push_back({"other", {4e-6}, {{1, 4e-6, 3e-6, 5e-6}}});
            figure.series.push_back({"empty", {}, {}});
            check_sound(figure);
        }
    }
}

TEST_CASE("unit.eval.figure.says_what_it_does_not_show") {
    Figure figure = figure_of({1, 2, kInfinite, -kInfinite, kInfinite});
    CHECK(has(figure_svg(figure), ">3 trials beyond the axis<"));
    figure.series[0].values = {1, 2, kInfinite};
    CHECK(has(figure_svg(figure), ">1 trial beyond the axis<"));
    // The curve ends at 2/3: of the panel's 300 pixels, 300 (1 - (2/3 + 0.03)/1.06) = 102.83 from the top.
    CHECK(longest_curve(figure_svg(figure)).back().second == doctest::Approx(102.83).epsilon(1e-6));
    figure.series[0].values = {1, 2};
    CHECK_FALSE(has(figure_svg(figure), "beyond the axis"));
    figure.series[0].values = {kInfinite};
    CHECK(has(figure_svg(figure), "nothing finite to show"));
    figure.series.clear();
    CHECK(has(figure_svg(figure), "no candidates to show"));
    check_sound(figure);
}

TEST_CASE("unit.eval.figure.texts_are_escaped_and_utf8") {
    Figure figure = figure_of({1e-6, 2e-6});
    figure.title = "<b>\"a\" & 'b'</b>\x01\xff\xef\xbf\xbf";
    figure.metric = "a < b && c > d \xc3\xa9";
    figure.series[0].label = "]]> \xc2\xb5s \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80\n";
    check_sound(figure);
    const std::string svg = figure_svg(figure);
    CHECK(has(svg, "&lt;b&gt;\"a\" &amp; 'b'&lt;/b&gt;\\x01\\xff?"));
    CHECK(has(svg, "a &lt; b &amp;&amp; c &gt; d \xc3\xa9 (\xc2\xb5s)"));
    CHECK(has(svg, "]]&gt; \xc2\xb5s \xe6\x97\xa5\xe6\x9c\xac \xf0\x9f\x98\x80"));
}

TEST_CASE("unit.eval.figure.long_texts_are_cut_between_characters") {
    Figure figure = figure_of({1, 2});
    std::string text;
    for (int i = 0; i < 300; ++i) text += i % 2 == 0 ? "\xc3\xa9" : "\xe6\x97\xa5";
    figure.title = figure.metric = figure.series[0].label = text;
    check_sound(figure);
    const std::string svg = figure_svg(figure);
    // In full as the document's title only; elsewhere an ellipsis follows a whole character.
    CHECK(times(svg, text) == 1);
    CHECK(times(svg, "\xe2\x80\xa6") >= 4);
    CHECK(times(svg, "\xc3\xa9\xe2\x80\xa6") + times(svg, "\xe6\x97\xa5\xe2\x80\xa6") ==
          times(svg, "\xe2\x80\xa6"));
    CHECK_FALSE(has(svg, "\\x"));
}

TEST_CASE("unit.eval.figure.axes_have_round_ticks_and_units") {
    const auto shows = [](const Figure& figure, std::vector<const char*> texts) {
        const std::string svg = figure_svg(figure);
        return std::all_of(texts.begin(), texts.end(),
                           [&](const char* text) { return has(svg, fmt::format(">{}<", text)); });
    };
    // A range of 40 us with 1.6 us on each side; at most 6 steps: of 10 us.
    CHECK(shows(figure_of({50e-6, 90e-6}), {"fct (\xc2\xb5s)", "50", "60", "70", "80", "90"}));
    CHECK(shows(figure_of({-1e-3, 1e-3}), {"fct (ms)", "\342\210\2220.5", "0.0", "0.5", "1.0"}));
    CHECK(shows(figure_of({98e9, 99e9}, Unit::bits_per_second), {"fct (Gb/s)", "98.2", "99.0"}));
    CHECK(shows(figure_of({2e6, 5e6}, Unit::bytes), {"fct (MB)", "2", "3", "4", "5"}));
    CHECK(shows(figure_of({1, 4}, Unit::none), {"fct", "1", "2", "3", "4"}));
    // More than 20 times: powers of ten, or 1, 2 and 5 where there is room.
    CHECK(shows(figure_of({1e-6, 1e-2}), {"fct (\xc2\xb5s)", "1", "10", "100", "1000", "10000"}));
    CHECK(shows(figure_of({1, 30}, Unit::none), {"1", "2", "5", "10", "20"}));
    CHECK_FALSE(shows(figure_of({1, 19}, Unit::none), {"2", "5", "10"}));
    CHECK_FALSE(shows(figure_of({0, 1000}, Unit::none), {"1", "10", "100"}));
}

TEST_CASE("unit.eval.figure.target_of_a_single_candidate") {
    Figure figure;
    figure.metric = "slowdown";
    figure.target = 0.05;
    figure.series = {made_up("a", 1, 50, 1)};
    CHECK(times(figure_svg(figure), "stroke-dasharray=\"5 4\"") == 3);  // two lines and the legend
    CHECK(has(figure_svg(figure), "wanted: \302\2615%"));
    figure.series.push_back(made_up("b", 2, 50, 1));
    CHECK_FALSE(has(figure_svg(figure), "wanted"));
    figure.series.pop_back();
    figure.target = 0;
    CHECK_FALSE(has(figure_svg(figure), "wanted"));
}

TEST_CASE("unit.eval.figure.candidates_beyond_eight_are_dashed") {
    Figure figure;
    figure.metric = "slowdown";
    for (std::size_t i = 0; i < 8; ++i) {
        figure.series.push_back(made_up(fmt::format("c{}", i), i, 20, 1));
    }
    CHECK_FALSE(has(figure_svg(figure), "stroke-dasharray=\"7 5\""));
    figure.series.push_back(made_up("c8", 8, 20, 1));
    check_sound(figure);
    CHECK(has(figure_svg(figure), "stroke=\"#0072B2\" stroke-dasharray=\"7 5\""));
}

TEST_CASE("unit.eval.figure.thinning_keeps_the_shape") {
    // Even values and half of all trials at 2: a diagonal of half the height, a jump, a diagonal.
    std::vector<double> values;
    for (int i = 1; i <= 5000; ++i) {
        values.push_back(1 + i / 2500.0);
        values.push_back(2);
    }
    const auto curve = longest_curve(figure_svg(figure_of(values)));
    CHECK(curve.size() > 200);
    CHECK(curve.size() <= 400);
    // From 1.0004 to 3 and 4% of that on each side; 300 pixels from -0.03 to 1.03.
    const double width = curve.back().first;
    double largest_step = 0;
    for (std::size_t i = 0; i < curve.size(); ++i) {
        const double value = 1.0004 - 0.08 + curve[i].first / width * 1.9996 * 1.08;
        const double share = 1.03 - curve[i].second / 300 * 1.06;
        const double expected = std::clamp(value - 1, 0.0, 2.0) / 4 + (value > 2 ? 0.5 : 0);
        const bool at_jump = std::fabs(value - 2) < 0.02;
        if (!at_jump) CHECK(std::fabs(share - expected) < 0.004);
        if (i > 0 && std::fabs(curve[i].first - curve[i - 1].first) < 0.02) {
            largest_step = std::max(largest_step, curve[i - 1].second - curve[i].second);
        }
    }
    CHECK(largest_step == doctest::Approx(0.5 / 1.06 * 300).epsilon(0.01));
}

TEST_CASE("unit.eval.figure.large_evaluations_make_small_files") {
    Figure figure;
    figure.title = "ten thousand trials";
    figure.metric = "mean of fct, per trial";
    figure.target = 0.01;
    for (std::size_t i = 0; i < 5; ++i) {
        figure.series.push_back(made_up(fmt::format("candidate {}", i), i, 10000, 1e-3));
    }
    check_sound(figure);
    CHECK(figure_svg(figure).size() < 150000);
}
