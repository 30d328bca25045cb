#!/usr/bin/env python3
"""Writes data/npy with NumPy (1.24.2): tests/weightfile/write_npy.py

Every array of numbers is 0, 1, …, 5 as 2x3 unless its name says otherwise. npy_test.cpp has the values.
"""

import os

import numpy as np
from numpy.lib import format as npy

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "data", "npy")
TYPES = ["<f2", ">f2", "<f4", ">f4", "<f8", ">f8", "|i1", "<i2", ">i2", "<i4", ">i4", "<i8", ">i8", "|u1", "<u2", ">u2",
         "<u4", ">u4", "<u8", ">u8", "|b1"]


def file_name(dtype):
    return {"<": "little-", ">": "big-", "|": ""}[dtype[0]] + dtype[1:] + ".npy"


def write(name, array, version=None):
    with open(os.path.join(FOLDER, name), "wb") as file:
        npy.write_array(file, array, version=version, allow_pickle=True)


def main():
    os.makedirs(FOLDER, exist_ok=True)
    numbers = np.arange(6).reshape(2, 3)
    for dtype in TYPES:
        write(file_name(dtype), numbers.astype(dtype))
    for version in [(1, 0), (2, 0), (3, 0)]:
        write(f"version-{version[0]}.npy", numbers.astype("<f8"), version)
    write("fortran.npy", np.asfortranarray(numbers.astype("<f8")))
    write("fortran-3d.npy", np.asfortranarray(np.arange(24.0).reshape(2, 3, 4)))
    write("scalar.npy", np.array(2.5))
    write("empty.npy", np.zeros((0, 4)))
    write("complex64.npy", np.array([0.5 + 1j, -2 + 0.25j], "<c8"))
    write("complex128-fortran.npy", np.asfortranarray((np.arange(4) + 1j).reshape(2, 2).astype(">c16")))
    write("object.npy", np.array([1, "a"], dtype=object))
    write("structured.npy", np.zeros(2, dtype=[("x", "<f8"), ("y", "<i4")]))
    write("text.npy", np.array(["a", "bc"]))
    write("dates.npy", np.array(["2020-01-01"], dtype="datetime64[D]"))
    path = lambda name: os.path.join(FOLDER, name)
    mixers = np.stack([np.eye(2), [[0.5, 0.5], [0.25, 0.75]]])
    np.savez(path("mixers.npz"), mixers=mixers, other=numbers)
    np.savez_compressed(path("compressed.npz"), mixers=np.tile(mixers, (8, 1, 1)), other=numbers)
    np.savez(path("only.npz"), mixers[1])
    np.savez(path("several.npz"), a=mixers, b=mixers)
    np.save(path("stack.npy"), mixers.astype("<f4"))


if __name__ == "__main__":
    main()
