"""Prints the metrics a result file holds: python3 read_result.py spectra-cayley-L10.h5"""
import sys

import h5py

with h5py.File(sys.argv[1], "r") as result:
    print(result.attrs["command"])
    for source, group in result["metrics"].items():
        print(source, *(f"{name}={value:.6g}" for name, value in group.attrs.items()))
