"""The audit of security in the workflow: it measures nothing, and is drawn once."""

import pytest
from pirlab_workflow.files import ROOT
from sandbox import Sandbox

pytestmark = pytest.mark.slow


def test_the_audit_is_made_and_not_made_again(tmp_path, binary):
    box = Sandbox(tmp_path, binary)
    output = box.reproduce("--only=security/audit")
    assert "security only: nothing to" in output and "0 rows in 0 groups to measure" in output
    folder = box.figures / "security/audit"
    names = [f"security-curves.{end}" for end in ("pdf", "svg", "png", "csv")]
    names += [f"table-security-{what}.{end}" for what in ("sets", "limits") for end in ("csv", "md", "tex", "html")]
    for name in names:
        assert (folder / name).stat().st_size > 0, name
    text = (folder / "table-security-sets.md").read_text()
    # Piano rests on a block cipher: no lattice, nothing to audit.
    files = [path for path in (ROOT / "params").rglob("*.toml") if path.parent.name != "piano"]
    sets = [str(path.relative_to(ROOT / "params").with_suffix("")) for path in files]
    assert sets and all(name in text for name in sets), "every set of params/ is in it"
    box.reproduce("--only=security/audit")
    log = (box.results / "logs/snakemake.log").read_text()
    assert "rule audit:" not in log and "rule draw_security:" not in log
