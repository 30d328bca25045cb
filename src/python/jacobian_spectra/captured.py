"""A measurement as CUDA graphs: what takes a model's Python thousands of launches is replayed at once."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

import torch
from torch import nn

from .measure import products_between
from .probes import probe
from .products import Products
from .still import device_of, still, tensors
from .validation import Plan

#: Difference of the state from the model's own, relative to its largest entry, above which the graphs are out of date.
_SAME = 1e-3


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, complex, str, torch.dtype, torch.device)) \
        or (isinstance(value, (tuple, list)) and all(map(_plain, value)))


def _settings(model: nn.Module) -> Iterator[Any]:
    """What the modules have besides tensors and modules, but for what training mode sets."""
    for name, module in model.named_modules():
        yield name, type(module)
        for key, value in module.__dict__.items():
            if key != "training" and _plain(value):
                yield key, tuple(value) if isinstance(value, list) else value


@contextlib.contextmanager
def _other_random_state(device: torch.device) -> Iterator[None]:
    """Another state of the device's random numbers. A capture that fails leaves its state unusable, and training draws
    from the first one."""
    generator = torch.cuda.default_generators[device.index or 0]
    own = generator.graphsafe_get_state()
    generator.graphsafe_set_state(own.clone_state())
    try:
        yield
    finally:
        generator.graphsafe_set_state(own)


class Captured:
    """The law of J at the first input, by graphs that read the weights where they are.

    What the graphs compute is fixed when they are made: `unchanged` and `same_state` tell whether it is still what the
    model computes.
    """

    def __init__(self, plan: Plan) -> None:
        """Raises RuntimeError or ValueError where the model cannot be captured: it waits for numbers, say."""
        self._plan = plan
        with contextlib.ExitStack() as open_:
            weights = open_.enter_context(still(plan.model, plan.widened))
            open_.enter_context(_other_random_state(device_of(plan.model)))
            self._weights = {id(own) for own, _ in weights}
            self._copies = [(own, copy) for own, copy in weights if own.data_ptr() != copy.data_ptr()]
            self._aliases = [(own, own.data_ptr()) for own, copy in weights if own.data_ptr() == copy.data_ptr()]
            self._settings = list(_settings(plan.model))
            measured = plan.make()
            with measured.stack(0) as stack:
                self._selection = measured.selections(stack)[-1]  # may look at numbers, which a capture may not
            stream = torch.cuda.Stream()
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                forward = self._warm_up(measured)
            torch.cuda.current_stream().wait_stream(stream)
            pool = torch.cuda.graph_pool_handle()

            def graph(work: Callable[[], Any]) -> tuple[torch.cuda.CUDAGraph, Any]:
                out = torch.cuda.CUDAGraph()
                with torch.cuda.graph(out, pool=pool, stream=stream):
                    result = work()
                return out, result

            def start() -> Products:
                made = self._made(measured, open_)
                made.start_push(forward, check=False)
                return made

            self._start, self._products = graph(start)
            self._pull, self._pulled = graph(lambda: self._products.pull(self._u))
            self._push, self._pushed = graph(lambda: self._products.push(self._v))
        self.x, self.y = self._products.x, self._products.y
        self.inputs, self.outputs = self._products.inputs, self._products.outputs

    @staticmethod
    def _made(measured: Any, open_: contextlib.ExitStack) -> Products:
        stack = open_.enter_context(measured.stack(0))
        return products_between(stack, stack.states(), measured.selections(stack), 0, stack.depth)

    def _warm_up(self, measured: Any) -> bool:
        """Runs everything, as a capture wants it; whether Jv comes forwards, which takes fewer operations where a model
        can be differentiated so."""
        rows = self._plan.how.probing.probes
        forward = True
        for turn in range(3):
            with contextlib.ExitStack() as open_:
                products = self._made(measured, open_)
                self._u = torch.ones(rows, products.outputs, dtype=torch.float64, device=products.x.device)
                self._v = torch.ones(rows, products.inputs, dtype=torch.float64, device=products.x.device)
                products.pull(self._u)
                try:
                    products.start_push(forward)
                    products.push(self._v)
                except ValueError:
                    if turn > 0:
                        raise
                    forward = False
        return forward

    def unchanged(self) -> bool:
        """Whether the model has the same tensors at the same places, and the same settings."""
        model = self._plan.model
        return {id(tensor) for tensor in tensors(model)} == self._weights \
            and all(own.data_ptr() == place for own, place in self._aliases) and list(_settings(model)) == self._settings

    def same_state(self) -> bool:
        """Whether the model itself, run now, comes to the state that `measure` found last."""
        with still(self._plan.model, self._plan.widened), torch.no_grad(), self._plan.make().stack(0) as stack:
            end = self._selection.take(stack.states()[-1])
        scale = end.abs().max()
        return bool(((end - self.y).abs().max() <= _SAME * scale) & torch.isfinite(scale))

    def measure(self) -> dict[str, Any]:
        """What probes find with the weights as they are now."""
        for own, copy in self._copies:
            copy.copy_(own)
        self._start.replay()
        return probe(self, self._plan.how.probing)

    def pull(self, u: torch.Tensor) -> torch.Tensor:
        """Rows Jᵀu of rows u."""
        self._u.copy_(u)
        self._pull.replay()
        return self._pulled.clone()

    def push(self, v: torch.Tensor) -> torch.Tensor:
        """Rows Jv of rows v."""
        self._v.copy_(v)
        self._push.replay()
        return self._pushed.clone()


def can_be_captured(plan: Plan) -> bool:
    """Whether graphs may take the place of this measurement: the whole by probes, of a model on one GPU."""
    places = {tensor.device for tensor in tensors(plan.model)}
    return len(places) == 1 and next(iter(places)).type == "cuda" and hasattr(torch.Generator, "graphsafe_set_state") \
        and not plan.how.connections \
        and not plan.how.exact(1) and plan.how.probing.error == 0
