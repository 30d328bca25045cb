"""The network that theory and simulation start from."""

from __future__ import annotations

import os
from typing import Any, Sequence

import numpy as np

from . import _core
from .arrays import as_array


def mixer_names() -> list[str]:
    """The built-in mixer families."""
    return _core.mixer_names()


def branch_names() -> list[str]:
    """The kinds of branch."""
    return _core.branch_names()


class Network:
    """A stack of L layers Y_l = A_l ⊗ I_p + X_l: mixers, a branch, and sizes.

    Args:
        mixer: a family (``mixer_names()``), a file of matrices, or an array (n, n) or (L, n, n).
        model: a file that describes the whole network, instead of a mixer.
        depth: number of layers L (10).
        streams: number of streams n (4).
        width: width p of a stream, used by simulation (25).
        shared: one drawn mixer for all layers.
        seed: of everything that is drawn (1).
        branch: one of ``branch_names()`` ("isotropic").
        noise: total variance L·σ² of the branches (0.05).
        sigma2: σ² instead: one value, or one per layer.
        activation: φ of an activation branch ("relu").
        preactivation_variance: of an activation branch: one value, or one per layer.
        branch_law: singular values of the branch instead of a Gaussian: a file, one set, or one set per layer.
        pre, post: how a hyper-connection reads and writes the streams: "drawn", "mean", or numbers (n) or (L, n).
        logit_scale, sinkhorn_iterations, cayley_iterations, cayley_step, gate, beta, rank, permutations: options of the
            families, as in docs/mixers.md; cayley_iterations may be "exact".

    Raises:
        ValueError: if the description cannot be used; the message names the field.
    """

    def __init__(self, mixer: Any = None, *, model: str | os.PathLike[str] | None = None, depth: int | None = None,
                 streams: int | None = None, width: int | None = None, shared: bool | None = None, seed: int = 1,
                 branch: str | None = None, noise: float | None = None, sigma2: Any = None,
                 activation: str | None = None, preactivation_variance: Any = None, branch_law: Any = None,
                 pre: Any = None, post: Any = None, logit_scale: float | None = None,
                 sinkhorn_iterations: int | None = None, cayley_iterations: int | str | None = None,
                 cayley_step: float | None = None, gate: float | None = None, beta: float | None = None,
                 rank: int | None = None, permutations: int | None = None) -> None:
        given: dict[str, Any] = {
            "depth": depth, "streams": streams, "width": width, "shared": shared, "seed": seed, "branch": branch,
            "noise": noise, "activation": activation, "logit_scale": logit_scale,
            "sinkhorn_iterations": sinkhorn_iterations, "cayley_iterations": cayley_iterations,
            "cayley_step": cayley_step, "gate": gate, "beta": beta, "rank": rank, "permutations": permutations,
            "model": None if model is None else os.fspath(model),
            "sigma2": None if sigma2 is None else np.atleast_1d(as_array(sigma2)),
            "preactivation_variance":
                None if preactivation_variance is None else np.atleast_1d(as_array(preactivation_variance)),
            "pre": _weights(pre), "post": _weights(post)}
        mixers = law = None
        if mixer is not None and not isinstance(mixer, (str, os.PathLike)):
            mixers = as_array(mixer)
        elif mixer is not None:
            given["mixer"] = os.fspath(mixer)
        if isinstance(branch_law, (str, os.PathLike)):
            given["branch_law"] = os.fspath(branch_law)
        elif branch_law is not None:
            law = _sets(branch_law)
            if noise is not None or sigma2 is not None:
                raise ValueError("`branch_law` cannot be combined with `noise` or `sigma2`: "
                                 "the singular values set the variance of the branch")
        self._core = _construct({name: value for name, value in given.items() if value is not None}, mixers, law)

    @property
    def depth(self) -> int:
        """Number of layers L."""
        return self._core.depth

    @property
    def streams(self) -> int:
        """Number of streams n."""
        return self._core.streams

    @property
    def width(self) -> int:
        """Width p of a stream."""
        return self._core.width

    @property
    def seed(self) -> int:
        """Seed of everything that was drawn."""
        return self._core.seed

    @property
    def mixer(self) -> str:
        """The family or file of the mixers; "given" for an array."""
        return self._core.mixer

    @property
    def branch(self) -> str:
        """The kind of branch."""
        return self._core.branch

    @property
    def mixers(self) -> np.ndarray:
        """A_1 … A_L, as an array (L, n, n)."""
        return self._core.mixers

    @property
    def sigma2(self) -> np.ndarray:
        """σ_l² of every layer."""
        return self._core.sigma2

    @property
    def title(self) -> str:
        """One line for captions."""
        return self._core.title

    def __repr__(self) -> str:
        return f"<Network: {self.title}>"


def _construct(fields: dict[str, Any], mixers: np.ndarray | None, law: list[np.ndarray] | None) -> _core.Network:
    try:
        return _core.Network(fields, mixers, law)
    except (RuntimeError, TypeError) as error:  # a value of another type
        if isinstance(error, TypeError) or "cast" in str(error):
            raise ValueError(f"a field of Network has a value of the wrong type: {_types(fields)}") from None
        raise


def _types(fields: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in fields.items() if not isinstance(value, np.ndarray))


def _weights(given: Any) -> Any:
    return given if given is None or isinstance(given, str) else as_array(given)


def _sets(given: Any) -> list[np.ndarray]:
    """One set of singular values, or one per layer; sets may have different lengths."""
    if isinstance(given, Sequence) and given and np.ndim(given[0]) > 0:
        return [as_array(one) for one in given]
    array = as_array(given)
    return [array] if array.ndim == 1 else list(array)
