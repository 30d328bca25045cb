#!/usr/bin/env bash
# scripts/tidy.sh on a checkout of three files, with a program in the place of clang-tidy.
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
touch "$folder"/src/{good,bad,worse}.cpp "$folder/build/release/made.cpp"
entry() { printf '{"directory": "%s/build/release", "file": "%s", "command": "c++ -Werror %s -c %s"}' "$folder" "$1" "$2" "$1"; }
printf '[%s,\n%s,\n%s,\n%s]\n' \
    "$(entry "$folder/src/good.cpp" "-isystem /torch -Winvalid-pch -include x/cmake_pch.hxx -DKEPT")" \
    "$(entry "$folder/src/bad.cpp" "")" "$(entry "$folder/src/worse.cpp" "")" \
    "$(entry "$folder/build/release/made.cpp" "")" >"$folder/build/release/compile_commands.json"

# Two files with the same finding of a header, one of them with another, and an error outside of the checkout.
cat >"$folder/fake-tidy" <<'END'
#!/usr/bin/env bash
for file; do :; done
echo "${file##*/}" >>"$(dirname "$0")/called"
[[ $file == *good.cpp ]] && exit 0
here=$(dirname "$0")
printf '%s\n' '/usr/include/torch.h:1:1: error: elsewhere [z]' '  torch' "$here/src/a.hpp:1:2: warning: shared [x]" '  code'
[[ $file == *worse.cpp ]] && echo "$here/src/worse.cpp:3:4: error: own [y]" && exit 1
exit 0
END
chmod +x "$folder/fake-tidy"
export CLANG_TIDY=$folder/fake-tidy JOBS=1
tidy() { status=0; output=$(bash "$folder/scripts/tidy.sh" "$@" 2>&1) || status=$?; }

tidy
expect "status with findings" 1 "$status"
expect "every finding once" "$folder/src/a.hpp:1:2: warning: shared [x]"$'\n  code\n'"$folder/src/worse.cpp:3:4: error: own [y]" "$output"
expect "all sources, Torch last, nothing generated" $'bad.cpp\nworse.cpp\ngood.cpp' "$(cat "$folder/called")"
expect "commands for clang" "clang++ -isystem /torch -DKEPT -c $folder/src/good.cpp" \
    "$(python3 -c 'import json, sys; print(*json.load(open(sys.argv[1]))[0]["arguments"])' "$folder/build/tidy/compile_commands.json")"

tidy "$folder/src/good.cpp"
expect "status without findings" 0 "$status"
expect "no findings" "" "$output"
tidy "$folder/src/none.cpp"
expect "status of an unknown file" 2 "$status"
expect "an unknown file" "$folder/src/none.cpp: not compiled by build/release" "$output"
CLANG_TIDY=$folder/missing tidy
expect "status without clang-tidy" 2 "$status"
rm "$folder/build/release/compile_commands.json"
tidy
expect "status without a build" 2 "$status"
exit $((failures > 0))
