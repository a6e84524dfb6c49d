"""A million random operations, pushed by eight threads at once, give what a serial run gives."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import pytest

from core.tests.engine.programs import CTX, on_engine, random_program, serial
from operad.engine import Engine, NaiveEngine, ThreadedEngine, Var

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]

PUSHERS = 8
ROUNDS = 25
SIZE = 5_000
"""Operations of one thread in one round: 8 * 25 * 5,000 are a million."""

ENGINES = {
    "naive": NaiveEngine,
    "threaded-1": lambda: ThreadedEngine(1),
    "threaded-4": lambda: ThreadedEngine(4),
}


class Shared:
    """Counters that all pushers add to, two at a time; what overlaps or is lost is seen in the sums."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._vars = [engine.new_variable() for _ in range(4)]
        self.counts = [0] * 4

    def add(self, seed: int, number: int) -> list[int]:
        """Add one to two random counters, `number` times; how often each was chosen."""
        source, chosen = random.Random(seed), [0] * 4
        for _ in range(number):
            pair = source.sample(range(4), 2)
            written: list[Var] = [self._vars[i] for i in pair]
            self._engine.push_sync(lambda _, pair=pair: self._add_one(pair), CTX, (), written)
            for i in pair:
                chosen[i] += 1
        return chosen

    def _add_one(self, pair: list[int]) -> None:
        before = [self.counts[i] for i in pair]
        for i, count in zip(pair, before, strict=True):
            self.counts[i] = count + 1


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_a_million_operations_of_eight_pushers_equal_a_serial_run(make) -> None:
    engine: Engine = make()
    shared = Shared(engine)
    chosen: list[list[int]] = []

    def push(seed: int) -> None:
        program = random_program(seed, SIZE - SIZE // 5)
        assert on_engine(engine, program) == serial(program)
        chosen.append(shared.add(seed, SIZE // 5))

    for turn in range(ROUNDS):
        with ThreadPoolExecutor(PUSHERS) as pushers:
            list(pushers.map(push, range(turn * PUSHERS, (turn + 1) * PUSHERS)))
    engine.wait_for_all()
    assert shared.counts == [sum(each) for each in zip(*chosen, strict=True)]
    engine.stop()
