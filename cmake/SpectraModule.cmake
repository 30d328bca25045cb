# How a folder of src/ becomes a library, and a source file a program.

# _spectra_sources(VARIABLE ROOM…): all .cpp and .hpp of the current folder and of these folders in it.
function(_spectra_sources variable)
    set(patterns *.cpp *.hpp)
    foreach(room IN LISTS ARGN)
        list(APPEND patterns ${room}/*.cpp ${room}/*.hpp)
    endforeach()
    file(GLOB sources CONFIGURE_DEPENDS ${patterns})
    set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# What takes half of the time of a source, read once for all libraries of a kind, whose options and macros are the same. The
# first of a kind that knows Eigen holds it.
function(_spectra_precompile target kind)
    if(target MATCHES "^spectra_(linalg|mixers|layouts)$")
        set_property(GLOBAL PROPERTY SPECTRA_PRECOMPILED_${kind} ${target})
        target_precompile_headers(${target} PRIVATE <linalg/eigen_instances.hpp> <algorithm> <array> <cmath> <complex> <cstdint> <filesystem>
            <functional> <map> <memory> <optional> <span> <stdexcept> <string> <string_view> <utility> <vector>)
        return()
    endif()
    get_property(holder GLOBAL PROPERTY SPECTRA_PRECOMPILED_${kind})
    if(holder)
        target_precompile_headers(${target} REUSE_FROM ${holder})
    endif()
endfunction()

# spectra_together(TARGET): with SPECTRA_UNITY, its files are compiled a few at a time. Names of their own must differ.
function(spectra_together target)
    if(SPECTRA_UNITY)
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:spectra_unity_warnings>)
    endif()
endfunction()

# spectra_module(dyson PUBLIC spectra_network Eigen3::Eigen PRIVATE OpenMP::OpenMP_CXX HEADERS Boost::headers)
# builds all .cpp of the current folder, and of those of its folders that ROOMS names, into the static library
# spectra_dyson, which others know as JacobianSpectra::dyson. PUBLIC and PRIVATE are linked as usual; HEADERS are
# header-only packages of the sources alone, so that users of the installed library need not have them. NUMERIC: inner
# loops over checked data, which read no files; the standard library's own checks would cost 4 to 8 % there
# (docs/performance.md). WORDS: readers, claims, reports, requests and drawings, which call others for what takes time; less
# optimisation takes a third off the compiler's work after parsing. With SPECTRA_UNITY, six files at a time, which halves
# what `study` and `report` take; those of ALONE and NUMERIC modules are large, and gain nothing.
function(spectra_module name)
    cmake_parse_arguments(ARG "NUMERIC;WORDS;ALONE" "" "ROOMS;EXCLUDE;PUBLIC;PRIVATE;HEADERS" ${ARGN})
    set(target spectra_${name})
    _spectra_sources(sources ${ARG_ROOMS})
    foreach(file IN LISTS ARG_EXCLUDE)
        list(REMOVE_ITEM sources "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
    endforeach()
    add_library(${target} STATIC ${sources})
    add_library(JacobianSpectra::${name} ALIAS ${target})
    set_target_properties(${target} PROPERTIES
        EXPORT_NAME ${name}
        OUTPUT_NAME jacobian_spectra_${name}
        CXX_EXTENSIONS OFF
        POSITION_INDEPENDENT_CODE ON)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>
        $<BUILD_INTERFACE:${SPECTRA_PUBLIC_INCLUDE_DIR}>
        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
    foreach(library IN ITEMS spectra_warnings spectra_flags LISTS ARG_HEADERS)
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
    endforeach()
    if(ARG_NUMERIC AND NOT SPECTRA_SANITIZE)
        target_compile_options(${target} PRIVATE -U_GLIBCXX_ASSERTIONS)
    elseif(ARG_WORDS)
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    if(SPECTRA_PRECOMPILE)
        _spectra_precompile(${target} "${ARG_NUMERIC}-${ARG_WORDS}")
    endif()
    if(NOT ARG_NUMERIC AND NOT ARG_ALONE)
        spectra_together(${target})
    endif()
    set_property(GLOBAL APPEND PROPERTY SPECTRA_MODULES ${name})
    set_property(GLOBAL APPEND PROPERTY SPECTRA_HEADER_PACKAGES ${ARG_HEADERS})
endfunction()

# spectra_torch_module(train ROOMS modules models PUBLIC spectra_report): the same for code that needs Torch. These are
# no part of JacobianSpectra::JacobianSpectra but of the package's component train, and share one precompiled header:
# Torch's take 18 s per file otherwise.
function(spectra_torch_module name)
    cmake_parse_arguments(ARG "" "" "ROOMS;PUBLIC;PRIVATE;HEADERS" ${ARGN})
    set(target spectra_${name})
    _spectra_sources(sources ${ARG_ROOMS})
    add_library(${target} STATIC ${sources})
    add_library(JacobianSpectra::${name} ALIAS ${target})
    # As programs are compiled, which share the precompiled header.
    set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME jacobian_spectra_${name}
        CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIE)
    target_compile_features(${target} PUBLIC cxx_std_20)
    # Newer Torches carry headers of an fmt of their own, which no library here belongs to. Public headers use none.
    target_compile_definitions(${target} PUBLIC $<BUILD_INTERFACE:FMT_HEADER_ONLY>)
    target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} $<BUILD_INTERFACE:OpenMP::OpenMP_CXX> torch
        PRIVATE ${ARG_PRIVATE} OpenMP::OpenMP_CXX fmt::fmt)
    foreach(library IN ITEMS spectra_warnings spectra_flags LISTS ARG_HEADERS)
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:${library}>)
    endforeach()
    if(TARGET spectra_jacobian AND NOT name STREQUAL "jacobian")
        target_precompile_headers(${target} REUSE_FROM spectra_jacobian)
    else()
        target_precompile_headers(${target} PRIVATE <jacobian/torch.hpp>)
    endif()
    # A file of nothing takes 6 s with the precompiled header: g++ compiles templates again that Torch's inline functions
    # name. So a few files at a time where they are many.
    if(SPECTRA_UNITY AND NOT name STREQUAL "jacobian")
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
    endif()
    set_property(GLOBAL APPEND PROPERTY SPECTRA_TORCH_MODULES ${name})
endfunction()

# spectra_program(spectra SOURCES main.cpp LIBRARIES JacobianSpectra::JacobianSpectra)
function(spectra_program target)
    cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
    add_executable(${target} ${ARG_SOURCES})
    set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_features(${target} PRIVATE cxx_std_20)
    target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} spectra_warnings spectra_flags)
endfunction()
