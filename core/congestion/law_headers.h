// SPDX-License-Identifier: Apache-2.0
/// Includes the header of each law in SLUICE_LAWS, so that a law is named once. For laws.h only. The preprocessor has
/// no loops: it is asked for the first name, the second one, and so on.
#pragma once

// clang-format off
// NOLINTBEGIN(bugprone-macro-parentheses): these are names of files, and a sum for #if.
#define SLUICE_ONE(law) +1
#define SLUICE_LAW_COUNT (SLUICE_LAWS(SLUICE_ONE))
#define SLUICE_COMMA(law) law,
#define SLUICE_NAMES SLUICE_LAWS(SLUICE_COMMA)
#define SLUICE_NAME_1(law, ...) law
#define SLUICE_NAME_2(law, ...) SLUICE_NAME_1(__VA_ARGS__)
#define SLUICE_NAME_3(law, ...) SLUICE_NAME_2(__VA_ARGS__)
#define SLUICE_NAME_4(law, ...) SLUICE_NAME_3(__VA_ARGS__)
#define SLUICE_NAME_5(law, ...) SLUICE_NAME_4(__VA_ARGS__)
#define SLUICE_NAME_6(law, ...) SLUICE_NAME_5(__VA_ARGS__)
#define SLUICE_NAME_7(law, ...) SLUICE_NAME_6(__VA_ARGS__)
#define SLUICE_NAME_8(law, ...) SLUICE_NAME_7(__VA_ARGS__)
#define SLUICE_NAME_9(law, ...) SLUICE_NAME_8(__VA_ARGS__)
#define SLUICE_NAME_10(law, ...) SLUICE_NAME_9(__VA_ARGS__)
#define SLUICE_NAME_11(law, ...) SLUICE_NAME_10(__VA_ARGS__)
#define SLUICE_NAME_12(law, ...) SLUICE_NAME_11(__VA_ARGS__)
#define SLUICE_NAME_13(law, ...) SLUICE_NAME_12(__VA_ARGS__)
#define SLUICE_NAME_14(law, ...) SLUICE_NAME_13(__VA_ARGS__)
#define SLUICE_NAME_15(law, ...) SLUICE_NAME_14(__VA_ARGS__)
#define SLUICE_NAME_16(law, ...) SLUICE_NAME_15(__VA_ARGS__)
#define SLUICE_NAME(n, ...) SLUICE_NAME_##n(__VA_ARGS__)
#define SLUICE_HEADER_OF(law) <core/congestion/law.h>
#define SLUICE_HEADER(law) SLUICE_HEADER_OF(law)
// NOLINTEND(bugprone-macro-parentheses)

#if SLUICE_LAW_COUNT >= 1
#include SLUICE_HEADER(SLUICE_NAME(1, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 2
#include SLUICE_HEADER(SLUICE_NAME(2, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 3
#include SLUICE_HEADER(SLUICE_NAME(3, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 4
#include SLUICE_HEADER(SLUICE_NAME(4, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 5
#include SLUICE_HEADER(SLUICE_NAME(5, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 6
#include SLUICE_HEADER(SLUICE_NAME(6, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 7
#include SLUICE_HEADER(SLUICE_NAME(7, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 8
#include SLUICE_HEADER(SLUICE_NAME(8, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 9
#include SLUICE_HEADER(SLUICE_NAME(9, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 10
#include SLUICE_HEADER(SLUICE_NAME(10, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 11
#include SLUICE_HEADER(SLUICE_NAME(11, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 12
#include SLUICE_HEADER(SLUICE_NAME(12, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 13
#include SLUICE_HEADER(SLUICE_NAME(13, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 14
#include SLUICE_HEADER(SLUICE_NAME(14, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 15
#include SLUICE_HEADER(SLUICE_NAME(15, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT >= 16
#include SLUICE_HEADER(SLUICE_NAME(16, SLUICE_NAMES))
#endif
#if SLUICE_LAW_COUNT > 16
#error "more laws than this header includes: continue its lists"
#endif
// clang-format on

#undef SLUICE_ONE
#undef SLUICE_LAW_COUNT
#undef SLUICE_COMMA
#undef SLUICE_NAMES
#undef SLUICE_NAME
#undef SLUICE_HEADER_OF
#undef SLUICE_HEADER
#undef SLUICE_NAME_1
#undef SLUICE_NAME_2
#undef SLUICE_NAME_3
#undef SLUICE_NAME_4
#undef SLUICE_NAME_5
#undef SLUICE_NAME_6
#undef SLUICE_NAME_7
#undef SLUICE_NAME_8
#undef SLUICE_NAME_9
#undef SLUICE_NAME_10
#undef SLUICE_NAME_11
#undef SLUICE_NAME_12
#undef SLUICE_NAME_13
#undef SLUICE_NAME_14
#undef SLUICE_NAME_15
#undef SLUICE_NAME_16
