"""What the tests of the Python package share."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

#: The program that was built with the package; ctest sets it.
PROGRAM = os.environ.get("SPECTRA_PROGRAM", "")


def has(module):
    return importlib.util.find_spec(module) is not None


def has_gnuplot():
    return shutil.which("gnuplot") is not None


def run_program(*arguments):
    """What the program prints with --json, and the path of its result file."""
    stem = os.path.join(tempfile.mkdtemp(), "result")
    command = [PROGRAM, *arguments, "--json", "--quiet", "--plot", "none", "--force", "--out", stem]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), stem + ".h5"


def main(needs=()):
    """Runs the tests of the calling file. Without what it needs, says so in a line that ctest counts as not run; a
    test that is skipped for a reason of its own is printed with the reason."""
    missing = [module for module in needs if not has(module)]
    if missing:
        print(f"not run: {sys.executable} has no {', '.join(missing)}")
        return
    program = unittest.main(module="__main__", exit=False, verbosity=2)
    for test, reason in program.result.skipped:
        print(f"skipped: {test}: {reason}")
    if len(program.result.skipped) == program.result.testsRun:
        print(f"not run: {program.result.skipped[0][1]}")
    sys.exit(not program.result.wasSuccessful())
