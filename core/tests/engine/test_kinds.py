"""The two kinds of engine, and how one is chosen by name."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from operad import engine as engines
from operad.device import cpu
from operad.engine import NaiveEngine, ThreadedEngine
from operad.engine.engine import Engine

pytestmark = pytest.mark.usefixtures("own_engine")


@pytest.mark.parametrize(("name", "kind"), [("naive", NaiveEngine), ("threaded", ThreadedEngine)])
def test_set_chooses_by_name(name: str, kind: type) -> None:
    assert isinstance(engines.set(name), kind)
    assert isinstance(engines.get(), kind)


def test_the_environment_chooses_the_engine() -> None:
    program = "from operad.engine import get; print(type(get()).__name__)"
    for kind, name in (("naive", "NaiveEngine"), ("threaded", "ThreadedEngine")):
        environment = {**os.environ, "OPERAD_ENGINE": kind}
        done = subprocess.run(
            [sys.executable, "-c", program], env=environment, check=False, capture_output=True, text=True
        )
        assert done.stdout.strip() == name, done.stderr


@pytest.mark.parametrize(("kind", "is_threaded"), [(NaiveEngine, False), (ThreadedEngine, True)])
def test_a_kind_is_an_engine_with_its_runner(kind: type[Engine], is_threaded: bool) -> None:
    engine = kind(num_threads=2)
    ran: list[int] = []
    engine.push_sync(lambda rc: ran.append(rc.num_threads), cpu())
    engine.wait_for_all()
    assert engine._dispatcher.runner.is_threaded is is_threaded
    assert ran == [2]
    engine.stop()
