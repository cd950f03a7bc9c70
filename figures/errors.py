"""The one error the gallery raises for input it cannot use."""

from __future__ import annotations

from pathlib import Path


class InputError(Exception):
    """Input that cannot be used, told in one paragraph: file, key, what is wrong, remedy.

    The command line prints it and exits with code 2.
    """

    def __init__(self, file: Path | str, key: str | None, problem: str, remedy: str) -> None:
        where = f"{file}: {key}" if key else f"{file}"
        super().__init__(f"{where}: {problem}. {remedy}.")
        self.file = str(file)
        self.key = key
