"""Errors of stores that carry values between processes; every message names ranks, or the server."""

from __future__ import annotations

from collections.abc import Iterable

from operad.errors import OperadError


class StoreError(OperadError):
    """Failure of a call on a store between processes.

    Args:
        message: What happened.
        ranks: The workers that it is about.
    """

    def __init__(self, message: str, ranks: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.ranks = tuple(ranks)


class WorkerLostError(StoreError):
    """Loss of a worker that others wait for: it has ended, or been silent for too long."""


class ServerLostError(StoreError):
    """End of a server of values that does not come back."""


class StoreTimeoutError(StoreError, TimeoutError):
    """Wait for workers that did not do their part in time."""


class RoundMismatchError(StoreError):
    """Calls of workers that differ in kind, keys, shapes or types."""


class UpdateFailedError(StoreError):
    """Failure of an updater where the values are stored; the message carries its error."""
