"""Numbers from any library as NumPy arrays, without copying where that is possible."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_array(values: Any) -> np.ndarray:
    """The values in double precision: a view of a contiguous NumPy array or CPU tensor of doubles, otherwise a copy."""
    if hasattr(values, "detach"):  # a Torch tensor, on any device, with or without a graph
        values = values.detach().cpu()
        values = values.double().numpy() if values.is_floating_point() else values.numpy()
    elif not isinstance(values, np.ndarray) and hasattr(values, "__dlpack__"):
        try:
            values = np.from_dlpack(values)
        except (BufferError, RuntimeError, TypeError):
            raise ValueError(f"{type(values).__name__}: copy it to the CPU first") from None
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"numbers are required, not {type(values).__name__}") from None


def same_shape(array: np.ndarray, given: Any) -> Any:
    """A number where a number was given, else the array."""
    return array.item() if np.ndim(given) == 0 else array
