"""Figures as the program draws them."""

from __future__ import annotations

import os
import tempfile
from typing import Callable


class Figure:
    """A figure that draws itself in a notebook, and saves itself as PNG, SVG or PDF.

    It is drawn by gnuplot, as the program's figures are, each time it is shown or saved.
    """

    def __init__(self, title: str, draw: Callable[[str], None]) -> None:
        self.title = title
        self._draw = draw

    def save(self, path: str | os.PathLike[str]) -> str:
        """Writes the figure in the format of the extension (.png, .svg or .pdf); returns the path."""
        self._draw(os.fspath(path))
        return os.fspath(path)

    def _repr_png_(self) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            with open(self.save(os.path.join(folder, "figure.png")), "rb") as file:
                return file.read()

    def __repr__(self) -> str:
        return f"<Figure: {self.title}; save(path) writes it>"
