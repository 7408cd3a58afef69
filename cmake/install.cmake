# A relocatable folder with a CMake package: find_package(fuseline) gives fuseline::fuseline and
# fuseline::media.
include(CMakePackageConfigHelpers)

set(FUSELINE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/fuseline)

install(TARGETS fuseline fuseline_media EXPORT fuseline-targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Opened at run time, each beside the library that opens it.
install(TARGETS fuseline_cpu fuseline_codegen fuseline_cuda fuseline_nvtx
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET fuseline_onednn)
  install(TARGETS fuseline_onednn LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(TARGETS fuseline_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/fuseline DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def" PATTERN "*.h")
install(FILES python/fuseline_stage.py DESTINATION ${CMAKE_INSTALL_DATADIR}/fuseline/python)
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})

set_target_properties(fuseline_media PROPERTIES EXPORT_NAME media)
install(EXPORT fuseline-targets NAMESPACE fuseline:: DESTINATION ${FUSELINE_PACKAGE_DIR})
configure_package_config_file(cmake/fuseline-config.cmake.in
                              ${PROJECT_BINARY_DIR}/fuseline-config.cmake
                              INSTALL_DESTINATION ${FUSELINE_PACKAGE_DIR})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fuseline-config-version.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fuseline-config.cmake
              ${PROJECT_BINARY_DIR}/fuseline-config-version.cmake
        DESTINATION ${FUSELINE_PACKAGE_DIR})
