"""Messages about a name that nothing installed provides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Any, Final

from operad import config
from operad.errors import OperatorNotFoundError
from operad.op import OperatorProperty
from operad.registry.packages import names_elsewhere, packages, standard_line, unwritten
from operad.registry.plugins import ATTRIBUTES, NAMESPACES, OPERATORS, Broken, kind_of

AbsentText = Callable[[str], "str | None"]

_LISTED: Final = 12
"""Number of names that are still worth listing in full."""
_UNWRITTEN: Final = "MXNet has it, and no package of operad does"
_OWNERS: Final = {OPERATORS: "nd.", NAMESPACES: "", "operad.iterators": "io."}
"""Beginning of MXNet's names of a group in the table of absent ones."""


def not_found(
    group: str,
    name: str,
    installed: Iterable[str],
    absent_text: AbsentText,
    unreadable: Sequence[Broken] = (),
) -> OperatorNotFoundError:
    """The error for a `name` that nothing in `group` provides, with the nearest way out.

    Args:
        absent_text: Gives why no package has a name of MXNet's.
        unreadable: Distributions that may provide it, for all that can be known.
    """
    here = sorted(installed)
    message = (
        f"no installed plugin provides {kind_of(group)} {name!r}; {_way_out(group, name, here, absent_text)}"
    )
    if config.settings().safe:
        message += "; OPERAD_SAFE=1 reads no plugin, unset it"
    if unreadable:
        owners = ", ".join(broken.distribution for broken in unreadable)
        message += f"; the metadata of {owners} cannot be read, see operad plugins --broken"
    return OperatorNotFoundError(message)


def _way_out(group: str, name: str, here: Collection[str], absent_text: AbsentText) -> str:
    known, future = packages(group), unwritten(group)
    if name in known:
        return known[name].install_line()
    added = packages(ATTRIBUTES) if group == OPERATORS else {}
    inner = name.replace("_contrib_", "contrib.", 1)
    modules = [module for module in ("nd", "sym") if f"{module}.{inner}" in added]
    if modules:
        line = added[f"{modules[0]}.{inner}"].install_line()
        return f"a plugin adds it to od.{' and od.'.join(modules)}: {line}"
    absent = absent_text(_OWNERS.get(group, "?.") + name)
    if absent is not None:
        return absent
    if name in future:
        return _UNWRITTEN
    elsewhere = names_elsewhere().get(name) if group == OPERATORS else None
    if elsewhere is not None:
        names = [f"{other!r}{_hint(group, other, here, absent_text)}" for other in elsewhere.split()]
        return f"MXNet's name for it is {' or '.join(names)}"
    if group == OPERATORS and any(cls.name == name for cls in _declared()):
        return f"a class of that name is declared in this process: operad.registry.register({name}) adds it"
    close = _closest(name, [*here, *known, *sorted(future)])
    if close is not None:
        return f"did you mean {close!r}?{_hint(group, close, here, absent_text)}"
    if group == OPERATORS and not here:
        return f"no operator is installed ({standard_line()})"
    listed = ", ".join(here) if len(here) <= _LISTED else f"{len(here)} names"
    return f"installed: {listed or 'none'}"


def _declared(base: Any = OperatorProperty) -> Iterator[type[OperatorProperty]]:
    for cls in base.__subclasses__():
        yield cls
        yield from _declared(cls)


def _hint(group: str, name: str, here: Collection[str], absent_text: AbsentText) -> str:
    """Return another name than the one that was asked for."""
    if name in here:
        return ""
    package = packages(group).get(name)
    if package is None:
        return f" ({absent_text(_OWNERS.get(group, '?.') + name) or _UNWRITTEN})"
    return f" ({package.install_line()})"


def _closest(name: str, known: list[str]) -> str | None:
    import difflib  # noqa: PLC0415 - 2 ms that only a missing name costs

    # MXNet's names mix cases; a wrong case alone should always find its name. Installed ones win a tie.
    folded: dict[str, str] = {}
    for candidate in known:
        folded.setdefault(candidate.lower(), candidate)
    close = difflib.get_close_matches(name.lower(), folded, n=1, cutoff=0.7)
    return folded[close[0]] if close else None
