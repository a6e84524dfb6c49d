"""An engine whose test decides which block runs next, and when: no thread but the test's own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from operad import engine
from operad.engine import RunContext, ThreadedEngine, back_pressure
from operad.engine.budget import ThreadBudget
from operad.engine.dispatch import Dispatcher, Runner
from operad.engine.operation import OFFERED, TAKEN, OprBlock
from operad.engine.quiescence import Quiescence
from operad.engine.thread import OPERATION, OUTSIDE, ThreadState, local


class Stepped(Runner):
    """A runner whose test decides when an offered block runs.

    Attributes:
        offered: Blocks that are ready.
        num_offered: How many there were so far: what was handed over, and did not run in its caller.
        others: Blocks that are in the hands of other threads.
        pick: Which of the ready blocks runs next, by its number.
    """

    is_threaded = True

    def __init__(self, budget: ThreadBudget | None = None) -> None:
        super().__init__(budget or ThreadBudget(1))
        self.offered: list[OprBlock] = []
        self.num_offered = 0
        self.pick: Callable[[int], int] = lambda _: 0
        self.others: list[OprBlock] = []
        self._running: list[OprBlock] = []

    def offer(self, block: OprBlock) -> None:
        self.offered.append(block)
        self.num_offered += 1

    def step(self) -> None:
        block = self.offered.pop(self.pick(len(self.offered)))
        assert block.state == OFFERED
        block.state = TAKEN
        self._running.append(block)
        inside, local.state.inside = local.state.inside, OPERATION
        try:
            self._dispatcher.run(block, RunContext(block.ctx), False)
        finally:
            local.state.inside = inside
            self._running.pop()

    @contextmanager
    def as_another_thread(self) -> Iterator[None]:
        """What runs inside is none of what the waiting thread runs."""
        running, thread = self._running, local.state
        self._running, local.state = [], ThreadState()
        yield
        self._running, local.state = running, thread

    def in_hand(self, is_own: bool) -> list[OprBlock]:
        return list(self._running if is_own else self.others)

    def renew(self) -> None: ...

    def after(self) -> None: ...

    def help(self, is_over: Callable[[], bool]) -> None:
        while self.offered and local.state.inside == OUTSIDE and not is_over():
            self.step()

    def heal(self) -> None: ...

    def end(self) -> None: ...


class SteppedEngine(ThreadedEngine):  # type: ignore[misc]  # final, but for tests
    """A threaded engine with a `Stepped` runner, whose limited waits pass no time but its own.

    Attributes:
        now_s: Its clock.
        waits: How long each limited wait might last, in seconds.
        num_done_in_a_wait: Blocks that run while a limited wait lasts; too few, and it is in vain.
        block_s: How long each of these takes.
    """

    runner_class = Stepped

    def __init__(self) -> None:
        super().__init__(1)
        self.now_s = self.block_s = 0.0
        self.waits: list[float] = []
        self.num_done_in_a_wait = 0

    @property
    def runner(self) -> Stepped:
        runner = self._dispatcher.runner
        assert isinstance(runner, Stepped)
        return runner

    def _work_on(self, dispatcher: Dispatcher, quiescence: Quiescence) -> None:
        super()._work_on(dispatcher, quiescence)
        wait_until = Dispatcher.wait_until.__get__(dispatcher)

        def wait(is_over: Callable[[], bool], timeout_s: float | None = None) -> bool:
            if timeout_s is None or dispatcher.engine is not self or local.state is not self._state:
                return wait_until(is_over, timeout_s)
            self.waits.append(timeout_s)
            with self.runner.as_another_thread():
                for _ in range(self.num_done_in_a_wait):
                    if self.runner.offered and not is_over():
                        self.runner.step()
                        self.now_s += self.block_s
            if not is_over():
                self.now_s += timeout_s
            return is_over()

        self._state = local.state
        dispatcher.wait_until = wait  # type: ignore[method-assign]


@pytest.fixture
def stepped(monkeypatch: pytest.MonkeyPatch) -> Iterator[SteppedEngine]:
    """The process's engine is a stepped one."""
    made = SteppedEngine()
    monkeypatch.setattr(back_pressure, "perf_counter", lambda: made.now_s)
    engine.set(made)
    yield made
    engine.set("threaded")
