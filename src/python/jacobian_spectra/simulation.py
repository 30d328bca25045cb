"""Simulated networks of finite width."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import _core
from .figure import Figure
from .law import Agreement, Distribution, Law, _with_suffix
from .network import Network


@dataclass(frozen=True)
class Expected:
    """A distance that finite width and sampling alone explain: its mean, and the deviation of one found distance."""

    mean: float
    deviation: float


class Simulation(Distribution):
    """Singular values of sampled Jacobians. ``simulate`` makes it."""

    _order = 1

    samples: int  #: finished
    samples_requested: int  #: asked for
    width: int  #: p
    device: str  #: "cpu", or "cuda: NVIDIA H200"
    precision: str  #: "f64" or "f32"
    probes: int  #: of a quadrature, per sample: values are then quantiles; 0: singular values
    note: str  #: one line where a GPU was asked for and not to be had; else empty
    seconds: float  #: that the run took
    mean_square: float  #: mean over samples of tr JᵀJ / N
    mean_square_error: float  #: its standard error over samples
    largest: float  #: singular value of all samples
    smallest: float  #: singular value of all samples
    errors: dict[str, float]  #: standard errors of the metrics over samples
    converged: bool  #: ``until_error`` was reached

    def __init__(self, network: Network, simulation: _core.Simulation, options: dict[str, Any]) -> None:
        self.network = network
        self._simulation = simulation
        self._options = options
        self._spectrum = simulation.law

    @property
    def singular_values(self) -> np.ndarray:
        """All singular values, one row per sample, ascending; empty where a histogram was kept."""
        return np.exp(self.log_singular_values)

    @property
    def log_singular_values(self) -> np.ndarray:
        """ln of them, a read-only view of the result: values below 1e-300 are ordinary here."""
        values = self._simulation.log_values
        return values.reshape(self.samples, -1) if len(values) else values.reshape(0, 0)

    def __getattr__(self, name: str) -> Any:
        if name in _MEMBERS:
            return self._simulation.members()[name]
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def interrupted(self) -> bool:
        """Whether the run ended before it had all samples or the accuracy asked for."""
        return self._simulation.interrupted

    def histogram(self, *, logarithmic: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Edges, density and its standard error, over s or over ln s."""
        return self._simulation.estimate(logarithmic)

    def expected(self, threads: int = 0) -> dict[str, Expected] | None:
        """The distances to a right theory that width and sampling alone explain, from simulations of smaller widths.

        Takes about as long as the simulation. None at width 1 and for quadrature.
        """
        found = _core.expected_distance(self.network._core, {**self._options, "samples": self.samples}, threads)
        names = ("wasserstein1", "wasserstein1_log", "kolmogorov_smirnov")
        return None if found is None else {name: Expected(**found[name]) for name in names}

    def compare(self, other: Distribution) -> Agreement:
        """Distances to a law, or to another simulation. ``expected()`` gives what to expect of them."""
        return super().compare(other)

    def plot(self, law: Law | None = None) -> Figure:
        """The figure that the program draws, with a theory if one is given. In a notebook it shows itself."""
        theories = [] if law is None else [law._theory]
        return Figure(self.network.title,
                      lambda path: _core.report_draw(self.network._core, theories, self._simulation, path))

    def page(self, law: Law | None = None, columns: int = 100) -> str:
        """The page that the program prints."""
        return _core.report_page(self.network._core, [] if law is None else [law._theory], self._simulation, columns)

    def json(self, law: Law | None = None) -> str:
        """The JSON text that the program prints, without files."""
        return _core.report_json(self.network._core, [] if law is None else [law._theory], self._simulation)

    def save(self, path: str | os.PathLike[str], law: Law | None = None, *, force: bool = False) -> str:
        """Writes a result file (HDF5, docs/result-file.md), with a theory if one is given; returns the path."""
        path = _with_suffix(path)
        _core.report_write(self.network._core, [] if law is None else [law._theory], self._simulation, path, force)
        return path

    def __repr__(self) -> str:
        return (f"<Simulation: {self.network.title}; {self.samples} samples on {self.device}, "
                f"mean square {self.mean_square:.5g} ± {self.mean_square_error:.2g}>")


_MEMBERS = {"samples", "samples_requested", "width", "device", "precision", "probes", "note", "seconds", "mean_square",
            "mean_square_error", "largest", "smallest", "errors", "converged"}


def simulate(network: Network, samples: int = 100, *, device: str = "auto", seed: int | None = None,
             until_error: float | None = None, redrawn: bool = False, slopes: str = "drawn", method: str = "auto",
             precision: str = "f64", keep: str = "auto", threads: int = 0) -> Simulation:
    """Draws Jacobians of the network's width and finds their singular values.

    Args:
        network: what is simulated, at its own width.
        samples: how many Jacobians; with ``until_error`` at most.
        device: "auto", "cpu" or "cuda".
        seed: of the samples; none: the network's.
        until_error: stop at this relative error.
        redrawn: draw the mixers anew for every sample.
        slopes: of an activation branch: "drawn" or "propagated".
        method: "auto", "dense" or "quadrature".
        precision: "f64" or, on a GPU, "f32".
        keep: "auto", "values" or "histogram".
        threads: 0: as many as OpenMP uses. Results do not depend on it.

    Raises:
        ValueError: for a network or an option that cannot be used.
        RuntimeError: if ``device`` is "cuda" and no GPU can be used, with the reason.
    """
    if not isinstance(network, Network):
        raise ValueError(f"a Network is required, not {type(network).__name__}")
    if device == "cpu" and precision == "f32":
        raise ValueError("`precision` f32 cannot be combined with `device` cpu: simulations on the cpu use f64")
    options = {"samples": samples, "until_error": until_error, "seed": seed, "keep": keep, "device": device,
               "precision": precision, "slopes": slopes, "method": method, "redrawn": redrawn}
    return Simulation(network, _core.simulate(network._core, options, threads), options)
