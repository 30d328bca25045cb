"""The Jacobian's singular values while a model trains."""

from __future__ import annotations

import time
from typing import Any

from torch import nn

from .validation import validate

_METRICS = ("mean_square", "log_mean", "window", "collapsed", "largest", "effective_rank")


class Monitor:
    """Measures a model every so many steps, by a few probes, and returns a dictionary for any logger.

        monitor = js.Monitor(model, inputs, every=100)
        for step in range(steps):
            ...
            log(monitor(step))         # empty between measurements

    The numbers are those of ``monitor.report()``, a ``validate`` with the same probes and inputs. A measurement that
    would bring the time spent here above ``budget`` of the time since the first call is left out; it is made at the next
    multiple of ``every`` that it fits into.

    Args:
        model, inputs: as for ``validate``. One input is measured unless ``at_most`` is given.
        every: steps between measurements.
        budget: share of the time that measurements may take; None: no limit.
        prefix: of the names in the dictionary.
        probes, steps: of the quadrature. More give more accurate numbers.
        precision: "model" measures it as it trains; "f64" widens it.
        **options: any other argument of ``validate``.
    """

    def __init__(self, model: nn.Module, inputs: Any, *, every: int = 100, budget: float | None = 0.01,
                 prefix: str = "jacobian/", probes: int = 1, steps: int = 10, precision: str = "model",
                 at_most: int = 1, **options: Any) -> None:
        if every < 1:
            raise ValueError("every: must be ≥ 1")
        self._model, self._inputs = model, inputs
        self._options = {"connections": False, "method": "probes", "error": 0.0, "extremes": 0.0, "check": False,
                         "probes": probes, "steps": steps, "precision": precision, "at_most": at_most, **options}
        self.every, self.budget, self.prefix = every, budget, prefix
        self.seconds = 0.0  #: spent here since the first call
        self.measured = 0  #: number of measurements
        self.left_out = 0  #: number of measurements that the budget had no room for
        self._begin: float | None = None

    def report(self) -> Any:
        """A Report by the same probes and inputs, now."""
        return validate(self._model, self._inputs, **self._options)

    def __call__(self, step: int) -> dict[str, float]:
        """The metrics after this step as {"jacobian/window": 0.87, …}; empty where it is not measured."""
        if self._begin is None:
            self._begin = time.perf_counter()
        if step % self.every != 0:
            return {}
        if not self._fits():
            self.left_out += 1
            return {}
        begin = time.perf_counter()
        metrics = self.report().measured.metrics
        spent = time.perf_counter() - begin
        self.seconds += spent
        self.measured += 1
        out = {self.prefix + name: metrics[name] for name in _METRICS}
        out[self.prefix + "seconds"] = spent
        return out

    def _fits(self) -> bool:
        if self.budget is None or self.measured == 0:
            return True
        assert self._begin is not None
        each = self.seconds / self.measured
        return self.seconds + each <= self.budget * (time.perf_counter() - self._begin + each)

    def __repr__(self) -> str:
        return (f"<Monitor of {type(self._model).__name__}: every {self.every} steps, {self.measured} measured, "
                f"{self.left_out} left out, {self.seconds:.3g} s>")
