"""The law of a Jacobian that is known by its products: Golub and Kahan's bidiagonalisation from random probes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

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


class Unattended:
    """All bidiagonalisations of a fixed number of steps by operations that wait for no number, so that a CUDA graph can
    hold them: `start`, then `step` for every step. Gram-Schmidt is always repeated, and chains that have ended go on; the
    library, which is shown the norms afterwards, leaves that out."""

    def __init__(self, operator: Operator, options: Probing) -> None:
        self._wide = operator.outputs < operator.inputs
        rank, longer = sorted((operator.inputs, operator.outputs))
        self.steps = min(options.steps, rank)
        probes = [_core.probe_vector(rank, options.seed, number, options.input) for number in range(options.probes)]
        first = torch.from_numpy(np.array(probes)).to(operator.x.device)
        self._first = first / first.norm(dim=1, keepdim=True)
        count = len(probes)
        self._left = first.new_zeros(count, self.steps, longer)
        self._right = first.new_zeros(count, self.steps + 1, rank)
        self._step = torch.zeros(1, dtype=torch.int64, device=first.device)
        self.norms = first.new_zeros(count, 2 * self.steps)  #: α₀, β₀, α₁, β₁, …, a row for every chain

    def start(self) -> None:
        """Back to the probes."""
        self._left.zero_()
        self._right.zero_()
        self._right[:, 0] = self._first
        self._step.zero_()

    def step(self, operator: Operator) -> None:
        """The next step of all chains."""
        along, back = (operator.pull, operator.push) if self._wide else (operator.push, operator.pull)
        u = self._orthogonalised(self._left, along(self._right.index_select(1, self._step).squeeze(1)), 2 * self._step)
        self._left.index_copy_(1, self._step, u.unsqueeze(1))
        v = self._orthogonalised(self._right, back(u), 2 * self._step + 1)
        self._step.add_(1)
        self._right.index_copy_(1, self._step, v.unsqueeze(1))

    def _orthogonalised(self, basis: torch.Tensor, image: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
        for _ in range(2):  # rows that are still zero take nothing away
            along = torch.bmm(basis, image.unsqueeze(2))
            image = torch.baddbmm(image.unsqueeze(1), along.transpose(1, 2), basis, alpha=-1).squeeze(1)
        norm = image.norm(dim=1, keepdim=True)
        self.norms.index_copy_(1, place, norm)
        return torch.where(norm > 0, image / norm, torch.zeros_like(image))


class _Shown:
    """Bidiagonalisations that were done before, as the library asks for them. Rows are chains."""

    def __init__(self, norms: np.ndarray, dimension: int) -> None:
        self._norms, self._dimension = norms, dimension

    def chains(self) -> int:
        return len(self._norms)

    def dimension(self) -> int:
        return self._dimension

    def left(self, k: int) -> np.ndarray:
        return self._norms[:, 2 * k].copy()

    def right(self, k: int) -> np.ndarray:
        return self._norms[:, 2 * k + 1].copy()

    def set_left(self, k: int, factor: np.ndarray) -> None:
        pass

    set_right = set_left


def _probe(operator: Operator, options: Probing, bases: Callable[[np.ndarray, int], Any]) -> dict[str, Any]:
    rank, size = min(operator.inputs, operator.outputs), max(operator.inputs, operator.outputs)
    memory = (16 << 30) if operator.x.is_cuda else (2 << 30)
    rounding = 1.0 if operator.x.dtype == torch.float64 else 2.0 ** (53 - 24)
    return _core.probe(rank, size, int(min(memory // (8 * size), 2**31 - 1)), rounding, bases, vars(options))


def probe(operator: Operator, options: Probing) -> dict[str, Any]:
    """What probes find of the law of an operator (_core.probe)."""
    return _probe(operator, options, lambda probes, steps: Bases(operator, probes, steps))


def law_of(norms: np.ndarray, operator: Operator, options: Probing) -> dict[str, Any]:
    """The same from the norms of Unattended, which needs error = extremes = 0: the number of steps is fixed."""
    left = iter(norms)
    dimension = min(operator.inputs, operator.outputs)
    return _probe(operator, options,
                  lambda probes, steps: _Shown(np.array([next(left) for _ in probes]), dimension))
