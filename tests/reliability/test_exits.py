"""Processes that end while the engine has work: they end, what can run has run, and nothing is torn."""

from __future__ import annotations

import pytest

from tests.reliability.processes import run

pytestmark = pytest.mark.slow

ROUNDS = 30
"""Exits of each program on each engine: 300 in all for each engine."""

HEAD = """
import sys, threading
import numpy as np
import operad as od
from operad import engine
from operad.context import cpu
e, ctx = engine.get(), cpu()
var = e.new_variable()
def say(text): return lambda _: print(text, flush=True)
"""

# What each program pushes last, where it pushes something that must run, says "ran".
PROGRAMS = {
    "a chain": "for _ in range(500): e.push_sync(lambda _: None, ctx, (), (var,))\n"
    "e.push_sync(say('ran'), ctx, (var,), ())",
    "independent work": "for _ in range(500): e.push_sync(lambda _: None, ctx, (), (e.new_variable(),))\n"
    "e.push_sync(say('ran'), ctx, (), (var,))",
    "a group": "group = engine.bulk(100); group.__enter__()\n"
    "for _ in range(50): e.push_sync(lambda _: None, ctx, (), (var,))\n"
    "e.push_sync(say('ran'), ctx, (), (var,))",
    "a failure": "e.push_sync(lambda _: 1 / 0, ctx, (), (var,), name='bad')\n"
    "e.push_sync(say('ran'), ctx, (), (e.new_variable(),))",
    "operations that push": "def push(n):\n"
    "    return lambda _: e.push_sync(push(n - 1) if n else say('ran'), ctx, (), (var,))\n"
    "e.push_sync(push(50), ctx, (), (var,))",
    "deletions": "for _ in range(50):\n"
    "    gone = e.new_variable(); e.push_sync(lambda _: None, ctx, (), (gone,))\n"
    "    e.delete_variable(lambda _: None, ctx, gone)\n"
    "e.push_sync(say('ran'), ctx, (), (var,))",
    "a thread that pushes": "started = threading.Event()\n"
    "def work():\n"
    "    while True: e.push_sync(lambda _: None, ctx, (), (var,)); started.set()\n"
    "threading.Thread(target=work, daemon=True).start(); started.wait()\n"
    "e.push_sync(say('ran'), ctx, (), (e.new_variable(),))",
    "a thread that waits": "started = threading.Event()\n"
    "def work():\n"
    "    while True: e.push_sync(lambda _: None, ctx, (), (var,)); e.wait_for_var(var); started.set()\n"
    "threading.Thread(target=work, daemon=True).start(); started.wait()\n"
    "e.push_sync(say('ran'), ctx, (), (e.new_variable(),))",
    "arrays": "x = od.nd.ones((64, 64))\n"
    "for _ in range(50): x = od.nd.dot(x, x) * 0.001\n"
    "e.push_sync(say('ran'), ctx, (x._chunk.var,), ())",
    "sys.exit": "for _ in range(500): e.push_sync(lambda _: None, ctx, (), (var,))\n"
    "e.push_sync(say('ran'), ctx, (var,), ())\nsys.exit(0)",
}


@pytest.mark.parametrize("engine", ["threaded", "naive"])
@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_an_exit_with_work_pending_runs_it_and_ends(program: str, engine: str) -> None:
    for _ in range(ROUNDS):
        done = run("-c", HEAD + program, engine=engine, num_threads=2)
        assert (done.returncode, done.stdout) == (0, "ran\n"), done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr == "" or "that nothing waited for: bad failed" in done.stderr
