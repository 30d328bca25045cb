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
option(SPECTRA_UNITY "Compile files of the command line, and of the models, together: faster, unless you change them" OFF)
option(SPECTRA_PRECOMPILE "Precompile common headers: a build from nothing is faster" OFF)
option(SPECTRA_WERROR "Warnings are errors" OFF)
option(SPECTRA_HARDENED "Checks of buffers, containers and stacks at run time; read-only relocations" ON)
option(SPECTRA_NATIVE "Compile for this machine's processor (results may differ in the last bits)" OFF)
set(SPECTRA_SANITIZE "" CACHE STRING "Sanitizers to build with, as -fsanitize takes them: address,undefined")
option(SPECTRA_FUZZ "Build the fuzz targets with libFuzzer (clang)" OFF)
if(SPECTRA_FUZZ)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
        message(FATAL_ERROR "SPECTRA_FUZZ=ON, but ${CMAKE_CXX_COMPILER} has no libFuzzer: set CMAKE_CXX_COMPILER to clang++")
    endif()
    # Everything is instrumented; the targets alone link libFuzzer itself (tests/fuzz).
    set(SPECTRA_SANITIZE fuzzer-no-link,address,undefined)
endif()

spectra_tristate(SPECTRA_CUDA "CUDA toolkit")
spectra_tristate(SPECTRA_TORCH "LibTorch")
spectra_tristate(SPECTRA_MPI "MPI")
spectra_tristate(SPECTRA_PYTHON "Python package")
spectra_tristate(SPECTRA_BENCH "benchmarks (google-benchmark)")

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# The search path for libraries is the installed one from the start: the absolute folders of linked libraries that
# the system does not search by itself, and nothing else. (Where CMake replaces the path at installation, it pads
# the built one with colons, and an empty element means the current folder: any file of the right name there would
# be loaded and run.)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
# Programs that can be loaded anywhere in memory, as the linker allows.
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
include(CheckPIESupported)
check_pie_supported()
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
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_GREATER_EQUAL:$<CXX_COMPILER_VERSION>,13>>:-Wno-array-bounds\;-Wno-stringop-overflow\;-Wno-stringop-overread>)
# Where headers are precompiled or files compiled together, g++ also warns of what it makes up while it optimises the
# standard library's strings and vectors, on each processor of something else: no errors there.
if((SPECTRA_PRECOMPILE OR SPECTRA_UNITY) AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    foreach(warning IN ITEMS array-bounds dangling-pointer format-overflow format-truncation free-nonheap-object nonnull
            stringop-overflow stringop-overread use-after-free)
        target_compile_options(spectra_warnings INTERFACE -Wno-error=${warning})
    endforeach()
endif()

# For files compiled together, after the above: whether one's names hide another's, or its types are its own, is seen where
# each is compiled alone.
add_library(spectra_unity_warnings INTERFACE)
target_compile_options(spectra_unity_warnings INTERFACE -Wno-shadow $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)

# No contraction to fused multiply-add: g++ would contract on ARM and not on x86-64, and results
# are to be the same on both.
add_library(spectra_flags INTERFACE)
target_compile_options(spectra_flags INTERFACE
    -ffp-contract=off $<$<BOOL:${SPECTRA_NATIVE}>:-march=native>)
# Half a gigabyte before g++ looks for memory that it could use again, which takes 4 to 12 % of its time.
target_compile_options(spectra_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
# Threads are the program's own, over points and samples: Eigen's, inside small products, cost thirty
# times what they bring.
target_compile_definitions(spectra_flags INTERFACE EIGEN_DONT_PARALLELIZE)
# HDF5's compiler wrapper names libraries that only a static HDF5 would need; loading them all would
# double the program's start.
if(NOT APPLE)
    target_link_options(spectra_flags INTERFACE LINKER:--as-needed)
endif()
# What is read may be hostile (SECURITY.md). docs/performance.md has the cost.
if(SPECTRA_HARDENED AND NOT SPECTRA_SANITIZE)
    include(CheckCXXCompilerFlag)
    set(CMAKE_REQUIRED_FLAGS -Werror)  # clang only warns of another processor's flag
    foreach(flag IN ITEMS -fstack-protector-strong -fstack-clash-protection -fcf-protection -mbranch-protection=standard)
        string(MAKE_C_IDENTIFIER "SPECTRA_HAS${flag}" has)
        check_cxx_compiler_flag(${flag} ${has})
        if(${has})
            target_compile_options(spectra_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${flag}>)
        endif()
    endforeach()
    unset(CMAKE_REQUIRED_FLAGS)
    # Some compilers define _FORTIFY_SOURCE themselves; it needs optimisation.
    target_compile_options(spectra_flags INTERFACE
        $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<CONFIG:Debug>>>:-U_FORTIFY_SOURCE\;-D_FORTIFY_SOURCE=2>)
    target_compile_definitions(spectra_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
    if(NOT APPLE)
        target_link_options(spectra_flags INTERFACE LINKER:-z,relro,-z,now,-z,noexecstack)
    endif()
endif()
if(SPECTRA_SANITIZE)
    # Left out of `undefined`: checks at every dereference and step of a pointer, which more than double the time Eigen
    # takes to compile; null pointers and overruns are what `address` stops at. Also checks of the types of objects:
    # nothing that is sanitized casts to a derived class.
    set(_spectra_sanitize -fsanitize=${SPECTRA_SANITIZE} -fno-sanitize=null,alignment,object-size,pointer-overflow,vptr
        -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(spectra_flags INTERFACE ${_spectra_sanitize})
    target_link_options(spectra_flags INTERFACE ${_spectra_sanitize})
endif()
