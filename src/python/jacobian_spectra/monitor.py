"""The Jacobian's singular values while a model trains."""

from __future__ import annotations

import inspect
import time
import warnings
from typing import Any

from torch import nn

from .captured import Captured, can_be_captured
from .validation import planned, validate

_METRICS = ("mean_square", "log_mean", "window", "collapsed", "largest", "effective_rank")
#: Times that graphs are recorded at most: a model that changes by and by is measured as it is.
_MOST_RECORDINGS = 4
#: Every eighth replay is compared with the model itself.
_COMPARED = 8


class Monitor:
    """Measures a model every so many steps, by a few probes, and returns a dictionary for any logger.

        monitor = js.Monitor(model, inputs, every=100)
        for step in range(steps):
            ...
            log(monitor(step))         # empty between measurements

    The numbers are those of ``monitor.report()``, a ``validate`` with the same probes and inputs. A measurement that
    would bring the time spent here above ``budget`` of the time since the first call is left out; it is made at the next
    multiple of ``every`` that it fits into.

    On a GPU the second measurement records what is computed as CUDA graphs, which later ones replay, if the model can be
    recorded. They are recorded again where the model has other tensors or settings than before. What neither shows (a
    number that forward() takes from elsewhere) is found by comparing the state of every eighth with the model's own.

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
        self._last = 0.0  # seconds of the last measurement
        self._graphs: Captured | None = None
        self._recordings = 0
        self._replays = 0  # of these graphs

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
        metrics = self._replayed()
        if metrics is None:
            metrics = self.report().measured.metrics
        self._last = time.perf_counter() - begin
        if self.measured > 0 and self._graphs is None and self._recordings < _MOST_RECORDINGS:
            self._record()
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
        return self.seconds + self._last <= self.budget * (time.perf_counter() - self._begin + self._last)

    def _replayed(self) -> Any:
        """The metrics by graphs; None without any that are up to date."""
        if self._graphs is None:
            return None
        if not self._graphs.unchanged():
            self._graphs = None
            return None
        metrics = self._graphs.measure()["metrics"]
        if self._replays % _COMPARED == 0 and not self._graphs.same_state():
            if self._replays > 0:
                warnings.warn("the model was changed otherwise than by its weights: since then, and at most for the last "
                              f"{_COMPARED - 1} measurements, the monitor did not follow it", stacklevel=3)
            self._graphs = None
            return None
        self._replays += 1
        return metrics

    def _record(self) -> None:
        self._recordings += 1
        self._replays = 0
        arguments = inspect.signature(validate).bind(self._model, self._inputs, **self._options)
        arguments.apply_defaults()
        wanted = inspect.signature(planned).parameters
        plan = planned(**{name: value for name, value in arguments.arguments.items() if name in wanted})
        if arguments.arguments["at_most"] != 1 or not can_be_captured(plan):
            self._recordings = _MOST_RECORDINGS
            return
        try:
            self._graphs = Captured(plan)
        except (RuntimeError, ValueError):  # a model that waits for numbers on the host: measured as it is
            self._recordings = _MOST_RECORDINGS

    def __repr__(self) -> str:
        return (f"<Monitor of {type(self._model).__name__}: every {self.every} steps, {self.measured} measured, "
                f"{self.left_out} left out, {self.seconds:.3g} s>")
