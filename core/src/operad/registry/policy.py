"""Choice of plugins that may be used, and of one provider where several have a name.

Nothing is chosen silently: where two distributions provide one name, the user says which
(`OPERAD_PREFER`) or using the name is an error that tells the ways out.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from operad import config
from operad.errors import BlockedPluginError, ConfigError, DuplicateOperatorError
from operad.registry.plugins import Distribution, Entry, normalized


def block_reason(owner: Distribution) -> str | None:
    """Why the user's settings switch `owner` off; None where they do not."""
    if config.settings().safe:
        return "OPERAD_SAFE=1 loads no plugin; unset it"
    if normalized(owner.name) in map(normalized, config.settings().block):
        return f"OPERAD_BLOCK switches {owner.name} off; take it out of that list"
    return None


def usable(candidates: Sequence[Entry]) -> list[Entry]:
    """The candidates that are not switched off, less those that another is preferred to."""
    allowed = [entry for entry in candidates if block_reason(entry.owner) is None]
    if len(allowed) < 2:
        return allowed
    present = {normalized(entry.owner.name) for entry in allowed}
    beaten = {worse for better, worse in _preferences() if better in present}
    # Preferences that run in a circle decide nothing.
    return [entry for entry in allowed if normalized(entry.owner.name) not in beaten] or allowed


def choose(candidates: Sequence[Entry]) -> Entry:
    """The one of `candidates`, all of one name, that is meant.

    Raises:
        BlockedPluginError: The user's settings switch off all that provide it.
        DuplicateOperatorError: Several provide it and `OPERAD_PREFER` does not decide.
    """
    best = usable(candidates)
    if len(best) == 1:
        return best[0]
    if not best:
        owner = candidates[0].owner
        raise BlockedPluginError(f"{candidates[0].title} is provided by {owner}, but {block_reason(owner)}")
    owners = sorted((entry.owner for entry in best), key=_first_party_first)
    wish = ",".join(f"{owners[0].name}>{other.name}" for other in owners[1:])
    raise DuplicateOperatorError(
        f"{best[0].title} is provided by {' and '.join(map(str, owners))}; "
        f'uninstall one, or set OPERAD_PREFER="{wish}"'
    )


@cache
def range_problem(owner: Distribution, core_version: str | None) -> str | None:
    """Why `owner` does not go with the installed core; None where it does.

    A core that runs from a source tree has no version to compare; every range is taken to hold it.
    """
    from packaging.markers import UndefinedComparison, UndefinedEnvironmentName  # noqa: PLC0415 - 15 ms
    from packaging.requirements import InvalidRequirement, Requirement  # noqa: PLC0415 - 15 ms

    if core_version is None:
        return None
    for line in owner.requires:
        # Cheap first: most requirements are not for the core.
        if not re.match(r"operad(?![-\w.])", line, re.IGNORECASE):
            continue
        try:
            wanted = Requirement(line)
            applies = wanted.marker is None or wanted.marker.evaluate({"extra": ""})
        except (InvalidRequirement, UndefinedComparison, UndefinedEnvironmentName):
            return f"its requirement {line!r} cannot be read; report it to its author"
        if applies and not wanted.specifier.contains(core_version, prereleases=True):
            return (
                f"it needs operad{wanted.specifier}, and operad {core_version} is installed; "
                f'pip install --upgrade {owner.name}, or pip install "operad{wanted.specifier}"'
            )
    return None


def _first_party_first(owner: Distribution) -> tuple[bool, str]:
    return (not owner.name.startswith("operad-"), owner.name)


def _preferences() -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for wish in config.settings().prefer:
        names = [normalized(name.strip()) for name in wish.split(">")]
        if len(names) < 2 or not all(names):
            raise ConfigError(f'OPERAD_PREFER has {wish!r}, expected "a>b" with two distributions\' names')
        pairs += [(better, worse) for i, better in enumerate(names) for worse in names[i + 1 :]]
    return pairs
