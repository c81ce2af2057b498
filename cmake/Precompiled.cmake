# SPDX-License-Identifier: Apache-2.0
# The standard library's headers, read once for all files that are compiled alike: they are most of what a small file
# takes to compile. What a file uses it includes all the same (preset asan-ubsan builds without this).
#
# sluice_precompile(<target> <kind>)   kind: how its files are compiled, as listed below
option(SLUICE_PRECOMPILE "Precompile the standard library's headers" ON)

set(sluice_cold_options "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-O1>")
set(sluice_precompiled_headers
    <algorithm> <array> <atomic> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque> <filesystem>
    <fstream> <functional> <map> <memory> <mutex> <numeric> <optional> <set> <sstream> <string> <string_view>
    <thread> <tuple> <unordered_map> <utility> <variant> <vector>)

# A compiler takes a precompiled header only if it is called as it was for that.
function(sluice_add_precompiled kind)
    cmake_parse_arguments(PARSE_ARGV 1 arg "PROGRAM" "" "OPTIONS;DEFINITIONS;HEADERS;DEPENDS")
    set(target sluice_precompiled_${kind})
    set(file "${PROJECT_BINARY_DIR}/precompiled/${kind}.cpp")
    file(CONFIGURE OUTPUT "${file}" CONTENT "")
    add_library(${target} OBJECT EXCLUDE_FROM_ALL "${file}")
    if(arg_PROGRAM)
        set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
        target_compile_options(${target} PRIVATE ${CMAKE_CXX_COMPILE_OPTIONS_PIE})
    endif()
    target_link_libraries(${target} PRIVATE ${arg_DEPENDS})
    target_compile_options(${target} PRIVATE ${arg_OPTIONS})
    target_compile_definitions(${target} PRIVATE ${arg_DEFINITIONS})
    target_precompile_headers(${target} PRIVATE ${sluice_precompiled_headers} ${arg_HEADERS})
endfunction()

if(SLUICE_PRECOMPILE)
    sluice_add_precompiled(libraries)
    sluice_add_precompiled(cold OPTIONS ${sluice_cold_options})
    sluice_add_precompiled(optimized_at_link OPTIONS ${sluice_link_time_options})
    sluice_add_precompiled(programs PROGRAM)
    if(BUILD_TESTING)
        sluice_add_precompiled(tests PROGRAM DEFINITIONS DOCTEST_CONFIG_SUPER_FAST_ASSERTS
                               HEADERS <doctest/doctest.h> DEPENDS doctest::doctest)
    endif()
endif()

function(sluice_precompile target kind)
    if(SLUICE_PRECOMPILE)
        set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM sluice_precompiled_${kind})
    endif()
endfunction()
