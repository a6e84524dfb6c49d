"""What to say when a name is not provided by anything installed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from operad import config
from operad.errors import OperatorNotFoundError
from operad.registry.first_party import providers
from operad.registry.plugins import Broken, kind_of

_LISTED: Final = 12
"""How many names are still worth listing in full."""


def not_found(
    group: str, name: str, installed: Iterable[str], unreadable: Sequence[Broken] = ()
) -> OperatorNotFoundError:
    """The error for a `name` that nothing in `group` provides, with the nearest way out.

    Args:
        unreadable: Distributions that may provide it, for all that can be known.
    """
    message = _nearest_way_out(group, name, installed)
    if config.settings().safe:
        message += "; OPERAD_SAFE=1 reads no plugin, unset it"
    if unreadable:
        owners = ", ".join(broken.distribution for broken in unreadable)
        message += f"; the metadata of {owners} cannot be read, see operad plugins --broken"
    return OperatorNotFoundError(message)


def _nearest_way_out(group: str, name: str, installed: Iterable[str]) -> str:
    kind, known = kind_of(group), providers(group)
    start = f"no installed plugin provides {kind} {name!r}"
    if name in known:
        return f"{start}; pip install {known[name]}"
    here = sorted(installed)
    close = _closest(name, [*here, *known])
    if close is None:
        listed = ", ".join(here) if len(here) <= _LISTED else f"{len(here)} names"
        return f"{start}; installed: {listed or 'none'}"
    hint = "" if close in here else f" (pip install {known[close]})"
    return f"{start}; did you mean {close!r}?{hint}"


def _closest(name: str, known: list[str]) -> str | None:
    import difflib  # noqa: PLC0415 - 2 ms that only a missing name costs

    # MXNet's names mix cases; a wrong case alone should always find its name. Installed ones win a tie.
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.lower(), candidate)
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return folded[close[0]] if close else None
