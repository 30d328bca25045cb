# What must be there, and what may be.

include(SpectraTristate)

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Eigen3 CONFIG REQUIRED)
if(Eigen3_VERSION VERSION_LESS 3.4)
    message(FATAL_ERROR "Eigen ${Eigen3_VERSION} is too old: 3.4 or later is needed")
endif()
find_package(Boost 1.70 CONFIG REQUIRED)  # Boost.Math, headers only
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(LAPACKE REQUIRED)
find_package(Random123 REQUIRED)
find_package(fmt CONFIG REQUIRED)
find_package(nlohmann_json CONFIG REQUIRED)
if(SPECTRA_APPS)
    find_package(CLI11 CONFIG REQUIRED)
endif()
if(BUILD_TESTING)
    find_package(GTest REQUIRED)
endif()

# Nothing is compiled with Torch in this version: finding it costs no compiler run, and the program
# says what was there (spectra --version).

function(spectra_find_cuda)
    # nvcc first: FindCUDAToolkit alone would take a lone runtime library for a toolkit.
    find_program(SPECTRA_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
    mark_as_advanced(SPECTRA_NVCC)
    if(SPECTRA_NVCC)
        execute_process(COMMAND "${SPECTRA_NVCC}" --version OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE rc)
        if(rc EQUAL 0 AND text MATCHES "release ([0-9.]+)")
            set(found TRUE PARENT_SCOPE)
            set(version "${CMAKE_MATCH_1}" PARENT_SCOPE)
        endif()
    endif()
endfunction()

function(spectra_find_torch)
    # Only its place: loading TorchConfig.cmake is slow, and stops the configure step by itself where
    # a CUDA build of Torch meets a machine without the toolkit.
    # torch.utils.cmake_prefix_path of Python's Torch is a prefix too.
    string(REPLACE ":" ";" prefixes "$ENV{CMAKE_PREFIX_PATH}")
    find_path(SPECTRA_TORCH_DIR TorchConfig.cmake
        HINTS ${Torch_DIR} ENV Torch_DIR ${CMAKE_PREFIX_PATH} ${prefixes}
        PATH_SUFFIXES Torch share/cmake/Torch lib/cmake/Torch "lib/${CMAKE_LIBRARY_ARCHITECTURE}/cmake/Torch")
    mark_as_advanced(SPECTRA_TORCH_DIR)
    if(SPECTRA_TORCH_DIR)
        set(found TRUE PARENT_SCOPE)
        set(file "${SPECTRA_TORCH_DIR}/TorchConfigVersion.cmake")
        if(EXISTS "${file}")
            file(STRINGS "${file}" line REGEX "PACKAGE_VERSION \"[0-9]" LIMIT_COUNT 1)
            if(line MATCHES "\"([0-9.]+)")
                set(version "${CMAKE_MATCH_1}" PARENT_SCOPE)
            endif()
        endif()
    endif()
endfunction()

function(spectra_find_mpi)
    # The compiler wrapper first: without it FindMPI tries, audibly, everything it knows.
    find_program(SPECTRA_MPICXX NAMES mpicxx mpic++ HINTS ${MPI_HOME} ENV MPI_HOME PATH_SUFFIXES bin)
    mark_as_advanced(SPECTRA_MPICXX)
    if(SPECTRA_MPICXX OR MPI_CXX_COMPILER)
        find_package(MPI QUIET COMPONENTS CXX)
    endif()
    if(MPI_CXX_FOUND)
        set(found TRUE PARENT_SCOPE)
        set(version "${MPI_CXX_VERSION}" PARENT_SCOPE)
    endif()
endfunction()

function(spectra_find_benchmark)
    find_package(benchmark CONFIG QUIET)
    if(benchmark_FOUND)
        set(found TRUE PARENT_SCOPE)
        set(version "${benchmark_VERSION}" PARENT_SCOPE)
    endif()
endfunction()

spectra_resolve(SPECTRA_CUDA spectra_find_cuda PACKAGE "the CUDA toolkit (nvcc: set CUDACXX to its path)")
if(SPECTRA_CUDA_FOUND)
    # CMake 3.25 does not know C++20 for nvcc 13: the kernels are C++17 (src/montecarlo/cuda/CMakeLists.txt).
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
        set(CMAKE_CUDA_ARCHITECTURES 80 90)
    endif()
    set(ENV{CUDACXX} "${SPECTRA_NVCC}")
    include(CheckLanguage)
    check_language(CUDA)
    if(CMAKE_CUDA_COMPILER)
        enable_language(CUDA)
        find_package(CUDAToolkit REQUIRED)
    elseif(SPECTRA_CUDA STREQUAL "ON")
        message(FATAL_ERROR "SPECTRA_CUDA=ON, but ${SPECTRA_NVCC} does not compile")
    else()
        set(SPECTRA_CUDA_FOUND FALSE)
    endif()
endif()
spectra_resolve(SPECTRA_TORCH spectra_find_torch PACKAGE "Torch (TorchConfig.cmake: set Torch_DIR, or Debian's libtorch-dev)")
if(SPECTRA_TORCH_FOUND)
    # It sets flags of nvcc that are not ours to have.
    set(flags "${CMAKE_CUDA_FLAGS}")
    set(architectures "${CMAKE_CUDA_ARCHITECTURES}")
    find_package(Torch QUIET REQUIRED PATHS "${SPECTRA_TORCH_DIR}" NO_DEFAULT_PATH)
    set(CMAKE_CUDA_FLAGS "${flags}")
    set(CMAKE_CUDA_ARCHITECTURES "${architectures}")
endif()
spectra_resolve(SPECTRA_MPI spectra_find_mpi PACKAGE "MPI (Debian's libopenmpi-dev)")
spectra_resolve(SPECTRA_BENCH spectra_find_benchmark PACKAGE "google-benchmark (Debian's libbenchmark-dev)")
