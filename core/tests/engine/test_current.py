"""The engine of the process."""

from __future__ import annotations

import os
import subprocess
import sys
import threading

import pytest

from operad import engine as engines
from operad.context import cpu
from operad.engine import NaiveEngine, ThreadedEngine, current
from operad.errors import EngineError

CTX = cpu()


@pytest.fixture(autouse=True)
def _own_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave the process's engine as it was."""
    before = current._engine
    monkeypatch.setattr(current, "_engine", None)
    yield
    if current._engine is not None and current._engine is not before:
        current._engine.stop()


def test_get_makes_one_engine_for_all_threads() -> None:
    seen, start = [], threading.Barrier(4)

    def look() -> None:
        start.wait()
        seen.append(engines.get())

    threads = [threading.Thread(target=look) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({id(engine) for engine in seen}) == 1


@pytest.mark.parametrize(("name", "kind"), [("naive", NaiveEngine), ("threaded", ThreadedEngine)])
def test_set_chooses_by_name(name: str, kind: type) -> None:
    assert isinstance(engines.set(name), kind)
    assert isinstance(engines.get(), kind)


def test_set_takes_an_instance() -> None:
    engine = NaiveEngine()
    engines.set(engine)
    assert engines.get() is engine


def test_set_finishes_the_work_of_the_engine_before() -> None:
    ran = []
    old = engines.set("threaded")
    for _ in range(50):
        old.push_sync(ran.append, CTX)
    engines.set("naive")
    assert len(ran) == 50


def test_an_unknown_engine_is_refused_and_named() -> None:
    with pytest.raises(EngineError, match="unknown engine 'fast'; expected one of naive, threaded"):
        engines.set("fast")


def test_after_stop_the_next_get_makes_another_engine() -> None:
    first = engines.get()
    engines.stop()
    assert engines.get() is not first


def test_the_environment_chooses_the_engine() -> None:
    program = "from operad.engine import get; print(type(get()).__name__)"
    for kind, name in (("naive", "NaiveEngine"), ("threaded", "ThreadedEngine")):
        environment = {**os.environ, "OPERAD_ENGINE": kind}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, check=False, capture_output=True, text=True
        )
        assert done.stdout.strip() == name, done.stderr


def test_importing_the_engine_imports_neither_threadpoolctl_nor_logging() -> None:
    program = (
        "import sys, numpy; before = set(sys.modules); import operad.engine;"
        "print({'threadpoolctl', 'logging', 'concurrent.futures', 'asyncio'} & (set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.stdout.strip() == "set()", done.stderr
