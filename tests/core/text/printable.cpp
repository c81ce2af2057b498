// SPDX-License-Identifier: Apache-2.0
#include "core/text/printable.h"

#include <doctest/doctest.h>

#include "core/text/human.h"

namespace sluice {

TEST_CASE("unit.text.printable.what_steers_is_shown") {
    CHECK(printable("a\tb\nc \u00e9\u4e2d\U0001f600") == "a\tb\nc \u00e9\u4e2d\U0001f600");
    CHECK(printable("\x1b[31m") == "\\x1b[31m");
    CHECK(printable("\u009b\u0085") == "\\u009b\\u0085");
    CHECK(printable("\x7f\r") == "\\x7f\\x0d");
    CHECK(printable("\u202e\u2028\u2066\ufeff") == "\\u202e\\u2028\\u2066\\ufeff");
    // No UTF-8: alone, cut short, too long, a surrogate, beyond the last.
    CHECK(printable("\x9b") == "\\x9b");
    CHECK(printable("\xc3") == "\\xc3");
    CHECK(printable("\xe4\xb8") == "\\xe4\\xb8");
    CHECK(printable("\xc0\x80") == "\\xc0\\x80");
    CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");
    CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
    CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
    CHECK(printable_line("a\nb\tc\x1b") == "a b c\\x1b");
}

TEST_CASE("unit.text.printable.shortened_keeps_both_ends_and_whole_characters") {
    CHECK(shortened("short", 8) == "short");
    const std::string text = "begin " + std::string(1000, 'x') + " end";
    const std::string cut = shortened(text, 100);
    CHECK(cut.size() <= 100);
    CHECK(cut.find("begin ") == 0);
    CHECK(cut.substr(cut.size() - 4) == " end");
    std::string wide;
    for (int i = 0; i < 500; ++i) wide += "\u4e2d";
    for (std::size_t most = 8; most < 60; ++most) {
        const std::string shown = shortened(wide, most);
        CHECK(shown.size() <= most);
        CHECK(printable(shown) == shown);
    }
    CHECK(shortened_lines("a\n" + std::string(1000, 'y') + "\nb\n", 20).size() < 30);
    CHECK(shortened_lines("a\n\nb\n") == "a\n\nb\n");
    CHECK(shortened_lines("a") == "a");
}

TEST_CASE("unit.text.human.no_sixtieth_second") {
    CHECK(human_seconds(419.9) == "7 min 0 s");
    CHECK(human_seconds(59.99) == "1 min 0 s");
    CHECK(human_seconds(3599.9) == "1 h 0 min");
    CHECK(human_seconds(7199) == "2 h 0 min");
    CHECK(human_seconds(59.9) == "59.9 s");
    CHECK(counted(1, "switch", "switches") == "1 switch");
    CHECK(counted(0, "switch", "switches") == "0 switches");
}

}  // namespace sluice
