"""Reads a result file: python3 read_result.py spectra-cayley-L10.h5. read_result.cpp does the same in C++.

Prints the command that wrote the file, then the metrics of every source and all distances, one line each.
"""
import sys

import h5py

with h5py.File(sys.argv[1], "r") as result:
    print(result.attrs["command"])
    for source, group in result["metrics"].items():
        print(source, *(f"{name}={value:.6g}" for name, value in group.attrs.items()))
