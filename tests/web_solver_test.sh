#!/usr/bin/env bash
# The explorer's solver against the program: web_solver_test.sh PROGRAM COUNT. Needs node 18 or later.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
major=$(node --version 2>/dev/null | sed 's/^v\([0-9]*\).*/\1/' || true)
[[ ${major:-0} -ge 18 ]] || { echo "not run: node 18 or later is not installed"; exit 0; }
exec node "$here/web_solver.mjs" "$1" "$2"
