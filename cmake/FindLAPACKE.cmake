# LAPACKE, the C interface of LAPACK, with the LAPACK and BLAS below it: OpenBLAS where it is
# installed, any other otherwise (or the one BLA_VENDOR names). Sets LAPACKE_FOUND and
# LAPACKE_VENDOR and gives the target LAPACKE::LAPACKE.

find_path(LAPACKE_INCLUDE_DIR lapacke.h PATH_SUFFIXES lapacke openblas)
# Some builds of OpenBLAS hold LAPACKE themselves; Debian's does not.
find_library(LAPACKE_LIBRARY NAMES lapacke openblas)
mark_as_advanced(LAPACKE_INCLUDE_DIR LAPACKE_LIBRARY)

if(NOT DEFINED BLA_VENDOR)
    set(BLA_VENDOR OpenBLAS)
    find_package(LAPACK QUIET)
    if(LAPACK_FOUND)
        set(LAPACKE_VENDOR OpenBLAS)
    endif()
    unset(BLA_VENDOR)
endif()
if(NOT LAPACK_FOUND)
    find_package(LAPACK QUIET)
    set(LAPACKE_VENDOR "${BLA_VENDOR}")
endif()
if(NOT LAPACKE_VENDOR)
    set(LAPACKE_VENDOR LAPACK)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LAPACKE
    REQUIRED_VARS LAPACKE_LIBRARY LAPACKE_INCLUDE_DIR LAPACK_FOUND
    REASON_FAILURE_MESSAGE "lapacke.h, its library or a LAPACK is missing (Debian's liblapacke-dev, libopenblas-dev)")

if(LAPACKE_FOUND AND NOT TARGET LAPACKE::LAPACKE)
    add_library(LAPACKE::LAPACKE INTERFACE IMPORTED)
    set_target_properties(LAPACKE::LAPACKE PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${LAPACKE_INCLUDE_DIR}"
        INTERFACE_LINK_LIBRARIES "${LAPACKE_LIBRARY};LAPACK::LAPACK")
endif()
