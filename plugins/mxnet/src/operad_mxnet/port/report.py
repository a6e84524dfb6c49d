"""Result of `operad port`, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, final

from operad.cli import Mark, Page
from operad_mxnet.port.names import Found, Standing, find
from operad_mxnet.port.programs import Uses

_PIP: Final = "pip install "


@final
@dataclass(frozen=True, slots=True)
class UsedName:
    """A name of MXNet that programs use.

    Attributes:
        name: Without `mxnet.`, and without what follows the first part that is absent.
        standing: here; missing, where a package has it that is not installed or does not work; absent, where
            MXNet has it and no package does; unknown, where MXNet 1.9.1 has no such public name.
        distribution: Which has it; empty where none does.
        why: What to do about a name that is not here; empty where it is.
        places: Where it is used, as FILE:LINE.
    """

    name: str
    standing: Standing
    distribution: str
    why: str
    places: list[str]


@final
@dataclass(frozen=True, slots=True)
class Unread:
    """A program that could not be read.

    Attributes:
        file: Its path.
        why: The reason.
    """

    file: str
    why: str


@final
@dataclass(frozen=True, slots=True)
class Port:
    """Result of `operad port`.

    Attributes:
        files: How many programs use MXNet.
        names: What they use, in the order of names, those that are here last.
        install: One command that installs the packages that have the missing names, or null.
        unread: Programs that could not be read.
    """

    files: int
    names: list[UsedName]
    install: str | None
    unread: list[Unread] = field(default_factory=list)

    def standing(self, *standings: Standing) -> list[UsedName]:
        """The names that stand so."""
        return [name for name in self.names if name.standing in standings]

    @property
    def exit_code(self) -> int:
        """1 where a name is not here, or a program could not be read."""
        return int(bool(self.unread or self.standing("missing", "absent", "unknown")))

    def show(self, page: Page) -> None:
        """Write the counts, what to install, what to do instead of absent names, and all names."""
        here = self.standing("here")
        page.pairs([("programs", str(self.files)), ("names", f"{len(self.names)}, {len(here)} of them here")])
        if self.install is not None:
            page.heading("Missing")
            _table(page, self.standing("missing"))
            page.code(self.install)
        for title, standing in (("Absent", "absent"), ("Unknown", "unknown")):
            if found := [name for name in self.names if name.standing == standing]:
                page.heading(title)
                _table(page, found)
        if self.unread:
            page.heading("Not read")
            page.table(("program", "why"), [(Mark(one.file, "bad"), one.why) for one in self.unread])
        if here:
            page.heading("Here")
            page.table(
                ("name", "uses", "provided by"),
                [(Mark(one.name, "name"), str(len(one.places)), one.distribution) for one in here],
            )


def report(found: Uses) -> Port:
    """Say of each name where it is here."""
    places: dict[Found, list[tuple[str, int]]] = {}
    for name, where in found.places.items():
        places.setdefault(find(name), []).extend(where)
    names = [
        UsedName(
            one.name, one.standing, one.distribution, one.why, [f"{f}:{line}" for f, line in sorted(where)]
        )
        for one, where in places.items()
    ]
    unread = [Unread(file, why) for file, why in found.unread.items()]
    return Port(found.files, sorted(names, key=_order), _install(names), unread)


def _order(name: UsedName) -> tuple[bool, str]:
    return name.standing == "here", name.name


def _install(names: Iterable[UsedName]) -> str | None:
    """One line for all; `pip install a`, `pip install b` become `pip install a b`."""
    lines = [one.why for one in names if one.standing == "missing" and one.why.startswith(_PIP)]
    words = dict.fromkeys(word for line in sorted(lines) for word in line.removeprefix(_PIP).split())
    return _PIP + " ".join(words) if words else None


def _table(page: Page, names: Iterable[UsedName]) -> None:
    rows = [(Mark(one.name, "bad"), _places(one.places), one.why) for one in names]
    page.table(("name", "used in", "what to do"), rows)


def _places(places: list[str]) -> str:
    more = len(places) - 1
    return places[0] if not more else f"{places[0]} and {more} more"
