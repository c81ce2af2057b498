# SPDX-License-Identifier: Apache-2.0
# sluice_library(<name> [INTERNAL] [COLD] [SOURCES <file>...] [DEPENDS <target>...] [PRIVATE_DEPENDS <target>...])
#
# The static library sluice_<name>, known as sluice::<name> here and, unless INTERNAL, to
# find_package() users. Without sources it is its headers and what it depends on.
# COLD: nothing in it is done per packet or per flow, so that it is compiled for a quick build (-O1: two thirds of the time).
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
    if(NOT arg_INTERNAL)
        set_property(GLOBAL APPEND PROPERTY sluice_exported_targets ${target})
    endif()
endfunction()
