"""The gate that pushes of other threads pass."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from operad.engine.gate import Gate
from operad.engine.thread import OPERATION, OUTSIDE, STEP, local


class Passer(threading.Thread):
    """A thread that passes the gate, standing somewhere."""

    def __init__(self, gate: Gate, inside: int = OUTSIDE) -> None:
        super().__init__()
        self._gate, self._inside = gate, inside
        self.start()

    def run(self) -> None:
        local.state.inside = self._inside
        self._gate.pass_through()


@pytest.fixture
def closed() -> Iterator[Gate]:
    gate = Gate()
    assert gate.close()
    yield gate
    if gate._owner is not None:
        gate.open()


def until_held(gate: Gate, count: int) -> None:
    while len(gate._held) < count:
        pass


def test_an_open_gate_holds_nobody() -> None:
    Passer(Gate()).join()


def test_a_closed_gate_holds_threads_outside_until_it_is_opened(closed: Gate) -> None:
    passers = [Passer(closed) for _ in range(3)]
    until_held(closed, 3)
    assert all(passer.is_alive() for passer in passers)
    closed.open()
    for passer in passers:
        passer.join()


@pytest.mark.parametrize("inside", [OPERATION, STEP])
def test_whoever_is_inside_the_engine_always_passes(closed: Gate, inside: int) -> None:
    Passer(closed, inside).join()


def test_the_owner_passes_and_cannot_close_it_again(closed: Gate) -> None:
    closed.pass_through()
    assert not closed.close()


def test_the_next_one_closes_it_when_it_is_opened(closed: Gate) -> None:
    log: list[object] = []

    def close() -> None:
        log.append(closed.close())
        closed.open()

    thread = threading.Thread(target=close)
    thread.start()
    log.append("opening")
    closed.open()
    thread.join()
    assert log == ["opening", True]
