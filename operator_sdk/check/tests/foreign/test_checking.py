"""The protocol and its use, with NumPy as the library: each fault under the id that operators have for it."""

from __future__ import annotations

import numpy as np
import pytest

from operad.errors import ArgumentError, OperatorNotFoundError
from operad_check import Status, check_foreign, check_numpy
from operad_check.foreign.numpy_backend import NumpyBackend
from operad_sdk import Contract, ResultTypes
from operad_sdk.errors import SpecError
from operator_sdk.check.tests.foreign import functions
from operator_sdk.check.tests.foreign.reports import failure

LINE = "x:(...) -> y:(...)"
ROWS = "x:(N, D) -> y:(N)"


def run(script):
    exec(compile(script, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - made by the harness


def test_a_right_function_with_a_right_gradient_is_green():
    report = check_numpy(functions.softplus, LINE, functions.softplus_grad)
    assert report.red_ids == []
    assert (report.distribution, report.version) == ("numpy", np.__version__)


@pytest.mark.parametrize(
    ("function", "gradient", "id"),
    [
        (functions.softplus, functions.softplus_grad_of_half, "B301"),
        (functions.in_place, None, "F207"),
        (functions.flat_memory, None, "F211"),
        (functions.flat_memory, None, "M409"),
        (functions.swallows_nan, None, "F212"),
        (functions.halves, functions.backward_refuses, "B306"),
    ],
    ids=["gradient", "in place", "strides", "repeated", "nan", "backward refuses"],
)
def test_a_fault_is_red_with_a_program_that_shows_it(function, gradient, id):
    report = check_numpy(function, LINE, gradient, checks=[id])
    assert report.red_ids == [id]
    found = failure(report, id)
    assert "operad" not in found.script
    assert len(found.script.splitlines()) <= 10
    with pytest.raises((AssertionError, ValueError)):
        run(found.script)


def test_a_program_of_a_right_result_passes():
    # what its form compares is right here: only the message is of another case
    report = check_numpy(functions.softplus, LINE, functions.softplus_grad_of_half, checks=["B301"])
    run(failure(report, "B301").script.replace("softplus_grad_of_half", "softplus_grad"))


@pytest.mark.more
def test_a_function_without_a_gradient_is_asked_for_none():
    report = check_numpy(functions.softplus, LINE)
    assert report.red_ids == []
    assert not any(one.status == "passed" for one in report.outcomes if one.check_id.startswith("B"))


def test_a_refusal_of_shapes_is_no_fault():
    report = check_numpy(functions.rows, ROWS, checks=["F201", "F202", "F210", "F211"])
    assert report.red_ids == []


@pytest.mark.more
def test_a_refusal_of_values_is_no_fault_and_no_case():
    report = check_numpy(
        functions.refuses_negative, LINE, functions.refuses_negative_grad, checks=["F201", "D602"]
    )
    assert report.red_ids == []
    assert all(outcome.examples for outcome in report.outcomes)


def test_a_line_that_describes_no_result_is_an_error_about_the_line():
    with pytest.raises(ArgumentError, match=r"the line does not describe other_shape: for x .*by the line"):
        check_numpy(functions.other_shape, ROWS, checks=["F201"])
    with pytest.raises(ArgumentError, match=r"'y:int64\(N\)'"):
        check_numpy("x.argmax(-1)", "x:(N, D) -> y:(N); D >= 1", checks=["F201"])


def test_results_that_the_line_does_not_always_describe_are_red():
    report = check_numpy(functions.other_shape_of_rows, ROWS, checks=["F201"])
    assert "expected" in failure(report, "F201").message
    assert "by the line 'x:(N, D) -> y:(N)'" in failure(report, "F201").message


def test_a_reference_is_compared_and_shown():
    contract = Contract(reference=np.square)
    report = check_numpy(functions.halves, LINE, checks=["F213"], contract=contract)
    assert report.red_ids == ["F213"]
    with pytest.raises(AssertionError):
        run(failure(report, "F213").script)


def test_an_expression_and_a_name_mean_the_same_function():
    by_name = check_foreign("numpy", "numpy:tanh", LINE, checks=["F209"])
    by_expression = check_foreign("numpy", "np.tanh(x)", LINE, checks=["F209"])
    assert by_name.red_ids == by_expression.red_ids == []
    assert (by_name.operator, by_expression.operator) == ("tanh", "np.tanh(x)")


def test_keywords_are_arguments_of_the_call():
    report = check_numpy(
        functions.takes_scale,
        LINE,
        checks=["F213"],
        keywords={"scale": 3.0},
        contract=Contract(reference=lambda x: 3 * x),
    )
    assert report.red_ids == []


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("numpy:tanhh", "no 'tanhh' in 'numpy'"),
        ("no_such_module:f", "No module named 'no_such_module'"),
        ("numpy:pi", "is a float, expected a function"),
        ("np.tanh(z)", "names 'z', which is no argument"),
        ("np.tanh(x", "cannot call"),
    ],
)
def test_what_is_no_function_is_refused_in_words(function, text):
    with pytest.raises(ArgumentError, match=text):
        check_foreign("numpy", function, LINE)


def test_an_unknown_library_is_refused_with_the_next_step():
    with pytest.raises(ArgumentError, match="expected one of jax, numpy, torch"):
        check_foreign("tensorflow", "f(x)", LINE)


def test_a_library_whose_package_is_not_installed_names_the_package(monkeypatch):
    def not_there(group, name):
        raise OperatorNotFoundError(f"there is no {name} in {group}")

    monkeypatch.setattr("operad_check.foreign.found.registry.entry", not_there)
    with pytest.raises(ArgumentError, match="pip install operad-check-jax"):
        check_foreign("jax", "jnp.tanh(x)", LINE)


def test_a_tie_that_follows_no_single_element_is_no_wrong_gradient():
    def median_grad(g, x):
        found = np.zeros_like(x)
        np.put_along_axis(found, x.argsort(-1)[..., x.shape[-1] // 2, None], g[..., None], -1)
        return found

    def median(x):
        return np.sort(x, -1)[..., x.shape[-1] // 2]

    report = check_numpy(median, "x:(N, D) -> y:(N); D >= 1", median_grad, checks=["B301", "B302"])
    assert report.red_ids == []


def test_what_says_nothing_is_not_proved_and_not_red():
    report = check_numpy("x * 1e-5", LINE, lambda g, x: g * 1e-5, checks=["D604"])
    assert report.red_ids == []
    assert [one.name for one in report.unproved] == ["D604"]


def test_a_line_that_cannot_be_read_is_refused():
    with pytest.raises(SpecError, match="there is no '->'"):
        check_foreign("numpy", "np.tanh(x)", "x:(N)")


def test_a_gradient_that_gives_too_few_arrays_is_named():
    report = check_numpy(np.add, "a:(...), b:(...) -> y:(...)", lambda g, a, b: g, checks=["B306"])
    assert "gives 1 arrays, expected one for each of the 2 arguments" in failure(report, "B306").message


def test_terms_that_cancel_on_every_row_of_two_are_no_fault():
    # the gradient is 0 but for what is added to the variance, whatever the numbers are
    line = "x:(N, D) -> y:(N, D); D >= 2"
    checks = ["D602", "D603"]
    right = check_numpy(functions.standardized, line, functions.standardized_grad, checks=checks)
    assert right.red_ids == []
    wrong = check_numpy(functions.standardized, line, functions.standardized_grad_in_half, checks=checks)
    assert wrong.red_ids == ["D603"]


def test_a_mean_of_repeated_elements_may_round_in_another_way():
    line = "x:(N, D) -> y:(N, D); N >= 1, D >= 1"
    assert check_numpy(functions.standardized_by_strides, line, checks=["M409"]).red_ids == []


def test_arrays_without_axes_are_arrays_in_every_check():
    def scaled(x):
        assert type(x) is np.ndarray
        return 2 * np.sum(x)

    def scaled_grad(g, x):
        assert type(g) is np.ndarray
        return 2 * g * np.ones_like(x)

    report = check_numpy(scaled, "x:() -> y:()", scaled_grad, checks=["B301", "B303", "B306"])
    assert [one.status for one in report.outcomes] == ["passed"] * 3


@pytest.mark.more
@pytest.mark.parametrize(("forgets", "red"), [(True, []), (False, ["M411"])], ids=["cache", "leak"])
def test_what_a_library_keeps_in_its_caches_is_no_leak_of_a_function(monkeypatch, forgets, red):
    kept = []

    def call(self, function, arrays):
        kept.append([array.tobytes() for array in arrays])
        return function(*arrays)

    monkeypatch.setattr(NumpyBackend, "call", call)
    if forgets:
        monkeypatch.setattr(NumpyBackend, "forget", lambda self: kept.clear())
    assert check_numpy(np.tanh, LINE, checks=["M411"]).red_ids == red


@pytest.mark.parametrize(
    "line",
    ["x[2]:(N) -> y:(N)", "x:(N), b:(N) if bias -> y:(N)", "x:(N); aux m:(N) -> y:(N)", "x:(N) -> y[2]:(N)"],
)
def test_a_line_of_lists_conditions_or_states_is_refused(line):
    with pytest.raises(ArgumentError, match="has no lists, conditions or states; name each argument"):
        check_numpy("x * 2", line, checks=["F201"])


@pytest.mark.parametrize("wide", ["float32", "float64"])
@pytest.mark.parametrize("is_declared", [True, False])
def test_more_digits_than_the_arguments_have_are_declared_or_asked_for(wide, is_declared):
    types = {name: wide for name in ("float16", "float32") if name != wide}
    report = check_numpy(
        lambda x: np.sum(x, -1, np.result_type(x, wide)),
        "x:(N, D) -> y:(N)",
        lambda head, x: np.broadcast_to(head[:, None], x.shape).astype(x.dtype),
        contract=Contract(result_types=[ResultTypes(types)] if is_declared else ()),
        checks=["F201", "F202", "F207", "D601", "D602", "D603", "B301"],
    )
    asked = {id for id in report.undeclared_ids if f'": "{wide}"}})]' in failure(report, id).fix}
    assert (report.red_ids, asked, set(report.undeclared_ids)) == ([], asked, asked)
    assert ("F201" in asked) != is_declared


def test_a_function_that_is_for_some_types_is_tried_on_these_alone():
    def single(x):
        assert x.dtype == np.float32
        return x * 2

    declared = Contract(dtypes=["float32"])
    checks = ["F201", "D601", "B301"]
    report = check_numpy(single, LINE, lambda head, x: head * 2, contract=declared, checks=checks)
    statuses = {outcome.check_id: outcome.status for outcome in report.outcomes}
    assert statuses == {"F201": Status.PASSED, "D601": Status.PASSED, "B301": Status.INAPPLICABLE}
