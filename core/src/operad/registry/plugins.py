"""Plain records of what the registry knows about plugins.

Named tuples rather than dataclasses, because `import operad` pays for making each class: 0.2 ms
instead of 1 ms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final, Literal, NamedTuple, final

OPERATORS: Final = "operad.operators"
KERNELS: Final = "operad.kernels"
NAMESPACES: Final = "operad.namespaces"
ATTRIBUTES: Final = "operad.attributes"
HOOKS: Final = "operad.hooks"

PluginState = Literal["ok", "blocked", "incompatible", "broken"]


def normalized(distribution: str) -> str:
    """A distribution's name in the one form that pip compares.

    Source: PEP 503, "Normalized Names".
    """
    return re.sub(r"[-_.]+", "-", distribution).lower()


def kind_of(group: str) -> str:
    """The word for one entry of `group` in messages: `operad.operators` -> `operator`."""
    word = group.removeprefix("operad.")
    return word.removesuffix("es") if word.endswith("sses") else word.removesuffix("s")


@final
class Distribution(NamedTuple):
    """An installed distribution that has at least one `operad.*` entry point.

    Attributes:
        name: As its metadata spells it, for example `operad-elemwise`.
        version: As its metadata spells it.
        requires: Its `Requires-Dist` lines.
    """

    name: str
    version: str
    requires: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} {self.version}"


@final
class Entry(NamedTuple):
    """One entry point: `name = value` in the section `group` of `owner`."""

    group: str
    name: str
    value: str
    owner: Distribution

    @property
    def title(self) -> str:
        """Name for messages, for example `operator 'tanh'`."""
        return f"{kind_of(self.group)} {self.name!r}"


@final
class OperatorRecord(NamedTuple):
    """An operator that can be asked for, known without importing anything.

    Attributes:
        name: What it is asked for by.
        canonical: The name its provider declares first in meaning; differs from `name` in an alias.
        distribution: Who provides it.
        version: Of that distribution; empty for an operator registered in this process.
        value: The entry point's value, `module:attribute`.
        rivals: Other distributions that provide the name; where there are any, using it is an error.
    """

    name: str
    canonical: str
    distribution: str
    version: str
    value: str
    rivals: tuple[str, ...] = ()

    @property
    def is_alias(self) -> bool:
        """Return whether this is a second name of an operator."""
        return self.name != self.canonical


@final
class Broken(NamedTuple):
    """A distribution, or one entry point of it, that was tried and failed.

    Attributes:
        distribution: Whose it is.
        traceback: Of the plugin's own frames, or of reading its metadata; empty where nothing was
            raised.
        entry: The entry point; None where the distribution's metadata cannot be read.
        reason: What went wrong, in one line.
        place: File and line of its own code that raised, where it is developed and not installed; "": it is
            installed, or nothing of its own raised.
    """

    distribution: str
    traceback: str
    entry: Entry | None
    reason: str
    place: str = ""


@final
class PluginRecord(NamedTuple):
    """A distribution and how it fares.

    Attributes:
        name: Of the distribution.
        version: Of the distribution.
        groups: Names of its entry points, by group.
        state: `broken` is known only of what was loaded; see `load_all`.
        reason: Why the state is not `ok`.
        broken: The entry points that failed; all of them where the plugin is for another core.
    """

    name: str
    version: str
    groups: Mapping[str, tuple[str, ...]]
    state: PluginState
    reason: str | None = None
    broken: tuple[Broken, ...] = ()
