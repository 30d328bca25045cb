"""Writes small weight files as Torch writes them, and what they hold.

    python3 write_checkpoints.py FOLDER

FOLDER/*.pt, *.safetensors and FOLDER/expected.json: for every file that can be read its tensors by key,
each {dtype, shape, strides, offset, values}; infinities and NaN are texts. Files that are to be refused, or only
recognised, are not in it. Needs Torch 1.13 or later, and nothing else: safetensors files are put together by hand.
"""

import argparse
import collections
import dataclasses
import json
import math
import os
import struct
import sys

import torch


@dataclasses.dataclass
class Config:
    streams: int = 4


class Gadget:
    """Unpickled by Python, it would run a command."""

    def __reduce__(self):
        return os.system, ("echo this must never run",)



def number(x):
    x = float(x)
    if math.isnan(x):
        return "nan"
    return x if math.isfinite(x) else ("inf" if x > 0 else "-inf")


def described(tensor):
    result = {"dtype": str(tensor.dtype).split(".")[1], "shape": list(tensor.shape),
              "strides": list(tensor.stride()), "offset": tensor.storage_offset()}
    if not tensor.is_complex():
        result["values"] = [number(x) for x in tensor.detach().reshape(-1).tolist()]
    return result


def tensors_of(value, key=""):
    if isinstance(value, torch.Tensor):
        return {key: described(value)}
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, (list, tuple)) else ()
    found = {}
    for name, item in items:
        found.update(tensors_of(item, f"{key}.{name}" if key else str(name)))
    return found


class Block(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.proj = torch.nn.Linear(3, 4)
        self.norm = torch.nn.BatchNorm1d(4)
        self.H_res_logits = torch.nn.Parameter(torch.randn(4, 4))
        self.again = self.H_res_logits  # aliased, as tied weights are

    def forward(self, x):
        return self.H_res_logits.sum() + self.norm(self.proj(x)).sum()


def models():
    block = Block()
    optimizer = torch.optim.AdamW(block.parameters())
    block(torch.randn(5, 3)).backward()
    optimizer.step()
    state = block.state_dict()
    config = {"n_streams": 4, "lr": 3e-4, "betas": (0.9, 0.95), "name": "tiny", "compile": False, "resume": None,
              "tags": {"a"}, "raw": b"\x00\xffabc", "nothing": b"", "big": 2**70, "seed": 2**63 - 1,
              "negative": -(2**40), "dtype": torch.bfloat16, "device": torch.device("cuda", 0),
              "size": torch.Size([2, 3])}
    training = {"model": state, "optimizer": optimizer.state_dict(), "iter_num": 7,
                "best_val_loss": torch.tensor(1.25), "config": config}
    return {
        "state_dict.pt": (state, {}),
        "one_key.pt": ({"model": collections.OrderedDict(w=torch.randn(2, 2))}, {}),
        "nested.pt": ({"state_dict": {"model": collections.OrderedDict(w=torch.randn(2, 2))}, "epoch": 3}, {}),
        "parameter.pt": ({"w": torch.nn.Parameter(torch.randn(2, 3)), "frozen": torch.nn.Parameter(
            torch.randn(2), requires_grad=False)}, {}),
        "training.pt": (training, {}),
        "protocol4.pt": ({"model": state, "iter_num": 7, "config": config}, {"pickle_protocol": 4}),
        "tensor.pt": (torch.randn(3), {}),
        "list.pt": ([torch.randn(2), (torch.randn(1), {"x": torch.randn(1)})], {}),
    }


def of_every_dtype():
    special = [0.0, -0.0, 1.0, -2.5, 1e-7, 65504.0, math.inf, -math.inf, math.nan, 6e-8, 1 / 3]
    result = {str(t).split(".")[1]: torch.tensor(special, dtype=t)
              for t in (torch.float64, torch.float32, torch.float16, torch.bfloat16)}
    for t in (torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8):
        info = torch.iinfo(t)
        result[str(t).split(".")[1]] = torch.tensor([0, 1, info.min, info.max], dtype=t)
    result["bool"] = torch.tensor([True, False, True])
    result["complex64"] = torch.tensor([1 + 2j])
    return result


def views():
    base = torch.arange(24, dtype=torch.float32)
    grid = base.view(4, 6)
    return collections.OrderedDict(
        base=base, grid=grid, transposed=grid.t(), strided=grid[::2, 1::2], column=grid[:, 3], row=grid[2],
        permuted=base.view(2, 3, 4).permute(2, 0, 1), expanded=torch.tensor([[1.0], [2.0]]).expand(2, 3),
        scalar=torch.tensor(-1.5), element=grid[1, 2], empty=torch.empty(0, 3), empty_view=grid[4:],
        ones=torch.ones(1, 1, 1), same=base)


def small_float(code, exponent_bits, mantissa_bits, bias):
    """By its definition: (−1)^s 2^(e − bias) (1 + m/2^M), and 2^(1 − bias) m/2^M for e = 0."""
    mantissa = code & ((1 << mantissa_bits) - 1)
    exponent = (code >> mantissa_bits) & ((1 << exponent_bits) - 1)
    size = math.ldexp(mantissa + ((1 << mantissa_bits) if exponent else 0), max(exponent, 1) - bias - mantissa_bits)
    return -size if code >> (exponent_bits + mantissa_bits) else size


def safetensors():
    """Tensors of every dtype; float8 with a mantissa in every code there is."""
    tensors, data = {}, b""

    def add(key, dtype, shape, raw, values):
        nonlocal data
        tensors[key] = ({"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}, values)
        data += raw

    names = {"float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
             "int16": "I16", "int8": "I8", "uint8": "U8", "bool": "BOOL"}
    for key, tensor in of_every_dtype().items():
        if key in names:
            raw = tensor.view(torch.int16) if key == "bfloat16" else tensor
            add(key, names[key], list(tensor.shape), raw.numpy().tobytes(), [number(x) for x in tensor.tolist()])
    for bits, code in ((16, "H"), (32, "I"), (64, "Q")):
        values = [0, 1, 2**bits - 1]
        add(f"uint{bits}", f"U{bits}", [3], struct.pack(f"<3{code}", *values), [number(x) for x in values])
    e4m3 = ["nan" if code & 0x7F == 0x7F else small_float(code, 4, 3, 7) for code in range(256)]
    e5m2 = [("-inf" if code & 0x80 else "inf") if code & 0x7F == 0x7C else "nan" if code & 0x7C == 0x7C
            else small_float(code, 5, 2, 15) for code in range(256)]
    for key, name, values in (("float8_e4m3fn", "F8_E4M3", e4m3), ("float8_e5m2", "F8_E5M2", e5m2)):
        add(key, name, [16, 16], bytes(range(256)), values)
    add("float8_e8m0fnu", "F8_E8M0", [4], bytes([0, 126, 254, 255]), [2.0**-127, 0.5, 2.0**127, "nan"])
    add("scalar", "F32", [], struct.pack("<f", 0.5), [0.5])
    add("empty", "F32", [0, 3], b"", [])
    header = {key: entry for key, (entry, _) in reversed(tensors.items())}
    header["__metadata__"] = {"format": "pt", "note": "ü"}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)

    def expected(key, entry, values):
        strides = [math.prod(max(n, 1) for n in entry["shape"][d + 1:]) for d in range(len(entry["shape"]))]
        dtype = "float32" if key in ("scalar", "empty") else key
        return {"dtype": dtype, "shape": entry["shape"], "strides": strides, "offset": 0, "values": values}

    return struct.pack("<Q", len(text)) + text + data, {k: expected(k, e, v) for k, (e, v) in tensors.items()}


def to_be_refused(state):
    try:
        import numpy
        scalar = {"model": state, "best_val_loss": numpy.float64(1.5)}
    except ImportError:
        scalar = None
    return {"gadget.pt": {"model": state, "extra": Gadget()},
            "namespace.pt": {"model": state, "args": argparse.Namespace(streams=4)},
            "dataclass.pt": {"model": state, "config": Config()},
            "numpy_scalar.pt": scalar,
            "module.pt": torch.nn.Linear(2, 2),
            "sparse.pt": {"w": torch.eye(2).to_sparse()}}


def main(folder):
    torch.manual_seed(1)
    os.makedirs(folder, exist_ok=True)
    expected = {}
    files = models()
    state = files["state_dict.pt"][0]
    files["dtypes.pt"] = (of_every_dtype(), {})
    files["views.pt"] = (views(), {})
    cycle = {"w": torch.ones(2)}
    cycle["self"] = cycle
    cycle["list"] = [cycle]
    files["cycle.pt"] = (cycle, {})
    for name, (value, options) in files.items():
        torch.save(value, os.path.join(folder, name), **options)
        expected[name] = tensors_of(value) if name != "cycle.pt" else {"w": described(cycle["w"])}
    for name, value in to_be_refused(state).items():
        if value is not None:
            torch.save(value, os.path.join(folder, name))
    torch.save(state, os.path.join(folder, "legacy.pt"), _use_new_zipfile_serialization=False)
    torch.jit.script(torch.nn.Linear(2, 2)).save(os.path.join(folder, "script.pt"))
    raw, expected["dtypes.safetensors"] = safetensors()
    with open(os.path.join(folder, "dtypes.safetensors"), "wb") as file:
        file.write(raw)
    with open(os.path.join(folder, "expected.json"), "w", encoding="utf-8") as file:
        json.dump(expected, file, indent=None, separators=(",", ":"))
        file.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
