# spectra_version_source(VARIABLE): the path of a generated version.cpp that holds the version, the
# git commit and the features. It is made anew at every build and changes only with its content, so
# an unchanged commit costs no compilation.
#
# The same file is the script that makes it:
# cmake -DSOURCE_DIR=… -DTEMPLATE=… -DOUTPUT=… -DPROJECT_VERSION=… -DSPECTRA_FEATURES=…
#     -DSPECTRA_BUILD=… -DSPECTRA_COMPILER=… -P SpectraVersion.cmake

if(CMAKE_SCRIPT_MODE_FILE AND CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
    set(SPECTRA_GIT unknown)
    find_program(GIT git)
    # Only a repository of our own: an unpacked archive inside another project's says "unknown".
    if(GIT AND EXISTS "${SOURCE_DIR}/.git")
        execute_process(COMMAND "${GIT}" --no-optional-locks describe --always --dirty --abbrev=12 --exclude=*
            WORKING_DIRECTORY "${SOURCE_DIR}"
            OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE rc)
        if(rc EQUAL 0 AND described)
            set(SPECTRA_GIT "${described}")
        endif()
    endif()
    configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
    return()
endif()

set(_spectra_version_script "${CMAKE_CURRENT_LIST_FILE}")
set(_spectra_version_template "${CMAKE_CURRENT_LIST_DIR}/version.cpp.in")

function(spectra_version_source variable)
    set(features "OpenMP ${OpenMP_CXX_VERSION}, HDF5 ${HDF5_VERSION}, LAPACKE on ${LAPACKE_VENDOR}")
    if(SPECTRA_CUDA_FOUND)
        string(APPEND features ", CUDA ${SPECTRA_CUDA_VERSION}")
    endif()
    if(SPECTRA_TORCH_FOUND)
        string(APPEND features ", Torch ${SPECTRA_TORCH_VERSION}")
    endif()
    if(SPECTRA_MPI_FOUND)
        string(APPEND features ", MPI ${SPECTRA_MPI_VERSION}")
    endif()
    set(compiler "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
    string(REGEX REPLACE "^GNU " "g++ " compiler "${compiler}")
    string(REGEX REPLACE "^(Apple)?Clang " "clang++ " compiler "${compiler}")
    set(output "${CMAKE_CURRENT_BINARY_DIR}/version.cpp")
    set(command "${CMAKE_COMMAND}"
        "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}" "-DTEMPLATE=${_spectra_version_template}" "-DOUTPUT=${output}"
        "-DPROJECT_VERSION=${PROJECT_VERSION}" "-DSPECTRA_FEATURES=${features}"
        "-DSPECTRA_BUILD=$<CONFIG>" "-DSPECTRA_COMPILER=${compiler}"
        -P "${_spectra_version_script}")
    add_custom_target(spectra_version COMMAND ${command} BYPRODUCTS "${output}" VERBATIM
        COMMENT "Asking git for the commit")
    set(${variable} "${output}" PARENT_SCOPE)
endfunction()
