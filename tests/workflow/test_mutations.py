"""The list of faults that the tests find: each can still be put in, and names tests that exist."""

import mutations
import pytest
from pirlab_workflow.files import ROOT


@pytest.mark.parametrize("name", mutations.MUTATIONS)
def test_a_mutation_still_fits_its_file(name):
    mutation = mutations.MUTATIONS[name]
    text = (ROOT / mutation["file"]).read_text()
    assert mutations.mutated(text, mutation) != text
    if mutation["tests"][0] != "cargo":
        assert all((ROOT / place.split("::")[0]).exists() for place in mutation["tests"])
    with pytest.raises(ValueError, match="does not have"):
        mutations.mutated("", mutation)
