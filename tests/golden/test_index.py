"""The page that leads to all results, and the papers' claims that it begins with."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pandas as pd
import pytest
from pirlab_figures.cli import main
from pirlab_figures.runs import headline
from places import EXPECTED

TABLE7 = "pirouette/table7/table-pirouette-table7"
LARGE = "2^25 x 2048 bit"


def table7(folder: Path, **changed: str) -> Path:
    """A drawn Table 7: a printed line and two of ours, a query of 36 bytes against one of 3600."""
    line = {"database": LARGE, "config": "threads=1", "server_time": "4", "offline_comm": "8"}
    line |= {"speedup": "", "marks": ""}
    lines = [
        line | {"protocol": "Respire", "status": "", "query_size": "15155"},
        line | {"protocol": "Respire", "status": "predicted", "query_size": "3600", "marks": "insecure predicted"},
        line | {"protocol": "Pirouette", "status": "ok", "query_size": "36", "server_time": "12"} | changed,
    ]
    path = folder / f"{TABLE7}.csv"
    path.parent.mkdir(parents=True, exist_ok=True)
    pd.DataFrame(lines).to_csv(path, index=False)
    return folder


def found(*folders: Path) -> pd.DataFrame:
    """The table of claims of drawn folders, by claim."""
    return headline.build(folders, EXPECTED).data.set_index("id")


def test_claims_are_computed_from_our_lines_of_the_tables(tmp_path):
    data = found(table7(tmp_path))
    assert data.loc["P1", "here_low"] == 100, "not the paper's own line"
    assert data.loc["P1", "ratio_low"] == pytest.approx(100 / 420)
    assert (data.loc["P4", "here_low"], data.loc["P4", "ratio_low"]) == (3, 1.5)


def test_a_measured_line_comes_before_a_predicted_one(tmp_path):
    path = table7(tmp_path) / f"{TABLE7}.csv"
    lines = pd.read_csv(path, dtype=str, keep_default_na=False)
    other = dict(lines.iloc[1]) | {"status": "ok", "query_size": "720", "marks": ""}
    pd.concat([lines, pd.DataFrame([other])]).to_csv(path, index=False)
    data = found(tmp_path)
    assert (data.loc["P1", "here_low"], data.loc["P1", "marks"]) == (20, "")


def test_marks_of_the_lines_stand_at_the_claim_but_sizes_are_exact(tmp_path):
    data = found(table7(tmp_path))
    assert (data.loc["P1", "marks"], data.loc["P4", "marks"]) == ("insecure", "insecure predicted")
    text = headline.build([tmp_path], EXPECTED).markdown()
    assert "| 100 x† |" in text and "| 3.00 x†ᶜ |" in text and "ᶜ predicted by the cost model" in text


def test_a_claim_without_a_line_says_so(tmp_path):
    table = headline.build([table7(tmp_path)], EXPECTED)
    lost = [row for row in table.rows if row.status]
    assert len(table.rows) == len(headline.CLAIMS) and len(lost) > 15
    assert {row.status for row in lost} == {"no row of this run has it"} and "here" not in lost[0].cells


def test_a_costed_line_is_a_second_line_of_its_claim(tmp_path):
    path = table7(tmp_path) / f"{TABLE7}.csv"
    assert headline.COSTED not in set(found(tmp_path)["of"])
    lines = pd.read_csv(path, dtype=str, keep_default_na=False)
    other = dict(lines.iloc[2]) | {"protocol": "T-Respire"}
    costed = other | {"status": "costed", "server_time": "600", "marks": "streamed"}
    pd.concat([lines, pd.DataFrame([other | {"server_time": "24"}, costed])]).to_csv(path, index=False)
    data = found(tmp_path).loc["P5"]
    assert data["of"].tolist() == ["", headline.COSTED] and data["here_low"].tolist() == [2, 50]
    assert data["marks"].tolist() == ["", "streamed"]
    claim = data["claim"].iloc[0]
    text = headline.build([tmp_path], EXPECTED).markdown()
    assert f"| {claim} | 8.1 x | 2.00 x |" in text and f"| {claim}: {headline.COSTED} | 8.1 x | 50.0 x¶ |" in text


def test_of_several_folders_the_last_with_the_table_counts(tmp_path):
    first, second = table7(tmp_path / "a"), table7(tmp_path / "b", query_size="360")
    assert found(first, second).loc["P1", "here_low"] == 10
    assert found(first, tmp_path).loc["P1", "here_low"] == 100


def test_ranges_are_compared_with_their_nearest_end():
    assert headline.ratio_text(0.5, 1.5) == "0.50 to 1.5" and headline.ratio_text(1, 1) == "1.0"
    assert headline.ratio_text(-0.5, 0.9) == "reversed to 0.90"


def test_every_claim_is_one_of_the_papers():
    papers = pd.read_csv(EXPECTED / "headline.csv", dtype=str)
    assert {claim["id"] for claim in headline.CLAIMS} <= set(papers["id"])
    assert len({claim["id"] for claim in headline.CLAIMS}) == len(headline.CLAIMS)


class Links(HTMLParser):
    """The targets of a page's links and pictures."""

    def __init__(self, page: str):
        super().__init__()
        self.found: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found += [value for key, value in attrs if key in ("href", "src")]


def test_the_page_leads_to_every_drawing_and_needs_no_network(tmp_path):
    figures = table7(tmp_path / "out")
    for name, title in (("pirouette/figure4/figure4", "Figure 4 <again>"), (TABLE7, "Table 7")):
        stem = figures / name
        stem.parent.mkdir(parents=True, exist_ok=True)
        for suffix in (".html", ".md", ".png", ".svg"):
            stem.with_name(stem.name + suffix).write_bytes(b"x")
        stem.with_name(f"{stem.name}.caption.rst").write_text(f"**{title}** What is seen.\n")
    words = ["index", "--figures", str(figures), "--expected", str(EXPECTED), "--report", "report.html"]
    words += ["--explorer", "explorer-run.html"]
    assert main([*words, "--out", str(figures / "index")]) == 0
    page = (figures / "index.html").read_text()
    links = [link for link in Links(page).found if not link.startswith("data:")]
    made_elsewhere = {"report.html", "explorer-run.html"}
    assert made_elsewhere < set(links) and f"{TABLE7}.csv" in links and "pirouette/figure4/figure4.svg" in links
    assert all((figures / link).is_file() for link in links if link not in made_elsewhere)
    assert "http" not in page and "<script" not in page and "width=device-width" in page
    assert page.count("data:image/png;base64,") == 1, "of the figures that were drawn"
    assert "Figure 4 &lt;again&gt;" in page and page.index("100 x") < page.index("<img")
    assert re.search(r"<h3>pirouette/table7</h3>", page)
    assert {path.name for path in figures.glob("headline.*")} == {
        f"headline{s}" for s in (".csv", ".md", ".tex", ".html", ".caption.rst")
    }


def test_folders_that_are_not_there_are_refused(tmp_path, capsys):
    words = ["index", "--figures", str(tmp_path / "none"), "--expected", str(EXPECTED)]
    assert main([*words, "--out", str(tmp_path / "index")]) == 2
    assert "no such file or folder" in capsys.readouterr().err
