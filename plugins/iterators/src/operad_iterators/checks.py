"""Checks that several iterators make of their arguments."""

from __future__ import annotations

import numpy as np


def is_count(given: object, least: int = 1) -> bool:
    """Whether `given` is an integer, and `least` or more."""
    return isinstance(given, (int, np.integer)) and not isinstance(given, bool) and int(given) >= least
