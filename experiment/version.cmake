# SPDX-License-Identifier: Apache-2.0
# Run at each build: writes OUTPUT with the release and, in a checkout, the commit; leaves the file
# alone if it would not change, so that nothing is compiled again.
cmake_minimum_required(VERSION 3.25)
set(version "${RELEASE}")
find_program(GIT git)
if(GIT AND EXISTS "${SOURCE}/.git")
    execute_process(COMMAND ${GIT} describe --always --dirty --abbrev=10 WORKING_DIRECTORY "${SOURCE}"
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed AND NOT commit STREQUAL "")
        set(version "${RELEASE} (${commit})")
    endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define SLUICE_VERSION \"@version@\"\n" @ONLY)
