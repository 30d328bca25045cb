# Options users may set, and the two INTERFACE targets every one of our targets is built with.

include(SpectraTristate)

get_property(_spectra_multi_config GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
if(NOT CMAKE_BUILD_TYPE AND NOT _spectra_multi_config)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
endif()

option(BUILD_TESTING "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(SPECTRA_APPS "Build the program spectra" ON)
option(SPECTRA_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(SPECTRA_CHECK_HEADERS "Compile every header alone (with the tests)" OFF)
option(SPECTRA_WERROR "Warnings are errors" OFF)
option(SPECTRA_NATIVE "Compile for this machine's processor (results may differ in the last bits)" OFF)
set(SPECTRA_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them: address,undefined")

spectra_tristate(SPECTRA_CUDA "CUDA toolkit")
spectra_tristate(SPECTRA_TORCH "LibTorch")
spectra_tristate(SPECTRA_MPI "MPI")
spectra_tristate(SPECTRA_BENCH "benchmarks (google-benchmark)")

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)  # there are none, and the scan costs a compiler run a file

add_library(spectra_warnings INTERFACE)
target_compile_options(spectra_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${SPECTRA_WERROR}>:-Werror>
    # g++ takes copies of Eigen's matrices in initializer lists for reads of nothing, in other functions on x86-64
    # than on ARM.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>
    # g++ 12 sees overlapping copies in "text" + std::string (its bug 105651).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
    # g++ 13 sees std::vector's growth past the end of what it has just outgrown (its bugs 107852, 110498).
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds\;-Wno-stringop-overflow>)

# No contraction to fused multiply-add: g++ would contract on ARM and not on x86-64, and results
# are to be the same on both.
add_library(spectra_flags INTERFACE)
target_compile_options(spectra_flags INTERFACE
    -ffp-contract=off $<$<BOOL:${SPECTRA_NATIVE}>:-march=native>)
# Threads are the program's own, over points and samples: Eigen's, inside small products, cost thirty
# times what they bring.
target_compile_definitions(spectra_flags INTERFACE EIGEN_DONT_PARALLELIZE)
# HDF5's compiler wrapper names libraries that only a static HDF5 would need; loading them all would
# double the program's start.
if(NOT APPLE)
    target_link_options(spectra_flags INTERFACE LINKER:--as-needed)
endif()
if(SPECTRA_SANITIZE)
    # Left out of `undefined`: checks at every dereference, which double the time Eigen takes to
    # compile; null pointers and overruns are what `address` stops at.
    set(_spectra_sanitize -fsanitize=${SPECTRA_SANITIZE} -fno-sanitize=null,alignment,object-size
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(spectra_flags INTERFACE ${_spectra_sanitize})
    target_link_options(spectra_flags INTERFACE ${_spectra_sanitize})
endif()
