"""Inputs of a model one by one, and the part of a residual state that is measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Sequence

import numpy as np
import torch
from torch import nn

_CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
_MOST_STREAMS = 16


class Inputs:
    """What a model is called with, input by input: a tensor, a tuple of positional arguments, or a mapping of keyword
    arguments. Every tensor with the batch's size has its inputs along the batch axis."""

    def __init__(self, inputs: Any, batch_axis: int, device: torch.device, dtype: torch.dtype) -> None:
        self._keywords = isinstance(inputs, Mapping)
        if self._keywords:
            self._names, values = list(inputs.keys()), list(inputs.values())
        else:
            self._names, values = [], list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
        self._values = [_tensor(value, device, dtype) for value in values]
        self._axis = batch_axis
        sizes = [v.shape[batch_axis] for v in self._values if isinstance(v, torch.Tensor) and v.dim() > batch_axis]
        if not sizes:
            raise ValueError("inputs: a tensor is required, with the inputs along its first axis")
        self.count = sizes[0]
        if self.count == 0:
            raise ValueError("inputs: the batch is empty")

    def copied(self) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Takes copies in place of the tensors that were given. Returns both."""
        given = self._values
        self._values = [v.clone() if isinstance(v, torch.Tensor) else v for v in given]
        return [(own, copy) for own, copy in zip(given, self._values) if isinstance(own, torch.Tensor)]

    def one(self, k: int) -> list[Any]:
        """Input k, as a batch of one."""
        return [v.narrow(self._axis, k, 1).clone()
                if isinstance(v, torch.Tensor) and v.dim() > self._axis and v.shape[self._axis] == self.count else v
                for v in self._values]

    def call(self, model: Any, values: Sequence[Any]) -> Any:
        """Runs the model."""
        if self._keywords:
            return model(**dict(zip(self._names, values)))
        return model(*values)


def _tensor(value: Any, device: torch.device, dtype: torch.dtype) -> Any:
    if isinstance(value, np.ndarray):
        value = torch.from_numpy(value)
    elif not isinstance(value, torch.Tensor) and hasattr(value, "__dlpack__"):
        value = torch.from_dlpack(value)
    if not isinstance(value, torch.Tensor):
        return value
    value = value.detach().to(device)
    return value.to(dtype) if value.is_floating_point() else value


def batch_axis_of(model: nn.Module) -> int:
    """1 for models of PyTorch's own attention that has tokens first, else 0."""
    layers = [m for m in model.modules() if isinstance(m, nn.MultiheadAttention)]
    return 1 if layers and not any(layer.batch_first for layer in layers) else 0


@dataclass(frozen=True)
class Selection:
    """The part of a state that is measured, as a vector: one token or all of it, streams before channels."""

    token_axis: int | None  #: None: no axis of tokens
    token: int | None  #: None: all tokens
    stream_axis: int | None  #: None: one stream

    def streams(self, state: torch.Tensor) -> int:
        """n."""
        return 1 if self.stream_axis is None else state.shape[self.stream_axis]

    def take(self, state: torch.Tensor) -> torch.Tensor:
        """The part of a state."""
        if self.token is not None and self.token_axis is not None:
            state = state.narrow(self.token_axis, self.token, 1)
        if self.stream_axis is not None:
            state = state.movedim(self.stream_axis, 0)
        return state.reshape(-1)

    def put(self, state: torch.Tensor, part: torch.Tensor) -> torch.Tensor:
        """A state with another part. A new tensor: the model may work on it in place."""
        shape = list(state.shape)
        if self.token is not None and self.token_axis is not None:
            shape[self.token_axis] = 1
        if self.stream_axis is not None:
            shape.insert(0, shape.pop(self.stream_axis))
        part = part.reshape(shape)
        if self.stream_axis is not None:
            part = part.movedim(0, self.stream_axis)
        if self.token is None or self.token_axis is None:
            return part.clone()
        axis, size = self.token_axis, state.shape[self.token_axis]
        return torch.cat([state.narrow(axis, 0, self.token), part,
                          state.narrow(axis, self.token + 1, size - self.token - 1)], dim=axis)

    def words(self) -> str:
        """For pages."""
        if self.token_axis is None:
            return "whole state"
        return "all tokens" if self.token is None else f"token {self.token}"


def axes_of(state: torch.Tensor, batch_axis: int, stream_axis: int | None,
            modules: Sequence[nn.Module]) -> tuple[int | None, int | None]:
    """Axes of tokens and of streams of the state of one input.

    Streams: the axis named; a batch axis longer than one (codes that fold streams into the batch); or the third of four
    axes where it is short. Tokens: the remaining axis before the last. States of convolutions have neither.
    """
    if any(isinstance(m, _CONVOLUTIONS) for block in modules for m in block.modules()) and stream_axis is None \
            and state.dim() == 4:
        return None, None
    if stream_axis is not None:
        stream_axis %= state.dim()
    elif state.dim() == 3 and batch_axis == 0 and 1 < state.shape[0] <= _MOST_STREAMS:
        stream_axis = 0
    elif state.dim() == 4 and 1 < state.shape[2] <= _MOST_STREAMS and state.shape[2] < state.shape[3] \
            and state.shape[1] != state.shape[2]:  # equal: an image, (batch, height, width, channels)
        stream_axis = 2
    others = [axis for axis in range(state.dim() - 1) if axis not in (batch_axis, stream_axis)]
    if len(others) != 1:
        return None, stream_axis
    return others[0], stream_axis
