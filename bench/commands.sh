#!/usr/bin/env bash
# Times the commands that people wait for, with two programs in turn, and prints the ratio of their times:
#     bench/commands.sh OLD NEW [COMMAND…]
# OLD and NEW are programs `spectra` (two builds, say of two commits). A COMMAND is quoted as one word; without any, the
# list below is run. Nothing else should run on the machine.
set -euo pipefail
if (($# < 2)); then
    sed -n '2,5s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
old=$(realpath "$1") new=$(realpath "$2")
shift 2
commands=("$@")
if ((${#commands[@]} == 0)); then
    commands=("--mixer cayley --depth 10" "--mixer cayley --depth 1000" "--mixer bistochastic --depth 1000"
        "figure bands" "compare" "--mixer cayley --streams 64")
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

# seconds PROGRAM COMMAND: wall time.
seconds() {
    local begin end
    begin=$(date +%s.%N)
    # shellcheck disable=SC2086  # a command is several words
    "$1" $2 --quiet --force --out run >/dev/null 2>"$folder/errors" || true
    end=$(date +%s.%N)
    awk -v a="$begin" -v b="$end" 'BEGIN { printf "%.2f", b - a }'
}

printf '%-36s %10s %10s %8s\n' command "old, s" "new, s" new/old
for command in "${commands[@]}"; do
    before=$(seconds "$old" "$command")
    after=$(seconds "$new" "$command")
    printf '%-36s %10s %10s %8s\n' "$command" "$before" "$after" \
        "$(awk -v a="$before" -v b="$after" 'BEGIN { printf "%.2f", b / a }')"
done
