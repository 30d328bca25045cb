#!/usr/bin/env bash
# The script ./spectra: what it hands to the program, and when it installs and builds Torch. In a folder that looks like
# a checkout, with a program that stands in for spectra and a setup that only writes down what it was asked for.
#     tests/wrapper_test.sh
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0

mkdir -p "$work"/{src,apps,cmake,scripts,bin,build/release/apps}
cp "$here/../spectra" "$work/spectra"
: >"$work/CMakeLists.txt"
printf '%s\n' 'say() { :; }' 'program_arguments() { :; }' 'cuda_wanted() { false; }' 'cuda_arguments() { :; }' \
    'logged() { shift; "$@"; }' "compile() { echo \"build \${*:3}\" >>\"$work/log\"; }" \
    "set_up() { echo \"set_up \$1\" >>\"$work/log\"; }" >"$work/scripts/setup.sh"
for tool in cmake ninja; do
    printf '#!/bin/sh\necho "%s $*" >>"%s/log"\n' "$tool" "$work" >"$work/bin/$tool"
    chmod +x "$work/bin/$tool"
done
# Probed, it needs Torch for any command; otherwise it shows its arguments.
cat >"$work/build/release/apps/spectra" <<'PROGRAM'
#!/bin/sh
[ "${SPECTRA_TORCH-}" = probe ] && exit 78
printf '<%s>' "$@"
PROGRAM
chmod +x "$work/build/release/apps/spectra"
sleep 0.02  # the stamp must be newer than all of these
: >"$work/build/release/.built"
: >"$work/build/release/build.ninja"

# attempt ARGUMENT…: calls the script; what it printed is in $said, what was installed and built in $called.
attempt() {
    : >"$work/log"
    said=$(PATH="$work/bin:$PATH" bash "$work/spectra" "$@" 2>&1)
    called=$(cat "$work/log")
}
expect() {
    if ! eval "$2"; then
        printf 'FAILED: %s\n  said: %s\n  called: %s\n' "$1" "$said" "$called"
        failed=1
    fi
}

attempt
expect 'a call without arguments is passed on' '[[ $said == "<>" && ! $called ]]'
attempt doctor --json
expect 'doctor is passed on, and installs and builds nothing' '[[ $said == "<doctor><--json>" && ! $called ]]'
attempt --help-all
expect '--help-all is passed on' '[[ $said == "<--help-all>" && ! $called ]]'

attempt train gyroscope
expect 'a command that needs Torch installs and builds it' \
    '[[ $said == *"<train><gyroscope>" && $called == *"set_up train"*"spectra-torch"* ]]'

touch "$work/src/changed.cpp" -d '+1 minute'
attempt doctor
expect 'a changed source is built, without Torch' \
    '[[ $said == "<doctor>" && $called == *"set_up run"*"build spectra"* && $called != *torch* ]]'

((failed)) || echo "wrapper: all as it should be"
exit $failed
