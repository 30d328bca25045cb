"""Singular values of deep networks' Jacobians: theory, simulation and live models.

    import jacobian_spectra as js

    law = js.solve(js.Network(mixer="cayley", depth=10, streams=4, noise=0.05))
    law.metrics.window                                  # share of singular values in [0.75, 1.25]
    js.simulate(law.network, samples=100).compare(law)  # how far theory and simulation are apart
    report = js.validate(model, inputs)                 # a live torch.nn.Module
    monitor = js.Monitor(model, inputs, every=100)      # monitor(step): a dict for your logger
    js.conform(reference, mine)                         # is this hyper-connection the published one?

Numbers are those of the program ``spectra``, to the last bit. Torch is imported by ``validate`` and ``Monitor`` alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _core
from .conform import Conformity, conform
from .figure import Figure
from .law import Agreement, Atom, Certificate, Check, Curve, Law, Metrics, solve
from .network import Network, branch_names, mixer_names
from .simulation import Expected, Simulation, simulate

if TYPE_CHECKING:
    from .monitor import Monitor
    from .report import AlignedPrediction, Alignment, Connection, LeadingTriplet, Outlier, Prediction, Report, Verdict
    from .validation import validate

__version__: str = _core.version

__all__ = [
    "Agreement", "AlignedPrediction", "Alignment", "Atom", "Certificate", "Check", "Conformity", "Connection",
    "Curve", "Expected", "Figure", "Law", "LeadingTriplet", "Metrics", "Monitor", "Network", "Outlier", "Prediction", "Report",
    "Simulation", "Verdict", "branch_names", "conform", "mixer_names", "simulate", "solve", "validate",
]

_LATER = {"Monitor": "monitor", "validate": "validation", "Report": "report", "Connection": "report",
          "Prediction": "report", "Verdict": "report", "Alignment": "report", "AlignedPrediction": "report",
          "LeadingTriplet": "report", "Outlier": "report"}


def __getattr__(name: str) -> Any:
    """Loads what needs Torch when it is first asked for."""
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(f"{__name__}.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
