# Every header compiles alone: one generated source a header, which includes it twice.

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/src" "${PROJECT_SOURCE_DIR}/src/*.hpp")
set(sources)
foreach(header IN LISTS headers)
    set(source "${CMAKE_CURRENT_BINARY_DIR}/headers/${header}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "#include \"@header@\"\n#include \"@header@\"\n" @ONLY)
    list(APPEND sources "${source}")
endforeach()

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
