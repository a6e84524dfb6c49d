"""Errors of stores that carry values between processes; every message names ranks, or the server."""

from __future__ import annotations

from collections.abc import Iterable

from operad.errors import OperadError


class StoreError(OperadError, RuntimeError):
    """A store between processes cannot do what was asked.

    Args:
        message: What happened.
        ranks: The workers that it is about.
    """

    def __init__(self, message: str, ranks: Iterable[int] = ()) -> None:
        super().__init__(message)
        self.ranks = tuple(ranks)


class WorkerLostError(StoreError):
    """A worker that others wait for has ended, or has not been heard of for too long."""


class ServerLostError(StoreError):
    """A server of values has ended and does not come back."""


class StoreTimeoutError(StoreError, TimeoutError):
    """Workers that are waited for did not do their part in time."""


class RoundMismatchError(StoreError):
    """Workers called different things, or calls with different keys, shapes or types."""


class UpdateFailedError(StoreError):
    """An updater failed where the values are stored; the message carries its error."""
