"""The explorer: its rows, and the page in a browser."""

from __future__ import annotations

import csv
import html
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from pirlab_estimator.search import cli
from pirlab_estimator.search.bounds import SEEDS, Network, Objective
from pirlab_estimator.search.evaluate import Figures, Shape
from pirlab_figures.cli import main
from pirlab_figures.lib.protocols import PROTOCOLS, protocol_name

ROOT = Path(__file__).resolve().parents[2]
SWEEP = ROOT / "results/searched/fronts.csv"
COMMITTED = ROOT / "results/searched/committed.csv"
#: Bytes that the page may have.
MOST_BYTES = 5_000_000
#: Milliseconds of the page's own time that a browser waits for charts.
PATIENCE = 20_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")


@pytest.fixture(scope="module")
def page(sweep, tmp_path_factory) -> Path:
    """The explorer of a sweep, with one of its rows as a request of eight queries, and on two threads, too."""
    prefix = tmp_path_factory.mktemp("explorer") / "explorer"
    records = prefix.parent / "records"
    shutil.copytree(sweep / "records", records)
    one = next(path for path in sorted(records.rglob("*.json")) if json.loads(path.read_text())["status"] == "ok")
    for key, count in (("queries", 8), ("threads", 2)):
        record = json.loads(one.read_text()) | {key: count, "id": f"several {key}", "row": f"several-{key}"}
        one.with_name(f"several-{key}.json").write_text(json.dumps(record))
    options = ["--records", str(records), "--predictions", str(sweep / "predictions.json")]
    assert main(["explorer", *options, "--sweeps", str(SWEEP), str(COMMITTED), "--out", str(prefix)]) == 0
    return prefix.with_suffix(".html")


def data(page: Path) -> dict:
    (found,) = re.findall(r"<script id=data type=application/json>(.*?)</script>", page.read_text(), re.DOTALL)
    document = json.loads(found)
    document["rows"] = [dict(zip(document["columns"], row, strict=True)) for row in document["rows"]]
    return document


def test_rows_are_those_of_records_and_searches(page):
    rows = data(page)["rows"]
    records = [json.loads(path.read_text()) for path in sorted((page.parent / "records").rglob("*.json"))]
    right = {record["id"]: record for record in records if record["status"] == "ok" and record["kind"] == "protocol"}
    measured = {row["id"]: row for row in rows if row["status"] == "measured"}
    assert measured and set(measured) <= set(right), "no row of a record that failed"
    for name, row in measured.items():
        record = right[name]
        sent = [m for m in record["transcript"] if m["direction"] == "upload" and m["phase"] in ("query", "online")]
        assert row["upload"] == pytest.approx(sum(m["payload_bytes"] for m in sent), rel=1e-5)
        assert row["command"].startswith("pirlab run ") and f"--records {row['records']} " in row["command"]
    found = [line for line in lines(SWEEP) if not line["refused"]]
    assert sum(row["status"] == "searched" for row in rows) == len(found)
    served = [line for line in lines(COMMITTED) if not line["refused"]]
    shown = {
        (row["parameters"], row["records"], row["record_bits"]): row for row in rows if row["status"] == "predicted"
    }
    for line in served:
        row = shown[f"params/{line['name']}.toml", int(line["records"]), int(line["record_bits"])]
        assert (ROOT / row["parameters"]).is_file() and row["parameters"] in row["command"]
        assert row["upload"] == int(line["upload"])


def lines(sweep: Path) -> list[dict[str, str]]:
    with sweep.open(newline="") as file:
        return list(csv.DictReader(file))


def test_every_protocol_stands_at_a_dozen_databases_or_the_reason_why_not(page):
    document = data(page)
    shapes = {(line["records"], line["record_bits"]) for line in lines(COMMITTED)}
    assert len(shapes) >= 12
    protocols = {path.parent.name for path in (ROOT / "params").glob("*/*.toml")} - {"searched"}
    assert {line["protocol"] for line in lines(COMMITTED)} >= {p for p in protocols if p in PROTOCOLS}
    for protocol in {line["protocol"] for line in lines(COMMITTED)}:
        served = {
            (n["records"], n["record_bits"]) for n in lines(COMMITTED) if n["protocol"] == protocol and not n["refused"]
        }
        why = {(str(r), str(b)): reason for name, r, b, reason in document["refused"] if name == protocol}
        assert served | set(why) == shapes and not served & set(why) and all(why.values()), protocol
        assert len(served) >= 6, protocol


def test_the_page_is_whole(page):
    text = page.read_text()
    assert len(text) < MOST_BYTES
    markup = re.sub(r"<script type=module>.*?</script>", "", text, flags=re.DOTALL)
    assert "<script" in markup and not re.search(r"<[^>]*(src|href)=", markup), "nothing is loaded"


def fastest(records: int, bits: int, round_trip: float, megabits: float) -> dict[str, float]:
    """Protocols by their least time, of what is found and committed, as `pirlab-search --stateless` ranks them."""
    objective = Objective("seconds", Shape(records, bits), Network(round_trip, megabits * 125_000))
    best: dict[str, float] = {}
    for line in [*lines(SWEEP), *lines(COMMITTED)]:
        other = (line["records"], line["record_bits"]) != (str(records), str(bits))
        if other or line["refused"] or float(line["hint_bytes"]) > SEEDS:
            continue
        numbers = {key: float(line[key]) for key in ("upload", "download", "hint_bytes", "seconds", "client_seconds")}
        score = objective(Figures(**numbers))
        best[line["protocol"]] = min(score, best.get(line["protocol"], score))
    return dict(sorted(best.items(), key=lambda item: item[1]))


QUESTION = (1 << 20, 2048, 0.02, 50)


@pytest.mark.slow
@pytest.mark.verify
def test_the_search_answers_as_the_explorer_does(tmp_path, monkeypatch, binary):
    """The named question: all protocols that the search ranks, in its order and with its seconds."""
    records, bits, round_trip, megabits = QUESTION
    words = ["--protocol", "all", "--records", str(records), "--record-bits", str(bits), "--stateless", "--dry-run"]
    words += ["--network", f"{1000 * round_trip:g}ms,{megabits}Mbit", "--csv", str(tmp_path / "ranked.csv")]
    assert cli.main(words) == 0
    ranked = {r["protocol"]: float(r["score"]) for r in lines(tmp_path / "ranked.csv") if r["score"]}
    assert ranked.pop("download") > max(ranked.values())
    assert list(ranked) == list(fastest(*QUESTION)) and len(ranked) >= 6
    assert list(ranked.values()) == pytest.approx(list(fastest(*QUESTION).values()), rel=1e-3)


def dom(page: Path, state: str) -> str:
    """The page as a browser shows it after its program ran; no error on its console."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    assert browser, f"install a browser (Debian: apt install chromium), one of {', '.join(BROWSERS)}"
    command = [browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--virtual-time-budget={PATIENCE}"]
    command += ["--enable-logging=stderr", "--dump-dom", f"{page.as_uri()}#{state}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    assert not re.search(r"(WARNING|ERROR):CONSOLE|Uncaught", done.stderr), done.stderr
    return done.stdout


@pytest.mark.verify
def test_a_browser_answers_as_the_search_does(page):
    records, bits, round_trip, megabits = QUESTION
    state = f"shape={records}+{bits}&stateless=true&round_trip={1000 * round_trip:g}&bandwidth={megabits}"
    shown = dom(page, f"{state}&measured=false")
    (said,) = re.findall(r'<div id="answer"[^>]*>(.*?)</div>', shown, re.DOTALL)
    wanted = [protocol_name(protocol) for protocol in fastest(*QUESTION)]
    assert re.findall(r"([\w^()]+) \([^()]*, (?:searched|predicted)\) [\d.]+ m?s", said) == wanted[:4]
    assert said.count("<p>") == said.count("Fastest") == 1, "one machine predicted all of it"
    assert shown.count("<path") > len(wanted), "points are drawn"
    assert re.search(r'<p id="refused"[^>]*>[^<]*DEPIR \(no set', shown)


def count(page: Path, state: str) -> int:
    """How many rows the page says that it shows."""
    (found,) = re.findall(r'id="more"[^>]*>(?:The first \d+ of )?(\d+) rows', dom(page, state))
    return int(found)


@pytest.mark.verify
def test_filters_keep_what_they_say(page):
    rows = data(page)["rows"]
    single = [row for row in rows if row["queries"] == row["threads"] == 1]
    assert len(single) < len(rows), "the page hides requests of several queries, and several threads"
    secure = [r for r in single if (r["security"] or 0) >= 128 and (r["failure"] is None or r["failure"] <= -40)]
    assert len(secure) < len(single), "the page hides sets whose security is unknown"
    assert count(page, "download_all=false") == len(secure)
    short = [r for r in secure if r["record_bits"] <= 8 * 256 and r["records"] >= 2**18 and (r["hint"] or 0) <= 2**20]
    assert 0 < len(short) < len(secure)
    assert count(page, f"download_all=false&most_bytes=256&least_records={2**18}&most_hint=1") == len(short)


@pytest.mark.verify
def test_an_address_opens_a_point_with_its_command(page):
    row = next(row for row in data(page)["rows"] if row["status"] == "measured")
    shown = dom(page, f"open={row['id']}&batches=true&parallel=true&least_security=0&most_failure=")
    (detail,) = re.findall(r'<section id="detail"[^>]*>(.*?)</section>', shown, re.DOTALL)
    assert f"<code>{html.escape(row['command'], quote=False)}</code>" in detail and row["id"] in detail


@pytest.mark.verify
def test_machines_have_answers_of_their_own(page):
    found: dict[tuple[int, int], set[str]] = {}
    for row in data(page)["rows"]:
        found.setdefault((row["records"], row["record_bits"]), set()).add(row["machine"])
    (records, bits), machines = max(found.items(), key=lambda item: len(item[1]))
    assert len(machines) > 1
    shown = dom(page, f"shape={records}+{bits}&least_security=0&most_failure=")
    (said,) = re.findall(r'<div id="answer"[^>]*>(.*?)</div>', shown, re.DOTALL)
    assert said.count("Fastest") == len(machines) and all(f"({machine})</p>" in said for machine in machines)
