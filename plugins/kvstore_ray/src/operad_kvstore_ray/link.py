"""A worker's way to one server, which may be killed and come back at any moment.

Messages are numbered, and kept until the server says that they outlast it. Where an answer shows that the
server lacks some, because it came back from an older picture, they are sent again in their order.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final, final

import ray
from ray.exceptions import (
    GetTimeoutError,
    ObjectLostError,
    RayActorError,
    RayTaskError,
)

import operad as od

_GRACE_S: Final = 30.0
_TRIES: Final = 20
_ARRIVAL_S: Final = 1.0
"""Messages that a question overtook are there after so many seconds, or the server has lost some."""


@final
class Link:
    """Messages to one server.

    Args:
        server: The actor.
        number: Of the server.
        rank: Of this worker.
        life: A name of this process; see `operad.kvstore.Server`.
        timeout_s: How long a server may wait for other workers, in seconds.

    Attributes:
        standing: What an earlier process with this rank has done at the server.
    """

    def __init__(self, server: Any, number: int, rank: int, life: str, timeout_s: float) -> None:
        self.server, self._number, self._rank, self._life = server, number, rank, life
        self._limit_s = timeout_s + _GRACE_S
        self._last = 0
        self._configured = 0
        self._kept: dict[int, tuple[Any, ...]] = {}
        self._under_way: deque[tuple[int, Any]] = deque()
        self.standing: Any = self.answer(server.join.remote(rank, life))

    def send(self, *message: Any) -> None:
        """Send a message; `settle` waits for it."""
        self._last += 1
        self._kept[self._last] = message
        self._under_way.append((self._last, self._handled(self._last)))

    def configure(self, what: str, value: Any) -> None:
        """Send a message that sets something, unless an earlier process with this rank has."""
        self._configured += 1
        if self._configured > self.standing.configured:
            self.send(what, value)

    def settle(self, most: int = 0) -> None:
        """Wait until the server has what was sent, but for some messages.

        Args:
            most: How many may still be under way.
        """
        while len(self._under_way) > most:
            number, reference = self._under_way.popleft()
            seen, durable = self.answer(reference)
            self._forget(durable)
            if seen < number:
                self._send_again(seen)

    def wait(self, clocks: Mapping[Any, int], barrier: int = 0, message: tuple[Any, ...] = ()) -> Any:
        """The values of keys after rounds, or nothing after a barrier; see `Server.wait`.

        The question is on its way while earlier messages are, and may carry one itself, so that one way to
        the server and back is enough for a push and its pull.
        """
        if message:
            self._last += 1
            self._kept[self._last] = message
        for _ in range(_TRIES):
            arrival_s = _ARRIVAL_S if self._under_way else 0.0
            reply = self.server.wait.remote(
                self._rank, self._last, dict(clocks), barrier, arrival_s, message, self._life
            )
            message = ()  # from now on it is one of those that are kept
            self.settle()
            seen, durable, values = self.answer(reply)
            self._forget(durable)
            if seen < self._last:
                self._send_again(seen)
            elif isinstance(values, list):
                with suppress(ObjectLostError):  # the server ended after it had answered
                    return ray.get(values[0], timeout=self._limit_s)
            else:
                return values or {}
        raise self._server_lost("it comes back and ends again")

    def answer(self, reference: Any) -> Any:
        """What a call gives.

        Raises:
            Exception: What the server raised.
            ServerLostError: It has ended and does not come back.
            StoreTimeoutError: It does not answer.
        """
        try:
            return ray.get(reference, timeout=self._limit_s)
        except RayTaskError as error:
            if isinstance(error.cause, Exception):
                raise error.cause from None
            raise
        except RayActorError as error:
            raise self._server_lost(str(error)) from None
        except GetTimeoutError:
            raise od.kvstore.StoreTimeoutError(
                f"server {self._number} did not answer rank {self._rank} for {self._limit_s:g} s"
            ) from None

    def _send_again(self, seen: int) -> None:
        for number in sorted(number for number in self._kept if number > seen):
            _, durable = self.answer(self._handled(number))
            self._forget(durable)

    def _handled(self, number: int) -> Any:
        return self.server.handle.remote(self._rank, number, self._kept[number], self._life)

    def _forget(self, durable: int) -> None:
        self._kept = {number: message for number, message in self._kept.items() if number > durable}

    def _server_lost(self, why: str) -> Exception:
        error: Exception = od.kvstore.ServerLostError(
            f"server {self._number} has ended and does not come back ({why}); "
            "start the job again from a checkpoint"
        )
        return error
