#!/usr/bin/env bash
# scripts/tidy.sh on a checkout of four files, with programs in the place of clangd and clang-tidy.
set -euo pipefail
source_root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failures=0
# expect WHAT WANTED GOT
expect() {
    [[ $2 == "$3" ]] && return
    printf '%s: expected\n%s\nbut got\n%s\n' "$1" "$2" "$3"
    failures=$((failures + 1))
}

mkdir -p "$folder"/{scripts,src,build/release}
cp "$source_root/scripts/tidy.sh" "$folder/scripts/"
touch "$folder"/src/{good,bad,worse}.cpp "$folder/src/own.hpp" "$folder/build/release/made.cpp"
echo '#include "own.hpp"' >"$folder/src/good.cpp"
entry() { printf '{"directory": "%s/build/release", "file": "%s", "command": "c++ -Werror %s -c %s"}' "$folder" "$1" "$2" "$1"; }
printf '[%s,\n%s,\n%s,\n%s]\n' \
    "$(entry "$folder/src/good.cpp" "-isystem /torch -Winvalid-pch -include x/cmake_pch.hxx -DKEPT")" \
    "$(entry "$folder/src/bad.cpp" "")" "$(entry "$folder/src/worse.cpp" "")" \
    "$(entry "$folder/build/release/made.cpp" "")" >"$folder/build/release/compile_commands.json"

# One file with a finding of its own and one of a header that it includes, and one that clangd does not survive.
cat >"$folder/fake-clangd" <<'END'
#!/usr/bin/env bash
file=${1#--check=}
echo "${file##*/}" >>"$(dirname "$0")/called"
case $file in
    *bad.cpp) printf 'E[1:2] [own] Line 3: not right\nE[1:2] [other] Line 1: in included file: theirs\nI[1] All checks completed, 2 errors\n' && exit 1 ;;
    *worse.cpp) echo 'no memory' && exit 139 ;;
    *) echo 'I[1] All checks completed, 0 errors' ;;
esac
END
# A finding inside and one outside of the checkout.
cat >"$folder/fake-tidy" <<'END'
#!/usr/bin/env bash
for file; do :; done
[[ $file == *good.cpp ]] && exit 0
printf '%s\n' '/usr/include/torch.h:1:1: error: elsewhere [z]' '  torch' "$file:1:2: warning: used after move [x]" '  code'
END
chmod +x "$folder/fake-clangd" "$folder/fake-tidy"
export CLANGD=$folder/fake-clangd CLANG_TIDY=$folder/fake-tidy JOBS=1
tidy() { status=0; output=$(bash "$folder/scripts/tidy.sh" "$@" 2>&1) || status=$?; }

tidy
expect "status with findings" 1 "$status"
expect "its own findings, and files that were not checked" "$folder/src/worse.cpp:1: error: $folder/fake-clangd did not end well: no memory
src/bad.cpp:3: not right [own]" "$(sort <<<"$output")"
expect "headers and sources of the checkout, those with Torch last" "own.hpp
bad.cpp
worse.cpp
good.cpp" "$(cat "$folder/called")"
command_of() {
    python3 -c 'import json, sys; print(*next(e for e in json.load(open(sys.argv[1])) if e["file"].endswith(sys.argv[2]))["arguments"])' \
        "$folder/build/tidy/compile_commands.json" "$1"
}
expect "the command as clang understands it" "clang++ -isystem /torch -DKEPT -c $folder/src/good.cpp" "$(command_of good.cpp)"
expect "a header has the command of a source that includes it" "clang++ -isystem /torch -DKEPT -c $folder/src/own.hpp" \
    "$(command_of own.hpp)"

tidy "$folder/src/good.cpp"
expect "status without findings" 0 "$status"
expect "output without findings" "" "$output"
tidy -a "$folder/src/bad.cpp"
expect "status of the analyser" 1 "$status"
expect "what the analyser finds here" "src/bad.cpp:1: used after move [x]" "$output"
tidy "$folder/src/none.cpp"
expect "status of an unknown file" 2 "$status"
expect "an unknown file" "$folder/src/none.cpp: not compiled by build/release" "$output"
CLANGD=$folder/missing tidy
expect "status without clangd" 2 "$status"
rm "$folder/build/release/compile_commands.json"
tidy
expect "status without a build" 2 "$status"
exit "$((failures > 0))"
