# Writes a source file that holds the files of data/claims as string literals:
# cmake -DFOLDER=data/claims -DOUTPUT=embedded_claims.cpp -P SpectraClaims.cmake

cmake_minimum_required(VERSION 3.25)

file(GLOB files "${FOLDER}/C*.json")
list(SORT files)
set(source "#include \"claims/ledger.hpp\"\n\nnamespace spectra::claims {\n\nstd::vector<std::string> embedded_claims() {\n    return {\n")
foreach(file IN LISTS files)
    file(READ "${file}" text)
    string(APPEND source "R\"spectra(${text})spectra\",\n")
endforeach()
string(APPEND source "    };\n}\n\n}  // namespace spectra::claims\n")
file(WRITE "${OUTPUT}" "${source}")
