# SPDX-License-Identifier: Apache-2.0
# install() and the package that find_package(sluice) finds.
include(CMakePackageConfigHelpers)

get_property(exported GLOBAL PROPERTY sluice_exported_targets)
install(TARGETS ${exported} EXPORT sluice_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT sluice_targets FILE sluiceTargets.cmake NAMESPACE sluice::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
foreach(folder IN ITEMS core restore flowlevel workloads models scenario)
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}"
            DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sluice FILES_MATCHING PATTERN "*.h")
endforeach()

configure_package_config_file(
    "${PROJECT_SOURCE_DIR}/cmake/sluiceConfig.cmake.in" "${PROJECT_BINARY_DIR}/sluiceConfig.cmake"
    INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/sluiceConfig.cmake"
              "${PROJECT_BINARY_DIR}/sluiceConfigVersion.cmake"
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})
