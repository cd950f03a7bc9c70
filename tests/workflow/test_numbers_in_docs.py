"""Numbers on written pages: README's are those of docs/results/, and predicted seconds name their unit costs."""

import re

import pytest
from pirlab_estimator.paths import ROOT
from pirlab_figures.lib.marks import EVERY, PREDICTED, SYMBOLS

README = (ROOT / "README.md").read_text(encoding="utf-8")
MARKS = "".join(mark.symbol for mark in EVERY) + "≠≈"
#: For each protocol of README's table: page and table of docs/results/, and cells of the row there.
ROWS = {
    "YPIR": ("inspire", "inspire-table2", "1 GB", "here, signed-7byte (ours)"),
    "InsPIRe_0": ("inspire", "inspire-table2", "1 GB", "here, published-unpacked"),
    "InsPIRe^(2)": ("inspire", "inspire-table8", "1 GB, 1024 bit", "here, published with rows_factor=4"),
    "InsPIRe": ("inspire", "inspire-table3", "1 GB", "here, repaired", "N/t = 32768, t = 8, 1 answer"),
    "Respire": ("pirouette", "pirouette-table7", "2^22 x 2048 bit", "here, Respire secure-1gb", "1"),
    "Pirouette": ("pirouette", "pirouette-table7", "2^22 x 2048 bit", "here, Pirouette 2^22", "1"),
}
#: The columns of a total of bytes and of the server's time in these tables, with what makes KB and seconds of them.
TOTALS = {"Total (KiB)": 1, "Query (B)": 1 / 1024, "Response (B)": 1 / 1024}
TIMES = {"Server time (ms)": 1e-3, "Time (s)": 1}


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def table(page: str, name: str) -> list[dict[str, str]]:
    """The rows of a table of a page of docs/results/, as profile laptop has it."""
    text = (ROOT / f"docs/results/{page}.md").read_text(encoding="utf-8")
    (section,) = re.findall(rf"^## `[^`]*`, {name}, profile laptop$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    header, *rows = [cells(line) for line in section.splitlines() if line.startswith("| ")]
    return [dict(zip(header, row)) for row in rows]


def number(row: dict[str, str], columns: dict[str, float]) -> tuple[float, str]:
    """The sum of these columns of a row, and the mark of a prediction if one of them has it."""
    found = {name: row[name] for name in columns if name in row}
    mark = SYMBOLS[PREDICTED] if any(SYMBOLS[PREDICTED] in cell for cell in found.values()) else ""
    return sum(float(cell.rstrip(MARKS)) * columns[name] for name, cell in found.items()), mark


LINES = {cells(line)[1]: cells(line) for line in README.splitlines() if line.startswith("| 1 GB of ")}


@pytest.mark.parametrize("protocol", ROWS)
def test_readme_has_the_numbers_of_the_results(protocol):
    page, name, *wanted = ROWS[protocol]
    rows = [row for row in table(page, name) if {protocol, *wanted} <= {cell.rstrip(MARKS) for cell in row.values()}]
    assert len(rows) == 1, f"{page}.md, {name}: {len(rows)} rows are {wanted} of {protocol}"
    for said, columns, unit in ((LINES[protocol][3], TOTALS, "KB"), (LINES[protocol][5], TIMES, "s")):
        value, mark = number(rows[0], columns)
        digits = len(said.split()[0].partition(".")[2])
        right = f"{value:.{digits}f} {unit}{mark}"
        assert said == right, f"README, line of {protocol}: write {right!r} for {said!r}, as {name} of {page}.md has it"


def test_readme_has_no_other_line_in_that_table():
    assert [*LINES] == [*ROWS]


PREDICTS = re.compile(r"cost model|unit\scosts|predicted seconds|predicted to take")
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if (ROOT / "params" / page.stem).is_dir()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_predicted_seconds_name_their_unit_costs(page):
    """Each section that quotes seconds of the cost model names the file of unit costs, which names the machine."""
    for section in re.split(r"^#", page.read_text(encoding="utf-8"), flags=re.MULTILINE):
        if PREDICTS.search(section) and re.search(r"\d m?s\b|\| \d", section):
            assert re.search(r"unit_costs\.json|calibration-\w+\.json", section), section.splitlines()[0]
