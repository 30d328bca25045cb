"""A live model held still while it is measured, and given back as it was."""

from __future__ import annotations

import contextlib
import inspect
import sys
from typing import Any, Iterator

import torch
from torch import nn

_WRAPPERS = ("DistributedDataParallel", "DataParallel", "OptimizedModule")


def unwrapped(model: nn.Module) -> nn.Module:
    """The model inside torch.compile, DataParallel and DistributedDataParallel."""
    while type(model).__name__ in _WRAPPERS:
        model = getattr(model, "_orig_mod", None) or model.module  # type: ignore[assignment]
    if type(model).__name__ in ("FullyShardedDataParallel", "FSDPModule"):
        raise ValueError("the weights of this model are sharded over processes (FSDP): "
                         "validate it inside `with FSDP.summon_full_params(model)`, passing model.module")
    return model


def tensors(model: nn.Module) -> Iterator[torch.Tensor]:
    """Parameters and buffers."""
    yield from model.parameters()
    yield from model.buffers()


def device_of(model: nn.Module) -> torch.device:
    """Where inputs go: the device of the first parameter or buffer."""
    for tensor in tensors(model):
        return tensor.device
    return torch.device("cpu")


def precision_of(model: nn.Module) -> torch.dtype:
    """The type of the first floating-point parameter or buffer; the default type without any."""
    for tensor in tensors(model):
        if tensor.is_floating_point():
            return tensor.dtype
    return torch.get_default_dtype()


class _Snapshot:
    """What a module has in its dictionaries: flags, weights, buffers, and whatever its forward pass assigns."""

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.attributes = dict(module.__dict__)
        self.tables = {name: dict(table) for name, table in module.__dict__.items() if isinstance(table, dict)}

    def restore(self) -> None:
        now = self.module.__dict__
        for name in [name for name in now if name not in self.attributes]:
            del now[name]
        for name, value in self.attributes.items():
            if now.get(name) is not value:
                now[name] = value
        for name, entries in self.tables.items():
            table = now[name]
            if _differs(table, entries):
                table.clear()
                table.update(entries)


def _differs(table: dict[Any, Any], entries: dict[Any, Any]) -> bool:
    return len(table) != len(entries) or any(key not in table or table[key] is not value
                                             for key, value in entries.items())


def _swap_weights(model: nn.Module, dtype: torch.dtype | None, copies: bool) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Parameters without gradients (copies if wanted) and copies of buffers, in another precision if wanted. Shared ones
    stay shared. Returns the tensors with their stand-ins."""
    done: dict[int, torch.Tensor] = {}
    pairs: list[tuple[torch.Tensor, torch.Tensor]] = []

    def stand_in(tensor: torch.Tensor, copy: bool) -> torch.Tensor:
        if id(tensor) not in done:
            new = tensor.detach()
            if dtype is not None and new.is_floating_point() and new.dtype != dtype:
                new = new.to(dtype)
            elif copy:
                new = new.clone()
            done[id(tensor)] = new
            pairs.append((tensor, new))
        return done[id(tensor)]

    for module in model.modules():
        for table, copy in ((module._parameters, copies), (module._buffers, True)):
            for name, tensor in table.items():
                if tensor is not None:
                    table[name] = stand_in(tensor, copy)  # type: ignore[assignment]
        if "_flat_weights" in module.__dict__:  # recurrent layers keep a list of their own
            module.__dict__["_flat_weights"] = [weight if weight is None else stand_in(weight, copies)
                                                for weight in module.__dict__["_flat_weights"]]
    return pairs


def _quiet(model: nn.Module) -> None:
    """Evaluation mode by its flags alone: train() and eval() of some modules change weights. No fused fast paths, which
    have no derivative."""
    for module in model.modules():
        module.training = False
        if isinstance(module, nn.TransformerEncoder):
            module.enable_nested_tensor = False
            module.use_nested_tensor = False


def _attention() -> contextlib.AbstractContextManager[Any]:
    """The plain attention kernel: the fused ones can be differentiated only once."""
    try:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        return sdpa_kernel(SDPBackend.MATH)
    except ImportError:
        kernels = getattr(torch.backends.cuda, "sdp_kernel", None)
        if kernels is None:
            return contextlib.nullcontext()
        accepted = inspect.signature(kernels).parameters
        return kernels(**{name: name == "enable_math" for name in accepted if name.startswith("enable_")})


@contextlib.contextmanager
def _no_fast_path() -> Iterator[None]:
    mha = getattr(torch.backends, "mha", None)
    if mha is None or not hasattr(mha, "set_fastpath_enabled"):
        yield
        return
    before = mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        yield
    finally:
        mha.set_fastpath_enabled(before)


@contextlib.contextmanager
def _uncompiled() -> Iterator[None]:
    compiler = getattr(torch, "compiler", None)
    if not hasattr(compiler, "set_stance") or "torch._dynamo" not in sys.modules:  # nothing was compiled
        yield
        return
    with compiler.set_stance("force_eager"):
        yield


def _devices(model: nn.Module) -> set[int]:
    return {tensor.device.index or 0 for tensor in tensors(model) if tensor.device.type == "cuda"}


@contextlib.contextmanager
def still(model: nn.Module, dtype: torch.dtype | None,
          copies: bool = False) -> Iterator[list[tuple[torch.Tensor, torch.Tensor]]]:
    """The model in evaluation mode, with fixed weights in `dtype` (none: as they are; `copies`: in memory of their own) and
    gradients of states enabled. Yields its parameters and buffers, each with the tensor that stands in for it.

    Afterwards, also where an error was raised, everything is as it was: training flags, weights (the same tensors),
    buffers, hooks, attributes, and the state of the random number generators.
    """
    if any(tensor.device.type == "meta" for tensor in tensors(model)):
        raise ValueError("some weights of this model are not in memory (device meta): load it without offloading first")
    snapshots = [_Snapshot(module) for module in model.modules()]
    with contextlib.ExitStack() as stack:
        stack.enter_context(torch.random.fork_rng(devices=_devices(model)))
        stack.enter_context(torch.inference_mode(False))
        stack.enter_context(torch.enable_grad())
        for kind in {"cpu", *({"cuda"} if torch.cuda.is_available() else set())}:
            stack.enter_context(torch.autocast(kind, enabled=False))
        stack.enter_context(_attention())
        stack.enter_context(_no_fast_path())
        stack.enter_context(_uncompiled())
        try:
            _quiet(model)
            yield _swap_weights(model, dtype, copies)
        finally:
            for snapshot in snapshots:
                snapshot.restore()
