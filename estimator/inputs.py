"""Reads input files, and defines the error for those that cannot be used."""

from pathlib import Path

#: The largest file that is read, and the largest that a person may have written, in bytes.
MOST_BYTES, MOST_WRITTEN = 256 << 20, 1 << 20


class InputError(Exception):
    """Input that cannot be used, in one paragraph: file, key, what is wrong, remedy.

    The command line prints it and exits with code 2.
    """

    def __init__(self, file: Path | str, key: str | None, problem: str, remedy: str) -> None:
        where = f"{file}: {key}" if key else f"{file}"
        super().__init__(f"{where}: {problem.rstrip('.')}. {remedy}.")
        self.file = str(file)
        self.key = key


def read_text(path: Path, most: int = MOST_BYTES) -> str:
    """The text of a file, without a byte-order mark."""
    try:
        if path.stat().st_size > most:
            raise InputError(path, None, f"has more than {most >> 20} MiB", "Give a smaller file")
        return path.read_text(encoding="utf-8").removeprefix("\ufeff")
    except OSError as error:
        raise InputError(path, None, error.strerror or str(error), "Check the path and its permissions") from None
    except UnicodeDecodeError as error:
        problem = f"byte {error.start} is not UTF-8 text"
        raise InputError(path, None, problem, "Save the file as UTF-8 (not as UTF-16 or Latin-1)") from None
