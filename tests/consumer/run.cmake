# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=<this folder> -DBUILD=<build of the project> -DWORK=<scratch> -P run.cmake:
# installs the project into a fresh prefix, then configures, builds and runs the consumer with it.
foreach(name IN ITEMS SOURCE BUILD WORK CONFIG)
    if(NOT DEFINED ${name})
        message(FATAL_ERROR "run.cmake needs -D${name}=...")
    endif()
endforeach()
set(flags "")
if(FLAGS)
    list(APPEND flags "-DCMAKE_CXX_FLAGS=${FLAGS}")
endif()
file(REMOVE_RECURSE "${WORK}")
foreach(command IN ITEMS
        "${CMAKE_COMMAND};--install;${BUILD};--config;${CONFIG};--prefix;${WORK}/prefix"
        "${CMAKE_COMMAND};-S;${SOURCE};-B;${WORK}/build;-G;${GENERATOR};-DCMAKE_CXX_COMPILER=${COMPILER};-DCMAKE_BUILD_TYPE=${CONFIG};-DCMAKE_PREFIX_PATH=${WORK}/prefix;${flags}"
        "${CMAKE_COMMAND};--build;${WORK}/build"
        "${WORK}/build/star"
        "${WORK}/build/accelerator"
        "${WORK}/build/dma"
        "${WORK}/build/job;${WORK}/prefix/share/doc/sluice/examples/gpt13b-128gpu.toml"
        "${WORK}/build/from_c"
        "${WORK}/build/consumer")
    execute_process(COMMAND ${command} RESULT_VARIABLE result OUTPUT_VARIABLE output
                    ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        string(REPLACE ";" " " command "${command}")
        message(FATAL_ERROR "failed: ${command}\n${output}")
    endif()
endforeach()
foreach(page IN ITEMS README.md LICENSE docs/embedding.md docs/host-ports.md docs/tlm.md docs/c-abi.md examples/permutation-fattree.toml)
    if(NOT EXISTS "${WORK}/prefix/share/doc/sluice/${page}")
        message(FATAL_ERROR "not installed: share/doc/sluice/${page}")
    endif()
endforeach()

# Pages show the programs as they are.
foreach(pair IN ITEMS star:embedding job:embedding accelerator:host-ports dma:tlm)
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 program)
    list(GET pair 1 page)
    file(READ "${SOURCE}/${program}.cpp" code)
    file(READ "${WORK}/prefix/share/doc/sluice/docs/${page}.md" text)
    string(REGEX REPLACE "^//[^\n]*\n///[^\n]*\n" "" code "${code}")
    string(FIND "${text}" "${code}" place)
    if(place EQUAL -1)
        message(FATAL_ERROR "docs/${page}.md does not show tests/consumer/${program}.cpp as it is")
    endif()
endforeach()

# The same by pkg-config, from a prefix that has been moved.
file(RENAME "${WORK}/prefix" "${WORK}/moved")
file(GLOB_RECURSE description "${WORK}/moved/*/sluice.pc")
get_filename_component(folder "${description}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} "${folder}:$ENV{PKG_CONFIG_PATH}")
execute_process(COMMAND pkg-config --cflags --libs sluice OUTPUT_VARIABLE parameters
                OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(parameters UNIX_COMMAND "${parameters} ${FLAGS}")
execute_process(COMMAND ${COMPILER} -std=c++17 ${SOURCE}/star.cpp -o ${WORK}/by_pkg_config
                        ${parameters} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${WORK}/by_pkg_config COMMAND_ERROR_IS_FATAL ANY)
message(STATUS "consumer: ${output}")
