"""Programs that show a finding: short, and of the element that is meant."""

from __future__ import annotations

import numpy as np
import pytest

from operad_check import check_numpy
from operad_check.foreign.numpy_backend import NumpySyntax
from operad_check.foreign.programs import Shown, programs
from operad_check.trials.case import Case
from operator_sdk.check.tests.foreign import functions
from operator_sdk.check.tests.foreign.reports import failure
from operator_sdk.check.tests.foreign.test_checking import run

MOST_LINES = 10


def product(a, b, c):
    return a * b * c


def product_grad(g, a, b, c):
    return g * b * c, g * a * c, 2 * g * a * b


def failing_program(line, check):
    """The program that a check's failure comes with; it is short and fails."""
    script = failure(check_numpy(product, line, product_grad, checks=[check]), check).script
    assert len(script.splitlines()) <= MOST_LINES
    with pytest.raises(AssertionError):
        run(script)
    return script


def test_a_derivative_of_three_arguments_has_a_program_of_ten_lines():
    script = failing_program("a:(...), b:(...), c:(...) -> y:(...)", "B301")
    run(script.replace("import product_grad as f_grad", "import right_grad as f_grad"))


def right_grad(g, a, b, c):
    return g * b * c, g * a * c, g * a * b


def test_gradients_along_all_elements_have_a_program_too():
    failing_program("a:(N), b:(N), c:(N) -> y:(N)", "B302")


def test_the_last_element_of_a_part_is_the_one_that_was_named():
    part = Case(inputs={"x": np.zeros((2, 4)), "x2": np.zeros(3)})
    shown = Shown(NumpySyntax(""), [], "f(x, x2)", "F212", part, "x[1, 200] = NaN shows nowhere", None, None)
    assert shown.place == ("x", (1, 3))
    assert shown.places("x2") == []


def test_elements_that_move_together_are_moved_together():
    case = Case(inputs={"x": np.zeros(3)}, out_grads=(np.ones(1),))
    message = "gradients of x[0], x[2] from y[0] are 2 together"
    shown = Shown(NumpySyntax("f_grad"), [], "f(x)", "B313", case, message, np.ones(1), None)
    (program, *_) = programs(shown)
    assert "(np.arange(x.size).reshape(x.shape) == 0) | (np.arange(x.size).reshape(x.shape) == 2)" in program


def test_a_gradient_in_half_precision_has_a_program_of_ten_lines():
    line = "x:(N, D) -> y:(N, D); D >= 2"
    wrong = check_numpy(functions.standardized, line, functions.standardized_grad_in_half, checks=["D603"])
    script = failure(wrong, "D603").script
    assert len(script.splitlines()) <= MOST_LINES
    with pytest.raises(AssertionError):
        run(script)
