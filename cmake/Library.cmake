# SPDX-License-Identifier: Apache-2.0
# sluice_library(<name> [INTERNAL] SOURCES <file>... [DEPENDS <target>...] [PRIVATE_DEPENDS <target>...])
#
# The static library sluice_<name>, known as sluice::<name> here and, unless INTERNAL, to
# find_package() users.
# Includes are relative to the root of the tree ("core/units.h") and, once installed, to
# include/sluice of the prefix.
function(sluice_library name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "INTERNAL" "" "SOURCES;DEPENDS;PRIVATE_DEPENDS")
    set(target sluice_${name})
    add_library(${target} STATIC ${arg_SOURCES})
    add_library(sluice::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
    target_compile_features(${target} PUBLIC cxx_std_17)
    target_include_directories(
        ${target} PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
                         "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/sluice>")
    target_link_libraries(${target} PUBLIC ${arg_DEPENDS} PRIVATE ${arg_PRIVATE_DEPENDS})
    if(NOT arg_INTERNAL)
        set_property(GLOBAL APPEND PROPERTY sluice_exported_targets ${target})
    endif()
endfunction()
