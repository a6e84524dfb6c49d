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
from unittest.mock import patch
import numpy as np
from operad_sdk.mapper.builder import Builder
from operad_sdk.vector import (
    BoundKernel, CompiledForm, StepArray, StepLoop, Writer, form_call, run_steps, steps, team, tiled_product,
    words_address,
)
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

def a_table():
    "A word less than the kernel reads, after which what it reads as steps and addresses is nothing."
    x, y = arrays(64)
    layout = form().layout([x, y])
    BoundKernel(replace(layout, table=layout.table[:-1]), [x, y]).run()

def a_table_of_steps():
    "A call more than the loop has."
    into = StepArray.same(guarded((3, 5), "f4"), np.arange(2))
    loop = StepLoop([form_call(form().form, [into], [into])])
    loop._table[steps._Head._fields.index("calls")] += 1
    run_steps([loop])

def an_address_of_nothing():
    x, y = arrays(64)
    layout, spare = form().layout([x, y]), np.ones(64, "f4")
    bound = BoundKernel(layout, [x, y])
    bound._table[layout.positions[0]] = spare.ctypes.data
    bound.run()

def memory_that_is_gone():
    x, y = arrays(64)
    bound = form().bind([x], [y])
    table, scratch = bound.table, words_address(np.empty(0, "u1"))
    words, call = bound._table, bound._call
    del bound
    call(table, 0, 64, scratch)
    expect_in_bounds()

def a_function_by_the_stack(wrong):
    builder = Builder("wrong", ["x"], ["real"])
    x, y = np.ones((2, 64))
    with wrong:
        CompiledForm(builder.finish(builder.apply("erfc", 0)), np.dtype("f8")).bind([x], [y]).run()

def a_stack_of_fewer_lanes():
    given = Writer.on_stack
    a_function_by_the_stack(patch.object(Writer, "on_stack", lambda code, kind: given(code, "<4 x double>")))

def an_element_behind_the_stack():
    given = Writer.value
    def value(code, text):
        return given(code, text.replace("ptr %stack0, i64 7", "ptr %stack0, i64 8"))
    a_function_by_the_stack(patch.object(Writer, "value", value))

def a_load_that_does_not_ask():
    a_function_by_the_stack(patch.object(Writer, "checked", lambda code, address, *_, **__: address))

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
WRONG_INSIDE = {
    "a_table": "kernel 'wrong' reads elements 4 to 5 of its table of 4",
    "a_table_of_steps": "kernel 'with a table' reads elements 3 to 4 of int64(1, 3)",
    "an_address_of_nothing": "a kernel reads 64 bytes at 0x",
    "memory_that_is_gone": "which has memory for 0",
    "a_stack_of_fewer_lanes": "a checked kernel does not check 'store <8 x double>",
    "an_element_behind_the_stack": "a checked kernel does not check '%v",
    "a_load_that_does_not_ask": "a checked kernel does not check '%v",
}
"""Memory of the program's own, behind which there need be no guard page."""


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


@pytest.mark.parametrize("what", WRONG_INSIDE)
def test_checks_name_a_kernel_that_is_wrong_in_its_tables_or_on_the_stack(what: str) -> None:
    checked = run(what, "checked")
    assert checked.returncode == 1, checked.stderr
    assert WRONG_INSIDE[what] in checked.stderr


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
