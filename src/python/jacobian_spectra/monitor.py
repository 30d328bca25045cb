"""The Jacobian's singular values while a model trains."""

from __future__ import annotations

import inspect
import math
import time
import warnings
from typing import Any

from torch import nn

from .captured import Captured, can_be_captured
from .products import NotFinite
from .validation import planned, validate

_METRICS = ("mean_square", "log_mean", "window", "collapsed", "largest", "effective_rank")
#: Of a model that gives infinities or NaN: training decides what to do about it.
_DIVERGED = {name: math.nan for name in _METRICS}
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
    multiple of ``every`` that it fits into. Of a model that has diverged (infinities or NaN) all metrics are NaN.

    On a GPU the second measurement records what is computed as CUDA graphs, which later ones replay, if the model can be
    recorded. They work on a copy of the weights beside the training, which does not wait: the numbers are returned by the
    first call after they are there, a few steps later. ``"jacobian/step"`` says which step they belong to, and ``finish()``
    returns the last ones. Graphs are recorded again where the model has other tensors or settings than before. What neither
    shows (a number that forward() takes from elsewhere) is found by comparing the state of every eighth with the model's
    own.

    Args:
        model, inputs: as for ``validate``. One input is measured unless ``at_most`` is given.
        every: steps between measurements.
        budget: share of the time that measurements may take; None: no limit.
        wait: whether the call that measures waits for the numbers and returns them.
        prefix: of the names in the dictionary.
        probes, steps: of the quadrature. More give more accurate numbers.
        precision: "model" measures it as it trains; "f64" widens it.
        **options: any other argument of ``validate``.
    """

    def __init__(self, model: nn.Module, inputs: Any, *, every: int = 100, budget: float | None = 0.01,
                 wait: bool = False, prefix: str = "jacobian/", probes: int = 1, steps: int = 10,
                 precision: str = "model", at_most: int = 1, **options: Any) -> None:
        if every < 1:
            raise ValueError("every: must be ≥ 1")
        self._model, self._inputs = model, inputs
        self._options = {"connections": False, "method": "probes", "error": 0.0, "extremes": 0.0, "check": False,
                         "probes": probes, "steps": steps, "precision": precision, "at_most": at_most, **options}
        self.every, self.budget, self.wait, self.prefix = every, budget, wait, prefix
        self.seconds = 0.0  #: that calls took since the first
        self.measured = 0  #: number of measurements
        self.left_out = 0  #: number of measurements that the budget had no room for
        self._begin: float | None = None
        self._last = 0.0  # seconds of the last measurement
        self._graphs: Captured | None = None
        self._recordings = 0
        self._replays = 0  # of these graphs
        self._under_way: tuple[int, float] | None = None  # the step that graphs measure, and the seconds it took so far

    def report(self) -> Any:
        """A Report by the same probes and inputs, now."""
        return validate(self._model, self._inputs, **self._options)

    def __call__(self, step: int) -> dict[str, float]:
        """The metrics as {"jacobian/window": 0.87, …, "jacobian/step": 300}: of this step, or of the measurement that was
        under way; empty where there is none."""
        if self._begin is None:
            self._begin = time.perf_counter()
        due = step % self.every == 0
        out = self.finish() if due or (self._under_way is not None and self._ready()) else {}
        if not due:
            return out
        if not self._fits():
            self.left_out += 1
            return out
        begin = time.perf_counter()
        if self._replay():
            self._under_way = (step, self._passed(begin))
            return {**out, **self.finish()} if self.wait else out
        return self._measure(step, begin)

    def finish(self) -> dict[str, float]:
        """Waits for the measurement that is under way. Empty without one."""
        if self._under_way is None:
            return {}
        (step, seconds), self._under_way = self._under_way, None
        begin = time.perf_counter()
        assert self._graphs is not None
        try:
            found = self._graphs.finish()
        except NotFinite:
            found = {"metrics": _DIVERGED}
        if found is None:  # the model itself comes to another state
            if self._replays > 1:
                warnings.warn("the model was changed otherwise than by its weights: since then, and at most for the last "
                              f"{_COMPARED - 1} measurements, the monitor did not follow it", stacklevel=3)
            self._graphs = None
            self._passed(begin)
            return self._measure(step, time.perf_counter()) if self.wait else {}
        self._last = seconds + self._passed(begin)
        return self._metrics(found["metrics"], step, self._last)

    def _measure(self, step: int, begin: float) -> dict[str, float]:
        """The metrics by the model's own operations, now."""
        try:
            metrics = self.report().measured.metrics
        except NotFinite:
            metrics = _DIVERGED
        self._last = time.perf_counter() - begin
        if metrics is not _DIVERGED and self.measured > 0 and self._recordings < _MOST_RECORDINGS:
            self._record()
        return self._metrics(metrics, step, self._passed(begin))

    def _metrics(self, metrics: Any, step: int, seconds: float) -> dict[str, float]:
        self.measured += 1
        return {**{self.prefix + name: metrics[name] for name in _METRICS},
                self.prefix + "step": step, self.prefix + "seconds": seconds}

    def _passed(self, begin: float) -> float:
        """The time since then, which is counted as spent."""
        seconds = time.perf_counter() - begin
        self.seconds += seconds
        return seconds

    def _ready(self) -> bool:
        return self._graphs is not None and self._graphs.done()

    def _fits(self) -> bool:
        if self.budget is None or self.measured == 0:
            return True
        assert self._begin is not None
        return self.seconds + self._last <= self.budget * (time.perf_counter() - self._begin + self._last)

    def _replay(self) -> bool:
        """Begins a measurement by graphs; not without any that are up to date."""
        if self._graphs is not None and not self._graphs.unchanged():
            self._graphs = None
        if self._graphs is None:
            return False
        self._graphs.begin(compare=self._replays % _COMPARED == 0)
        self._replays += 1
        return True

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
