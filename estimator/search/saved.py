"""What the searches of a sweep save beside the sets they were given: saved.csv and saved.md, a line a search."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..cost import UnitCosts
from ..cost.plan import format_bytes
from ..outputs import write
from ..paths import ROOT
from ..sets import labelled, resolve
from .bounds import Bounds
from .evaluate import Evaluator, Figures, Shape
from .text import count, csv_text

#: What a set may not be worse in, and what stands beside it.
COMPARED = ("upload", "download", "seconds", "server_bytes")
KEPT = (*COMPARED, "bits", "log2_failure")
#: Share that has to be saved in upload, download or answer seconds.
WORTH = 0.10
WORDS = """\
All predicted: bytes as described, seconds of one core by the unit costs, security by the fast model, failure of a
record for any data. Each cell: the given set, the found one, what it saves. A set dominates that is no worse in upload,
download and answer, saves 10 % in one of them, has 128 bits and fails at most with 2^-40; † marks a given set that does
not reach these two. What was measured of them is in `docs/results/inspire.md`."""
Line = dict[str, Any]


def lines(searches: Sequence[Mapping[str, Any]], found: Path, unit_costs: UnitCosts) -> list[Line]:
    """Of each search that was given a set, its first set in the folder `found` beside that."""
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
    write(paths[1], _markdown(found))
    return paths


def _markdown(found: Sequence[Line]) -> str:
    won = sum(line["verdict"] == "dominates" for line in found)
    header = ["Search", "Upload", "Download", "Answer", "Server", "Bits", "log2 failure", "Verdict"]
    rows = [header, ["---"] * len(header), *(_cells(line) for line in found)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    return f"# Found sets beside published ones\n\n{won} of {len(found)} dominate. {WORDS}\n\n{table}\n"


def _cells(line: Line) -> list[str]:
    def milliseconds(seconds: float) -> str:
        return f"{1000 * seconds:.3g} ms"

    def pair(key: str, words: Any) -> str:
        given = words(line[f"given_{key}"])
        if f"found_{key}" not in line:
            return given
        return f"{given} → {words(line[f'found_{key}'])} ({-100 * line[f'saved_{key}']:+.0f} %)".replace("-0 %", "+0 %")

    measures = [pair(key, milliseconds if key == "seconds" else format_bytes) for key in COMPARED]
    bits = _target(line, "bits", lambda bits: bits >= 128)
    return [line["experiment"], *measures, bits, _target(line, "log2_failure", lambda f: f <= -40), line["verdict"]]


def _target(line: Line, key: str, reached: Any) -> str:
    given = f"{line[f'given_{key}']:.1f}{'' if reached(line[f'given_{key}']) else '†'}"
    return f"{given} → {line[f'found_{key}']:.1f}" if f"found_{key}" in line else given
