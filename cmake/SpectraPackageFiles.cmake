# Run by cpack on the files of each package before it packs them: adds the licence and a change log, compresses the
# change log and the manual page, and takes search paths for libraries out of programs.

find_program(GZIP gzip REQUIRED)
find_program(GIT git)

# Dated by the commit, so that the same sources make the same package.
set(date "")
if(GIT)
    execute_process(COMMAND "${GIT}" -C "${CPACK_SPECTRA_SOURCE_DIR}" log -1 --format=%cD
        OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT date)
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
endif()
# Debian's dates have two digits for the day.
string(REGEX REPLACE ", ([0-9]) " ", 0\\1 " date "${date}")

file(READ "${CPACK_SPECTRA_SOURCE_DIR}/LICENSE" licence)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]*)\n" line "${licence}")
set(owner "${CMAKE_MATCH_1}")
string(REGEX REPLACE "^.*${CMAKE_MATCH_1}\n" "" licence "${licence}")
string(STRIP "${licence}" licence)
string(REGEX REPLACE "\n\n" "\n.\n" licence "${licence}")
string(REGEX REPLACE "\n" "\n " licence "${licence}")

# The chart library in HTML pages.
file(READ "${CPACK_SPECTRA_SOURCE_DIR}/src/web/bundle/LICENSE-uPlot" charts)
string(REGEX MATCH "Copyright \\(c\\) ([^\n]*)\n" line "${charts}")
set(charts_owner "${CMAKE_MATCH_1}")
string(REGEX REPLACE "^.*${CMAKE_MATCH_1}\n" "" charts "${charts}")
string(STRIP "${charts}" charts)
string(REGEX REPLACE "\n\n" "\n.\n" charts "${charts}")
string(REGEX REPLACE "\n" "\n " charts "${charts}")

foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER "${component}" upper)
    set(name "${CPACK_DEBIAN_${upper}_PACKAGE_NAME}")
    set(top "${CPACK_TEMPORARY_DIRECTORY}/${component}/usr")
    set(folder "${top}/share/doc/${name}")
    file(WRITE "${folder}/copyright"
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
        "Upstream-Name: spectra\n\nFiles: *\nCopyright: ${owner}\nLicense: BSD-3-Clause\n ${licence}\n\n"
        "Files: src/web/bundle/*\nCopyright: ${charts_owner}\nLicense: Expat\n ${charts}\n")
    file(WRITE "${folder}/changelog"
        "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
        "  * Release ${CPACK_PACKAGE_VERSION}.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
    # Debian's libraries are where the loader looks.
    file(GLOB programs "${top}/bin/*")
    foreach(program IN LISTS programs)
        file(RPATH_REMOVE FILE "${program}")
    endforeach()
    file(GLOB_RECURSE pages "${top}/share/man/*.1")
    execute_process(COMMAND "${GZIP}" -9nf "${folder}/changelog" ${pages} COMMAND_ERROR_IS_FATAL ANY)
    file(CHMOD "${folder}/copyright" "${folder}/changelog.gz" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
