# Writes a source file that holds the files of data/claims and data/claims/trainings as string literals:
# cmake -DFOLDER=data/claims -DOUTPUT=embedded_claims.cpp -P SpectraClaims.cmake

cmake_minimum_required(VERSION 3.25)

set(source "#include \"claims/ledger.hpp\"\n#include \"claims/training.hpp\"\n\nnamespace spectra::claims {\n")
foreach(which IN ITEMS claims trainings)
    if(which STREQUAL "claims")
        file(GLOB files "${FOLDER}/C*.json")
    else()
        file(GLOB files "${FOLDER}/trainings/*.json")
    endif()
    list(SORT files)
    string(APPEND source "\nstd::vector<std::string> embedded_${which}() {\n    return {\n")
    foreach(file IN LISTS files)
        file(READ "${file}" text)
        string(APPEND source "R\"spectra(${text})spectra\",\n")
    endforeach()
    string(APPEND source "    };\n}\n")
endforeach()
file(WRITE "${OUTPUT}" "${source}\n}  // namespace spectra::claims\n")
