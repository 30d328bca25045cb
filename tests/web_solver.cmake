cmake_minimum_required(VERSION 3.25)

# Is the explorer's solver made from the C++ beside it? cmake -DROOT=<checkout> -P web_solver.cmake
# Every file of SOLVER-SHA256SUMS must have its hash. A full test: sources change often in ways that leave every number
# as it is, and not everyone has emscripten. What the solver computes is a test of every day (web_solver.mjs).

file(STRINGS "${ROOT}/src/web/bundle/SOLVER-SHA256SUMS" sums)
if(NOT "${sums}" MATCHES "  src/dyson/law/theory.cpp")
    message(FATAL_ERROR "SOLVER-SHA256SUMS does not name the solver's sources: run scripts/web.sh --solver")
endif()
foreach(line IN LISTS sums)
    string(REGEX MATCH "^([0-9a-f]+)  (.+)$" line "${line}")
    set(expected ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2})
    set(found "")
    if(EXISTS "${ROOT}/${name}")
        file(SHA256 "${ROOT}/${name}" found)
    endif()
    if(NOT found STREQUAL expected)
        message(FATAL_ERROR "${name} has changed since src/web/bundle/solver.txt was made: run scripts/web.sh --solver")
    endif()
endforeach()
list(LENGTH sums count)
message(STATUS "src/web/bundle/solver.txt is up to date (${count} files)")
