#!/usr/bin/env bash
# Draws every figure of docs/gallery.md again: scripts/gallery.sh [FOLDER]
# The pictures go to docs/images/gallery-*.png, the HDF5 files with their numbers to FOLDER (build/gallery).
# SPECTRA names another program than ./spectra, GALLERY_IMAGES another folder of pictures.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
spectra=${SPECTRA:-$root/spectra}
folder=${1:-$root/build/gallery}
images=${GALLERY_IMAGES:-$root/docs/images}
mkdir -p "$folder" "$images"
folder=$(cd "$folder" && pwd)

# keep NAME: the picture of FOLDER/NAME becomes gallery-NAME.png, of 48 colours (a third of the size) where
# there is ImageMagick.
keep() {
    if command -v convert >/dev/null; then
        convert "$folder/$1.png" -strip +dither -colors 48 -white-threshold 99% -define png:compression-level=9 \
            "PNG8:$images/gallery-$1.png"
        rm "$folder/$1.png"
    else
        mv "$folder/$1.png" "$images/gallery-$1.png"
    fi
}

"$spectra" --mixer bistochastic --out "$folder/analysis" --quiet
keep analysis
"$spectra" compare --mixers identity,bistochastic,cayley-hybrid --depths 1,10 --samples 200 --table none \
    --out "$folder/compare" --quiet
keep compare

for name in bands collapse rank printed composite gate sphere rollout width cost; do
    "$spectra" figure "$name" --out "$folder/$name" --quiet
    keep "$name"
done

# Training needs spectra-torch, which is built where there is LibTorch.
if "$spectra" train gyroscope --architecture edelta --layers 2 --channels 32 --samples 200 --steps 200 \
    --device cpu --plot none --out "$folder/gyroscope" --quiet >/dev/null; then
    "$spectra" figure training "$folder/gyroscope.h5" --out "$folder/training" --quiet
    keep training
else
    echo "gallery: training is left out: no model was trained" >&2
fi
