"""Pirouette's Figure 4: offline communication, query size, response size and throughput against the number of records.

The paper's figure is an image. Of its own series what its text and Table 7 print is drawn, hollow and grey, and else
what was read off the image. Whatever is not drawn is named in the caption.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pirlab_estimator.sets import AS_PUBLISHED

from ..lib.marks import PREDICTED, marks_of, predicted
from ..lib.output import words
from ..lib.protocols import PAPERS, protocol, series_name
from ..lib.series import order, series_id
from ..lib.spec import spec
from ..lib.units import SCALES
from .sets import PAPER

RECORD_SIZES = (16, 64, 256, 2048)
RECORD_COUNTS = (2**18, 2**22, 2**25)
PAPER_SERIES = [protocol(name).in_print for name in PAPERS[PAPER]["drawn"]]


@dataclass(frozen=True)
class Metric:
    """One row of panels. column: of a record, in base units; digits: that the table shows."""

    key: str
    title: str
    unit: str
    column: str
    digits: int = 4

    @property
    def factor(self) -> float:
        """The size of the unit."""
        return SCALES[self.unit]

    def point(self, base: float) -> dict[str, Any]:
        """A value as the figure's data has it."""
        base_unit = "B/s" if self.unit.endswith("/s") else "B"
        value = base / self.factor
        return {"metric": self.key, "value": value, "unit": self.unit, "value_base": base, "base_unit": base_unit}


SPEC = spec("pirouette/figure4")
METRICS = tuple(Metric(**each) for each in SPEC.words["metrics"])
READ_OFF = "Figure 4, read off"
OF_RECORD = words("records record_bits status reason security_bits failure_log2 stale")
"""Columns of a record that are the same for all its points."""


@dataclass
class Figure4:
    """The data of the figure: `points` (tidy, one row a number or a reason), the rows, series in order."""

    points: pd.DataFrame
    records: list[dict[str, Any]]
    series: list[tuple[str, str, bool]]

    def ours(self) -> pd.DataFrame:
        """Our points that are numbers."""
        return self.points[(self.points["source"] != "paper") & self.points["value"].notna()]

    def paper(self) -> pd.DataFrame:
        """The paper's points."""
        return self.points[self.points["source"] == "paper"]


def paper_points(expected: pd.DataFrame) -> pd.DataFrame:
    """The points of the paper's own Figure 4 series that exist in Table 7 (one thread) and in the text.

    Throughput is Table 7's where printed, else database size over server time (binary units, as the paper's own are).
    """
    rows: list[dict[str, Any]] = []
    frame = expected[(expected["paper"] == PAPER) & expected["protocol"].isin(PAPER_SERIES)]
    frame = frame[frame["num_records"].notna() & frame["record_bits"].notna()]
    single = [
        t == "text" or "threads=1" in str(c).split(";") for t, c in zip(frame["table"], frame["config"], strict=True)
    ]
    frame = frame[pd.Series(single, index=frame.index, dtype=bool)]
    for row in frame.to_dict("records"):
        metric = next((m for m in METRICS if m.key == row["metric"]), None)
        table = str(row["table"])
        reference = str(row["note"]).split(" (")[0] if table == "text" else f"Table {table}"
        if table == "figure4":
            reference = READ_OFF
        base = {"set": row["protocol"], "records": int(row["num_records"]), "record_bits": int(row["record_bits"])}
        if metric is not None and pd.notna(row["bytes"]):
            rows.append(base | {"metric": metric.key, "value_base": row["bytes"], "reference": reference})
        elif row["metric"] == "server_time" and pd.notna(row["seconds"]):
            rate = base["records"] * base["record_bits"] / 8 / row["seconds"]
            note = f"{reference}: database size / {row['value']:g} {row['unit']}"
            rows.append(base | {"metric": "throughput", "value_base": rate, "reference": note, "derived": True})
    points = pd.DataFrame(
        rows, columns=["set", "records", "record_bits", "metric", "value_base", "reference", "derived"]
    )
    # Table 7 before the text before the graphic, printed before derived.
    place = [0 if r.startswith("Table") else 2 if r.startswith(READ_OFF) else 1 for r in points["reference"]]
    points["rank"] = points["derived"].eq(True).astype(int) * 3 + place
    points = points.sort_values(["set", "records", "record_bits", "metric", "rank"], kind="stable")
    return points.drop_duplicates(["set", "records", "record_bits", "metric"]).drop(columns=["rank", "derived"])


def build(every: Iterable[dict[str, Any]], expected: pd.DataFrame) -> Figure4:
    """The figure's data from the rows (`frame.rows`) of its experiment and the expected numbers."""
    records = shown(every)
    rows: list[dict[str, Any]] = []
    for record in records:
        source = PREDICTED if predicted(record) else "measured"
        same = {key: record[key] for key in OF_RECORD} | {"source": source, "parameters": record["set"]}
        same |= {"series": series_name(record["protocol"], record["series"]), "set": record["series"]}
        same |= {"marks": " ".join(marks_of(record)), "record_id": record["id"]}
        database = record["queries"] * record["records"] * record["record_bits"] / 8
        for metric in METRICS:
            point = same | metric.point(record[metric.column])
            if metric.key == "throughput" and record["status"] == "ok":
                point |= {"q1": database / record["answer_q3_s"] / metric.factor}
                point |= {"q3": database / record["answer_q1_s"] / metric.factor}
            rows.append(point)
    by_key = {metric.key: metric for metric in METRICS}
    for point in paper_points(expected).to_dict("records"):
        point |= {"source": "paper", "series": point["set"], "status": "printed"}
        rows.append(point | by_key[point["metric"]].point(point["value_base"]))
    points = pd.DataFrame(rows, columns=SPEC.keys)
    for column in ("value", "value_base", "q1", "q3"):
        points[column] = pd.to_numeric(points[column])
    return Figure4(points, records, order(records))


def drawn(owner: str, kind: str | None, record_bits: int) -> bool:
    """Whether a set is in the figure; of sized protocols at the paper's record sizes alone."""
    its = protocol(owner)
    if not its.sized:
        return True
    return record_bits in RECORD_SIZES and (its.published_series or kind not in AS_PUBLISHED)


def shown(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the figure with the series each belongs to: one thread, and of equal ones a record before a
    prediction, then the set that serves most databases of its series with the fewest changes and repetitions."""
    series = [
        record | {"series": series_id(record["protocol"], record["set"], record["source_kind"])}
        for record in rows
        if record["threads"] == 1 and drawn(record["protocol"], record["source_kind"], record["record_bits"])
    ]
    served: dict[tuple[str, str], set[tuple[int, int]]] = {}
    for record in series:
        served.setdefault(file_of(record), set()).add((record["records"], record["record_bits"]))

    def rank(record: dict[str, Any]) -> tuple[bool, int, int, int]:
        changes = record["set"].count("=")
        return predicted(record), -len(served[file_of(record)]), changes, record["repetitions"] or 0

    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for record in sorted(series, key=rank):
        found.setdefault((record["series"], record["records"], record["record_bits"]), record)
    return sorted(found.values(), key=lambda record: (record["records"], record["record_bits"], record["series"]))


def file_of(record: dict[str, Any]) -> tuple[str, str]:
    """A row's series, and the file that its set is in, whatever values a row changes."""
    return record["series"], record["set"].split(" with ")[0]


def shapes(data: Figure4) -> tuple[list[int], list[int]]:
    """Record sizes (columns of panels) and record counts (ticks): the paper's and any other that was measured."""
    sizes = sorted({*RECORD_SIZES, *(int(b) for b in data.points["record_bits"])})
    counts = sorted({*RECORD_COUNTS, *(int(n) for n in data.points["records"])})
    return sizes, counts
