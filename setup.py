"""Builds the Python package's extension with CMake. The compilers and libraries of README.md must be installed, and
pybind11: Debian's pybind11-dev, the Python package, or the headers that Torch brings.

SPECTRA_CMAKE_ARGUMENTS adds options of CMake, separated by spaces.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


def version():
    return re.search(r"project\(JacobianSpectra VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)


def has_gpu():
    """Whether the module for GPUs can be compiled and used here."""
    if not shutil.which("nvcc") or not shutil.which("nvidia-smi"):
        return False
    return subprocess.run(["nvidia-smi", "-L"], capture_output=True).returncode == 0


class Build(build_ext):
    """One extension, _core, and beside it the module for GPUs where there is one."""

    def build_extension(self, extension):
        build = Path(self.build_temp).resolve() / "cmake"
        without = ("BUILD_TESTING", "SPECTRA_APPS", "SPECTRA_EXAMPLES", "SPECTRA_TORCH", "SPECTRA_MPI", "SPECTRA_BENCH")
        subprocess.run(["cmake", "-S", str(ROOT), "-B", str(build), "-DCMAKE_BUILD_TYPE=Release", "-DSPECTRA_PYTHON=ON",
                        f"-DSPECTRA_PYTHON_EXECUTABLE={sys.executable}", *(f"-D{option}=OFF" for option in without),
                        f"-DSPECTRA_CUDA={'AUTO' if has_gpu() else 'OFF'}",
                        *(["-GNinja"] if shutil.which("ninja") else []),
                        *os.environ.get("SPECTRA_CMAKE_ARGUMENTS", "").split()], check=True)
        jobs = self.parallel or os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count() or 1
        targets = ["spectra_python"]
        if "SPECTRA_NVCC:FILEPATH=/" in (build / "CMakeCache.txt").read_text() and has_gpu():
            targets.append("spectra_cuda")
        subprocess.run(["cmake", "--build", str(build), "-j", str(jobs), "--target", *targets], check=True)
        folder = Path(self.get_ext_fullpath(extension.name)).resolve().parent
        folder.mkdir(parents=True, exist_ok=True)
        built = list((build / "python" / "jacobian_spectra").glob("_core*"))
        for file in [*(f for f in built if f.suffix == ".so"), *(build / "lib" / "jacobian_spectra").glob("*.so")]:
            shutil.copy2(file, folder)


setup(version=version(), ext_modules=[Extension("jacobian_spectra._core", sources=[])], cmdclass={"build_ext": Build})
