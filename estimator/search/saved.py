"""The savings of a sweep's searches, compared with the given sets: saved.csv and saved.md, a line a search."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..cost import UnitCosts
from ..cost.plan import format_bytes
from ..outputs import template, write
from ..paths import ROOT
from ..sets import labelled, resolve
from .bounds import Bounds
from .evaluate import Evaluator, Figures, Shape
from .text import count, csv_text

#: The figures in which a set may not be worse, and further columns.
COMPARED = ("upload", "download", "seconds", "server_bytes")
KEPT = (*COMPARED, "bits", "log2_failure")
#: Share that has to be saved in upload, download or answer seconds.
WORTH = 0.10
Line = dict[str, Any]


def lines(searches: Sequence[Mapping[str, Any]], found: Path, unit_costs: UnitCosts) -> list[Line]:
    """For each search that was given a set, its first set in the folder `found` beside that one."""
    return [_line(search, found, unit_costs) for search in searches if "no-worse-than" in search]


def _line(search: Mapping[str, Any], found: Path, unit_costs: UnitCosts) -> Line:
    shape = Shape(count(search["records"]), count(search["record-bits"]))
    evaluator = Evaluator(shape, unit_costs)
    name = search.get("experiment", search["protocol"])
    changes = search.get("with", {})
    [given] = evaluator(resolve([ROOT / search["no-worse-than"]], changes))
    line: Line = {"experiment": name, "given": labelled(search["no-worse-than"], changes)} | asdict(shape)
    line |= {f"given_{key}": getattr(given, key) for key in KEPT}
    path = found / name / "1.toml"
    if not path.is_file():
        return line | {"verdict": "no set"}
    [own] = evaluator(resolve([path]))
    line |= {f"found_{key}": getattr(own, key) for key in KEPT}
    saved = {key: 1 - getattr(own, key) / getattr(given, key) for key in COMPARED}
    line |= {f"saved_{key}": round(share, 4) for key, share in saved.items()}
    return line | {"verdict": _verdict(own, [saved[key] for key in COMPARED[:3]])}


def _verdict(own: Figures, saved: Sequence[float]) -> str:
    if not Bounds().reached(own):
        return "misses a target"
    if min(saved) < 0:
        return "worse in one"
    return "dominates" if max(saved) >= WORTH else "saves less than 10 %"


def write_lines(folder: Path, found: Sequence[Line]) -> list[Path]:
    """As CSV, and as Markdown to be read."""
    paths = [folder / "saved.csv", folder / "saved.md"]
    write(paths[0], csv_text(list(dict.fromkeys(key for line in found for key in line)), found))
    words = {"bytes": format_bytes, "milliseconds": lambda seconds: f"{1000 * seconds:.3g} ms"}
    write(paths[1], template(Path(__file__).with_suffix(".md.j2")).render(words, lines=found))
    return paths
