# The examples run, and the Python one reads a file the program has just written.

add_test(NAME example_embed COMMAND "${CMAKE_COMMAND}" "-DREGEX=certified.*mean square +[0-9]"
    -P "${CMAKE_CURRENT_SOURCE_DIR}/expect.cmake" -- $<TARGET_FILE:embed>)

set(stem "${CMAKE_CURRENT_BINARY_DIR}/example")
add_test(NAME example_result_file
    COMMAND spectra --mixer cayley --depth 3 --samples 5 --plot none --quiet --force --out "${stem}")
set_tests_properties(example_result_file PROPERTIES FIXTURES_SETUP result_file)

# The system's Python first: it is the one that has python3-h5py. Without h5py the test fails.
find_program(SPECTRA_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
find_program(SPECTRA_PYTHON python3)
if(NOT SPECTRA_PYTHON)
    set(SPECTRA_PYTHON python3)
endif()
add_test(NAME example_read_result
    COMMAND "${CMAKE_COMMAND}" "-DREGEX=montecarlo .*mean_square=[0-9.]+.*ov .*mean_square=[0-9.]+"
    -P "${CMAKE_CURRENT_SOURCE_DIR}/expect.cmake" --
    "${SPECTRA_PYTHON}" "${PROJECT_SOURCE_DIR}/examples/read_result.py" "${stem}.h5")
set_tests_properties(example_read_result PROPERTIES FIXTURES_REQUIRED result_file)

set_tests_properties(example_embed example_result_file example_read_result PROPERTIES LABELS examples)
