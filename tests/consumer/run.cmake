# Installs the build to a fresh prefix, then configures, builds and runs the consumer against it. No header but the
# public ones is there, so what needs another one does not compile.

file(REMOVE_RECURSE "${WORK_DIR}")
set(prefix "${WORK_DIR}/prefix")

function(step)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE rc)
    if(NOT rc EQUAL 0)
        list(JOIN ARGN " " text)
        message(FATAL_ERROR "failed (${rc}): ${text}")
    endif()
endfunction()

step("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --config "${CONFIG}" --prefix "${prefix}")
foreach(private IN ITEMS base/text.hpp h5/file.hpp dyson/equations/chain.hpp)
    if(EXISTS "${prefix}/include/jacobian_spectra/${private}")
        message(FATAL_ERROR "installed, but not public: ${private}")
    endif()
endforeach()
file(GLOB installed RELATIVE "${prefix}/include" "${prefix}/include/*")
if(NOT installed STREQUAL "jacobian_spectra")
    message(FATAL_ERROR "installed beside jacobian_spectra: ${installed}")
endif()
step("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${WORK_DIR}/build" -G "${GENERATOR}"
    "-DCMAKE_PREFIX_PATH=${prefix}" "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" -DCMAKE_BUILD_TYPE=Debug
    "-DEXAMPLES_DIR=${CMAKE_CURRENT_LIST_DIR}/../../examples" "-DWITH_TRAIN=${WITH_TRAIN}" "-DTorch_DIR=${TORCH_DIR}")
step("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
step("${WORK_DIR}/build/consumer_mixers")
step("${WORK_DIR}/build/consumer")
step("${WORK_DIR}/build/embed")
if(WITH_TRAIN)
    step("${WORK_DIR}/build/consumer_train")
endif()

# The installed program runs from where it was put.
execute_process(COMMAND "${prefix}/bin/spectra" --version OUTPUT_VARIABLE text RESULT_VARIABLE rc)
if(NOT rc EQUAL 0 OR NOT text MATCHES "${VERSION}")
    message(FATAL_ERROR "installed spectra --version (${rc}): ${text}")
endif()

# So are its manual page and completions.
foreach(file IN ITEMS share/man/man1/spectra.1 share/bash-completion/completions/spectra
        share/zsh/site-functions/_spectra)
    if(NOT EXISTS "${prefix}/${file}")
        message(FATAL_ERROR "not installed: ${file}")
    endif()
endforeach()
file(READ "${prefix}/share/man/man1/spectra.1" text)
if(NOT text MATCHES "\\.TH \"SPECTRA\" 1")
    message(FATAL_ERROR "spectra.1 is no manual page")
endif()
