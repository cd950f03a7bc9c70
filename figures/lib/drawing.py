"""A figure ready to be written: the drawing, its data and its caption."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from .output import csv_text, write_text
from .style import save


@dataclass(frozen=True)
class Drawing:
    """A figure with its data, a row a number, and its caption as reStructuredText."""

    figure: Figure
    data: pd.DataFrame
    caption: str

    def write(self, prefix: Path) -> list[Path]:
        """Write `prefix` .pdf .svg .png .csv .caption.rst and return the paths."""
        written = save(self.figure, prefix)
        written.append(write_text(prefix, ".csv", csv_text(self.data)))
        return [*written, write_text(prefix, ".caption.rst", self.caption)]
