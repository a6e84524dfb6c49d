"""Kernels that check their addresses: a wrong one is caught, with its name, its array and the elements."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from operad_sdk.vector.team import has_team
from operator_sdk.sdk.tests.vector_code import require_vector_code

require_vector_code()

pytestmark = pytest.mark.more

PROGRAM = """
from dataclasses import replace
import numpy as np
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import BoundKernel, CompiledForm, Writer, team, tiled_product
from operad_sdk.vector.bounds import expect_in_bounds
from operad_sdk.vector.settings import is_checked
from operator_sdk.sdk.tests.vector.guarded import guarded

def form(*, rows=False):
    builder = Builder("wrong", ["x"], ["real"])
    total = builder.over_axes("sum", 0, (-1,)) if rows else builder.apply("multiply", 0, 0)
    return CompiledForm(builder.finish(total), np.dtype("f4"))

def arrays(*shape, rows=False):
    return [guarded(shape, "f4"), guarded((*shape[:-1], 1) if rows else shape, "f4")]

def with_table(bound, layout, word, more):
    table = list(layout.table)
    table[word] += more
    return BoundKernel(replace(layout, table=tuple(table)), bound)

def right():
    "Nothing wrong: what all kinds compute, in words."
    x, y = arrays(7, 70)
    x[...] = np.arange(490).reshape(7, 70)
    form().bind([x], [y]).run()
    form().bind([x[:, ::-3]], [y[:, ::-3]]).run()
    out = guarded((7, 7), "f4")
    tiled_product(x, x.T, out)
    sums = guarded((7, 1), "f4")
    team.run(form(rows=True).bind([x], [sums]), 3, 3)
    print(y.sum(), out.sum(), sums.sum())

def a_length():
    x, y = arrays(64)
    with_table([x, y], form().layout([x, y]), 0, 1).run(0, 65)

def a_length_of_rows():
    x, sums = arrays(1, 64, rows=True)
    with_table([x, sums], form(rows=True).layout([x, sums]), 0, 1).run()

def a_stride():
    x, y = arrays(512)
    x, y = x[::16], y[::16]
    with_table([x, y], form().layout([x, y]), -1, 16).run()

def the_rows_of_threads():
    x, sums = arrays(1024, 4, rows=True)
    bound = form(rows=True).bind([x], [sums])
    bound.units += 1
    team.run(bound, 4, 2)

def a_mask():
    "The generator's own: one lane more at the end of each row."
    given = Writer.mask
    Writer.mask = lambda code, begin, end, kind="int64": given(code, begin, code.add(end, 1), kind)
    x, y = arrays(65)
    form().bind([x], [y]).run()

def a_product():
    "Masks again: one column more of the right matrix and of the product."
    given = Writer.mask
    Writer.mask = lambda code, begin, end, kind="int64": given(code, begin, code.add(end, 1), kind)
    tiled_product(guarded((5, 6), "f4"), guarded((6, 17), "f4"), guarded((5, 17), "f4"))
"""

WRONG = {
    "a_length": "kernel 'wrong' writes elements 64 to 65 of array 1, float32(64,)",
    "a_length_of_rows": "kernel 'wrong' reads elements 64 to 65 of array 0, float32(1, 64)",
    "a_stride": "kernel 'wrong' writes elements ",
    "the_rows_of_threads": "kernel 'wrong' reads elements 4096 to ",
    "a_mask": "kernel 'wrong' reads elements 64 to 66 of array 0, float32(65,)",
    "a_product": "kernel 'product' writes elements 84 to 86 of array 2, float32(5, 17)",
}


def run(what: str, mode: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"{PROGRAM}\n{what}()"], env={**os.environ, "OPERAD_VECTOR": mode},
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_kernel_is_named_by_checks_and_found_by_guard_pages(
    what: str,
) -> None:
    if what == "the_rows_of_threads" and not has_team():
        pytest.skip("helpers wait at semaphores of Linux")
    checked = run(what, "checked")
    assert "OperadError: kernel" in checked.stderr
    assert WRONG[what] in checked.stderr
    assert checked.returncode == 1
    assert run(what, "on").returncode == -signal.SIGSEGV


def test_right_kernels_compute_the_same_with_checks_and_without() -> None:
    checked, plain = run("right", "checked"), run("right", "on")
    assert not checked.returncode, checked.stderr
    assert checked.stdout == plain.stdout != ""


NOTHING = """
def nothing():
    "Rows without elements, at strides of which none is that of an element, and behind all that there is."
    whole = guarded((17, 4), "f4")
    repeated = np.broadcast_to(guarded((1,), "f4"), (17, 0))
    for x in (whole[:, 4::2], whole[:, :0], whole[:, 4::2][:, ::-1], repeated, whole[:, ::4]):
        for rows in (True, False):
            y = guarded((17, 1) if rows else x.shape, "f4")
            form(rows=rows).bind([x], [y]).run()
            assert not x.size or rows or (y == x * x).all()
"""


@pytest.mark.parametrize("mode", ["on", "checked"])
def test_rows_without_elements_are_not_read(mode: str) -> None:
    done = run(f"{NOTHING}\nnothing", mode)
    assert not done.returncode, done.stderr
