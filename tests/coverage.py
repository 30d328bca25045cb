#!/usr/bin/env python3
"""Checks that docs/coverage.md names tests that exist, and commands of spectra that exist.

    coverage.py ROOT
"""

import pathlib
import re
import sys


def test_names(root: pathlib.Path) -> set[str]:
    """program.Suite.Case of every test in tests/, where the program is the folder."""
    names = set()
    for path in (root / "tests").rglob("*_test.cpp"):
        program = path.relative_to(root / "tests").parts[0]
        for suite, case in re.findall(r"\bTEST(?:_F|_P)?\((\w+),\s*(\w+)\)", path.read_text(encoding="utf-8")):
            names.add(f"{program}.{suite}.{case}")
    return names


def missing(text: str, names: set[str]) -> list[str]:
    """Names in the page, as `program.Suite*` or `program.Suite.Case`, that no test has."""
    programs = {name.split(".")[0] for name in names}
    out = []
    for quoted in re.findall(r"`([a-z]+\.[A-Z*][\w.*]*)`", text):
        if quoted.split(".")[0] not in programs:
            continue
        pattern = re.compile(re.escape(quoted).replace(r"\*", ".*"))
        if not any(pattern.match(name) for name in names):
            out.append(quoted)
    return out


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    names = test_names(root)
    assert missing("`dyson.NoSuchSuite*`", names) == ["dyson.NoSuchSuite*"]
    page = (root / "docs/coverage.md").read_text(encoding="utf-8")
    found = missing(page, names)
    for name in found:
        print(f"docs/coverage.md: no test is called {name}")
    rows = [line for line in page.splitlines() if line.startswith("| ")]
    print(f"{len(rows)} rows, {len(names)} tests")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
