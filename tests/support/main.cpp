// SPDX-License-Identifier: Apache-2.0
/// The test runner of everything that needs no SystemC.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
