"""Programs have functions that cannot be imported: lambdas, nested functions, and what these read."""

from __future__ import annotations

import math

import numpy as np
import pytest

from operad_check import check_numpy
from operad_check.foreign.definition import definition_of
from operator_sdk.check.tests.foreign import functions
from operator_sdk.check.tests.foreign.reports import failure
from operator_sdk.check.tests.foreign.test_checking import run

FACTOR = 2.5


def doubled(x):
    return 2 * x


def nested(shift):
    def moved(x):
        def inner(y):
            return y + shift

        if shift > 0:
            return inner(x)
        else:  # noqa: RET505 - two branches, as people write them
            return -inner(x)

    return moved


def scaled(factor):
    return lambda x: doubled(x) * factor + math.floor(FACTOR)


def of_an_array(values):
    return lambda x: x + values


PAIR = (lambda x: x + 1, lambda x: x + 2)

CASES = {
    "lambda": (lambda x: x * 3, 6.0),
    "second of a line": (PAIR[1], 4.0),
    "closure": (scaled(10), 42.0),
    "nested": (nested(5), 7.0),
    "default": (lambda x, k=4: x * k, 8.0),
    "local name": (lambda x: sum(each * x for each in (1, 2)), 6.0),
    "importable": (functions.softplus, np.logaddexp(2.0, 0)),
}


@pytest.mark.walk
@pytest.mark.parametrize(("function", "expected"), CASES.values(), ids=CASES)
def test_a_definition_computes_what_the_function_does(function, expected):
    scope = {}
    exec("\n".join(definition_of(function, "named")), scope)  # noqa: S102 - made by the harness
    assert scope["named"](2.0) == function(2.0) == expected


def test_what_reads_an_array_has_no_definition():
    assert definition_of(of_an_array(np.ones(3)), "named") == []


@pytest.mark.parametrize("id", ["B301"])
def test_a_program_of_lambdas_runs_and_compares(id):
    report = check_numpy(lambda x: x * x, "x:(...) -> y:(...)", lambda g, x: 3 * g * x, checks=[id])
    script = failure(report, id).script
    with pytest.raises(AssertionError):
        run(script)
    run(script.replace("3 * g * x", "2 * g * x"))
