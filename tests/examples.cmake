# The examples run and print the numbers that their comments promise. Those that read a file read one that the program
# has just written, or one of data/.

# spectra_example(NAME REGEX COMMAND ARGUMENT…)
function(spectra_example name regex)
    add_test(NAME example_${name} COMMAND "${CMAKE_COMMAND}" "-DREGEX=${regex}"
        -P "${CMAKE_CURRENT_SOURCE_DIR}/expect.cmake" -- ${ARGN})
    set_tests_properties(example_${name} PROPERTIES LABELS examples TIMEOUT 120)
endfunction()

spectra_example(embed "certified.*mass +1\\.000000.*mean square +0\\.255324 .exact 0\\.255324" $<TARGET_FILE:embed>)
spectra_example(own_mixers
    "hadamard .*mean square 1\\.051140 .* certified.*convolution .* below 0\\.1 0\\.7500 +certified"
    $<TARGET_FILE:own_mixers>)
spectra_example(own_branch_law "fourth +1\\.392400, by hand 1\\.392400.*atom of mass 0\\.500000 at s = 1\\.000000"
    $<TARGET_FILE:own_branch_law>)
spectra_example(simulate_and_compare "W1 +0\\.00[0-9]+.*expected W1 +0\\.00[0-9]+ .*theory and simulation agree"
    $<TARGET_FILE:simulate_and_compare>)
spectra_example(validate_checkpoint "edelta: 2 connections of 4 streams.* 0\\.9423, .*certified.*PASS"
    $<TARGET_FILE:validate_checkpoint> "${PROJECT_SOURCE_DIR}/data/layouts/edelta_jpmhc.pt")

spectra_example(one_call "theory +certified.*mass .*in window +0\\.89.*W1 +0\\.0.*ov_montecarlo.*wrote +one_call.h5"
    $<TARGET_FILE:one_call>)

set(stem "${CMAKE_CURRENT_BINARY_DIR}/example")
add_test(NAME example_result_file
    COMMAND spectra --mixer cayley --depth 3 --samples 5 --plot none --quiet --force --out "${stem}")
set_tests_properties(example_result_file PROPERTIES FIXTURES_SETUP result_file LABELS examples)

spectra_example(read_result "--mixer cayley.*ov mean_square=1\\.04767 .*montecarlo .*ov_montecarlo wasserstein1=[0-9.]+"
    $<TARGET_FILE:read_result> "${stem}.h5")
if(SPECTRA_PYTHON_WITH_H5PY)
    spectra_example(read_result_in_python "--mixer cayley.*montecarlo .*mean_square=[0-9.]+.*ov .*mean_square=1\\.04767"
        "${SPECTRA_PYTHON_WITH_H5PY}" "${PROJECT_SOURCE_DIR}/examples/read_result.py" "${stem}.h5")
else()
    # ctest lists it by name among those that were not run.
    add_test(NAME example_read_result_in_python COMMAND "${CMAKE_COMMAND}" -E echo "not run: no python3 has the module h5py")
    set_tests_properties(example_read_result_in_python PROPERTIES LABELS examples SKIP_REGULAR_EXPRESSION "not run")
endif()
set_tests_properties(example_read_result example_read_result_in_python PROPERTIES FIXTURES_REQUIRED result_file)
