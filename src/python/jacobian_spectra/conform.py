"""Whether an implementation of a hyper-connection is the published one."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from .arrays import as_array

#: What a connection computes, in the order of a tuple.
_RESULTS = ("pre", "mixer", "post", "output")


@dataclass(frozen=True)
class Conformity:
    """The comparison of two implementations; true where they are the same.

    findings: what is wrong with the candidate, one text each; "unknown: …" where it has no name. notes: differences
    without effect. scheme: what the reference computes, "DeepSeek-V4" or "mHC", or None. differences: of each result, the
    largest and what rounding explains.
    """

    conforms: bool
    findings: tuple[str, ...]
    notes: tuple[str, ...]
    scheme: str | None
    differences: dict[str, tuple[float | None, float | None]] = field(repr=False)

    def __bool__(self) -> bool:
        return self.conforms


def _drawn(streams: int, width: int, tokens: int, spread: float, seed: int) -> dict[str, np.ndarray]:
    """Raw parameters, states and what the branch returned; in single precision, which every code takes."""
    random = np.random.default_rng(seed)
    size, channels = streams * streams + 2 * streams, streams * width
    base = random.standard_normal(size)
    base[2 * streams:] *= spread
    numbers = {
        "fn": random.standard_normal((size, channels)) / np.sqrt(channels),
        "base": base,
        "scale": np.array([0.5, 0.9, 1.7]),
        "x": random.standard_normal((tokens, streams, width)),
        "branch": random.standard_normal((tokens, width)),
    }
    return {key: value.astype(np.float32) for key, value in numbers.items()}


def _results(code: Callable[..., Any], numbers: dict[str, np.ndarray], like: Any) -> dict[str, np.ndarray]:
    given = {key: like(value) for key, value in numbers.items()}
    found = code(**given)
    if not isinstance(found, Mapping):
        found = dict(zip(_RESULTS, found))
    missing = [name for name in _RESULTS if name not in found]
    if missing:
        raise ValueError(f"the implementation must return pre, mixer, post and output; missing: {', '.join(missing)}")
    return {name: as_array(found[name]) for name in _RESULTS}


def _safetensors(tensors: dict[str, np.ndarray]) -> bytes:
    """The tensors in double precision, as the library reads files of them."""
    header, data = {}, b""
    for key, value in tensors.items():
        raw = np.ascontiguousarray(value, dtype="<f8").tobytes()
        header[key] = {"dtype": "F64", "shape": list(np.shape(value)), "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def conform(reference: Callable[..., Any], candidate: Callable[..., Any], *, streams: int = 4, width: int = 8,
            tokens: int = 8, sweeps: int = 20, epsilon: float = 1e-6, norm_epsilon: float = 1e-6, spread: float = 4.0,
            seed: int = 1, like: Callable[[np.ndarray], Any] = np.asarray) -> Conformity:
    """Is the candidate the same connection as the reference? If not, what is wrong with it?

    Each is called with keywords: fn (n² + 2n, n·p), base (n² + 2n), scale (3), x (tokens, n, p) and branch (tokens, p),
    what the branch returned; drawn, in single precision. It returns pre (tokens, n), mixer (tokens, n, n), post (tokens, n)
    and output (tokens, n, p), as a tuple or a dict of arrays or tensors. like makes the arguments: torch.from_numpy for
    Torch. sweeps, epsilon and norm_epsilon are the settings of both; spread is the standard deviation of the mixer's raw
    numbers: with small ones many codes compute the same.
    """
    numbers = _drawn(streams, width, tokens, spread, seed)
    settings = {"sweeps": np.array(float(sweeps)), "epsilon": np.array(epsilon), "norm_epsilon": np.array(norm_epsilon)}
    records = [_safetensors({**numbers, **settings, **_results(code, numbers, like)}) for code in (reference, candidate)]
    found = json.loads(_core.conform(*records))
    differences = {d["name"]: (d["largest"], d["tolerance"]) for d in found["differences"]}
    return Conformity(found["conforms"], tuple(found["findings"]), tuple(found["notes"]), found["scheme"], differences)
