#!/usr/bin/env bash
# pip install . builds the package, and the installed one gives the same numbers without the build folder.
#     tests/python/install_test.sh [PYTHON]
set -euo pipefail
python=${1:-python3}
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
"$python" -c 'from importlib.util import find_spec as f; raise SystemExit(not all(map(f, ["pip", "setuptools", "wheel"])))' ||
    { echo "not run: $python has no pip, setuptools or wheel"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" -m pip install --quiet --no-build-isolation --no-deps --no-index --target "$folder/site" "$root"
cd "$folder"
PYTHONPATH="$folder/site" "$python" - <<'END'
import os
import jacobian_spectra as js
assert os.path.dirname(js.__file__).endswith("site/jacobian_spectra"), js.__file__
for name in ("py.typed", "_core.pyi"):
    assert os.path.exists(os.path.join(os.path.dirname(js.__file__), name)), name
law = js.solve(js.Network(mixer="cayley", depth=10))
assert law.certified and abs(law.metrics.window - 0.89233) < 1e-5
print("installed", js.__version__, law)
END
