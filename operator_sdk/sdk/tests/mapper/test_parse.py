from __future__ import annotations

import math
import textwrap

import numpy as np
import pytest

from operad_sdk.mapper import (
    MapperError,
    exp,
    mapper,
    maximum,
    where,
)

LIMIT = 1.5
POINTS = (-3.0, -1.0, -0.25, 0.0, 0.25, 1.0, 1.5, 2.0, 7.0)


@mapper
def guarded_returns(x):
    if x < -1:
        return -x
    if x > LIMIT:
        return x * x
    return 0.5


@mapper
def chain(x):
    """A docstring, a pass and an annotated assignment are allowed."""
    pass  # noqa: PIE790 -- the construct under test
    y: float = 0
    if x < -1:
        y = 1
    elif x == 0:
        y = 2
    elif x != 1:
        y = 3
    else:
        y = 4
    return y


@mapper
def nested_partial_return(x):
    y = x
    if x > 0:
        if x > 1:
            return 10 * x
        y += 1
    y *= 2
    return y - 1


@mapper
def operators(x):
    a, b = x + 1, x - 1
    a, b = b, a
    c = d = +a * -b
    return (c / 3 + d // 2 - x % 1.75) ** 2 + 2.0**x


@mapper
def logic(x):
    return 1 if (x > 0 and not x >= 2) or x < -2 else 0


@mapper
def chained_comparison(x):
    return where(-1 <= x <= 1, x, math.pi)


@mapper
def builtins_used(x):
    return min(abs(x), 2, 1.75) + max(x, -1) + pow(x, 3) + np.exp(x)


@mapper
def scaled(x, factor=2.0, offset=1):
    return x * factor + offset


@mapper
def calls_mappers(x):
    return scaled(x) + scaled(x, offset=5) + scaled(scaled(x, 3.0), 1, 0)


@mapper
def truth(x):
    return x > 1


@mapper
def uses_truth(x):
    return maximum(x, 0) if truth(x) or x < -2 else exp(x)


@mapper
def truth_or_number(x):
    return x > 1 if x > 0 else x


@pytest.mark.parametrize(
    "function",
    [
        guarded_returns,
        chain,
        nested_partial_return,
        operators,
        logic,
        chained_comparison,
        builtins_used,
        scaled,
        calls_mappers,
        truth,
        uses_truth,
        truth_or_number,
    ],
    ids=lambda function: function.__name__,
)
def test_form_means_what_the_python_function_does(function):
    expected = [float(function(x)) for x in POINTS]
    found = function.backend("numpy").map(np.array(POINTS))
    np.testing.assert_allclose(found, expected, rtol=4e-16)


def test_closure_and_module_numbers_are_frozen_at_decoration():
    factor = 3.0

    @mapper
    def tripled(x):
        return factor * x

    factor = 4.0
    assert tripled.map(np.array([1.0]))[0] == 3.0


def test_constants_are_computed_as_python_does_before_they_are_rounded_to_the_type():
    @mapper
    def third(x):
        return x + 7 // 2 / 3

    assert third.map(np.zeros(1, np.float32))[0] == np.float32(1.0)
    assert [step.value for step in third.form.instructions if step.op == "constant"] == [1.0]


def test_shared_expressions_are_computed_once():
    @mapper
    def repeated(x):
        return exp(x) * exp(x) + exp(x)

    assert [step.op for step in repeated.form.instructions].count("exp") == 1


def test_small_whole_powers_are_products():
    @mapper
    def cube(x):
        return x**3 + x**-2

    assert "power" not in [step.op for step in cube.form.instructions]
    assert cube(2.0) == cube.map(np.array([2.0]))[0] == 8.25


@pytest.mark.parametrize("count", [1, 1000])
def test_a_half_is_the_exponent_of_a_root_for_any_number_of_elements(count):
    @mapper
    def root(x):
        return x**0.5

    x = np.tile(np.array([-np.inf, -0.0, 2, -1]), count)
    with np.errstate(invalid="ignore"):
        found, expected = root.map(x), x**0.5
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found[1::4]), np.signbit(expected[1::4]))


REFUSED = {
    "for i in x:\n    pass": "For 'for i in x:'",
    "while x > 0:\n    x = x - 1": "While 'while x > 0:'",
    "return [x]": "List '[x]'",
    "return x[0]": "Subscript 'x[0]'",
    "return 'text'": "Constant \"'text'\"",
    "return lambda: x": "Lambda 'lambda: x'",
    "return (y := x)": "NamedExpr '(y := x)'",
    "return math.exp(x)": "use exp of operad_sdk",
    "return round(x)": "use rint",
    "return float(x)": "every value is real already",
    "return print(x)": "calling 'print'",
    "return math": "'math', a module,",
    "return x if x else 1": "the number 'x' as a condition",
    "return 1 if x and x > 0 else 0": "the number 'x' as a condition",
    "return not x": "the number 'x' as a condition",
    "return where(x, 1, 2)": "the number 'x' as a condition",
    "return (x > 0) * 2": "a boolean as a number",
    "return -(x > 0)": "a boolean as a number",
    "return ~x": "the operator '~'",
    "return x @ x": "the operator MatMult",
    "return x << 2": "the operator LShift",
    "return 1 if x is None else 0": "the comparison Is",
    "return unknown": "the unknown name 'unknown'",
    "return math.unknown": "the unknown name 'math.unknown'",
    "return bad(x)": "a mapper that calls itself",
    "return x(1)": "calling the local 'x'",
    "if x > 0:\n    y = 1\nreturn y": "reading 'y', which only some branches assign,",
    "z = y\ny = 1\nreturn z": "reading 'y' before it is assigned",
    "return": "a return without a value",
    "y = x": "reaching the end without a return",
    "if x > 0:\n    return 1": "an if of which only one side ends in a return",
    "return 1 / 0": "the constant '1 / 0' (division by zero)",
    "return exp(x, x)": "calling 'exp' with 2 arguments, not 1,",
    "return exp(value=x)": "calling 'exp' with named arguments",
    "return max(x)": "calling 'max' with fewer than two numbers",
    "return scaled()": "scaled misses argument 'x'",
    "return scaled(x, 1, factor=2)": "scaled got argument 'factor' twice",
    "return scaled(x, wrong=2)": "scaled has no argument 'wrong'",
    "return scaled(*x)": "unpacking arguments",
    "x.y = 2": "assigning to Attribute 'x.y'",
    "a, b = x": "assigning to Tuple '(a, b)'",
    "x.y += 2": "AugAssign 'x.y += 2'",
}
HEADER = """\
import math
from operad_sdk.mapper import exp, mapper, where

@mapper
def scaled(x, factor=2.0, offset=1):
    return x * factor + offset

@mapper
def bad({signature}):
    y0 = 1
"""


def define(folder, body, signature="x"):
    path = folder / "author.py"
    path.write_text(HEADER.format(signature=signature) + textwrap.indent(body, "    ") + "\n")
    exec(compile(path.read_text(), str(path), "exec"), {"__name__": "author"})  # noqa: S102 -- the author's module


@pytest.mark.parametrize("body", REFUSED, ids=lambda body: body.splitlines()[0])
def test_error_names_mapper_file_line_construct_and_what_is_allowed(body, tmp_path):
    with pytest.raises(MapperError) as caught:
        define(tmp_path, body)
    message = str(caught.value)
    assert message.startswith(f"mapper 'bad' ({tmp_path / 'author.py'}:")
    line = int(message.split("author.py:")[1].split(")", maxsplit=1)[0])
    assert 9 <= line <= 11 + body.count("\n")
    assert REFUSED[body] in message
    assert "a mapper may use arithmetic, comparisons" in message


@pytest.mark.parametrize("signature", ["*x", "**x", "x, *, y", ""])
def test_only_plain_arguments_are_taken(signature, tmp_path):
    with pytest.raises(MapperError, match="is not allowed here"):
        define(tmp_path, "return 1", signature)


def test_default_that_is_no_number_is_refused(tmp_path):
    with pytest.raises(MapperError, match="default of 'y' is None, expected a number"):
        define(tmp_path, "return x", "x, y=None")


def test_function_without_source_is_refused():
    namespace = {}
    exec("def invisible(x):\n    return x", namespace)  # noqa: S102 -- makes a function that has no file
    with pytest.raises(MapperError, match="its source cannot be read; define it with def in a file"):
        mapper(namespace["invisible"])


def test_lambda_and_other_callables_are_refused():
    with pytest.raises(MapperError, match="expected a function defined with def"):
        mapper(lambda x: x)
    with pytest.raises(MapperError, match="expected a function defined with def"):
        mapper(math.exp)


def test_too_large_constant_is_refused(tmp_path):
    with pytest.raises(MapperError, match="is too large"):
        define(tmp_path, "return x + 10 ** 400")


def test_towers_of_partial_returns_are_refused_instead_of_taking_for_ever(tmp_path):
    body = "".join(f"if x > {i}:\n    if x > {i}.5:\n        return {i}\n" for i in range(30)) + "return x"
    with pytest.raises(MapperError, match="nested ifs that sometimes return"):
        define(tmp_path, body)
