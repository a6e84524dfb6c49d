"""Checks that several iterators make of their arguments, and of each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from operad.errors import FormatError, UnsupportedError


def is_count(given: object, least: int = 1) -> bool:
    """Return whether `given` is an integer of at least `least`."""
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool) and int(given) >= least


def state_of(iterator: Any) -> Any:
    """State of another iterator.

    Raises:
        UnsupportedError: It cannot tell.
    """
    if not hasattr(iterator, "state_dict"):
        raise UnsupportedError(
            f"{type(iterator).__name__} has no state_dict, so training on it cannot be resumed; "
            "define state_dict and load_state_dict"
        )
    return iterator.state_dict()


def own_state(who: str, state: Any, *names: str) -> Mapping[str, Any]:
    """A state that has `names`.

    Raises:
        FormatError: One is missing.
    """
    found: Mapping[str, Any] = state if isinstance(state, Mapping) else {}
    if any(name not in found for name in names):
        raise FormatError(
            f"{who}: expected a state with {', '.join(names)}, as state_dict of a {who} gives, "
            f"got {state!r:.60}"
        )
    return found
