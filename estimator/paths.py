"""Paths in the repository. The package is installed editable, so its folder is inside it."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "results"


def pirlab_binary() -> Path:
    """The `pirlab` program: PIRLAB_BINARY if set, else the release build. It may not exist yet."""
    return Path(os.environ.get("PIRLAB_BINARY", ROOT / "impl" / "target" / "release" / "pirlab"))
