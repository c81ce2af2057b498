# SPDX-License-Identifier: Apache-2.0
# Compiler settings of every target of the project.

# Debian's libsystemc is built as C++17 and refuses objects of any other standard.
set(CMAKE_CXX_STANDARD 17)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

get_property(multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT multi_config AND NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

# Invariants are checked by SLUICE_ASSERT, which does not depend on NDEBUG.
set(CMAKE_CXX_FLAGS_RELEASE "-O3 -DNDEBUG")
# For perf: the release code with symbols and complete stacks.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g -DNDEBUG -fno-omit-frame-pointer")

find_program(SLUICE_CCACHE ccache)
if(SLUICE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    # Precompiled headers are taken for what they were made of.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros "${SLUICE_CCACHE}")
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>")
endif()

add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow>")
if(SLUICE_WERROR)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Werror>")
endif()
# Only the libraries that a program really uses: one that links the composition root but runs no
# SystemC needs no libsystemc, nor the sc_main that it asks for.
add_link_options(-Wl,--as-needed)
if(SLUICE_NATIVE)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-march=native>")
endif()
if(SLUICE_SANITIZE)
    # -O1 whatever the build type: twice as fast to compile, and stacks stay readable.
    add_compile_options(
        "$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${SLUICE_SANITIZE};-fno-sanitize-recover=all;-fno-omit-frame-pointer;-O1>"
    )
    add_link_options(-fsanitize=${SLUICE_SANITIZE})
endif()
if(SLUICE_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "SLUICE_FUZZ needs clang (cmake --preset fuzz)")
    endif()
    # Coverage feedback from everything; the targets themselves link the fuzzer's main.
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>")
endif()
