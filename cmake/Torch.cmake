# SPDX-License-Identifier: Apache-2.0
# Finds libtorch: Debian's libtorch-dev, or another by CMAKE_PREFIX_PATH. Sets SLUICE_HAS_TORCH. Without it
# everything else is built all the same, and `sluice train` says what is missing.
# Included where the plugin is built: what the package sets stays there.
set(SLUICE_HAS_TORCH OFF)
if(SLUICE_TORCH)
    set(CMAKE_MESSAGE_LOG_LEVEL NOTICE)  # its own remarks, QUIET or not
    find_package(Torch QUIET)
    unset(CMAKE_MESSAGE_LOG_LEVEL)
    if(Torch_FOUND)
        set(SLUICE_HAS_TORCH ON)
    endif()
endif()
if(SLUICE_HAS_TORCH)
    message(STATUS "libtorch: ${TORCH_LIBRARY}")
else()
    set(why "not found (libtorch-dev, or CMAKE_PREFIX_PATH)")
    if(NOT SLUICE_TORCH)
        set(why "not wanted (SLUICE_TORCH is off)")
    endif()
    message(STATUS "libtorch: ${why}; models can be used but not trained, all else is built")
endif()
