// SPDX-License-Identifier: Apache-2.0
/// Includes the header of each law in SLUICE_LAWS, so that a law is named once. For laws.h only. The preprocessor has
/// no loops, so the names are taken from the list one by one.
#pragma once

// clang-format off
// NOLINTBEGIN(bugprone-macro-parentheses): file names, and a sum for #if.
#define SLUICE_LAW_PLUS_ONE(law) +1
#define SLUICE_LAW_COUNT (SLUICE_LAWS(SLUICE_LAW_PLUS_ONE))
#define SLUICE_LAW_COMMA(law) law,
#define SLUICE_LAW_NAMES SLUICE_LAWS(SLUICE_LAW_COMMA)
#define SLUICE_LAW_NAME_1(law, ...) law
#define SLUICE_LAW_NAME_2(law, ...) SLUICE_LAW_NAME_1(__VA_ARGS__)
#define SLUICE_LAW_NAME_3(law, ...) SLUICE_LAW_NAME_2(__VA_ARGS__)
#define SLUICE_LAW_NAME_4(law, ...) SLUICE_LAW_NAME_3(__VA_ARGS__)
#define SLUICE_LAW_NAME_5(law, ...) SLUICE_LAW_NAME_4(__VA_ARGS__)
#define SLUICE_LAW_NAME_6(law, ...) SLUICE_LAW_NAME_5(__VA_ARGS__)
#define SLUICE_LAW_NAME_7(law, ...) SLUICE_LAW_NAME_6(__VA_ARGS__)
#define SLUICE_LAW_NAME_8(law, ...) SLUICE_LAW_NAME_7(__VA_ARGS__)
#define SLUICE_LAW_NAME_9(law, ...) SLUICE_LAW_NAME_8(__VA_ARGS__)
#define SLUICE_LAW_NAME_10(law, ...) SLUICE_LAW_NAME_9(__VA_ARGS__)
#define SLUICE_LAW_NAME_11(law, ...) SLUICE_LAW_NAME_10(__VA_ARGS__)
#define SLUICE_LAW_NAME_12(law, ...) SLUICE_LAW_NAME_11(__VA_ARGS__)
#define SLUICE_LAW_NAME_13(law, ...) SLUICE_LAW_NAME_12(__VA_ARGS__)
#define SLUICE_LAW_NAME_14(law, ...) SLUICE_LAW_NAME_13(__VA_ARGS__)
#define SLUICE_LAW_NAME_15(law, ...) SLUICE_LAW_NAME_14(__VA_ARGS__)
#define SLUICE_LAW_NAME_16(law, ...) SLUICE_LAW_NAME_15(__VA_ARGS__)
#define SLUICE_LAW_NAME(n, ...) SLUICE_LAW_NAME_##n(__VA_ARGS__)
#define SLUICE_LAW_HEADER_OF(law) <core/congestion/law.h>
#define SLUICE_LAW_HEADER(law) SLUICE_LAW_HEADER_OF(law)
// NOLINTEND(bugprone-macro-parentheses)

#if SLUICE_LAW_COUNT >= 1
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(1, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 2
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(2, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 3
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(3, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 4
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(4, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 5
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(5, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 6
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(6, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 7
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(7, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 8
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(8, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 9
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(9, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 10
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(10, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 11
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(11, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 12
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(12, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 13
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(13, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 14
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(14, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 15
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(15, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 16
#include SLUICE_LAW_HEADER(SLUICE_LAW_NAME(16, SLUICE_LAW_NAMES))
#endif
#if SLUICE_LAW_COUNT > 16
#error "law_headers.h includes the headers of 16 laws at most: continue its two lists"
#endif
// clang-format on
