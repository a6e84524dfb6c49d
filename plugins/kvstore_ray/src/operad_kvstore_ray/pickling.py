"""Pickling of what programs define themselves, such as an updater in a script; Ray's own."""

from __future__ import annotations

from typing import Any, Final

from ray import cloudpickle

_CLOUDPICKLE: Final[Any] = cloudpickle  # without annotations


def pickled(value: object) -> bytes:
    """A value as bytes for another process of the job."""
    content: bytes = _CLOUDPICKLE.dumps(value)
    return content


def unpickled(content: bytes) -> Any:
    """What `pickled` was given; only of bytes that a process of the job has made."""
    return _CLOUDPICKLE.loads(content)
