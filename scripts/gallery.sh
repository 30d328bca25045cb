#!/usr/bin/env bash
# Draws the pictures of the documentation again: scripts/gallery.sh [-o FOLDER] [PICTURE…]
# Without names, all of docs/images/pictures.tsv. The pictures go to docs/images/, the HDF5 files with their numbers to
# FOLDER (build/gallery). SPECTRA names another program than ./spectra, GALLERY_IMAGES another folder of pictures.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
spectra=${SPECTRA:-$root/spectra}
folder=$root/build/gallery
if [ "${1:-}" = -o ]; then
    folder=$2
    shift 2
fi
images=${GALLERY_IMAGES:-$root/docs/images}
mkdir -p "$folder" "$images"
images=$(cd "$images" && pwd)
cd "$folder"

# keep NAME: its picture goes to the others, with a palette (a third of the size).
keep() {
    python3 "$root/scripts/png8.py" "$1.png" "$images/$1.png"
    rm "$1.png"
}

# draw NAME COMMAND: what precedes && draws nothing. Training needs spectra-torch, which is built where there is LibTorch.
draw() {
    local first=${2%% && *} last=${2##* && }
    if [ "$first" != "$last" ]; then
        # shellcheck disable=SC2086
        "$spectra" $first --plot none --quiet --force >/dev/null || return 1
    fi
    # shellcheck disable=SC2086
    "$spectra" $last --out "$1" --quiet --force && keep "$1"
}

while IFS=$'\t' read -r name command _; do
    case $name in '' | '#'*) continue ;; esac
    if [ $# -gt 0 ] && [[ " $* " != *" $name "* ]]; then continue; fi
    echo "$name: spectra $command"
    draw "$name" "$command" </dev/null || echo "gallery: $name is left out: its command failed" >&2
done <"$root/docs/images/pictures.tsv"
