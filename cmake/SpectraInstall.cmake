# Libraries, headers, the program and the CMake package JacobianSpectra.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(_spectra_modules GLOBAL PROPERTY SPECTRA_MODULES)
list(TRANSFORM _spectra_modules PREPEND spectra_ OUTPUT_VARIABLE _spectra_targets)

install(TARGETS ${_spectra_targets} spectra_all EXPORT JacobianSpectraTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY "${PROJECT_SOURCE_DIR}/src/" DESTINATION ${SPECTRA_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.hpp")
if(SPECTRA_APPS)
    install(TARGETS spectra RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    if(SPECTRA_TORCH_FOUND)
        install(TARGETS spectra-torch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
    endif()
endif()

set(_spectra_package ${CMAKE_INSTALL_LIBDIR}/cmake/JacobianSpectra)
install(EXPORT JacobianSpectraTargets NAMESPACE JacobianSpectra:: DESTINATION ${_spectra_package})
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/JacobianSpectraConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/JacobianSpectraConfig.cmake" INSTALL_DESTINATION ${_spectra_package})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/JacobianSpectraConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/JacobianSpectraConfig.cmake"
    "${PROJECT_BINARY_DIR}/JacobianSpectraConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindLAPACKE.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindRandom123.cmake"
    DESTINATION ${_spectra_package})
