"""A worker's way to one server, which may be killed and come back at any moment.

What is sent again, and when, is the matter of `operad.kvstore.Outbox`; Ray repeats no call, and a connection
nothing. Here its messages become requests on a connection, or calls of an actor where they are long or there
is no connection, and what becomes of those becomes answers, or their loss.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any, Final, final

import ray
from ray.exceptions import (
    ActorUnavailableError,
    GetTimeoutError,
    ObjectLostError,
    RayActorError,
    RayTaskError,
)

import operad as od
from operad_kvstore_ray.actor import ASK, HANDLE, LONG, RAISED
from operad_kvstore_ray.connection import Connection, Request
from operad_kvstore_ray.envelope import CONNECTION_BYTES, RAY_BYTES, opened_answer, sealed, whole

_GRACE_S: Final = 30.0
_PAUSE_S: Final = 0.1
_FIRST_WAIT_S: Final = 1.0
_LONGEST_WAIT_S: Final = 120.0
"""Between attempts to connect that fail; all calls are Ray's meanwhile. Each wait is twice the one before."""
_CREATION: Final = "an error raised in its creation task"
_LOST: Final = object()
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
        self._outbox: Any = od.kvstore.Outbox()
        self._under_way: deque[tuple[Any, Any]] = deque()
        self._configured = 0
        self._lost_since: float | None = None
        self._connection: Connection | None = None
        self._next_try, self._wait_s = 0.0, _FIRST_WAIT_S
        while (standing := self._answer(server.join.remote(rank, life))) is _LOST:
            pass
        self.standing: Any = standing

    def send(self, *message: Any) -> None:
        """Send a message; `settle` waits for it."""
        self._outbox.put(message)
        self._send_what_is_due()

    def configure(self, what: str, value: Any) -> None:
        """Send a message that sets something, unless an earlier process with this rank sent it."""
        self._configured += 1
        if self._configured > self.standing.configured:
            self.send(what, value)

    def settle(self, most: int = 0) -> None:
        """Wait until the server has all messages, except for the given number of them.

        Args:
            most: How many may still be under way.
        """
        while len(self._under_way) > most:
            sent, reference = self._under_way.popleft()
            self._hear(sent, reference)
            self._send_what_is_due()

    def wait(self, clocks: Mapping[Any, int], barrier: int = 0, message: tuple[Any, ...] = ()) -> Any:
        """Values of keys after rounds, or nothing after a barrier; see `Server.wait`.

        The question is on its way while earlier messages are, and may carry one itself, so that one way to
        the server and back is enough for a push and its pull.
        """
        is_long = False
        while True:
            values = self.ask(
                "values", *clocks, clocks=clocks, barrier=barrier, message=message, is_long=is_long
            )
            if values == LONG:
                message, is_long = (), True
                continue
            if not isinstance(values, list):
                return values
            try:
                return ray.get(values[0], timeout=self._limit_s)
            except ObjectLostError:  # the server ended after it had answered
                message = ()

    def ask(
        self,
        what: str,
        *arguments: Any,
        clocks: Mapping[Any, int] | None = None,
        barrier: int = 0,
        message: tuple[Any, ...] = (),
        is_long: bool = False,
    ) -> Any:
        """Answer of the server once it has all messages, rounds are complete, and a barrier is passed.

        Args:
            what: See `ServerActor.ask`.
            arguments: Likewise.
            clocks: The numbers of rounds by key.
            barrier: How often all live workers must have called one.
            message: One more, which goes with the question.
            is_long: Whether the answer is for Ray's object store.
        """
        if message:
            self._outbox.put(message)
            self._outbox.take()
        while True:
            sent = self._outbox.question()
            arrival_s = _ARRIVAL_S if self._under_way else 0.0
            waits_for = dict(clocks or {}), barrier, arrival_s
            call = self._rank, self._life, sent.number, waits_for, what, arguments
            is_plain = what == "values" and not is_long
            reference = self._begun(ASK, *call, message=message, is_plain=is_plain)
            message = ()  # from now on it is one of those that are kept
            self.settle()
            answer = self._hear(sent, reference)
            if answer is not None:
                return answer[0]
            self._send_what_is_due()

    def leave(self) -> bool:
        """Leave for good once the server has all messages; return whether this worker is the last one."""
        self._limit_s = _GRACE_S
        return bool(self.ask("leave"))

    def close(self) -> None:
        """Close the connection, when no call is under way."""
        if self._connection is not None:
            self._connection.close()

    def _send_what_is_due(self) -> None:
        while (sent := self._outbox.take()) is not None:
            message = self._outbox.message(sent.number)
            reference = self._begun(HANDLE, self._rank, sent.number, self._life, message=message)
            self._under_way.append((sent, reference))

    def _begun(self, tag: int, *call: Any, message: tuple[Any, ...], is_plain: bool = True) -> Any:
        """Call that is under way: a request, or Ray's reference."""
        connection = self._connected()
        most = RAY_BYTES if connection is None else CONNECTION_BYTES
        travelling = sealed(*call, message=message, is_plain=is_plain, most=most)
        if connection is not None and isinstance(travelling, list):
            return connection.send(tag, travelling)
        method = self.server.ask if tag == ASK else self.server.handle
        return method.remote(whole(travelling))

    def _connected(self) -> Connection | None:
        """A connection to the server as it is now."""
        if self._connection is not None and self._connection.is_open:
            return self._connection
        self._connection = None
        if time.monotonic() < self._next_try:
            return None
        if (address := self._answer(self.server.address.remote())) is not _LOST:
            try:
                self._connection = Connection(address, self._limit_s)
                self._wait_s = _FIRST_WAIT_S
            except OSError:  # it ended meanwhile, no way leads there, or strangers keep it busy
                self._next_try = time.monotonic() + self._wait_s
                self._wait_s = min(2 * self._wait_s, _LONGEST_WAIT_S)
        return self._connection

    def _received(self, request: Request) -> Any:
        """Content of the answer to a request; see `_answer`."""
        try:
            tag, content = request.connection.receive(request.number)
        except TimeoutError:
            raise self._silent() from None
        except OSError:
            return _LOST
        if tag != RAISED:
            return content
        return self._answer(self.server.raised.remote(int.from_bytes(content, "little")))

    def _hear(self, sent: Any, reference: Any) -> tuple[Any, ...] | None:
        """Data that comes with the answer to a sending; None if the server lacks messages or is silent."""
        answer = self._answer(reference)
        if answer is _LOST:
            return None
        seen, durable, *more = opened_answer(answer)
        try:
            has_all = self._outbox.answered(sent, seen, durable)
        except LookupError as error:
            raise self._server_lost(f"it came back without what it had written: {error}") from None
        return tuple(more) if has_all else None

    def _answer(self, reference: Any) -> Any:
        """Result of a call; `_LOST` if the server ended meanwhile and comes back.

        Args:
            reference: Ray's, or a request on a connection.

        Raises:
            Exception: The server raised it.
            ServerLostError: The server has ended and does not come back.
            StoreTimeoutError: The server does not answer.
        """
        if isinstance(reference, Request):
            return self._received(reference)
        try:
            answer = ray.get(reference, timeout=self._limit_s)
        except RayTaskError as error:
            if isinstance(error.cause, Exception):
                raise error.cause from None
            raise
        except ActorUnavailableError:
            self._lost_since = self._lost_since or time.monotonic()
            if time.monotonic() - self._lost_since > self._limit_s:
                raise self._server_lost(f"it was not back within {self._limit_s:g} s") from None
            time.sleep(_PAUSE_S)
            return _LOST
        except RayActorError as error:
            raise self._server_lost(_why(str(error))) from None
        except GetTimeoutError:
            raise self._silent() from None
        self._lost_since = None
        return answer

    def _silent(self) -> Exception:
        error: Exception = od.kvstore.StoreTimeoutError(
            f"server {self._number} did not answer rank {self._rank} for {self._limit_s:g} s"
        )
        return error

    def _server_lost(self, why: str) -> Exception:
        error: Exception = od.kvstore.ServerLostError(
            f"server {self._number} has ended and does not come back ({why}); "
            "start the job again from a checkpoint"
        )
        return error


def _why(said: str) -> str:
    """Ray's text about an actor's end; only its last line if the actor could not be created again."""
    return said.rstrip().splitlines()[-1] if _CREATION in said else said
