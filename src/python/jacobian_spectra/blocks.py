"""The blocks of a model: which modules they are, and the residual state that passes from one to the next."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Mapping, Sequence, Union

import torch
from torch import nn

Call = Callable[[], Any]


class _Reached(BaseException):
    """Ends a forward pass at the state that was wanted. Not an Exception: a model may catch those."""

    def __init__(self, state: torch.Tensor) -> None:
        super().__init__()
        self.state = state


# --- which modules ---------------------------------------------------------------------------------------------------


#: Lists of these names hold blocks, also of different classes.
_NAMES = ("h", "layers", "layer", "blocks", "block", "resblocks")


def _is_block(module: nn.Module) -> bool:
    return any(True for _ in module.children()) and any(True for _ in module.parameters())


def _is_list(module: nn.Module) -> bool:
    """A container, or any module that numbers its modules as one does."""
    return isinstance(module, (nn.ModuleList, nn.Sequential, nn.ModuleDict)) or \
        (len(module._modules) > 1 and all(name.isdigit() for name in module._modules))


def _named(model: nn.Module) -> dict[str, nn.Module]:
    return dict(model.named_modules(remove_duplicate=False))


def _candidates(model: nn.Module) -> list[tuple[str, type, list[str]]]:
    """Containers of modules of one class, as (path of the parent, class, names of the modules); containers beside each
    other that hold the same class are one."""
    groups: dict[tuple[str, type], list[str]] = {}
    for path, module in _named(model).items():
        children = list(module._modules.items())  # a block that is used twice is there twice
        if not children or not _is_list(module):
            continue
        kinds = {type(child) for _, child in children}
        parent, _, own = path.rpartition(".")
        mixed = isinstance(module, nn.ModuleList) and own in _NAMES  # attention and state-space layers in turn
        if (len(kinds) != 1 and not mixed) or not all(child is not None and _is_block(child) for _, child in children):
            continue
        names = [f"{path}.{name}".lstrip(".") for name, _ in children]
        groups.setdefault((parent, kinds.pop() if len(kinds) == 1 else nn.Module), []).extend(names)
    return [(parent, kind, names) for (parent, kind), names in groups.items()]


def _contains(outer: Sequence[str], inner: Sequence[str]) -> bool:
    return any(name != other and name.startswith(other + ".") for name in inner[:1] for other in outer)


def find(model: nn.Module) -> list[str]:
    """The names of a model's blocks: the outermost list of alike modules, with most parameters where there are several.

    Raises ValueError where two lists have the same claim (an encoder and a decoder).
    """
    named = _named(model)
    found = [names for _, _, names in _candidates(model) if len(names) > 1]
    outer = [names for names in found if not any(_contains(other, names) for other in found if other is not names)]
    if not outer:
        return []
    weight = {id(names): sum(p.numel() for name in names for p in named[name].parameters()) for names in outer}
    outer.sort(key=lambda names: weight[id(names)], reverse=True)
    if len(outer) > 1 and weight[id(outer[1])] > weight[id(outer[0])] / 2:
        lists = [names[0].rpartition(".")[0] for names in outer]
        raise ValueError(f"the model has several stacks of blocks: {', '.join(lists)}; name one: blocks={lists[0]!r}")
    return outer[0]


def named_blocks(model: nn.Module, blocks: Any) -> list[str]:
    """The names of the blocks that a user named: a list of modules ("transformer.h"), or the modules one by one."""
    named = _named(model)
    if blocks is None:
        return find(model)
    if isinstance(blocks, (str, nn.Module)):
        blocks = [blocks]
    out: list[str] = []
    for block in blocks:
        name = next((path for path, module in named.items() if module is block), None) if isinstance(block, nn.Module) \
            else block
        if name not in named:
            lists = sorted({names[0].rpartition(".")[0] for _, _, names in _candidates(model)})
            raise ValueError(f"blocks={block if isinstance(block, str) else type(block).__name__!r}: "
                             f"no such module of this model; it has the lists {', '.join(lists) or '(none)'}")
        module = named[name]
        if _is_list(module) and len(module._modules):
            out.extend(f"{name}.{child}" for child in module._modules)
        else:
            out.append(name)
    return out


# --- the state in arguments and results ------------------------------------------------------------------------------

_STATE_NAMES = ("last_hidden_state", "hidden_states", "hidden_state", "x", "src", "input")


def _is_state(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point() and value.dim() > 0


def state_in(value: Any) -> torch.Tensor | None:
    """The first floating-point tensor of a result: a tensor, tuple, list, mapping or dataclass."""
    if _is_state(value):
        return value
    if isinstance(value, Mapping):
        named = [value[name] for name in _STATE_NAMES if name in value]
        return next((s for s in map(state_in, [*named, *value.values()]) if s is not None), None)
    if isinstance(value, (tuple, list)):
        return next((s for s in map(state_in, value) if s is not None), None)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return state_in({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    return None


def _state_argument(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, torch.Tensor] | None:
    """Where the state is among the arguments of a block, and the state."""
    for index, value in enumerate(args):
        if _is_state(value):
            return index, value
        if isinstance(value, (tuple, list)) and value and _is_state(value[0]):
            return (index, 0), value[0]
    names = [*(name for name in _STATE_NAMES if name in kwargs), *kwargs]
    return next(((name, kwargs[name]) for name in names if _is_state(kwargs[name])), None)


def _with_state(args: tuple[Any, ...], kwargs: dict[str, Any], place: Any,
                state: torch.Tensor) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if isinstance(place, str):
        return args, {**kwargs, place: state}
    new = list(args)
    if isinstance(place, tuple):
        inner = args[place[0]]
        new[place[0]] = type(inner)([state, *inner[1:]])
    else:
        new[place] = state
    return tuple(new), kwargs


# --- running a model from one block to another -----------------------------------------------------------------------


class Stack:
    """The blocks of a model in the order in which they are called, each as often as it is.

    Boundary k is the state that enters call k; the last boundary is the state after the last call. Used while the model
    is held still: forward() of the blocks is replaced.
    """

    def __init__(self, model: nn.Module, names: Sequence[str], call: Call) -> None:
        self._call = call
        self._start: int | None = None
        self._stop: int | None = None
        self._given: torch.Tensor | None = None
        self._count = 0
        self._order: list[int] = []
        self._inputs: list[torch.Tensor] = []
        self._end: torch.Tensor | None = None
        named = _named(model)
        modules = [named[name] for name in names]
        self._patches = [(module, self._wrapped(k, module.forward)) for k, module in enumerate(modules)]
        self._own = [(module, module.__dict__.get("forward")) for module in modules]
        self._forward()
        if not self._order:
            raise ValueError("the model does not call its blocks at these inputs: name the `blocks` that it calls")
        if self._end is None:
            raise ValueError("the last block returns no floating-point tensor: name other `blocks`")
        called = [modules[k] for k in self._order]
        in_order = len(called) == len(names) and all(a is b for a, b in zip(called, modules))
        self.names = list(names) if in_order else [names[k] for k in self._order]
        self.modules = called

    @property
    def depth(self) -> int:
        """Number of calls."""
        return len(self._order)

    def states(self) -> list[torch.Tensor]:
        """The state at every boundary, depth + 1 of them."""
        assert self._end is not None
        return [*self._inputs, self._end]

    def run(self, start: int, stop: int, state: torch.Tensor) -> torch.Tensor:
        """The state at boundary `stop` where the one at boundary `start` is `state`."""
        self._start, self._stop, self._given = start, stop, state
        try:
            self._forward()
        except _Reached as reached:
            return reached.state
        finally:
            self._given = None
        raise ValueError("the model did not call its blocks in the same order again: "
                         "what it does must not depend on chance or on earlier calls")

    def again(self) -> torch.Tensor:
        """The last state of another run."""
        with torch.no_grad():
            return self.run(0, self.depth, self._inputs[0].clone())

    def close(self) -> None:
        """Gives the blocks their own forward() back."""
        for module, own in self._own:
            if own is None:
                module.__dict__.pop("forward", None)
            else:
                module.__dict__["forward"] = own

    def _forward(self) -> None:
        self._count = 0
        for module, forward in self._patches:
            module.forward = forward  # type: ignore[method-assign]
        self._call()

    def _wrapped(self, index: int, original: Callable[..., Any]) -> Callable[..., Any]:
        def forward(*args: Any, **kwargs: Any) -> Any:
            k = self._count
            self._count += 1
            found = _state_argument(args, kwargs)
            if found is None:
                raise ValueError("a block is called without a floating-point tensor: name other `blocks`")
            place, state = found
            if self._stop is None:  # the first run
                self._order.append(index)
                self._inputs.append(state.detach().clone())
            elif k == self._stop:
                raise _Reached(state)
            elif k == self._start:
                assert self._given is not None
                args, kwargs = _with_state(args, kwargs, place, self._given)
            out = original(*args, **kwargs)
            if self._stop is None:  # of the last call, in the end
                end = state_in(out)
                self._end = None if end is None else end.detach().clone()
            elif k + 1 == self._stop == self.depth:
                end = state_in(out)
                assert end is not None
                raise _Reached(end)
            return out

        return forward


class Lists:
    """Blocks that are mere lists of modules (attention and MLP), whose sums the model forms itself.

    Boundary k is the tensor that enters the first module of list k; the last one is the tensor that enters the first
    module after all of them. Nothing can be replaced there, so derivatives are taken by these tensors in one graph.
    """

    def __init__(self, model: nn.Module, names: Sequence[str], call: Call, values: Sequence[Any]) -> None:
        named = _named(model)
        self.names = list(names)
        self.modules = [named[name] for name in names]
        self.depth = len(names)
        self._trees = [set(map(id, module.modules())) for module in self.modules]
        self._call = call
        self._graph_from(model, values)
        self._nodes = self._run()

    @staticmethod
    def _graph_from(model: nn.Module, values: Sequence[Any]) -> None:
        """Makes every state part of the graph. The weights are stand-ins (still.py)."""
        for tensor in [*model.parameters(), *(v for v in values if isinstance(v, torch.Tensor))]:
            if tensor.is_floating_point():
                tensor.requires_grad_(True)

    def _run(self) -> list[torch.Tensor]:
        inside = set().union(*self._trees)
        found: list[torch.Tensor | None] = [None] * (self.depth + 1)

        def enter(module: nn.Module, args: Any) -> None:
            k = next((k for k, tree in enumerate(self._trees) if id(module) in tree), None)
            state = _state_argument(args, {})
            if state is None:
                return
            if k is not None and found[k] is None:
                found[k] = state[1]
            elif id(module) not in inside and found[-2] is not None and found[-1] is None:
                found[-1] = state[1]

        handle = torch.nn.modules.module.register_module_forward_pre_hook(enter)
        try:
            self._call()
        finally:
            handle.remove()
        missing = next((k for k, state in enumerate(found) if state is None), None)
        if missing == self.depth:
            raise ValueError("the blocks of this model are lists of modules, and nothing is called after the last one: "
                             "give every block a forward()")
        if missing is not None:
            raise ValueError(f"block {self.names[missing]} is not called at these inputs: name the `blocks` that are")
        return [state for state in found if state is not None]

    def states(self) -> list[torch.Tensor]:
        """The tensor at every boundary, depth + 1 of them, with its graph."""
        return self._nodes

    def again(self) -> torch.Tensor:
        """The last state of another run."""
        return self._run()[-1].detach()

    def close(self) -> None:
        """Nothing was changed."""


def stack_of(model: nn.Module, names: Sequence[str], call: Call, values: Sequence[Any]) -> Stack | Lists:
    """The blocks at one input: as modules that are called, or as lists."""
    named = _named(model)
    lists = all(isinstance(named[name], (nn.ModuleList, nn.ModuleDict)) for name in names)
    return Lists(model, names, call, values) if lists else Stack(model, names, call)


class Whole:
    """A model without blocks: from its input to its output, as a Stack of one call."""

    def __init__(self, call: Callable[[torch.Tensor | None], Any], start: torch.Tensor) -> None:
        self._call = call
        self._start = start
        end = state_in(call(None))
        if end is None:
            raise ValueError("the model returns no floating-point tensor")
        self._end = end.detach().clone()
        self.names = ["model"]
        self.modules: list[nn.Module] = []
        self.depth = 1

    def states(self) -> list[torch.Tensor]:
        """Input and output."""
        return [self._start, self._end]

    def run(self, start: int, stop: int, state: torch.Tensor) -> torch.Tensor:
        """The output at another input."""
        out = state_in(self._call(state))
        assert out is not None
        return out

    def close(self) -> None:
        """Nothing was changed."""

    def again(self) -> torch.Tensor:
        """The output of another run."""
        with torch.no_grad():
            return self.run(0, 1, self._start)


AnyStack = Union[Stack, Lists, Whole]
