# Random123, header only: counter-based random numbers. Sets Random123_FOUND and gives the target
# Random123::Random123; Random123_INCLUDE_DIR points to the folder that holds Random123/philox.h.

find_path(Random123_INCLUDE_DIR Random123/philox.h)
mark_as_advanced(Random123_INCLUDE_DIR)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Random123 REQUIRED_VARS Random123_INCLUDE_DIR
    REASON_FAILURE_MESSAGE
    "no Random123/philox.h (Debian's librandom123-dev): set Random123_INCLUDE_DIR to the folder above it")

if(Random123_FOUND AND NOT TARGET Random123::Random123)
    add_library(Random123::Random123 INTERFACE IMPORTED)
    set_target_properties(Random123::Random123 PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${Random123_INCLUDE_DIR}")
endif()
