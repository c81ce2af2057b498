# SPDX-License-Identifier: Apache-2.0
# sluice_optimize_at_link(<library>...)      their objects hold what the linker needs for it, beside machine code
# sluice_link_optimized(<program>)           links the program so; all others link the machine code, which takes less
#
# GCC only, not with sanitizers, nor without optimization. Who builds this project as a part of his own decides himself.
option(SLUICE_LTO "Optimize the program across the libraries of modes hybrid and wormhole"
       ${PROJECT_IS_TOP_LEVEL})
set(SLUICE_HAS_LTO OFF)
if(SLUICE_LTO AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND NOT SLUICE_SANITIZE
   AND CMAKE_BUILD_TYPE STREQUAL "Release")
    set(SLUICE_HAS_LTO ON)
    set(sluice_link_time_options -flto -ffat-lto-objects)
    # The driver heeds -fno-lto wherever it stands, and optimizes such objects where neither is said.
    add_link_options(
        "$<IF:$<BOOL:$<TARGET_PROPERTY:SLUICE_LINK_OPTIMIZED>>,-flto=auto;-O3,-fno-lto>")
endif()

function(sluice_optimize_at_link)
    if(SLUICE_HAS_LTO)
        set_property(GLOBAL APPEND PROPERTY sluice_optimized_at_link ${ARGN})
        foreach(library IN LISTS ARGN)
            target_compile_options(${library} PRIVATE ${sluice_link_time_options})
            sluice_precompile(${library} optimized_at_link)
        endforeach()
    endif()
endfunction()

function(sluice_link_optimized program)
    set_target_properties(${program} PROPERTIES SLUICE_LINK_OPTIMIZED ON)
endfunction()
