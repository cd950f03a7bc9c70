"""The page of all protocols' sweeps for docs/: each protocol's figure, small, and the values that reach the targets."""

import io
from collections.abc import Iterator
from hashlib import sha256
from math import log2
from pathlib import Path

import pandas as pd
from matplotlib import pyplot
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from ..lib.output import csv_text
from ..lib.protocols import protocol_name
from . import sweep

DOTS_PER_INCH = 120
COLOURS = 64
#: The key of an image's text that names the lines it is drawn of.
OF = "lines"


def page(path: Path, images: str) -> str:
    """The sections of a sweep's table of values. images: the folder of the figures, as links have it."""
    return "\n".join(_section(name, data, images) for name, data in sweep.shown(path).items())


def _section(name: str, data: pd.DataFrame, images: str) -> str:
    sizes = sorted(set(data["records"]))
    text = [f"## {protocol_name(name)}", "", f"![{protocol_name(name)}: the sweep]({images}/{name}.png)", ""]
    shape = sweep.size_words(int(data["record_bits"].iloc[0]))
    heads = [f"2^{log2(size):.0f} x {shape}" for size in sizes]
    text += [f"| key | values | {' | '.join(heads)} |", "|---|---|" + "---|" * len(sizes)]
    for key, lines in data.groupby("key", sort=False):
        values = list(dict.fromkeys(sorted(lines["value"])))
        cells = [_cell(lines[lines["records"] == size]) for size in sizes]
        text.append(f"| `{key}` | {', '.join(f'{each:g}' for each in values)} | {' | '.join(cells)} |")
    return "\n".join([*text, ""])


def _cell(lines: pd.DataFrame) -> str:
    """The best value, with the least and the greatest that reach both targets; or what all values miss."""
    if lines.empty:
        return "no set"
    reached = lines[lines["missed"] == ""]
    if reached.empty:
        faults = dict.fromkeys(fault.split(":")[0] for fault in lines["missed"])
        return f"none ({', '.join(faults)})"
    best = reached.loc[reached["score"].idxmin(), "value"]
    low, high = reached["value"].min(), reached["value"].max()
    return f"{best:g}" if low == high else f"{best:g} ({low:g} to {high:g})"


def images(path: Path) -> Iterator[tuple[str, bytes]]:
    """The figures as PNG for a page, by protocol; each says which lines it is of."""
    for name, data in sweep.shown(path).items():
        figure = sweep.draw(data)
        whole = io.BytesIO()
        figure.savefig(whole, format="png", dpi=DOTS_PER_INCH)
        pyplot.close(figure)
        said = PngInfo()
        said.add_text(OF, digest(data))
        small = io.BytesIO()
        Image.open(whole).convert("RGB").quantize(COLOURS).save(small, format="png", optimize=True, pnginfo=said)
        yield name, small.getvalue()


def digest(data: pd.DataFrame) -> str:
    """A name of the lines of a figure."""
    return sha256(csv_text(data).encode()).hexdigest()
