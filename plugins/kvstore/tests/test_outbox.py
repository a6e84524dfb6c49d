"""Messages to a server that may be killed: every course of up to five, exhaustively."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Final

import pytest

from operad_kvstore.inbox import Inbox
from operad_kvstore.outbox import Outbox, Sending

FATES: Final = ("seen", "durable", "lost on the way", "lost after it came", "late", "twice")
"""What becomes of a sending. Where it is lost the server is killed, before it has the message or after."""
RANK: Final = 0


Answer = tuple[Sending, tuple[int, int] | None]
"""Seen and durable; None: there will be none."""


class Network:
    """A server that is killed as told, and the calls that are under way to it.

    Args:
        fates: Of the sendings, one after another; then all goes well.
    """

    def __init__(self, fates: Sequence[str]) -> None:
        self._fates: Iterator[str] = iter(fates)
        self.inbox, self.log = Inbox(), list[int]()
        self._picture: tuple[int, ...] = ()
        self._late: list[Answer] = []

    def arrives(self, sent: Sending, message: int | None = None) -> list[Answer]:
        """The answers that come before the next sending; without a message it is a question."""
        fate = next(self._fates, "seen")
        for _ in range({"lost on the way": 0, "twice": 2}.get(fate, 1)):
            if message is not None and self.inbox.take(RANK, sent.number):
                self.log.append(message)
        if fate.startswith("lost"):
            self._restart()
            return [(sent, None)]
        if fate == "durable":
            self._picture = tuple(self.log)
            self.inbox.outlast()
        receipt = self.inbox.receipt(RANK)
        answer = (sent, (receipt.seen, receipt.durable))
        if fate == "late":
            self._late.append(answer)
            return []
        return [answer, answer] if fate == "twice" else [answer]

    def late(self) -> list[Answer]:
        """Answers that were late so far, the youngest first."""
        come, self._late = self._late[::-1], []
        return come

    def _restart(self) -> None:
        self.inbox, self.log = Inbox(), list(self._picture)
        for number in range(1, len(self.log) + 1):
            assert self.inbox.take(RANK, number)
        self.inbox.outlast()


def deliver(messages: int, fates: Sequence[str], ahead: int) -> list[int]:
    """What the server has in the end, in its order.

    Args:
        messages: How many there are.
        fates: See `Network`.
        ahead: After so many sendings their answers are read.
    """
    outbox, network = Outbox(), Network(fates)
    for message in range(messages):
        outbox.put((message,))
    for _ in range(3 * (len(fates) + messages)):
        answers, question = network.late(), None
        for _ in range(ahead):
            if (sent := outbox.take()) is None:
                question = outbox.question()
                answers = network.arrives(question) + answers
                break
            answers = network.arrives(sent, outbox.message(sent.number)[0]) + answers
        for of, answer in answers:
            if answer is not None and outbox.answered(of, *answer) and of is question:
                return network.log
    raise AssertionError(f"no end with {fates}")


@pytest.mark.parametrize("ahead", [1, 2, 8])
@pytest.mark.parametrize("messages", [1, 2, 3, 4, 5])
def test_every_message_counts_once_and_in_order_whatever_becomes_of_the_answers(
    messages: int, ahead: int
) -> None:
    for fates in product(FATES, repeat=messages):
        assert deliver(messages, fates, ahead) == list(range(messages)), fates


def test_a_server_that_lacks_what_it_had_called_durable_is_told_of() -> None:
    outbox = Outbox()
    outbox.put(("push",))
    sent = outbox.take()
    assert sent is not None
    assert outbox.answered(sent, 1, 1)
    with pytest.raises(LookupError, match="has 0 messages of this worker, and had 1"):
        outbox.answered(outbox.question(), 0, 0)
