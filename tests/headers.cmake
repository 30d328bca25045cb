# Every header compiles alone. A header x.hpp beside x.cpp does, because that source includes it
# before anything else, which is tested; the others get a generated source each.

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/src/*.hpp")
# These are compiled with Torch's library, by everything in src/train (two), with Python's headers, first by describe.cpp, and
# for the browser, whose standard library lacks what the last one adds.
list(FILTER headers EXCLUDE REGEX "^(jacobian/torch|train/autocast|train/learner|python/convert|web/solver/stand_in/to_chars)\\.hpp$")
set(sources)
foreach(header IN LISTS headers)
    string(REGEX REPLACE "\\.hpp$" ".cpp" own_source "${header}")
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/src/${own_source}")
        set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cpp")
        file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"@header@\"\n#include \"@header@\"\n" @ONLY)
        list(APPEND sources "${source}")
    endif()
endforeach()

add_test(NAME sources_include_their_header_first
    COMMAND "${CMAKE_COMMAND}" "-DSOURCE_DIR=${PROJECT_SOURCE_DIR}/src"
    -P "${CMAKE_CURRENT_SOURCE_DIR}/header_first.cmake")
set_tests_properties(sources_include_their_header_first PROPERTIES LABELS package)

if(sources)
    get_property(packages GLOBAL PROPERTY SPECTRA_HEADER_PACKAGES)
    list(REMOVE_DUPLICATES packages)
    add_library(spectra_headers OBJECT ${sources})
    set_target_properties(spectra_headers PROPERTIES CXX_EXTENSIONS OFF)
    target_compile_options(spectra_headers PRIVATE -O0)
    target_link_libraries(spectra_headers PRIVATE spectra_all ${packages} spectra_warnings spectra_flags)
    # Built with everything else; the test says so in the report.
    add_test(NAME headers_compile_alone
        COMMAND "${CMAKE_COMMAND}" --build "${PROJECT_BINARY_DIR}" --target spectra_headers)
    set_tests_properties(headers_compile_alone PROPERTIES LABELS package)
endif()
