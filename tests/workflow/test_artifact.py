"""Claims on the pages of artifacts: a line of each profile that has a number, and what has to be known of it."""

import committed
import pytest
from pirlab_figures.runs.headline import CLAIMS, COSTED, REMARKS
from pirlab_workflow import artifact, pages
from pirlab_workflow.files import ROOT
from places import read_csv


def page(paper: str) -> list[str]:
    return (ROOT / f"docs/artifact/{paper}.md").read_text().splitlines()


@pytest.mark.parametrize("run", committed.RUNS)
def test_each_number_of_a_claim_has_the_command_of_its_profile(run):
    known = [row for row in read_csv(ROOT / pages.claims_of(run)) if row["here_low"]]
    assert len(known) > 20
    for row in known:
        begins = f"| {row['id']}: {row['claim']}{': ' if row['of'] else ''}{row['of']} |"
        command = artifact.command(run, row["table"].rsplit("/", 1)[0])
        lines = [line for line in page(row["paper"]) if line.startswith(begins)]
        assert any(line.endswith(f"| {command} |") for line in lines), begins


def test_claims_that_compare_with_another_form_say_so():
    papers = {row["id"]: row["paper"] for run in committed.RUNS for row in read_csv(ROOT / pages.claims_of(run))}
    for ids, remark in REMARKS.items():
        (paper,) = {papers[id] for id in ids.split()}
        assert f"{', '.join(ids.split())}: {remark}" in page(paper)
    text = page("pirouette")
    costed = [line for line in text if f": {COSTED} |" in line]
    assert {line[2:4] for line in costed} == {claim["id"] for claim in CLAIMS if "costed" in claim} == {"P5", "P6"}
