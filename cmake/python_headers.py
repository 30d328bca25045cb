"""Prints what CMake needs to build the Python package, separated by semicolons: the version of this Python, the suffix of
its extension modules, and the folders of its headers and of pybind11's. Fails where something is missing."""

import importlib.util
import os
import platform
import sysconfig


def pybind11_folders():
    """Where pybind11's headers may be, newest first: its own package, Torch's copy, the system's."""
    if importlib.util.find_spec("pybind11"):
        import pybind11

        yield pybind11.get_include()
    torch = importlib.util.find_spec("torch")  # not imported: that takes seconds
    if torch and torch.origin:
        yield os.path.join(os.path.dirname(torch.origin), "include")
    yield "/usr/include"


def main():
    if not importlib.util.find_spec("numpy"):
        raise SystemExit("no numpy")
    python = sysconfig.get_paths()["include"]
    if not os.path.exists(os.path.join(python, "Python.h")):
        raise SystemExit("no Python.h")
    for folder in pybind11_folders():
        if os.path.exists(os.path.join(folder, "pybind11", "pybind11.h")):
            print(platform.python_version(), sysconfig.get_config_var("EXT_SUFFIX"), python, folder, sep=";")
            return
    raise SystemExit("no pybind11")


if __name__ == "__main__":
    main()
