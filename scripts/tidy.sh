#!/usr/bin/env bash
# Checks the tree against .clang-tidy, with the commands of build/release: scripts/tidy.sh [-a] [FILE…]
# Without FILE: every source and header of src, apps, tests, bench and examples. clangd runs the checks: it looks at a
# file alone, where clang-tidy looks through all headers with every file that includes them (3 s against 15 to 70 s).
#   -a   clang-tidy does what clangd leaves out: the static analyser and bugprone-use-after-move, on sources; slow
# Prints every finding; exits with 1 if there are any. JOBS is how many files are checked at once (all cores), CLANGD and
# CLANG_TIDY the programs (clangd-14, clang-tidy-14).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
database=$root/build/release/compile_commands.json
export out=$root/build/tidy root
check=check_file program=${CLANGD:-clangd-14}
if [[ ${1-} == -a ]]; then
    check=analyse program=${CLANG_TIDY:-clang-tidy-14}
    shift
fi
export program
if [[ ! -e $database ]]; then
    echo "$database is missing: run cmake --preset release first" >&2
    exit 2
fi
if ! command -v "$program" >/dev/null; then
    echo "$program is not installed (CLANGD and CLANG_TIDY name others)" >&2
    exit 2
fi

# select_files analyse|check_file [FILE…]: writes build/tidy/compile_commands.json, with commands as clang understands
# them, and prints the files to check. Files that include Torch come last: they take longest.
select_files() {
    python3 - "$root" "$database" "$out/compile_commands.json" "$check" "$@" <<'END'
import json, os, shlex, sys

root, database, target, what, *wanted = sys.argv[1:]
folders = ("src", "apps", "tests", "bench", "examples")


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
    if os.path.relpath(source, root).split(os.sep)[0] in folders:
        arguments = for_clang(entry["command"], source)
        entries[source] = {"directory": entry["directory"], "file": source, "arguments": arguments}
headers = [] if what == "analyse" else [
    os.path.join(folder, name) for top in folders for folder, _, names in os.walk(os.path.join(root, top))
    for name in names if name.endswith(".hpp") and "solver" + os.sep + "stand_in" not in folder]


def including(header, sources):
    """A source that includes the header, by the name that it has in src or tests or beside the source."""
    for source, text in sources.items():
        for folder in (os.path.join(root, "src"), os.path.join(root, "tests"), os.path.dirname(source)):
            if f'#include "{os.path.relpath(header, folder)}"' in text:
                return source


# A header is read with the command of a source that includes it; clangd would guess by the names of files.
sources = {source: open(source).read() for source in entries if os.path.exists(source)}
commands = dict(entries)
for header in map(os.path.realpath, headers):
    source = including(header, sources)
    if source:
        arguments = [header if word == source else word for word in entries[source]["arguments"]]
        commands[header] = {"directory": entries[source]["directory"], "file": header, "arguments": arguments}
with open(target, "w") as file:
    json.dump(list(commands.values()), file, indent=1)

files = [os.path.realpath(name) for name in wanted] or headers + list(entries)
for name in files:
    if name not in entries and not name.endswith(".hpp"):
        sys.exit(f"{name}: not compiled by build/release")
print(*sorted(files, key=lambda name: any("torch" in word for word in entries.get(name, {}).get("arguments", []))),
      sep="\n")
END
}

# said TEXT: the findings of a file, in one piece.
said() { flock "$out" printf '%s\n' "$1"; }

# check_file FILE: what clangd finds in it. What it finds in other files while it reads this one is theirs: clang 14 does
# not understand all of Torch's headers in C++20.
check_file() {
    local text
    text=$("$program" --check="$1" --check-lines=1-1 --compile-commands-dir="$out" --clang-tidy 2>&1) || true
    grep -q 'All checks completed' <<<"$text" || said "$1:1: error: $program did not end well: $(tail -n 1 <<<"$text")"
    text=$(sed -nE "/in included file/d; s|^E\[[^]]*\] \[([^]]*)\] Line ([0-9]+): (.*)|${1#"$root/"}:\2: \3 [\1]|p" <<<"$text")
    [[ ! $text ]] || said "$text"
}

# What is left of .clang-tidy without the checks that clangd has done.
export slow='-bugprone-*,-misc-*,-modernize-*,-performance-*,-readability-*,bugprone-use-after-move'
# analyse FILE: what clang-tidy finds along the paths through it.
analyse() {
    local text
    text=$("$program" -p "$out" --quiet "--checks=$slow" "$1" 2>/dev/null) || true
    text=$(sed -nE "s|^$root/([^ ]+:[0-9]+):[0-9]+: (warning\|error): (.*)|\1: \3|p" <<<"$text")
    [[ ! $text ]] || said "$text"
}
export -f check_file analyse said

mkdir -p "$out"
: >"$out/texture_fetch_functions.h"
files=$(select_files "$@") || exit 2
found=$(xargs -d '\n' -n 1 -P "${JOBS:-$(nproc)}" bash -c "$check \"\$1\"" check <<<"$files" | tee /dev/stderr | wc -l)
((found == 0))
