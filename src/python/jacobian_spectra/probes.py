"""The law of a Jacobian that is known by its products: Golub and Kahan's bidiagonalisation from random probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from . import _core
from .products import Operator


@dataclass(frozen=True)
class Probing:
    """How accurately probes find a law (docs/numerics.md)."""

    probes: int = 40  #: at most
    steps: int = 100  #: of each probe, at least
    error: float = 3e-3  #: wanted of window and collapsed; 0: all probes and steps
    extremes: float = 1e-6  #: wanted of the largest and smallest value; 0: not looked for beyond `steps`
    most_steps: int = 1000  #: most steps for them
    seed: int = 1  #: of the probes
    input: int = 0  #: number of the input


class Bases:
    """The vectors of several bidiagonalisations, on the device of the model. The library drives it: step k is left,
    set_left, right, set_right. Row c of every tensor belongs to chain c."""

    def __init__(self, operator: Operator, probes: np.ndarray, steps: int) -> None:
        self._operator = operator
        self._wide = operator.outputs < operator.inputs
        count, rank = probes.shape
        longer = max(operator.inputs, operator.outputs)
        steps = min(steps, rank)
        device = operator.x.device
        try:
            self._left = torch.empty(count, steps, longer, dtype=torch.float64, device=device)
            self._right = torch.empty(count, steps + 1, rank, dtype=torch.float64, device=device)
        except RuntimeError as error:
            raise MemoryError(str(error)) from None
        start = torch.from_numpy(probes).to(device)
        self._right[:, 0] = start / start.norm(dim=1, keepdim=True)
        self._image = start

    def chains(self) -> int:
        return self._left.shape[0]

    def dimension(self) -> int:
        return self._right.shape[2]

    def left(self, k: int) -> np.ndarray:
        v = self._right[:, k]
        self._image = self._operator.pull(v) if self._wide else self._operator.push(v)
        return self._orthogonalised(self._left, k)

    def right(self, k: int) -> np.ndarray:
        u = self._left[:, k]
        self._image = self._operator.push(u) if self._wide else self._operator.pull(u)
        return self._orthogonalised(self._right, k + 1)

    def set_left(self, k: int, factor: np.ndarray) -> None:
        self._left = self._put(self._left, k, factor)

    def set_right(self, k: int, factor: np.ndarray) -> None:
        self._right = self._put(self._right, k + 1, factor)

    def keep_first(self) -> None:
        self._left, self._right = self._left[:1].clone(), self._right[:1].clone()

    def _orthogonalised(self, basis: torch.Tensor, k: int) -> np.ndarray:
        """Norms of the images after Gram-Schmidt, repeated where it removes much (linalg/golub_kahan.hpp)."""
        if k == 0:
            return self._norms()
        self._subtract(basis[:, k - 1:k])
        before = self._norms()
        self._subtract(basis[:, :k])
        after = self._norms()
        if not _again(before, after):
            return after
        self._subtract(basis[:, :k])
        return self._norms()

    def _subtract(self, basis: torch.Tensor) -> None:
        along = torch.bmm(basis, self._image.unsqueeze(2))
        self._image = torch.baddbmm(self._image.unsqueeze(1), along.transpose(1, 2), basis, alpha=-1).squeeze(1)

    def _norms(self) -> np.ndarray:
        return self._image.norm(dim=1).cpu().numpy()

    def _put(self, basis: torch.Tensor, k: int, factor: np.ndarray) -> torch.Tensor:
        if basis.shape[1] <= k:
            room = basis.new_empty(basis.shape[0], 64, basis.shape[2])
            basis = torch.cat([basis, room], dim=1)
        scale = torch.from_numpy(np.array(factor)).to(basis.device).unsqueeze(1)
        # The image of a finished chain may be anything.
        basis[:, k] = torch.where(scale > 0, self._image * scale, torch.zeros_like(self._image))
        return basis


def _again(before: np.ndarray, after: np.ndarray) -> bool:
    return _core.orthogonalise_again(before, after)


def probe(operator: Operator, options: Probing) -> dict[str, Any]:
    """What probes find of the law of an operator (_core.probe)."""
    rank, size = min(operator.inputs, operator.outputs), max(operator.inputs, operator.outputs)
    memory = (16 << 30) if operator.x.is_cuda else (2 << 30)
    rounding = 1.0 if operator.x.dtype == torch.float64 else 2.0 ** (53 - 24)
    return _core.probe(rank, size, int(min(memory // (8 * size), 2**31 - 1)), rounding,
                       lambda probes, steps: Bases(operator, probes, steps), vars(options))
