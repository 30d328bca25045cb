# The API reference: the target docs, which fails on any warning of Doxygen, and the test docs.api, which runs it.

find_program(SPECTRA_DOXYGEN doxygen)
mark_as_advanced(SPECTRA_DOXYGEN)
if(SPECTRA_DOXYGEN AND PROJECT_IS_TOP_LEVEL)
    configure_file("${PROJECT_SOURCE_DIR}/docs/Doxyfile" "${PROJECT_BINARY_DIR}/docs/Doxyfile" @ONLY)
    add_custom_target(docs COMMAND "${SPECTRA_DOXYGEN}" "${PROJECT_BINARY_DIR}/docs/Doxyfile" VERBATIM
        COMMENT "Writing docs/html/index.html")
    if(BUILD_TESTING)
        add_test(NAME docs.api COMMAND "${SPECTRA_DOXYGEN}" "${PROJECT_BINARY_DIR}/docs/Doxyfile")
        set_tests_properties(docs.api PROPERTIES LABELS package TIMEOUT 120)
    endif()
endif()
