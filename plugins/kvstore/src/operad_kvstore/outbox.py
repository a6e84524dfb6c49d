"""Messages that a worker has sent to one server, and must send again if one is missing.

The only place where messages are repeated; engines carry each message once at most. The server takes in
messages in the order of their numbers, refuses one before which another is missing, and ignores one that it
has (`Inbox`). So the worker does what Go-Back-N does: it sends on without waiting for answers, and where an
answer shows that a message is missing it goes back there and sends from there on again. Messages are kept
until the server says that they outlast its crash, since a server that comes back has no others.

Answers may come late, in any order, twice or never. What makes that harmless:

* A message is forgotten only at a number that some answer called durable. That never becomes untrue, however
  late the answer is.
* Whether the server has all messages is said by the answer to a question that was asked after the last one
  was sent, and by no other.
* A loss needs no note: the next answer shows what is missing.
* Going back begins another pass. Answers to earlier passes do not start a further one, as the messages that
  they miss are on their way again.
"""

from __future__ import annotations

from typing import Any, NamedTuple, final


@final
class Sending(NamedTuple):
    """Sending of a message, or asking of a question, at one time.

    Attributes:
        number: Of the message; of a question, that of the last message before it.
        sweep: The pass that it belongs to.
        durable: Up to which number messages were known to outlast a crash when it was sent.
    """

    number: int
    sweep: int
    durable: int


@final
class Outbox:
    """Messages to one server, numbered from 1 on. It neither sends nor waits.

    Attributes:
        last: The number of the last message.
    """

    def __init__(self) -> None:
        self.last = 0
        self._kept: dict[int, tuple[Any, ...]] = {}
        self._next = 1
        self._sweep = 0
        self._durable = 0

    def put(self, message: tuple[Any, ...]) -> None:
        """Add a message."""
        self.last += 1
        self._kept[self.last] = message

    def take(self) -> Sending | None:
        """The message to be sent next, which counts as sent; None if all are on their way."""
        if self._next > self.last:
            return None
        self._next += 1
        return Sending(self._next - 1, self._sweep, self._durable)

    def question(self) -> Sending:
        """A question that is asked after the last message."""
        return Sending(self.last, self._sweep, self._durable)

    def message(self, number: int) -> tuple[Any, ...]:
        """A message that is not forgotten."""
        return self._kept[number]

    def answered(self, sent: Sending, seen: int, durable: int) -> bool:
        """Take note of an answer.

        Args:
            sent: What it answers.
            seen: Up to which number the server had the messages.
            durable: Up to which number they outlast its crash.
        Returns:
            Whether the server had all up to `sent.number`.
        Raises:
            LookupError: It lacks messages that it had called durable; so they are lost.
        """
        # invariant: an answer is younger than what it answers, so it knows what was durable then.
        if seen < sent.durable:
            raise LookupError(f"it has {seen} messages of this worker, and had {sent.durable} in its file")
        for number in range(self._durable + 1, durable + 1):
            self._kept.pop(number, None)
        self._durable = max(self._durable, durable)
        self._next = max(self._next, self._durable + 1)
        if seen >= sent.number:
            return True
        if sent.sweep == self._sweep:
            self._sweep += 1
            self._next = max(seen, self._durable) + 1
        return False
