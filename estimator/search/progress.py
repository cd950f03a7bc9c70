"""Who is told how a search gets on."""

from typing import Protocol


class Progress(Protocol):
    """Told how much there is to do, of what is done, and when there turns out to be less to do."""

    def stage(self, name: str, total: int) -> None: ...

    def advance(self, count: int) -> None: ...

    def revise(self, total: int) -> None: ...


class Silent:
    """Tells nobody."""

    def stage(self, name: str, total: int) -> None:
        del name, total

    def advance(self, count: int) -> None:
        del count

    def revise(self, total: int) -> None:
        del total
