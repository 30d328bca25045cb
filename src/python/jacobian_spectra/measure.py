"""Measures the Jacobian of a live model, end to end and connection by connection."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Callable, Sequence

import numpy as np
import torch
from torch import nn

from . import _core
from .blocks import AnyStack, Lists, Whole
from .probes import Probing, probe
from .products import NotFinite, Products, Shifted
from .state import Selection

#: Rows on which the product of the connections' Jacobians is checked.
_CHECKED_ROWS = 8
#: Matrices of this size are decomposed on the GPU.
_FOR_THE_GPU = 512
#: Singular values that represent the law of a branch in a prediction.
_MOST_VALUES = 256


@dataclass(frozen=True)
class How:
    """What is measured, and how."""

    exact: Callable[[int], bool]  #: whether a Jacobian of that size is formed
    probing: Probing
    connections: bool
    mixer: str  #: "auto", "identity" or "trace"
    check: bool  #: run the model twice first
    vectors: Callable[[int, int], bool]  #: whether branches of that depth and size are decomposed with their vectors


@dataclass
class Found:
    """What was measured at one input."""

    inputs: int = 0  #: size of the state before the first block
    outputs: int = 0  #: and after the last
    log_values: np.ndarray | None = None  #: ln of all singular values, ascending, where J was formed
    probed: dict[str, Any] | None = None  #: else what probes found
    measurement: dict[str, Any] | None = None  #: for the prediction; none where there can be none
    why_not: str = ""  #: the reason
    connections: list[dict[str, Any]] = field(default_factory=list)
    streams: int = 1


def products_between(stack: AnyStack, states: Sequence[torch.Tensor], selections: Sequence[Selection], start: int,
                     stop: int) -> Products:
    """The Jacobian of the selected part of boundary `stop` by that of boundary `start`."""
    base, here, there = states[start], selections[start], selections[stop]
    what = stack.names[start] if stop == start + 1 else f"{stack.names[start]} to {stack.names[stop - 1]}"
    if isinstance(stack, Lists):
        return Products.of_graph(base, here.take, there.take(states[stop]), what, base.numel())
    return Products(lambda x: there.take(stack.run(start, stop, here.put(base, x))), here.take(base), what,
                    max(base.numel(), states[stop].numel()))


def check_repeats(stack: AnyStack, states: Sequence[torch.Tensor]) -> None:
    """Refuses a model that gives another result the second time."""
    again, end = stack.again(), states[-1].detach()
    scale = float(end.abs().max()) or 1.0
    if not math.isfinite(scale):
        raise NotFinite(f"{stack.names[0]} to {stack.names[-1]}")
    if again.shape != end.shape or not float((again - end).abs().max()) <= 1e-4 * scale:
        raise ValueError("the model gives another result the second time it is run at the same input: is there a dropout "
                         "that ignores eval(), or a state that it keeps? Switch it off first")


def sees_later(stack: AnyStack, states: Sequence[torch.Tensor], axis: int) -> bool:
    """Whether earlier tokens depend on the last one, so that the Jacobian of one token is not a product."""
    length = states[0].shape[axis]
    if length == 1 or states[-1].dim() != states[0].dim() or states[-1].shape[axis] != length:
        return False
    last, whole = Selection(axis, length - 1, None), Selection(axis, None, None)
    products = products_between(stack, states, [last] * stack.depth + [whole], 0, stack.depth)
    weights = torch.linspace(0.5, 1.5, states[-1].numel(), dtype=torch.float64).reshape(states[-1].shape)
    weights.narrow(axis, length - 1, 1).zero_()
    return bool((products.one_by_one(weights.reshape(1, -1)) != 0).any())


def log_singular_values(matrix: np.ndarray, device: torch.device) -> np.ndarray:
    """ln of the singular values, ascending; −∞ for zeros. Large matrices on the GPU where the model is on one."""
    if not np.isfinite(matrix).all():
        raise NotFinite("the Jacobian is not finite")
    if device.type == "cuda" and min(matrix.shape) >= _FOR_THE_GPU:
        values = torch.linalg.svdvals(torch.from_numpy(matrix).to(device)).cpu().numpy()
    elif matrix.shape[0] == matrix.shape[1]:
        return _core.log_singular_values(matrix)
    else:
        values = np.linalg.svd(matrix, compute_uv=False)
    with np.errstate(divide="ignore"):
        return np.sort(np.log(values))


def mixer_of(diagonals: np.ndarray, kind: str) -> np.ndarray:
    """The mixer of a connection from the mean diagonals of its Jacobian's blocks, stream by stream. One stream with a
    skip connection has the identity."""
    n = diagonals.shape[0]
    if kind == "identity" or (kind == "auto" and n == 1 and abs(diagonals[0, 0] - 1) <= 0.5):
        return np.eye(n)
    return diagonals


def compressed(values: np.ndarray) -> np.ndarray:
    """At most 256 singular values with the same mean square: root mean squares of equal shares of them."""
    values = np.sort(values)
    if len(values) <= _MOST_VALUES:
        return values
    return np.array([np.sqrt(np.mean(part**2)) for part in np.array_split(values, _MOST_VALUES)])


def _branch(variance: float, by_stream: np.ndarray, core: np.ndarray, values: np.ndarray) -> dict[str, Any]:
    # With one stream the mixer is a constant. With several it may depend on the input, which is not told apart.
    mixer_variance = 0.0 if len(by_stream) == 1 else float("nan")
    return {"variance": variance, "mixer_variance": mixer_variance, "by_stream": np.asfortranarray(by_stream),
            "core_variance": variance, "core_values": compressed(core), "values": values}


def triplets(x: np.ndarray, device: torch.device) -> dict[str, np.ndarray]:
    """All singular triplets, largest first."""
    if device.type == "cuda" and len(x) >= _FOR_THE_GPU:
        u, s, v = (part.cpu().numpy() for part in torch.linalg.svd(torch.from_numpy(x).to(device)))
    else:
        u, s, v = np.linalg.svd(x)
    return {"values": s, "left": np.asfortranarray(u), "right": np.asfortranarray(v.T)}


def exact_connection(y: np.ndarray, n: int, kind: str, device: torch.device,
                     vectors: bool = False) -> tuple[np.ndarray, dict[str, Any]]:
    """Mixer and branch of a connection from its Jacobian; with `vectors` the branch's triplets too."""
    size = y.shape[0]
    p = size // n
    mixer = mixer_of(np.einsum("icjc->ij", y.reshape(n, p, n, p)) / p, kind)
    x = y.copy()
    channels = np.arange(p)
    x.reshape(n, p, n, p)[:, channels, :, channels] -= mixer
    by_stream = (x.reshape(n, p, n, p) ** 2).sum(axis=(1, 3)) / p
    branch = _branch(float((x**2).sum() / size), by_stream, np.exp(log_singular_values(x, device)),
                     np.exp(log_singular_values(y, device)))
    if vectors:
        branch["core"] = triplets(x, device)
    return mixer, branch


def probed_connection(products: Products, n: int, how: How) -> tuple[np.ndarray, dict[str, Any]]:
    """The same from products: diagonals and variances by random signs, singular values as quantiles of laws by
    probes."""
    size = products.inputs
    p = size // n
    diagonals, by_stream = np.zeros((n, n)), np.zeros((n, n))
    rows = []
    for number in range(_CHECKED_ROWS):
        signs = np.sign(_core.probe_vector(size, how.probing.seed, 1000 + number, how.probing.input))
        for j in range(n):
            row = np.zeros((n, p))
            row[j] = signs.reshape(n, p)[j]
            rows.append(row.reshape(-1))
    images = products.push(torch.from_numpy(np.array(rows))).cpu().numpy().reshape(-1, n, n, p)
    given = np.array(rows).reshape(-1, n, n, p)
    for image, signs in zip(images, given):  # image[j, i]: stream i of the image of stream j
        for j in range(n):
            diagonals[:, j] += image[j] @ signs[j, j] / p / len(images)
    mixer = mixer_of(diagonals, how.mixer)
    for image, signs in zip(images, given):
        for j in range(n):
            off = image[j] - np.outer(mixer[:, j], signs[j, j])
            by_stream[:, j] += (off**2).sum(axis=1) / p / len(images)
    quick = replace(how.probing, probes=min(4, how.probing.probes), error=max(how.probing.error, 1e-2), extremes=0.0)
    core = probe(Shifted(products, mixer), quick)
    values = probe(products, quick)
    branch = _branch(core["metrics"]["mean_square"], by_stream, np.exp(core["log_values"]),
                     compressed(np.exp(values["log_values"])))
    return mixer, branch


def weight_sets(modules: Sequence[nn.Module]) -> list[int]:
    """A number per connection, equal where connections have the same parameters."""
    numbers: dict[Any, int] = {}
    out = []
    for k, module in enumerate(modules):
        key = frozenset(id(p) for p in module.parameters()) or ("none", k)
        out.append(numbers.setdefault(key, len(numbers)))
    return out


def measure(stack: AnyStack, selections: Sequence[Selection], how: How, weights: Sequence[int], layout: str,
            words: str) -> Found:
    """Everything that is measured at one input."""
    states = stack.states()
    if how.check:
        check_repeats(stack, states)
    out = Found(streams=selections[0].streams(states[0]))
    sizes = [selection.take(state).numel() for selection, state in zip(selections, states)]
    out.inputs, out.outputs = sizes[0], sizes[-1]
    form = how.exact(max(out.inputs, out.outputs))
    jacobians: list[np.ndarray] = []
    branches: list[dict[str, Any]] = []
    mixers: list[np.ndarray] = []
    square = len(set(sizes)) == 1
    if how.connections and not isinstance(stack, Whole):
        for k in range(stack.depth):
            products = products_between(stack, states, selections, k, k + 1)
            if sizes[k] != sizes[k + 1]:
                out.why_not = out.why_not or (
                    f"{stack.names[k]} changes the size of the state from {sizes[k]} to {sizes[k + 1]}; "
                    "name the blocks of one stage to compare with theory")
                continue
            if form:
                jacobians.append(products.matrix().numpy())
                mixer, branch = exact_connection(jacobians[-1], out.streams, how.mixer, states[0].device,
                                                 how.vectors(stack.depth, sizes[0]))
            else:
                mixer, branch = probed_connection(products, out.streams, how)
            branch["weights"] = weights[k]
            mixers.append(mixer)
            branches.append(branch)
            out.connections.append({"name": stack.names[k], "mixer": mixer, **branch})
    whole = products_between(stack, states, selections, 0, stack.depth)
    defect = _values(out, whole, jacobians if square and len(jacobians) == stack.depth else [], form, how)
    if square and branches:
        out.measurement = {
            "stack": {"layout": layout, "input": words, "streams": out.streams, "width": sizes[0] // out.streams,
                      "connections": [{"name": name, "mixer": np.asfortranarray(mixer), "pre": np.zeros(0),
                                       "post": np.zeros(0)} for name, mixer in zip(stack.names, mixers)]},
            "branches": branches,
            "singular_values": np.exp(out.log_values[::-1]) if out.log_values is not None else np.zeros(0),
            "product_defect": defect}
    return out


def _values(out: Found, whole: Products, factors: Sequence[np.ndarray], form: bool, how: How) -> float:
    """The singular values of J, from the product of the factors where it is J. Returns the difference of the two."""
    if not form:
        out.probed = probe(whole, how.probing)
        return 0.0
    defect = 0.0
    if factors:
        product = factors[0]
        for factor in factors[1:]:
            product = factor @ product
        rows = np.stack([_core.probe_vector(out.outputs, 0, k, 0) for k in range(_CHECKED_ROWS)])
        pulled = whole.one_by_one(torch.from_numpy(rows)).cpu().numpy()
        defect = float(np.linalg.norm(pulled - rows @ product) / (np.linalg.norm(pulled) or 1.0))
        tolerance = 1e-10 if whole.x.dtype == torch.float64 else 1e-4
        if defect <= tolerance:
            out.log_values = log_singular_values(product, whole.x.device)
            return defect
    jacobian = whole.matrix().numpy()
    if factors:
        defect = float(np.linalg.norm(jacobian - product) / (np.linalg.norm(jacobian) or 1.0))
    out.log_values = log_singular_values(jacobian, whole.x.device)
    return defect
