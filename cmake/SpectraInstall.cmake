# Libraries, public headers, the program and the CMake package JacobianSpectra. Components: program, torch, cuda, mpi, and
# development, which is the rest.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)

# spectra_install_headers(HEADER…): copies of SpectraPublicHeaders.cmake, each to its folder.
function(spectra_install_headers)
    foreach(header IN LISTS ARGN)
        get_filename_component(folder "jacobian_spectra/${header}" DIRECTORY)
        install(FILES "${SPECTRA_PUBLIC_INCLUDE_DIR}/jacobian_spectra/${header}"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/${folder}")
    endforeach()
endfunction()

set(_spectra_package ${CMAKE_INSTALL_LIBDIR}/cmake/JacobianSpectra)

get_property(_spectra_modules GLOBAL PROPERTY SPECTRA_MODULES)
list(TRANSFORM _spectra_modules PREPEND spectra_ OUTPUT_VARIABLE _spectra_targets)
install(TARGETS ${_spectra_targets} spectra_all EXPORT JacobianSpectraTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT JacobianSpectraTargets NAMESPACE JacobianSpectra:: DESTINATION ${_spectra_package})
spectra_install_headers(${SPECTRA_PUBLIC_HEADERS})

# The component train, in an export of its own: the others are found without looking for Torch.
if(SPECTRA_TORCH_FOUND)
    get_property(_spectra_modules GLOBAL PROPERTY SPECTRA_TORCH_MODULES)
    list(TRANSFORM _spectra_modules PREPEND spectra_ OUTPUT_VARIABLE _spectra_targets)
    install(TARGETS ${_spectra_targets} EXPORT JacobianSpectraTorchTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT JacobianSpectraTorchTargets NAMESPACE JacobianSpectra:: DESTINATION ${_spectra_package})
    spectra_install_headers(${SPECTRA_PUBLIC_TORCH_HEADERS})
endif()

if(SPECTRA_APPS)
    install(TARGETS spectra RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT program)
    if(SPECTRA_TORCH_FOUND)
        install(TARGETS spectra-torch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT torch)
    endif()
endif()

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/JacobianSpectraConfig.cmake.in"
    "${PROJECT_BINARY_DIR}/JacobianSpectraConfig.cmake" INSTALL_DESTINATION ${_spectra_package})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/JacobianSpectraConfigVersion.cmake"
    COMPATIBILITY SameMinorVersion)
install(FILES
    "${PROJECT_BINARY_DIR}/JacobianSpectraConfig.cmake"
    "${PROJECT_BINARY_DIR}/JacobianSpectraConfigVersion.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindLAPACKE.cmake"
    DESTINATION ${_spectra_package})
