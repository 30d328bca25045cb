#!/usr/bin/env bash
# Makes the script and style of HTML pages from src/web again: checks the types (tsc), bundles (esbuild) and writes
# src/web/bundle, which is committed and compiled into the program. Needs node and npm.
# scripts/web.sh --test PROGRAM also tests pages of PROGRAM's results in Chromium (CHROMIUM names another one).
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
case "$#:${1-}" in
    0:) ;;
    2:--test) program=$(realpath -- "$2") ;;
    *) echo "scripts/web.sh [--test PROGRAM]" >&2 && exit 2 ;;
esac
cd "$root/src/web"
for needed in node npm; do
    command -v "$needed" >/dev/null || { echo "$needed is not installed" >&2; exit 2; }
done
# What package-lock.json names, and nothing that runs while it is installed.
npm ci --ignore-scripts --no-audit --no-fund --silent
npx --no-install tsc
if [[ ${program-} ]]; then
    node test/run.mjs "$program"
else
    node bundle.mjs
fi
