"""The inputs of a drawing: the files that the command line names, each read when a drawing first needs it."""

import sys
from argparse import Namespace
from functools import cached_property
from pathlib import Path

import pandas as pd
from pirlab_estimator.records import InputError

from . import frame, paper, primitive


class Inputs:
    """The arguments of the command line, and the contents of their files."""

    def __init__(self, arguments: Namespace):
        self.arguments = arguments

    @property
    def inputs(self) -> "Inputs":
        """The inputs themselves, for drawings that need an argument of the command line."""
        return self

    @cached_property
    def folders(self) -> list[Path]:
        """The folders of records; one that does not exist is warned of, and holds none."""
        for folder in self.arguments.records:
            if not folder.exists():
                print(f"warning: {folder}: no such folder of records; nothing was measured", file=sys.stderr)
        return list(self.arguments.records)

    @cached_property
    def records(self) -> pd.DataFrame:
        """Records of protocols: of the experiment asked for, else all."""
        frames = [frame.load_records(folder, self.arguments.experiment) for folder in self.folders]
        return frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)

    @cached_property
    def predictions(self) -> pd.DataFrame:
        """All predictions, the last of a set and shape."""
        found = [frame.load_predictions(path) for path in self.arguments.predictions or [None]]
        both = found[0] if len(found) == 1 else pd.concat(found, ignore_index=True)
        return both.drop_duplicates(frame.SHAPE_KEYS, keep="last").reset_index(drop=True)

    @cached_property
    def stale(self) -> dict[str, str]:
        """The dates of stale records."""
        return frame.load_stale(self.arguments.stale)

    @cached_property
    def joined(self) -> pd.DataFrame:
        """Records with their predictions."""
        return frame.join(self.records, self.predictions, self.stale)

    @cached_property
    def described(self) -> frame.Described:
        """The binary's descriptions of the rows."""
        return frame.load_descriptions(self.arguments.descriptions)

    @cached_property
    def measured(self) -> list[paper.Measured]:
        """Our rows, measured or not, as a paper's tables show them."""
        return paper.rows(self.joined, self.predictions, self.described)

    @cached_property
    def primitives(self) -> list[primitive.Primitive]:
        """Records of primitives, of the experiment asked for."""
        found = primitive.load(self.folders, self.arguments.predictions or (), self.stale)
        wanted = self.arguments.experiment
        return [record for record in found if wanted in (None, record.document.get("experiment"))]

    @property
    def folder(self) -> Path:
        """The folder of the papers' numbers, which the drawing requires."""
        if self.arguments.expected is None:
            raise InputError("--expected", None, "a paper's tables and figures need its numbers", "Give --expected DIR")
        return Path(self.arguments.expected)

    @cached_property
    def expected(self) -> pd.DataFrame:
        """The papers' numbers, which the drawing requires."""
        return frame.load_expected(self.folder)

    @property
    def contradictions(self) -> pd.DataFrame:
        """The places where the InsPIRe paper contradicts itself."""
        return paper.load_contradictions(self.folder)

    @property
    def sweep(self) -> Path:
        """The CSV of a sweep."""
        return Path(self.arguments.sweep)

    @cached_property
    def expected_if_given(self) -> pd.DataFrame:
        """The papers' numbers; empty if no folder is named."""
        return frame.load_expected(self.arguments.expected)
