"""The explorer: its rows, and the page in a browser."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pirlab_estimator.search.bounds import SEEDS, Network, Objective
from pirlab_estimator.search.evaluate import Figures, Shape
from pirlab_figures.cli import main
from pirlab_figures.lib.protocols import protocol_name

ROOT = Path(__file__).resolve().parents[2]
SWEEP = ROOT / "results/searched/fronts.csv"
#: Bytes that the page may have.
MOST_BYTES = 5_000_000
#: Milliseconds of the page's own time that a browser waits for charts.
PATIENCE = 20_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def page(sweep, tmp_path_factory) -> Path:
    prefix = tmp_path_factory.mktemp("explorer") / "explorer"
    options = ["--records", str(sweep / "records"), "--predictions", str(sweep / "predictions.json")]
    assert main(["explorer", *options, "--sweeps", str(SWEEP), "--out", str(prefix)]) == 0
    return prefix.with_suffix(".html")


def data(page: Path) -> dict:
    (found,) = re.findall(r"<script id=data type=application/json>(.*?)</script>", page.read_text(), re.DOTALL)
    document = json.loads(found)
    document["rows"] = [dict(zip(document["columns"], row, strict=True)) for row in document["rows"]]
    return document


def test_rows_are_those_of_records_and_searches(page, sweep):
    rows = data(page)["rows"]
    records = [json.loads(path.read_text()) for path in sorted((sweep / "records").rglob("*.json"))]
    right = {record["id"]: record for record in records if record["status"] == "ok" and record["kind"] == "protocol"}
    measured = {row["id"]: row for row in rows if row["status"] == "measured"}
    assert measured and set(measured) <= set(right), "no row of a record that failed"
    for name, row in measured.items():
        record = right[name]
        sent = [m for m in record["transcript"] if m["direction"] == "upload" and m["phase"] in ("query", "online")]
        assert row["upload"] * row["queries"] == pytest.approx(sum(m["payload_bytes"] for m in sent), rel=1e-5)
        assert row["command"].startswith("pirlab run ") and f"--records {row['records']} " in row["command"]
    with SWEEP.open(newline="") as file:
        found = [line for line in csv.DictReader(file) if not line["refused"]]
    assert sum(row["status"] == "searched" for row in rows) == len(found)


def test_the_page_is_whole(page):
    text = page.read_text()
    assert len(text) < MOST_BYTES
    markup = re.sub(r"<script type=module>.*?</script>", "", text, flags=re.DOTALL)
    assert "<script" in markup and not re.search(r"<[^>]*(src|href)=", markup), "nothing is loaded"


def soonest(records: int, bits: int, round_trip: float, megabits: float) -> list[str]:
    """What `pirlab-search --stateless --objective seconds` says first: protocols of the fronts, by their least time."""
    objective = Objective("seconds", Shape(records, bits), Network(round_trip, megabits * 125_000))
    best: dict[str, float] = {}
    with SWEEP.open(newline="") as file:
        for line in csv.DictReader(file):
            if (line["records"], line["record_bits"]) != (str(records), str(bits)) or float(line["hint_bytes"]) > SEEDS:
                continue
            numbers = {key: float(line[key]) for key in ("upload", "download", "hint_bytes", "seconds")}
            score = objective(Figures(**numbers, client_seconds=float(line["client_seconds"])))
            best[line["protocol"]] = min(score, best.get(line["protocol"], score))
    return sorted(best, key=lambda protocol: best[protocol])


@pytest.mark.verify
@pytest.mark.parametrize(("records", "bits"), [(1 << 20, 2048)])
def test_a_browser_answers_as_the_search_does(page, records, bits):
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    assert browser, f"install a browser (Debian: apt install chromium), one of {', '.join(BROWSERS)}"
    chosen = "stateless=true&round_trip=20&bandwidth=50&measured=false&predicted=false"
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--virtual-time-budget={PATIENCE}"]
    command += ["--enable-logging=stderr", "--dump-dom", f"{page.as_uri()}#shape={records}+{bits}&{chosen}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert not re.search(r"CONSOLE.*(Error|WARN)", done.stderr), done.stderr
    (said,) = re.findall(r'<p id="answer"[^>]*>(.*?)</p>', done.stdout, re.DOTALL)
    wanted = [protocol_name(protocol) for protocol in soonest(records, bits, 0.02, 50)]
    assert re.findall(r"([\w^()]+) \(found, searched\)", said) == wanted[:4]
    assert done.stdout.count("<path") > len(wanted), "points are drawn"
