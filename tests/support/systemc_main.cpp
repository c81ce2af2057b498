// SPDX-License-Identifier: Apache-2.0
/// The test runner of everything that elaborates SystemC modules. SystemC elaborates once per
/// process, so ctest runs each case in a process of its own.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

/// libsystemc refers to sc_main even where the program has a main() of its own. Weak, because a
/// library under test may already define it for the same reason.
extern "C" __attribute__((weak)) int sc_main(int, char**) { return 0; }
