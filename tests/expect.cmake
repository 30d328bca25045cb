# cmake -DREGEX=… -P expect.cmake -- COMMAND ARGUMENT…
# succeeds when the command exits with 0 and its output matches (ctest's own
# PASS_REGULAR_EXPRESSION would ignore the exit status).

set(command)
set(after FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(after)
        list(APPEND command "${CMAKE_ARGV${i}}")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(after TRUE)
    endif()
endforeach()

execute_process(COMMAND ${command} OUTPUT_VARIABLE text RESULT_VARIABLE rc)
message("${text}")
if(NOT rc EQUAL 0)
    message(FATAL_ERROR "exit status ${rc}")
endif()
if(NOT text MATCHES "${REGEX}")
    message(FATAL_ERROR "the output does not match ${REGEX}")
endif()
