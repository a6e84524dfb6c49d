"""Forks beside threads that push without waiting: each child works, and the parent goes on."""

from __future__ import annotations

import os
import threading

import pytest

from core.tests.engine.test_lifetime import in_child, pushing_without_waiting, works
from operad.engine import Engine, NaiveEngine, ThreadedEngine

pytestmark = [pytest.mark.slow, pytest.mark.serial]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize("kind", [ThreadedEngine, NaiveEngine])
def test_three_hundred_forks_beside_pushing_threads(kind: type[Engine]) -> None:
    engine, over = kind(), threading.Event()
    var = engine.new_variable()
    with pushing_without_waiting(engine, over), pushing_without_waiting(engine, over):
        for _ in range(300):
            assert in_child(lambda: works(engine, var)) == 0
    engine.stop()
