"""The passes of installed plugins: found by entry point, and in an order that their facts allow."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

from operad import registry
from operad.errors import GraphError
from operad.graph.compilation import FORWARD, TRAINING, Pass
from operad.registry.kinds import KINDS, Kind

GROUP: Final = "operad.passes"


def installed_passes() -> dict[str, Pass]:
    """The passes of installed plugins, by entry-point name.

    One that cannot be imported, or is no `Pass`, is left out with a warning, and is a `Broken` record of its
    distribution: graphs bind without it.
    """
    found: dict[str, Pass] = {}
    for name, value, distribution in registry.loaded(GROUP):
        assert isinstance(value, Pass)
        found[name] = value._replace(distribution=distribution)
    return found


def _pass_of(candidate: object) -> Pass | None:
    return candidate if isinstance(candidate, Pass) and candidate.stage in {FORWARD, TRAINING} else None


KINDS[GROUP] = Kind(f"an operad.graph.Pass of stage {FORWARD!r} or {TRAINING!r}", _pass_of)


def passes_of(stage: str, known: Collection[str]) -> list[Pass]:
    """The passes of plugins in one stage, each after those that provide what it requires; else by name.

    Args:
        known: Facts that there are without plugins, which order nothing.

    Raises:
        GraphError: Passes require each other's facts.
    """
    waiting = [pass_ for _, pass_ in sorted(installed_passes().items()) if pass_.stage == stage]
    ordered: list[Pass] = []
    while waiting:
        following = next((pass_ for pass_ in waiting if not _awaits(pass_, waiting, known)), None)
        if following is None:
            names = ", ".join(pass_.title for pass_ in waiting)
            raise GraphError(f"passes require facts of each other, so none can be first: {names}")
        waiting.remove(following)
        ordered.append(following)
    return ordered


def _awaits(pass_: Pass, waiting: Sequence[Pass], known: Collection[str]) -> bool:
    """Return whether a pass that still waits provides what `pass_` requires."""
    needed = set(pass_.requires).difference(known, pass_.provides)
    return any(needed.intersection(other.provides) for other in waiting)
