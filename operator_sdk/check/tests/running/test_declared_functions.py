"""A mistake in a function that an author declares is the author's, and the report names the function."""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from operad_check import Profile, check_operator
from operad_sdk import (
    Contract,
    DeclarationError,
    Distribution,
    OperatorProperty,
    ResourceRequest,
    gradient,
    operator,
)
from operad_sdk.domains import Drawn

FEW = Profile("few", examples=6, seconds=0.5)
NUMBERS = count()


def of_a_name_that_is_missing(*given, **named):
    return missing  # noqa: F821


def of_an_attribute_that_is_missing(prop, *given, **named):
    return prop.no_such_parameter


def of_no_arguments():
    return ""


def of_another_type(*given, **named):
    return object()


MISTAKES = [of_a_name_that_is_missing, of_an_attribute_that_is_missing, of_no_arguments, of_another_type]


def twice(contract, when=None):
    @operator(f"declared_functions_{next(NUMBERS)}")
    class Twice(OperatorProperty):
        """Twice the data."""

        spec = "data:(*S) -> output:(*S)"
        accepts = "floating"

        def forward(data):
            return 2 * data

        @gradient(when=when)
        def data_grad(output_grad):
            return 2 * output_grad

    Twice.contract = contract
    return Twice


MOMENTS = {"mean": lambda prop: 0.5, "variance": lambda prop: 1 / 12}


def drawn(**declared):
    @operator(f"declared_functions_{next(NUMBERS)}")
    class Uniform(OperatorProperty):
        """Numbers between 0 and 1."""

        spec = "data:(*S) -> output:(*S)"
        resource = ResourceRequest.RANDOM
        contract = Contract(distribution=Distribution(**{**MOMENTS, **declared}))

        def forward(op_ctx, data, output):
            output[...] = op_ctx.requested[0].generator.random(data.shape)

    return Uniform


DECLARED = {
    "Contract.no_numeric_gradient": (["B301", "X805"], lambda f: twice(Contract(no_numeric_gradient=f))),
    "Contract.ignores_head_gradient": (["B304", "X805"], lambda f: twice(Contract(ignores_head_gradient=f))),
    "Contract.shapes": (["F201", "B301"], lambda f: twice(Contract(shapes=f))),
    "reference": (["F213"], lambda f: twice(Contract(reference=f))),
    "loss": (["B301"], lambda f: twice(Contract(loss=f, ignores_head_gradient="the output is a loss"))),
    "the function of Drawn": (["F201", "B301"], lambda f: twice(Contract(inputs={"data": Drawn(f)}))),
    "`when` of": (["B301", "B306", "S109"], lambda f: twice(Contract(), when=f)),
    "the declared mean": (["F218"], lambda f: drawn(mean=f)),
    "the declared variance": (["F218"], lambda f: drawn(variance=f)),
    "the declared cdf": (["F218"], lambda f: drawn(cdf=f)),
    "the declared draws": (["F218"], lambda f: drawn(draws=f)),
}
"""By what the report is to say: checks that call the function, and the operator that declares it."""
UNTYPED = ("`when` of", "the function of Drawn")
"""Functions whose result may be anything."""
CASES = [
    # In the fast suite each mistake stands in a case, and every third function.
    pytest.param(named, mistake, marks=() if number == row % 4 and row % 3 == 0 else pytest.mark.more)
    for row, named in enumerate(DECLARED)
    for number, mistake in enumerate(MISTAKES)
    if not (named in UNTYPED and mistake is of_another_type)
]


@pytest.mark.parametrize(("named", "mistake"), CASES)
def test_a_mistake_in_a_declared_function_is_the_authors(named, mistake):
    checks, made = DECLARED[named]
    report = check_operator(made(mistake), checks=checks, profile=FEW)
    red = [one.failure.message for one in report.outcomes if one.failure is not None]
    assert report.broken_ids == []
    assert any(named in message for message in red), red


def test_the_line_of_a_function_that_does_not_take_its_arguments_is_where_it_begins():
    report = check_operator(
        twice(Contract(no_numeric_gradient=of_no_arguments)), checks=["X805"], profile=FEW
    )
    (outcome,) = report.outcomes
    line = of_no_arguments.__code__.co_firstlineno
    assert f"(test_declared_functions.py:{line}); in Contract.no_numeric_gradient" in outcome.failure.message


def test_a_cost_that_is_a_function_is_refused():
    with pytest.raises(DeclarationError, match=r"element_cost is .*expected a number"):

        @operator("declared_functions_cost")
        class Costly(OperatorProperty):
            """A copy."""

            spec = "data:(*S) -> output:(*S)"

            def element_cost(self):
                return 3.0

            def forward(data):
                return np.copy(data)
