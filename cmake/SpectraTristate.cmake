# Options of three values: AUTO (look, and go without), ON (must be there), OFF (not looked for).

# Declares the cached option `name` and refuses any fourth value.
function(spectra_tristate name what)
    set(${name} AUTO CACHE STRING "${what}: AUTO, ON or OFF")
    set_property(CACHE ${name} PROPERTY STRINGS AUTO ON OFF)
    if(NOT "${${name}}" MATCHES "^(AUTO|ON|OFF)$")
        message(FATAL_ERROR "${name}=${${name}} is not accepted: AUTO, ON or OFF")
    endif()
endfunction()

# spectra_resolve(SPECTRA_MPI find_it PACKAGE "MPI (Debian: libopenmpi-dev)")
# calls find_it(), a function that sets <found> and <version> for its caller, unless the option is
# OFF, and sets SPECTRA_MPI_FOUND and SPECTRA_MPI_VERSION for ours.
function(spectra_resolve name finder)
    cmake_parse_arguments(ARG "" "PACKAGE" "" ${ARGN})
    set(found FALSE)
    set(version "")
    if(NOT ${name} STREQUAL "OFF")
        cmake_language(CALL ${finder})
    endif()
    if(${name} STREQUAL "ON" AND NOT found)
        message(FATAL_ERROR "${name}=ON, but ${ARG_PACKAGE} was not found")
    endif()
    set(${name}_FOUND ${found} PARENT_SCOPE)
    set(${name}_VERSION "${version}" PARENT_SCOPE)
endfunction()
