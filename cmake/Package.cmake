# SPDX-License-Identifier: Apache-2.0
# install() and the package that find_package(sluice) finds.
include(CMakePackageConfigHelpers)

get_property(exported GLOBAL PROPERTY sluice_exported_targets)
install(TARGETS ${exported} EXPORT sluice_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# All that an installation needs, without tests and benches: what ./quickstart --install builds.
add_custom_target(sluice_installed)
add_dependencies(sluice_installed sluice sluice_capi ${exported})
# Machine code alone: other programs link it as they like.
get_property(optimized GLOBAL PROPERTY sluice_optimized_at_link)
foreach(library IN LISTS optimized)
    set(installed "\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/lib${library}.a")
    install(CODE "execute_process(COMMAND \"${CMAKE_OBJCOPY}\" --wildcard --remove-section=.gnu.lto_*
                                          \"${installed}\" COMMAND_ERROR_IS_FATAL ANY)")
endforeach()
install(EXPORT sluice_targets FILE sluiceTargets.cmake NAMESPACE sluice::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
foreach(folder IN ITEMS core eval restore flowlevel workloads models scenario experiment)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}"
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice FILES_MATCHING PATTERN "*.h"
            # What runs trials is part of the program.
            REGEX "/eval/(trials|executor|evaluation|model_based|figure|report)$" EXCLUDE)
endforeach()

configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/sluiceConfig.cmake.in" "${PROJECT_BINARY_DIR}/sluiceConfig.cmake"
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sluiceConfig.cmake"
              "${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)

# The same for pkg-config. Static libraries that need each other: a group, and all that they need is public.
set(archives "")
foreach(target IN LISTS exported)
    get_target_property(kind ${target} TYPE)
    if(kind STREQUAL "STATIC_LIBRARY")
        string(APPEND archives " -l${target}")
    endif()
endforeach()
file(RELATIVE_PATH prefix_of_pc "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" prefix_of_pc "${prefix_of_pc}")
set(systemc_of_pc "")  # Accellera's package has no systemc.pc
if(NOT SystemCLanguage_FOUND)
    set(systemc_of_pc "systemc ")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/sluice.pc.in" "${PROJECT_BINARY_DIR}/sluice.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/sluice.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/README.md"
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples"
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
