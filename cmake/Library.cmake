# SPDX-License-Identifier: Apache-2.0
# sluice_library(<name> [INTERNAL] [COLD] [SOURCES <file>...] [DEPENDS <target>...] [PRIVATE_DEPENDS <target>...])
#
# The static library sluice_<name>, known as sluice::<name> here and, unless INTERNAL, to
# find_package() users. Without sources it is its headers and what it depends on.
# COLD: nothing in it is done per packet or per flow, so that it is compiled for a quick build (-O1: two thirds of the time).
# Where SLUICE_UNITY is on, up to twenty files are compiled at once, which takes half of the time. So what is private to a
# file (in an unnamed namespace) has another name than what is private to the next, unless it is overloaded.
# Includes are relative to the root of the tree ("core/units.h") and, once installed, to
# include/sluice of the prefix.
function(sluice_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL;COLD" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS")
    set(target sluice_${name})
    if(arg_SOURCES)
        set(kind STATIC)
        set(scope PUBLIC)
    else()
        set(kind INTERFACE)
        set(scope INTERFACE)
    endif()
    add_library(${target} ${kind} ${arg_SOURCES})
    add_library(sluice::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    target_compile_features(${target} ${scope} cxx_std_17)
    target_include_directories(
        ${target} ${scope} "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                           "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/sluice>")
    target_link_libraries(${target} ${scope} ${arg_DEPENDS})
    if(arg_PRIVATE_DEPENDS)
        target_link_libraries(${target} PRIVATE ${arg_PRIVATE_DEPENDS})
    endif()
    if(arg_COLD)
        target_compile_options(${target} PRIVATE ${sluice_cold_options})
        sluice_precompile(${target} cold)
    elseif(arg_SOURCES MATCHES "\\.cpp")
        sluice_precompile(${target} libraries)
    endif()
    if(SLUICE_UNITY AND arg_SOURCES)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 20)
    endif()
    if(NOT arg_INTERNAL)
        set_property(GLOBAL APPEND PROPERTY sluice_exported_targets ${target})
    endif()
endfunction()

# sluice_compile_singly(<file>...)    of the folder's library, because what is inlined on the packet path must not depend on what
#                                     else is in a file, because a program links just this file, or because a program has a
#                                     table of its own in its place (tests/extending)
function(sluice_compile_singly)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
