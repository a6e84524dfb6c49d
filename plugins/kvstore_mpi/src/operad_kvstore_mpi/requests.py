"""Requests to MPI: waiting for them, and the meaning of their errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final, final

import numpy as np

import operad as od

_SPIN_S: Final = 0.0005
_NAP_S: Final = 0.0001

Array = np.ndarray[Any, Any]


@final
class Requests:
    """Waits for requests of a communicator.

    Args:
        comm: Its errors raise.
        timeout_s: How long to wait for others, in seconds.

    Attributes:
        broken: What ended the communicator's use, if anything has.
        lost: Ranks of workers that have ended.
    """

    def __init__(self, comm: Any, timeout_s: float) -> None:
        self._comm, self._timeout_s = comm, timeout_s
        self.broken: Exception | None = None
        self.lost: list[int] = []
        self._in_flight: list[Any] = []  # of a wait that failed: MPI may still write there

    def begin(self, call: Callable[..., Any], *args: Any, **named: Any) -> Any:
        """Ask MPI for something; gives the request."""
        try:
            return call(*args, **named)
        except Exception as error:
            raise self._translated(error, "a message") from error

    def settle(
        self, requests: Sequence[Any], what: str, memory: Sequence[Array], of: Sequence[int] | None = None
    ) -> None:
        """Wait for requests.

        Args:
            requests: What MPI was asked to do.
            what: For messages.
            memory: What MPI reads and writes meanwhile; kept alive if the wait fails.
            of: The rank that each request is about, if it is about one.
        """
        start = time.monotonic()
        waiting = list(enumerate(requests))
        try:
            while waiting := [(i, request) for i, request in waiting if not request.Test()]:
                waited_s = time.monotonic() - start
                if waited_s > self._timeout_s:
                    raise self._late(sorted({of[i] for i, _ in waiting} if of else ()), what)
                time.sleep(_NAP_S if waited_s > _SPIN_S else 0)
        except Exception as error:
            self._in_flight.append((requests, memory))
            if isinstance(error, od.kvstore.StoreError):
                raise
            raise self._translated(error, what) from error

    def _late(self, ranks: Sequence[int], what: str) -> Exception:
        names = f"rank{'s' if len(ranks) != 1 else ''} {', '.join(map(str, ranks))}" if ranks else "others"
        return self.break_off(
            od.kvstore.StoreTimeoutError(
                f"rank {self._comm.Get_rank()} waited {self._timeout_s:g} s for {names} in {what}", ranks
            )
        )

    def _translated(self, error: Exception, what: str) -> Exception:
        """Store error for an error of MPI; under `--with-ft ulfm` that is the loss of a worker."""
        try:
            self._comm.Ack_failed(self._comm.Get_size())
            self.lost = sorted(self._comm.Get_failed().Translate_ranks(None, self._comm.Get_group()))
        except Exception:  # noqa: BLE001 - an MPI library without that; then the error says what is known
            self.lost = []
        if self.lost:
            names = ", ".join(map(str, self.lost))
            return self.break_off(
                od.kvstore.WorkerLostError(f"rank {names} has ended; lost in {what}", self.lost)
            )
        return self.break_off(od.kvstore.StoreError(f"MPI failed in {what}: {error}"))

    def break_off(self, error: Exception) -> Exception:
        """Let every later call raise `error`: the workers no longer know what the others do."""
        self.broken = error
        return error

    def check(self) -> None:
        """Raise a StoreError if the communicator cannot be used any more."""
        if self.broken is not None:
            raise od.kvstore.StoreError(
                f"the store cannot be used any more: {self.broken}; start the job again",
                getattr(self.broken, "ranks", ()),
            ) from self.broken
