"""Descriptors of this process, by what they refer to: others may close theirs at any moment."""

from __future__ import annotations

import os
from contextlib import suppress


def opened() -> set[str]:
    """What is open: the path of a file, or a kind and a number, such as those of a socket."""
    found = set[str]()
    for number in os.listdir("/proc/self/fd"):
        with suppress(FileNotFoundError):  # that of the list itself
            found.add(os.readlink(f"/proc/self/fd/{number}"))
    return found
