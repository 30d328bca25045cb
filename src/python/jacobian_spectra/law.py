"""Laws of singular values, and the theory that gives them."""

from __future__ import annotations

import os
from dataclasses import dataclass, fields
from typing import Any, Iterator, Mapping

import numpy as np

from . import _core
from .arrays import as_array, same_shape
from .figure import Figure
from .network import Network


class _Numbers:
    """A record of numbers that can also be used as a dictionary: dict(metrics), metrics["window"]."""

    def keys(self) -> Iterator[str]:
        return (field.name for field in fields(self))  # type: ignore[arg-type]

    def __getitem__(self, name: str) -> Any:
        return getattr(self, name)

    def __repr__(self) -> str:
        inside = ", ".join(f"{name}={self[name]:.6g}" for name in self.keys())
        return f"{type(self).__name__}({inside})"


@dataclass(frozen=True, repr=False)
class Metrics(_Numbers):
    """What a law of singular values means for gradients (docs/metrics.md)."""

    mean_square: float  #: mean of s²
    log_mean: float  #: mean of ln s; −∞ with mass at 0
    window: float  #: share in [0.75, 1.25]
    collapsed: float  #: share below 0.1
    smallest: float  #: lower end of the law
    largest: float  #: upper end of the law
    effective_rank: float  #: 1 for an isometry, towards 0 as the spectrum collapses


@dataclass(frozen=True, repr=False)
class Agreement(_Numbers):
    """Distances between two laws."""

    wasserstein1: float  #: ∫ |F_a − F_b| ds
    wasserstein1_log: float  #: the same over ln s, where both laws are known
    kolmogorov_smirnov: float  #: largest |F_a − F_b|
    log_floor: float  #: where the integral over ln s begins
    left_out: int  #: values below that floor, counted but not compared in ln s


@dataclass(frozen=True)
class Check:
    """One thing that was checked of a law."""

    what: str  #: "mass", "points not certified"
    limit: float  #: it holds up to here
    found: float  #: what was found
    failure: str  #: one line for where it does not hold

    @property
    def holds(self) -> bool:
        """Whether it holds."""
        return self.found <= self.limit


@dataclass(frozen=True)
class Certificate:
    """What was checked of a law, and the verdict. True in a condition where the law is certified."""

    certified: bool  #: all checks hold
    message: str  #: "certified", or one line with the reason why not
    checks: tuple[Check, ...]  #: in the order they were made

    def __bool__(self) -> bool:
        return self.certified

    def __repr__(self) -> str:
        return f"<Certificate: {self.message}, {len(self.checks)} checks>"

    @staticmethod
    def _from(members: Mapping[str, Any]) -> Certificate:
        return Certificate(members["certified"], members["message"],
                           tuple(Check(**check) for check in members["checks"]))


@dataclass(frozen=True)
class Atom:
    """A share of the singular values at one place."""

    place: float  #: the singular value
    mass: float  #: the share


@dataclass(frozen=True)
class Curve:
    """The points at which a theory was solved. Arrays are read-only views of the result."""

    log_s: np.ndarray  #: ln of the points
    density_log: np.ndarray  #: density with respect to ln s
    omega: np.ndarray  #: where the equation was solved
    g: np.ndarray  #: the Green's function there
    residual: np.ndarray  #: last Newton step relative to the unknowns
    floor: np.ndarray  #: what rounding allows of that step
    iterations: np.ndarray  #: Newton steps
    certified: np.ndarray  #: 1 where the point was shown to be the right solution

    @property
    def s(self) -> np.ndarray:
        """The points."""
        return np.exp(self.log_s)

    @property
    def density(self) -> np.ndarray:
        """Density with respect to s."""
        return self.density_log / self.s

    def __len__(self) -> int:
        return len(self.log_s)

    def __repr__(self) -> str:
        return f"<Curve: {len(self)} points, s from {self.s[0]:.4g} to {self.s[-1]:.4g}>" if len(self) else "<Curve: empty>"


class Distribution:
    """A law of singular values: what theory, simulation and measured models have in common."""

    _spectrum: _core.Spectrum
    _order = 0  # theories come first where two laws are compared, as in the program: distances round the same way

    def density(self, s: Any) -> Any:
        """The density at s, with respect to s; atoms have none. Arrays of any shape, Torch tensors and numbers."""
        s_array = as_array(s)
        with np.errstate(divide="ignore", invalid="ignore"):
            out = np.where(s_array > 0, self._spectrum.density_log(np.log(s_array)) / s_array, 0.0)
        return same_shape(out, s)

    def density_log(self, log_s: Any) -> Any:
        """The density with respect to ln s, at ln s."""
        return same_shape(self._spectrum.density_log(as_array(log_s)), log_s)

    def cdf(self, s: Any) -> Any:
        """The share of singular values up to s, s itself included."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return same_shape(self._spectrum.cdf(np.log(np.maximum(as_array(s), 0.0))), s)

    def quantile(self, q: Any) -> Any:
        """The singular value that a share q of all of them does not exceed."""
        return same_shape(np.exp(self._spectrum.log_quantile(as_array(q))), q)

    @property
    def metrics(self) -> Metrics:
        """All metrics of the law."""
        return Metrics(**self._spectrum.metrics())

    def compare(self, other: Distribution) -> Agreement:
        """Distances to another law."""
        if not isinstance(other, Distribution):
            raise ValueError(f"a law is required to compare with, not {type(other).__name__}")
        first, second = (other, self) if other._order < self._order else (self, other)
        return Agreement(**_core.agreement(first._spectrum, second._spectrum))


class Law(Distribution):
    """The law of a network's singular values by theory, with its certificate. ``solve`` makes it."""

    def __init__(self, network: Network, theory: _core.Theory) -> None:
        self.network = network
        self._theory = theory
        self._spectrum = theory.law

    @property
    def theory(self) -> str:
        """The theory: "ov", "scalar", "s-transform" or "printed"."""
        return self._theory.method

    @property
    def certificate(self) -> Certificate:
        """What was checked of the law, and the verdict."""
        return Certificate._from(self._theory.summary())

    @property
    def certified(self) -> bool:
        """Whether every point was shown to be the right solution and the law satisfies what is known exactly."""
        return self.certificate.certified

    @property
    def summary(self) -> dict[str, Any]:
        """How the solve ended: points, Newton steps, moments with their exact values, seconds."""
        out = self._theory.summary()
        del out["checks"]
        return out

    @property
    def curve(self) -> Curve:
        """The points that were solved: the law's own grid, yours, or the smoothed density's."""
        return Curve(**self._theory.curve())

    @property
    def support(self) -> np.ndarray:
        """The intervals that the law fills, as an array (m, 2)."""
        bands = [(band["log_lower"], band["log_upper"]) for band in self._spectrum.support()]
        return np.exp(np.array(bands, dtype=float).reshape(-1, 2))

    @property
    def atoms(self) -> tuple[Atom, ...]:
        """Singular values that a share of all of them has exactly."""
        return tuple(Atom(float(np.exp(atom["log_place"])), atom["mass"]) for atom in self._spectrum.atoms())

    def plot(self, simulation: Any = None, *, ax: Any = None) -> Any:
        """The figure that the program draws, with a simulation if one is given. In a notebook it shows itself.

        With ``ax``, a Matplotlib axes, the density is drawn there instead, and ``ax`` is returned.
        """
        if ax is not None:
            curve = self.curve
            ax.plot(curve.s, curve.density, label=f"{self.theory} theory")
            ax.set_xlabel("singular value s")
            ax.set_ylabel("density")
            return ax
        core = None if simulation is None else simulation._simulation
        return Figure(self.network.title, lambda path: _core.report_draw(self.network._core, [self._theory], core, path))

    def page(self, columns: int = 100) -> str:
        """The page that the program prints."""
        return _core.report_page(self.network._core, [self._theory], None, columns)

    def json(self) -> str:
        """The JSON text that the program prints, without files and simulation."""
        return _core.report_json(self.network._core, [self._theory], None)

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> str:
        """Writes a result file (HDF5, docs/result-file.md). ``force`` replaces other files; returns the path."""
        path = _with_suffix(path)
        _core.report_write(self.network._core, [self._theory], None, path, force)
        return path

    def __repr__(self) -> str:
        metrics = self.metrics
        return (f"<Law by {self.theory}: {self.network.title}; {self.certificate.message}; "
                f"window {metrics.window:.4g}, collapsed {metrics.collapsed:.4g}, largest {metrics.largest:.4g}>")


def _with_suffix(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    return text if text.endswith(".h5") else text + ".h5"


def solve(network: Network, *, theory: str = "ov", eta: float | None = None, grid: tuple[Any, ...] | None = None,
          threads: int = 0) -> Law:
    """The law of a network's singular values by theory, in the limit of wide streams.

    Args:
        network: what is asked about.
        theory: "ov" (exact at every depth), "scalar", "s-transform" or "printed".
        eta: smoothing of ``Law.curve``; none: the density itself.
        grid: points of ``Law.curve``, (min, max, points) or (min, max, points, "log"); none: adaptive.
        threads: 0: as many as OpenMP uses.

    A law that could not be certified is returned all the same: ``certificate.message`` gives the reason.
    """
    if not isinstance(network, Network):
        raise ValueError(f"a Network is required, not {type(network).__name__}")
    chosen = None
    if grid is not None:
        if len(grid) not in (3, 4) or (len(grid) == 4 and grid[3] != "log"):
            raise ValueError('`grid`: must be (min, max, points) or (min, max, points, "log")')
        chosen = (float(grid[0]), float(grid[1]), int(grid[2]), len(grid) == 4)
    return Law(network, _core.solve(network._core, theory, eta, chosen, threads))
