"""Compiled loops: when they are taken, and that nothing is imported before."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from operad.context import cpu
from operad_sdk import CompiledLoops, KernelCall, loops, unary

MODULE = """
from operad_sdk import loop

@loop
def halve(array):
    for i in range(len(array)):
        array[i] /= 2

@loop
def halve_twice(array):
    halve(array)
    halve(array)
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "some_loops.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "some_loops", raising=False)
    loops._imported.cache_clear()
    return "some_loops"


def test_a_program_that_logs_everything_hears_nothing_of_the_compiler(
    module: str, caplog: pytest.LogCaptureFixture
) -> None:
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    logging.getLogger("numba").setLevel(logging.NOTSET)
    with caplog.at_level(logging.DEBUG):
        _ = CompiledLoops(module).halve
        assert not logging.getLogger("numba.core.ssa").isEnabledFor(logging.DEBUG)


def test_loops_call_one_another(module: str) -> None:
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    array = np.array([4.0, 8.0])
    CompiledLoops(module).halve_twice(array)
    np.testing.assert_array_equal(array, [1, 2])


def test_they_pay_from_their_size_on_arrays_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "has_numba", lambda: True)
    found = CompiledLoops("nowhere", from_size=4)
    array = np.zeros(4)
    assert found.pay(4, array)
    assert not found.pay(3, array)
    assert not found.pay(4, array, object())


def test_they_never_pay_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loops, "has_numba", lambda: False)
    assert not CompiledLoops("nowhere", from_size=0).pay(1 << 30)


def test_nothing_is_imported_before_a_loop_is_asked_for() -> None:
    program = "import sys; from operad_sdk import CompiledLoops, loop; CompiledLoops('nowhere').pay(1)"
    subprocess.run([sys.executable, "-c", f"{program}; assert 'numba' not in sys.modules"], check=True)


def test_the_condition_of_a_kernel_says_why_loops_are_not_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    same = unary("same")(lambda data: data)
    small, large = (KernelCall(same(), cpu(), [(n,)], [np.dtype("float32")]) for n in (8, 9))
    found = CompiledLoops("nowhere", from_size=9)
    when = found.when(lambda call: call.size("data"))
    monkeypatch.setattr(loops, "has_numba", lambda: True)
    assert when(small) == "8 elements, compiled loops pay from 9"
    assert when(large) is True
    assert when.regardless_of_size(small) is True
    assert when.is_possible
    assert found.when(lambda call: call.size("data"), lambda call: "no")(large) == "no"
    monkeypatch.setattr(loops, "has_numba", lambda: False)
    assert "numba is not installed" in str(when(large))
    assert not when.is_possible


LOOPS = """
import math
from helper import FACTOR, helped
from operad_sdk import loop

double, triple = loop(lambda x: x * 2.0), loop(lambda x: x * 3.0)
sine, cosine = loop(lambda x: math.sin(x)), loop(lambda x: math.cos(x))
scaled = loop(lambda x: x * FACTOR)
through = loop(lambda x: helped(x))


def power(is_square):
    if is_square:
        @loop
        def f(x):
            return x**2.0
    else:
        @loop
        def f(x):
            return x**3.0
    return f


def factorial():
    @loop
    def own(n):
        return 1 if n < 2 else n * own(n - 1)
    return own


def late(given):
    @loop
    def shifted(x):
        return x + behind
    behind = given
    return shifted


print(double(1.0), triple(1.0), sine(0.0), cosine(0.0), power(True)(2.0), power(False)(2.0), factorial()(5),
      late(float(FACTOR))(0.0), scaled(1.0), through(1.0))
"""


@pytest.mark.more
def test_functions_that_differ_in_a_number_a_name_or_what_is_around_them_have_code_of_their_own(
    tmp_path: Path,
) -> None:
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    (tmp_path / "loops.py").write_text(LOOPS)
    environment = {**os.environ, "OPERAD_CACHE_DIR": str(tmp_path / "cache")}
    helper = "from operad_sdk import loop\nFACTOR = {0}\n@loop\ndef helped(x):\n    return x + {0}\n"
    for factor in (5.0, 7.0, 5.0):
        (tmp_path / "helper.py").write_text(helper.format(factor))
        words = [sys.executable, "-B", str(tmp_path / "loops.py")]
        done = subprocess.run(words, capture_output=True, text=True, check=True, env=environment)
        expected = [2.0, 3.0, 0.0, 1.0, 4.0, 8.0, 120, factor, factor, 1 + factor]
        assert list(map(float, done.stdout.split())) == expected


def test_a_program_that_was_typed_has_no_obstacle(tmp_path: Path) -> None:
    """numba's own cache knows only functions of files."""
    pytest.importorskip("numba", reason="needs numba: pip install operad-sdk[fast]")
    source = "import numpy\nfrom operad_sdk import loop\n@loop\ndef one():\n    return 1\nprint(one())"
    environment = {**os.environ, "OPERAD_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True, env=environment
    )
    assert (done.stdout, done.stderr) == ("1\n", "")
