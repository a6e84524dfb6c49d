"""Every kind of file that a cache writes, each with the code that writes and reads it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from operad.op import DEFAULTS, forget_rates, rates
from operad_check.commands.check.last_run import LastRun
from operad_check.commands.tune.command import write
from operad_sdk import OperatorProperty, loops
from operad_sdk.declare.kept_answers import save_answers
from operad_sdk.mapper import mapper
from operad_sdk.vector import machine
from operad_sdk.vector.compiled import CompiledForm
from operad_sdk.vector.kept_processor import file_of_processor

LOOPS = """
from operad_sdk import loop

@loop
def add_one(x):
    return x + 1

@loop
def add_two(x):
    return add_one(add_one(x))
"""


class Kind(NamedTuple):
    """A kind of file.

    Attributes:
        keep: Has the file written, where it is not there.
        use: A value that follows from the file, read again each time.
        without: The value where there is no file.
    """

    keep: Callable[[], object]
    use: Callable[[], Any]
    without: Any


@mapper
def twice(x):
    return x + x


def by_kernel() -> list[float]:
    """Vector code: `kernels/*.o`."""
    machine._addresses.found.clear()
    x = np.arange(5, dtype=np.float32)
    y = np.empty_like(x)
    CompiledForm(twice.form, x.dtype)([x], [y])
    return y.tolist()


class Doubled(OperatorProperty):
    spec = "data:(...) -> output:(...)"

    def forward(data):
        return data + data


DOUBLED = "ScalarForm Doubled.forward(data)\nv1: real = add data data\noutput = v1"


def by_answers() -> str:
    """Forms of operators: `answers/*.pickle`."""
    Doubled._forms.clear()
    form = Doubled().scalar_form("forward", [(4, 5)], [np.dtype(np.float32)])
    save_answers()
    return str(form)


def by_processor() -> machine.Machine:
    """The processor in LLVM's words: `processor/*.txt`."""
    machine.host.cache_clear()
    return machine.host()


def by_loops(folder: Path) -> Callable[[], int]:
    """Functions that an author declares with `loop`, one of which calls another: `functions/*.nbc`."""
    file = folder / "some_loops.py"
    file.write_text(LOOPS)

    def use() -> int:
        spec = importlib.util.spec_from_file_location("some_loops", file)
        module = importlib.util.module_from_spec(spec)
        sys.modules["some_loops"] = module  # where numba looks
        loops._imported.cache_clear()
        spec.loader.exec_module(module)
        return module.add_two(3)

    return use


MEASURED = DEFAULTS._replace(loop_us=7e-4)


def measured() -> float:
    """What `operad tune` has measured."""
    forget_rates()
    return rates().loop_us


def kinds(folder: Path) -> dict[str, Kind]:
    """Those that can be here: kernels need vector code, and loops numba."""
    found = {
        "tune": Kind(lambda: write(MEASURED), measured, DEFAULTS.loop_us),
        "answers": Kind(by_answers, by_answers, DOUBLED),
        "check": Kind(lambda: LastRun().note({"tanh": ["B301"]}), lambda: LastRun().red(), {}),
    }
    if machine.reason_against() is None:
        found["kernel"] = Kind(by_kernel, by_kernel, [0.0, 2.0, 4.0, 6.0, 8.0])
        if file_of_processor() is not None:
            found["processor"] = Kind(by_processor, by_processor, machine.host())
    if loops.has_numba():
        loop = by_loops(folder)
        found["loop"] = Kind(loop, loop, 5)
    return found
