"""Measures live models, predicts them by theory and judges them."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import Any, Callable, Iterator, Sequence

import torch
from torch import nn

from . import _core
from .blocks import AnyStack, Lists, Whole, named_blocks, stack_of
from .measure import Found, How, measure, sees_later, weight_sets
from .probes import Probing
from .products import one_line, out_of_memory
from .report import Report
from .state import Inputs, Selection, axes_of, batch_axis_of
from .still import device_of, precision_of, still, unwrapped

#: Jacobians are formed where neither side is longer.
MOST_EXACT = 4096
#: depth · N³ up to which the alignment is looked for unasked: some seconds.
_QUICK = 5e7
_RESOLUTION = {torch.float64: 1e-13, torch.float32: 1e-5}


class _Measured:
    """A model held still, with its blocks: measures one input after another."""

    def __init__(self, model: nn.Module, inputs: Any, blocks: Any, token: Any, batch_axis: int | None,
                 stream_axis: int | None, dtype: torch.dtype, call: Callable[..., Any] | None, how: How) -> None:
        self.model = model
        self.how = how
        self.names = named_blocks(model, blocks)
        axis = batch_axis_of(model) if batch_axis is None else batch_axis
        self.inputs = Inputs(inputs, axis, device_of(model), dtype)
        self._call = call or model
        self._token, self._batch_axis, self._stream_axis = token, axis, stream_axis
        modules = dict(model.named_modules(remove_duplicate=False))
        self.weights = {name: number for name, number in
                        zip(self.names, weight_sets([modules[name] for name in self.names]))}
        self.selection: Selection | None = None

    @contextlib.contextmanager
    def stack(self, k: int) -> Iterator[AnyStack]:
        """The blocks at input k."""
        values = self.inputs.one(k)
        stack: AnyStack
        if self.names:
            stack = stack_of(self.model, self.names, lambda: self.inputs.call(self._call, values), values)
        else:
            stack = self._whole(values)
        try:
            yield stack
        finally:
            stack.close()

    def _whole(self, values: list[Any]) -> Whole:
        place = next((k for k, v in enumerate(values) if isinstance(v, torch.Tensor) and v.is_floating_point()), None)
        if place is None:
            raise ValueError("no blocks were found in this model, and its input is not a tensor of numbers that it could "
                             "be differentiated by: name the blocks (blocks=\"transformer.h\")")

        def call(state: torch.Tensor | None) -> Any:
            new = list(values)
            if state is not None:
                new[place] = state
            return self.inputs.call(self._call, new)

        return Whole(call, values[place])

    def selections(self, stack: AnyStack) -> list[Selection]:
        """The part of the state at every boundary: chosen at the first input, and kept."""
        states = stack.states()
        if self.selection is None:
            self.selection = self._choose(stack, states)
        chosen = self.selection
        return [chosen if state.dim() == states[0].dim() else Selection(None, None, None) for state in states]

    def _choose(self, stack: AnyStack, states: Sequence[torch.Tensor]) -> Selection:
        tokens, streams = None, self._stream_axis
        if not isinstance(stack, Whole):
            tokens, streams = axes_of(states[0], self._batch_axis, self._stream_axis, stack.modules)
        if tokens is None or self._token == "all":
            if self._token not in ("auto", "all"):
                raise ValueError(f"token={self._token!r}: the state of this model, of shape {tuple(states[0].shape)}, "
                                 "has no axis of tokens; leave it out")
            return Selection(tokens, None, streams)
        length = states[0].shape[tokens]
        if self._token in ("auto", "last"):
            later = self._token == "auto" and sees_later(stack, states, tokens)
            return Selection(tokens, None if later else length - 1, streams)
        token = int(self._token)
        if not -length <= token < length:
            raise ValueError(f"token={token}: must be 0 to {length - 1}")
        return Selection(tokens, token % length, streams)

    def measure(self, k: int, count: int) -> Found:
        """Everything of input k."""
        with self.stack(k) as stack:
            weights = [self.weights[name] for name in stack.names] if not isinstance(stack, Whole) else []
            return measure(stack, self.selections(stack), self.how, weights, f"live {type(self.model).__name__}",
                           f"input {k + 1} of {count}")


class _LessPrecise(torch.overrides.TorchFunctionMode):
    """Notices results of lower precision that depend on the state."""

    seen = False

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = function(*args, **(kwargs or {}))
        if isinstance(out, torch.Tensor) and out.is_floating_point() and out.dtype != torch.float64 \
                and out.requires_grad:
            self.seen = True
        return out


def _computes_in_single(measured: _Measured) -> bool:
    """Whether parts of a widened model work in lower precision."""
    with measured.stack(0) as stack:
        with _LessPrecise() as mode:
            if isinstance(stack, Lists):
                stack.again()
            else:
                stack.run(0, stack.depth, stack.states()[0].detach().requires_grad_(True).clone())
        return mode.seen


def _vectors(aligned: int | str | None) -> Callable[[int, int], bool]:
    """Whether the alignment of a stack of that depth and size is looked for."""
    if aligned is None:
        return lambda depth, size: False
    if aligned == "auto":
        return lambda depth, size: depth * size**3 <= _QUICK
    if aligned == "search" or (isinstance(aligned, int) and not isinstance(aligned, bool) and aligned >= 0):
        return lambda depth, size: True
    raise ValueError(f"aligned={aligned!r}: must be auto, search, a number of triplets, or None")


def _how(method: str, probing: Probing, connections: bool, mixer: str, check: bool, aligned: int | str | None) -> How:
    exact = {"auto": lambda size: size <= MOST_EXACT, "exact": lambda size: True, "probes": lambda size: False}
    if method not in exact:
        raise ValueError(f"method={method!r}: must be auto, exact or probes")
    if mixer not in ("auto", "identity", "trace"):
        raise ValueError(f"mixer={mixer!r}: must be auto, identity or trace")
    return How(exact[method], probing, connections, mixer, check, _vectors(aligned))


def _precision(model: nn.Module, precision: str) -> torch.dtype:
    if precision not in ("f64", "f32", "model"):
        raise ValueError(f"precision={precision!r}: must be f64, f32 or model")
    return {"f64": torch.float64, "f32": torch.float32}.get(precision, precision_of(model))


def _probed(found: Found) -> dict[str, Any]:
    """A probed law for the library: a smallest value that is a bound has no error."""
    assert found.probed is not None
    error = dict(found.probed["error"])
    if not found.probed["smallest_converged"]:
        error["smallest"] = float("nan")
    return {"log_values": found.probed["log_values"], "metrics": found.probed["metrics"], "error": error}


def _words(found: Sequence[Found], selection: Selection, dtype: torch.dtype) -> str:
    first = found[0]
    size = f"N = {first.inputs}" if first.inputs == first.outputs else f"Jacobian {first.outputs} × {first.inputs}"
    name = {torch.float64: "f64", torch.float32: "f32"}.get(dtype, str(dtype).replace("torch.", ""))
    return f"{len(found)} input{'s' if len(found) > 1 else ''}, {selection.words()}, {size}, {name}"


def _notes(found: Sequence[Found], in_single: bool) -> str:
    notes = []
    probed = [f.probed for f in found if f.probed is not None]
    if probed:
        notes.append(f"by {max(p['probes'] for p in probed)} probes of {max(p['steps'] for p in probed)} steps")
        if not all(p["smallest_converged"] for p in probed):
            notes.append("the smallest value is an upper bound")
        if not all(p["largest_converged"] for p in probed):
            notes.append("the largest value is a lower bound")
    defect = max((f.measurement["product_defect"] for f in found if f.measurement is not None), default=0.0)
    if defect > 1e-3:
        notes.append("other tokens see this one: the product of the connections' Jacobians is off the whole by "
                     f"{defect:.2g}; token=\"all\" measures all of them")
    if in_single:
        notes.append("the model computes parts in lower precision")
    if found[0].why_not:
        notes.append("no prediction: " + found[0].why_not)
    return "; ".join(notes)


@dataclass(frozen=True)
class Plan:
    """A measurement that was asked for, its arguments checked."""

    model: nn.Module  #: unwrapped
    dtype: torch.dtype  #: in which it computes
    widened: torch.dtype | None  #: what the weights are converted to; none: as they are
    how: How
    make: Callable[[], _Measured]  #: while the model is held still


def planned(model: nn.Module, inputs: Any, *, blocks: Any, token: int | str, connections: bool, method: str,
            precision: str, mixer: str, stream_axis: int | None, batch_axis: int | None,
            call: Callable[..., Any] | None, probes: int, steps: int, error: float, extremes: float, seed: int,
            check: bool, aligned: int | str | None) -> Plan:
    """What validate() with these arguments would measure."""
    if isinstance(model, torch.jit.ScriptModule):
        raise ValueError("a TorchScript module hides its blocks: validate the Python model that it was made from")
    if not isinstance(model, nn.Module):
        raise ValueError(f"a torch.nn.Module is required, not {type(model).__name__}")
    inner = unwrapped(model)
    dtype = _precision(inner, precision)
    how = _how(method, Probing(probes, steps, error, extremes, max(1000, steps), seed), connections, mixer, check, aligned)
    return Plan(inner, dtype, None if precision == "model" else dtype, how,
                lambda: _Measured(inner, inputs, blocks, token, batch_axis, stream_axis, dtype, call, how))


def _run(plan: Plan, count: int) -> tuple[list[Found], Selection, bool, _Measured]:
    with still(plan.model, plan.widened):
        measured = plan.make()
        count = min(count, measured.inputs.count)
        in_single = plan.widened == torch.float64 and _computes_in_single(measured)
        found = [measured.measure(k, count) for k in range(count)]
    assert measured.selection is not None
    return found, measured.selection, in_single, measured


def validate(model: nn.Module, inputs: Any, *, blocks: Any = None, token: int | str = "auto", at_most: int = 8,
             require: str | None = None, connections: bool = True, method: str = "auto", precision: str = "f64",
             mixer: str = "auto", stream_axis: int | None = None, batch_axis: int | None = None,
             call: Callable[..., Any] | None = None, name: str | None = None, step: int | None = None,
             probes: int = 40, steps: int = 100, error: float = 3e-3, extremes: float = 1e-6, seed: int = 1,
             check: bool = True, aligned: int | str | None = "auto", explain: float = 0.02, threads: int = 0) -> Report:
    """Checks whether a live model is still an isometry, and whether theory explains it.

    Measures the Jacobian of the residual state after the last block with respect to that before the first, and of every
    block; predicts the first from the others; judges it. The model is run in evaluation mode and given back as it was.

    Args:
        model: a torch.nn.Module.
        inputs: what the model is called with: a tensor, a tuple of positional arguments, or a mapping of keyword
            arguments, each with the inputs along the batch axis. NumPy arrays are accepted too.
        blocks: the stack of blocks: a name ("transformer.h"), names or modules one by one; none: found.
        token: "last", an index, "all", or "auto": the last where earlier tokens do not depend on it, else all.
        at_most: this many inputs are measured, one by one.
        require: "window>=0.9,collapsed<=0.05"; none: window ≥ 0.9, collapsed ≤ 0.05, largest ≤ 2.
        connections: measure the blocks one by one; False: only the whole, without a prediction.
        method: "exact" (all singular values), "probes" (their law by quadrature), or "auto": exact up to 4096.
        precision: "f64" (weights are widened for the measurement), "f32", or "model": as it is.
        mixer: "identity", "trace" (mean diagonals), or "auto": the identity for one stream with a skip connection.
        stream_axis: axis of the streams in the state; none: found.
        batch_axis: axis of the inputs; none: 0, or 1 for PyTorch's attention with tokens first.
        call: called instead of the model, with the same arguments.
        name, step: for the report.
        probes, steps, error, extremes: of the quadrature (docs/numerics.md); error=0 takes all probes and steps.
        seed: of the probes.
        check: refuse a model whose results change from run to run.
        aligned: how many triplets of every branch are kept, to see what its layers know of each other
            (docs/validation.md): a number; "search": the smallest that explains the measurement; "auto": the same where
            that takes seconds; None: not looked at. It needs exact singular values.
        explain: W1 over the root mean square that counts as explained.
        threads: of the prediction; 0: as many as OpenMP uses.

    Raises:
        ValueError: one line with what to do, if the model or the inputs cannot be measured.
    """
    begin = time.perf_counter()
    if at_most < 1:
        raise ValueError("at_most: must be ≥ 1")
    plan = planned(model, inputs, blocks=blocks, token=token, connections=connections, method=method, precision=precision,
                   mixer=mixer, stream_axis=stream_axis, batch_axis=batch_axis, call=call, probes=probes, steps=steps,
                   error=error, extremes=extremes, seed=seed, check=check, aligned=aligned)
    model, dtype = plan.model, plan.dtype
    try:
        found, selection, in_single, measured = _run(plan, at_most)
    except MemoryError as failure:
        raise MemoryError(f"{one_line(failure)}; precision=\"model\" and fewer `at_most` or `probes` take less") from failure
    except (RuntimeError, TypeError, AttributeError, IndexError, KeyError) as failure:
        if out_of_memory(failure):
            raise MemoryError(f"{one_line(failure)}; precision=\"model\" takes half the memory") from failure
        raise ValueError(f"the model could not be run at these inputs: {one_line(failure)}") from failure
    why_not = found[0].why_not or ("" if measured.names else "no blocks were found: name them with `blocks`")
    if not connections:
        why_not = "connections=False"
    named = {"name": name or type(model).__name__, "layout": f"live {type(model).__name__}", "step": step,
             "model": f"{type(model).__name__}, {len(measured.names)} blocks" if measured.names else "",
             "words": _words(found, selection, dtype), "note": _notes(found, in_single),
             "resolution": _RESOLUTION.get(dtype, 1e-2) if not in_single else _RESOLUTION[torch.float32]}
    exact = [f.log_values for f in found if f.log_values is not None]
    probed = [_probed(f) for f in found if f.probed is not None]
    measurements = [f.measurement for f in found if f.measurement is not None]
    complete = len(measurements) == len(found)
    searched = complete and all("core" in branch for m in measurements for branch in m["branches"])
    search = {"explain": explain, "rank": aligned if isinstance(aligned, int) else None, "seed": seed}
    validation = _core.validate(named, measurements if complete else [], exact, probed, require,
                                search if searched else None, threads)
    for connection in found[0].connections:
        connection.pop("core", None)
    return Report(validation, found[0].connections, why_not, seed, time.perf_counter() - begin)
