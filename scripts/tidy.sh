#!/usr/bin/env bash
# Runs clang-tidy with the settings of .clang-tidy on the sources that build/release compiles: scripts/tidy.sh [FILE…]
# Without FILE: on all of src, apps, tests, bench and examples, which takes about 15 s of one core per file. Prints every
# finding once; exits with 1 if there are any.
# JOBS is how many files are checked at once (all cores), CLANG_TIDY the program (clang-tidy-14).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
database=$root/build/release/compile_commands.json
export out=$root/build/tidy
if [[ ! -e $database ]]; then
    echo "$database is missing: run cmake --preset release first" >&2
    exit 2
fi
export CLANG_TIDY=${CLANG_TIDY:-clang-tidy-14}
if ! command -v "$CLANG_TIDY" >/dev/null; then
    echo "$CLANG_TIDY is not installed (CLANG_TIDY names another one)" >&2
    exit 2
fi

# Writes build/tidy/compile_commands.json, with commands as clang understands them, and prints the files to check. Files
# that include Torch come last: they take longest.
select_files() {
    python3 - "$root" "$database" "$out/compile_commands.json" "$@" <<'END'
import json, os, shlex, sys

root, database, target, *wanted = sys.argv[1:]


def for_clang(command, source):
    words = shlex.split(command)
    kept = ["clang++"]
    skip = False
    for word, following in zip(words[1:], words[2:] + [""]):
        if skip:
            skip = False
        elif word == "-include" and "cmake_pch" in following:
            skip = True  # precompiled by another compiler; the sources include what they need
        elif not word.startswith("-W"):
            kept.append(word)
    if not source.endswith(".cu"):
        return kept
    # nvcc's own options have no meaning to clang, which reads the host's side here. clang 14 expects texture functions
    # that CUDA 12 no longer has: their header is empty here, and the guard keeps out what uses them. It lacks __ldcg, a
    # load.
    toolkit = os.path.dirname(os.path.dirname(words[0]))
    return ["clang++", "-x", "cuda", "--cuda-host-only", "--cuda-path=" + toolkit, "-Wno-unknown-cuda-version",
            "-D__CLANG_CUDA_TEXTURE_INTRINSICS_H__", "-D__ldcg(place)=(*(place))", "-std=c++17",
            "-I" + os.path.dirname(target),
            *(word for word in kept if word.startswith(("-I", "-D"))), "-c", source]


entries = {}
for entry in json.load(open(database)):
    source = os.path.realpath(os.path.join(entry["directory"], entry["file"]))
    if os.path.relpath(source, root).split(os.sep)[0] in ("src", "apps", "tests", "bench", "examples"):
        arguments = for_clang(entry["command"], source)
        entries[source] = {"directory": entry["directory"], "file": source, "arguments": arguments}
with open(target, "w") as file:
    json.dump(list(entries.values()), file, indent=1)

files = [os.path.realpath(name) for name in wanted] or list(entries)
for name in files:
    if name not in entries:
        sys.exit(f"{name}: not compiled by build/release")
print(*sorted(files, key=lambda name: any("torch" in word for word in entries[name]["arguments"])), sep="\n")
END
}

# check FILE: its findings, in one piece.
check() {
    local text status=0
    text=$("$CLANG_TIDY" -p "$out" --quiet "$1" 2>"$out/$BASHPID.log") || status=$?
    # 1: the findings include an error.
    ((status <= 1)) || text+=$'\n'"$1:1:1: error: $CLANG_TIDY ended with status $status: $(tail -n 1 "$out/$BASHPID.log")"
    rm -f "$out/$BASHPID.log"
    flock "$out" printf '%s\n' "$text"
}
export -f check

mkdir -p "$out"
: >"$out/texture_fetch_functions.h"
files=$(select_files "$@") || exit 2
# A header's findings come with every file that includes it. Errors outside of the checkout are passed over: clang 14
# does not understand all of Torch's headers in C++20, and checks the files that include them as far as it can.
# shellcheck disable=SC2016
xargs -d '\n' -n 1 -P "${JOBS:-$(nproc)}" bash -c 'check "$1"' check <<<"$files" |
    awk -v root="$root/" '
         /^[^ ]+:[0-9]+:[0-9]+: (warning|error):/ { shown = index($0, root) == 1 && !seen[$0]++; found += shown }
         shown && NF { print; fflush() }
         END { exit found > 0 }'
