"""The two kinds of engine."""

from __future__ import annotations

from typing import final

from operad.config import settings
from operad.engine.budget import ThreadBudget
from operad.engine.engine import Engine
from operad.engine.naive import NaiveRunner
from operad.engine.threaded import ThreadedRunner


@final
class ThreadedEngine(Engine):
    """Runs operations on worker threads, in parallel where their variables allow it.

    Args:
        num_threads: Size of the thread budget, and of the pool of CPU workers; default: the setting.
    """

    def __init__(self, num_threads: int | None = None) -> None:
        budget = ThreadBudget(num_threads or settings().num_threads)
        super().__init__(ThreadedRunner(budget), budget)


@final
class NaiveEngine(Engine):
    """Runs operations at push, in the pushing thread.

    Args:
        num_threads: Size of the thread budget; default: the setting.
    """

    def __init__(self, num_threads: int | None = None) -> None:
        budget = ThreadBudget(num_threads or settings().num_threads)
        super().__init__(NaiveRunner(budget), budget)
