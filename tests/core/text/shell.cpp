// SPDX-License-Identifier: Apache-2.0
#include "core/text/shell.h"

#include <doctest/doctest.h>

using namespace sluice;

TEST_CASE("unit.shell.words that mean nothing else stay as they are") {
    CHECK(is_plain_word("runs/a-1_b.toml:2=3,+@%^"));
    CHECK(is_plain_word(""));
    CHECK(shell_word("seed=17") == "seed=17");
    CHECK(shell_word("") == "''");
    for (const char* text : {"a b", "a;b", "$x", "`x`", "a\nb", "*", "~", "a'b"}) {
        CHECK_FALSE(is_plain_word(text));
    }
    CHECK(shell_word("a b") == "'a b'");
    CHECK(shell_word("a'b") == "'a'\\''b'");
}
