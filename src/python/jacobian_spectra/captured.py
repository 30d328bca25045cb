"""A measurement as CUDA graphs, beside training: what takes a model's Python thousands of launches is replayed at once."""

from __future__ import annotations

import contextlib
from typing import Any, Callable, Iterator

import torch
from torch import nn

from .measure import products_between
from .probes import Unattended, law_of
from .products import NotFinite, Products
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
    """The law of J at the first input, by graphs that read copies of the weights: training goes on beside them.

    What the graphs compute is fixed when they are made: `unchanged` and the comparison of states tell whether it is still
    what the model computes.
    """

    def __init__(self, plan: Plan) -> None:
        """Raises RuntimeError or ValueError where the model cannot be captured: it waits for numbers, say."""
        self._plan = plan
        # What training does in the meantime fills the GPU; the many small operations here come first, and take little.
        self._device = device_of(plan.model)
        self._stream = stream = torch.cuda.Stream(self._device, priority=-1)
        with contextlib.ExitStack() as open_:
            weights = open_.enter_context(still(plan.model, plan.widened, copies=True))
            open_.enter_context(_other_random_state(self._device))
            self._weights = [(own, own.shape, own.dtype) for own, _ in weights]
            self._settings = list(_settings(plan.model))
            measured = plan.make()
            self._copies = weights + measured.inputs.copied()
            with measured.stack(0) as stack:
                self._selection = measured.selections(stack)[-1]  # may look at numbers, which a capture may not
            stream.wait_stream(torch.cuda.current_stream(self._device))
            with torch.cuda.stream(stream):
                forward = self._warm_up(measured)
            torch.cuda.current_stream(self._device).wait_stream(stream)
            pool = torch.cuda.graph_pool_handle()

            def graph(work: Callable[[], Any]) -> tuple[torch.cuda.CUDAGraph, Any]:
                out = torch.cuda.CUDAGraph()
                with torch.cuda.graph(out, pool=pool, stream=stream):
                    result = work()
                return out, result

            def start() -> Products:
                made = self._made(measured, open_)
                made.start_push(forward, check=False)
                self._chains.start()
                return made

            self._start, self._products = graph(start)
            self._step, _ = graph(lambda: self._chains.step(self._products))
        self._norms = torch.empty_like(self._chains.norms, device="cpu").pin_memory()
        self._end: torch.Tensor | None = None
        self._done = torch.cuda.Event()

    @staticmethod
    def _made(measured: Any, open_: contextlib.ExitStack) -> Products:
        stack = open_.enter_context(measured.stack(0))
        return products_between(stack, stack.states(), measured.selections(stack), 0, stack.depth)

    def _warm_up(self, measured: Any) -> bool:
        """Runs everything, as a capture wants it; whether Jv comes forwards, which takes fewer operations where a model
        can be differentiated so."""
        forward = True
        for turn in range(3):
            with contextlib.ExitStack() as open_:
                products = self._made(measured, open_)
                if turn == 0:
                    self._chains = Unattended(products, self._plan.how.probing)
                self._chains.start()
                try:
                    products.start_push(forward)
                    self._chains.step(products)
                except ValueError:
                    if turn > 0:
                        raise
                    forward = False
        return forward

    def unchanged(self) -> bool:
        """Whether the model has the same tensors and the same settings."""
        model = self._plan.model
        return {id(tensor) for tensor in tensors(model)} == {id(own) for own, _, _ in self._weights} \
            and all(own.shape == shape and own.dtype == dtype for own, shape, dtype in self._weights) \
            and list(_settings(model)) == self._settings

    def begin(self, compare: bool) -> None:
        """Begins to measure with the weights as they are now; `compare` runs the model itself too."""
        if compare:
            with still(self._plan.model, self._plan.widened), torch.no_grad(), self._plan.make().stack(0) as stack:
                self._end = self._selection.take(stack.states()[-1])
        with torch.no_grad():
            torch._foreach_copy_([copy for _, copy in self._copies], [own for own, _ in self._copies])
        self._stream.wait_stream(torch.cuda.current_stream(self._device))
        with torch.cuda.stream(self._stream):
            self._start.replay()
            for _ in range(self._chains.steps):
                self._step.replay()
            self._norms.copy_(self._chains.norms, non_blocking=True)
            self._done.record()

    def done(self) -> bool:
        """Whether what was begun has been computed."""
        return self._done.query()

    def finish(self) -> dict[str, Any] | None:
        """What probes found, once it is there. None where the model itself came to another state; raises NotFinite where
        it has diverged."""
        self._done.synchronize()
        end, self._end = self._end, None
        if not bool(torch.isfinite(self._norms).all()):
            raise NotFinite("the model")
        if end is not None:
            scale = end.abs().max()
            if not bool(((end - self._products.y).abs().max() <= _SAME * scale) & torch.isfinite(scale)):
                return None
        return law_of(self._norms.numpy(), self._products, self._plan.how.probing)


def can_be_captured(plan: Plan) -> bool:
    """Whether graphs may take the place of this measurement: the whole by probes, of a model on one GPU."""
    places = {tensor.device for tensor in tensors(plan.model)}
    return len(places) == 1 and next(iter(places)).type == "cuda" and hasattr(torch.Generator, "graphsafe_set_state") \
        and not plan.how.connections \
        and not plan.how.exact(1) and plan.how.probing.error == 0 and plan.how.probing.extremes == 0
