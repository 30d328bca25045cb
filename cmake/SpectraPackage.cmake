# Debian packages, by cpack: jacobian-spectra, the program without Torch; where there is Torch,
# jacobian-spectra-torch, the program behind train, cost and validate. scripts/package.sh builds and tries them.

if(NOT PROJECT_IS_TOP_LEVEL OR NOT SPECTRA_APPS)
    return()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME jacobian-spectra)
set(CPACK_PACKAGE_VENDOR "the spectra authors")
# As for Debian's own tools, whoever makes the package is its maintainer.
set(CPACK_PACKAGE_CONTACT "the spectra authors <spectra@localhost.localdomain>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
    set(CPACK_PACKAGE_CONTACT "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Licence, change log and manual page, as Debian wants them.
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/SpectraPackageFiles.cmake")
set(CPACK_SPECTRA_SOURCE_DIR "${PROJECT_SOURCE_DIR}")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME jacobian-spectra)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "gnuplot-nox | gnuplot")
set(CPACK_DEBIAN_PROGRAM_DESCRIPTION
    "predict whether gradients survive the depth of a network
spectra computes the singular values of the Jacobians of deep residual
networks with several streams: by theory, by simulation, and from the weights
of trained models. It reports where the three agree, and draws figures.")

if(SPECTRA_TORCH_FOUND)
    list(APPEND CPACK_COMPONENTS_ALL torch)
    set(CPACK_DEBIAN_TORCH_PACKAGE_NAME jacobian-spectra-torch)
    set(CPACK_DEBIAN_TORCH_PACKAGE_DEPENDS "jacobian-spectra (= ${PROJECT_VERSION})")
    set(CPACK_DEBIAN_TORCH_DESCRIPTION
        "train and run models for spectra
The program that spectra starts for the commands train, cost and validate, where
they run a model with LibTorch.")
endif()

include(CPack)
