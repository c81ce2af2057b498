# SPDX-License-Identifier: Apache-2.0
# What the project builds on; all of it is in Debian 12 (scripts/setup.sh lists the packages).
find_package(PkgConfig REQUIRED)
pkg_check_modules(systemc REQUIRED IMPORTED_TARGET systemc)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(tomlplusplus REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
if(BUILD_TESTING)
    find_package(doctest REQUIRED)
    find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()
