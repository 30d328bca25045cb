# Writes a source file that holds the scripts, styles and policies of HTML pages and the solver as string literals:
# cmake -DFOLDER=src/web/bundle -DOUTPUT=html_bundle.cpp -P SpectraBundle.cmake
#
# The bundle is ASCII, so that it can be cut anywhere: compilers accept literals of 65536 bytes.

cmake_minimum_required(VERSION 3.25)

set(source "#include \"report/html_bundle.hpp\"\n\nnamespace spectra::report {\n")
foreach(part IN ITEMS script:page.js style:page.css policy:policy.txt explorer_script:explore.js
        explorer_style:explore.css explorer_policy:explore-policy.txt solver:solver.txt)
    string(REGEX MATCH "^([a-z_]+):(.+)$" part "${part}")
    set(name ${CMAKE_MATCH_1})
    file(READ "${FOLDER}/${CMAKE_MATCH_2}" text)
    string(LENGTH "${text}" length)
    string(APPEND source "\nstd::string html_bundle_${name}() {\n    std::string text;\n    text.reserve(${length});\n")
    set(begin 0)
    while(begin LESS length)
        string(SUBSTRING "${text}" ${begin} 16000 piece)
        string(APPEND source "    text += R\"spectra(${piece})spectra\";\n")
        math(EXPR begin "${begin} + 16000")
    endwhile()
    string(APPEND source "    return text;\n}\n")
endforeach()
string(APPEND source "\n}  // namespace spectra::report\n")
file(WRITE "${OUTPUT}" "${source}")
