#!/usr/bin/env bash
# Makes the scripts and styles of HTML pages from src/web again: checks the types (tsc), bundles (esbuild) and writes
# src/web/bundle, which is committed and compiled into the program. Needs node and npm.
# scripts/web.sh --solver makes the explorer's solver again, src/web/bundle/solver.txt: the theory's C++ as WebAssembly.
# Needs emscripten, and some minutes; BUILD names another folder to build in.
# scripts/web.sh --test PROGRAM also tests pages of PROGRAM's results in Chromium (CHROMIUM names another one).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

need() {
    local tool
    for tool in "$@"; do
        command -v "$tool" >/dev/null || { echo "$tool is not installed" >&2; exit 2; }
    done
}

# The files of src that a build has read, from the root.
sources_of() {
    (cd "$1" && ninja -t deps | sed -n 's/^    //p' | sort -u | xargs realpath) | sed -n "s#^$(realpath .)/\(src/.*\)#\1#p" | LC_ALL=C sort -u
}

# The solver packed for a page, and SHA256SUMS of all that went into it (tests/web_solver.cmake).
make_solver() {
    need emcmake cmake ninja gzip base64 sha256sum
    local build=${BUILD:-$root/build/solver} bundle=$root/src/web/bundle
    emcmake cmake -S "$root/src/web/solver" -B "$build" -G Ninja >/dev/null
    cmake --build "$build"
    gzip -9 -n -c "$build/solver.wasm" | base64 -w0 >"$bundle/solver.txt"
    cd "$root"
    { sources_of "$build"; echo src/web/solver/CMakeLists.txt; echo src/web/bundle/solver.txt; } |
        xargs sha256sum >"$bundle/SOLVER-SHA256SUMS"
    grep -q ' src/dyson/law/theory.cpp$' "$bundle/SOLVER-SHA256SUMS" || { echo "the solver's sources are not known" >&2; exit 1; }
    ls -l "$bundle/solver.txt"
}

case "$#:${1-}" in
    0:) ;;
    1:--solver) make_solver; exit ;;
    2:--test) program=$(realpath -- "$2") ;;
    *) echo "scripts/web.sh [--solver | --test PROGRAM]" >&2 && exit 2 ;;
esac
need node npm
cd "$root/src/web"
# What package-lock.json names, and nothing that runs while it is installed.
npm ci --ignore-scripts --no-audit --no-fund --silent
npx --no-install tsc
if [[ ${program-} ]]; then
    node test/run.mjs "$program"
else
    node bundle.mjs
fi
