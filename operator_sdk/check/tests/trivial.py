"""Trivial operators and functions on lines of every kind.

Each is a function that nobody could get wrong, so whatever is found is a fault of the checks.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np
import pytest

from operad_check import OperatorReport
from operad_check.checks.dtype import ELEMENT_TYPES
from operad_check.plan.profile import Profile
from operad_check.reporting.outcome import Status
from operad_sdk import (
    Contract,
    Distribution,
    OperatorProperty,
    ResourceRequest,
    from_mapper,
    gradient,
    mapper,
    param,
)
from operad_sdk.contract import ResultTypes
from operad_sdk.domains import Distinct, Drawn, Index, Integers, OneHot, PositiveDefinite, Probabilities, Real
from operad_sdk.domains import positive as above_zero
from operad_sdk.shapes import parse

BOUNDS: Final = [f"W >= {bound}" for bound in range(6)]
TESTS: Final = [*BOUNDS, "W == 3", "N == W", "N > W", "W % 2 == 0", "N == 2*W, W >= 2", "W < 2", "W >= 70"]
"""What may stand behind a line."""


STILL: Final = ("drawn", "one hot")
"""Domains in which nothing can be moved, so that an author has to say what is right."""


def _drawn(rng: Any, shape: Any, prop: Any, shapes: Any) -> Any:
    return rng.integers(1, 9, shape) / 8


def _is_drawn_free(rng: Any, shape: Any, prop: Any, shapes: Any) -> Any:
    return rng.uniform(-1, 1, shape)


DOMAINS: Final = {
    "above zero": above_zero(),
    "between": Real(0.25, 0.75),
    "nonzero": Real(nonzero=True),
    "distinct": Distinct(),
    "drawn": Drawn(_drawn),
    "drawn and real": Drawn(_is_drawn_free, is_real=True),
    "integers": Integers(0, 3),
    "one hot": OneHot(),
    "probabilities": Probabilities(),
}
"""Values that an argument of rows may have."""


def made(name: str, spec: str, **words: Any) -> Any:
    """A property class, with a docstring and an example that hold."""
    shapes = [f"    {item.name}: {item.shape_text}" for item in parse(spec).inputs if item.repeat is None]
    doc = "\n".join(["A trivial operator.", "", "Shapes:", *shapes, "", "Example:", "    >>> 1 + 1", "    2"])
    words = {"accepts": "floating", **words}
    return type("Trivial", (OperatorProperty,), {"name": name, "spec": spec, "__doc__": doc, **words})


# Functions name in their signatures what they read.
def _twice(data):
    return data * 2


def _twice_grad(output_grad):
    return output_grad * 2


def _passed_on(output_grad):
    return output_grad


def twice(name: str, line: str, **words: Any) -> Any:
    """The commonest row: two times the data."""
    return made(name, line, forward=_twice, data_grad=_twice_grad, **words)


def _of_domain(words: str, domain: Any) -> Any:
    known = {"reference": _twice, "no_numeric_gradient": "nothing can be moved"} if words in STILL else {}
    contract = Contract(inputs={"data": domain}, **known)
    return twice(f"of {words}", "data:(N, W) -> output:(N, W)", contract=contract)


def _by_itself(forward: Any, **words: Any) -> dict[str, Any]:
    """The words of an operator without gradient, whose function is its reference."""
    return {"forward": forward, "contract": Contract(reference=forward, **words)}


def _taken(index, data):
    return data.take(index, mode="clip")


@gradient(accumulate=True)
def _taken_grad(output_grad, index, data_grad):
    np.add.at(data_grad, index.clip(0, data_grad.size - 1), output_grad)


def _counted(data, total, output, is_train):
    output[...] = data
    if is_train:
        total += data


def _sum(data):
    return sum(data)


def _each(output_grad, num):
    return [output_grad] * num


def _pair(data):
    return data, data * 3


def _pair_grad(output_grad, other_grad):
    return output_grad + 3 * other_grad


def _with_bias(data, bias):
    return data if bias is None else data + bias


def _scaled(data, scale):
    return data * scale


def _scaled_grad(output_grad, scale):
    return output_grad * scale


def _signed(data, mode):
    return data * (1 if mode == "plus" else -1)


def _signed_grad(output_grad, mode):
    return output_grad * (1 if mode == "plus" else -1)


def _masked(data, mask):
    return data * mask


def _masked_grad(output_grad, mask):
    return output_grad * mask


def _through_space(data, op_ctx, output):
    space = op_ctx.requested[0].get_space(data.shape, data.dtype)
    space[...] = data
    output[...] = space


def _noise(data, op_ctx):
    return op_ctx.requested[0].generator.uniform(0, 1, data.shape).astype(data.dtype)


def _in_set(data):
    return data * len({"one", "two"})


def _ignoring_head(data, label):
    return data - label


UNIFORM: Final = Distribution(mean=lambda prop: 0.5, variance=lambda prop: 1 / 12, shapes=[(10_000,)])


@mapper
def limited(x):
    return max(min(x, 1.0), -1.0)


@mapper
def smoother(x, y):
    return x * y if x > 0 else x * y * 0.5


def operators() -> dict[str, Any]:
    """Operators by name."""
    rows = [twice(f"where {test}", f"data:(N, W) -> output:(N, W); {test}") for test in TESTS]
    rows += [_of_domain(words, domain) for words, domain in DOMAINS.items()]
    matrices = Contract(inputs={"data": PositiveDefinite()})
    places = Contract(inputs={"index": Index("data")})
    not_nan = {"nan_policy": "a NaN is not above zero"}
    row, rows_of = "data:(N) -> output:(N)", "data:(...) -> output:(...)"
    loss = Contract(
        ignores_head_gradient="it is a loss",
        loss=lambda data, label: ((data - label) ** 2).sum() / 2,
        reference=lambda data, label: data,
    )
    number = {"scale": param(float, 1.0, doc="A factor.")}
    rate = {"scale": param(float, 1.0, run_time=True, doc="A factor.")}
    scaled = {"forward": _scaled, "data_grad": _scaled_grad}
    rows += [
        twice("of any axes", rows_of, contract=Contract(relations=("elements", "items", "scaling"))),
        twice("of no axes", "data:() -> output:()"),
        twice("of matrices", "data:(B, N, N) -> output:(B, N, N)", contract=matrices),
        twice("of a fixed axis", "data:(N, 64) -> output:(N, 64)"),
        twice("of any number", row, accepts="number", contract=Contract(reference=_twice)),
        made("of integers", row, accepts="integer", **_by_itself(lambda data: data ^ data)),
        made("of any integers", "data:any(N) -> output:int32(N)", accepts="integer",
             **_by_itself(lambda data: (data & 1).astype("int32"))),
        made("of truth", row, accepts=("bool",), **_by_itself(lambda data: ~data)),
        made("with truth", "data:(N) -> output:bool(N)", **_by_itself(lambda data: data > 0, **not_nan)),
        made("with integers", "data:(N) -> output:int32(N)",
             **_by_itself(lambda data: (data > 0).astype("int32"), **not_nan)),
        made("with a type", "data:(N) -> output:(N)", accepts="any", data_grad=_passed_on,
             **_by_itself(lambda data: data.copy(), result_types=[ResultTypes(SAME)])),
        made("of two types", "data:(N), mask:bool(N) -> output:(N)", forward=_masked, data_grad=_masked_grad),
        made("of places", "index:int64(M), data:(N) -> output:(M); N >= 1", contract=places, forward=_taken,
             data_grad=_taken_grad),
        made("of several", "data[num]:(N) -> output:(N)", num=param(int, 2, ge=1, le=4, doc="How many."),
             forward=_sum, data_grad=_each),
        made("with several", "data:(N) -> output:(N), other:(N)", forward=_pair, data_grad=_pair_grad),
        made("with an option", "data:(N), bias:(N) if not no_bias -> output:(N)", forward=_with_bias,
             data_grad=_passed_on, bias_grad=_passed_on,
             no_bias=param(bool, False, doc="Whether nothing is added.")),
        made("with a number", row, **scaled, **number),
        made("with a rate", row, **scaled, **rate),
        made("with a choice", row, forward=_signed, data_grad=_signed_grad,
             mode=param(str, "plus", choices=("plus", "minus"), doc="Which sign.")),
        made("with a state", "data:(N); aux total:(N) -> output:(N)", forward=_counted, data_grad=_passed_on,
             contract=Contract(reference=lambda data, total, is_train: (data, total + data * is_train))),
        made("with a space", rows_of, forward=_through_space, data_grad=_passed_on,
             resource=ResourceRequest.TEMP_SPACE),
        made("with noise", rows_of, forward=_noise, resource=ResourceRequest.RANDOM,
             contract=Contract(distribution=UNIFORM, nan_policy="the data are not read")),
        made("with a set", row, forward=_in_set, data_grad=_twice_grad),
        made("with a loss", "data:(N), label:(N) -> output:(N)", forward=lambda data, label: data,
             data_grad=_ignoring_head, contract=loss),
        from_mapper(limited),
        from_mapper(smoother),
    ]  # fmt: skip
    return {each.name: each for each in rows}


SAME: Final = {name: name for name in ELEMENT_TYPES}
"""Type of a result by that of the data, where they are the same."""


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A function of arrays of any library.

    Attributes:
        expression: Of the arguments of the line.
        line: The shape line.
        gradient: For NumPy; takes the head gradients, then the arguments.
        contract: Words of the contract.
    """

    expression: str
    line: str
    gradient: Any = None
    contract: dict[str, Any] = field(default_factory=dict)


def twice_grad(head, x):
    return head * 2


def of_places(head, x, i):
    found = np.zeros_like(x)
    np.add.at(found, i, head)
    return found, None


def of_mask(head, x, b):
    return head * b, None


def of_two(head, other, x):
    return 2 * head + other


def of_product(head, x, w):
    return head * w, head * x


ROWS: Final = {
    **{test: Row("x * 2", f"x:(N, W) -> y:(N, W); {test}", twice_grad) for test in TESTS},
    **{
        f"of {words}": Row("x * 2", "x:(N, W) -> y:(N, W)", twice_grad, {"inputs": {"x": domain}})
        for words, domain in DOMAINS.items()
    },
    "of any axes": Row("x * 2", "x:(...) -> y:(...)", twice_grad),
    "of no axes": Row("x * 2", "x:() -> y:()", twice_grad),
    "of a fixed axis": Row("x * 2", "x:(N, 64) -> y:(N, 64)", twice_grad),
    "of a drawn factor": Row("x * w", "x:(N), w:(N) -> y:(N)", of_product, {"inputs": {"w": Drawn(_drawn)}}),
    "of integers": Row("i * 2", "i:int64(N) -> y:int64(N)"),
    "of truth": Row("~b", "b:bool(N) -> y:bool(N)"),
    "with truth": Row("x > 0", "x:(N) -> y:bool(N)", contract={"nan_policy": "a NaN is not above zero"}),
    "of places": Row("x[i]", "x:(N), i:int64(M) -> y:(M); N >= 1", of_places, {"inputs": {"i": Index("x")}}),
    "of a mask": Row("x * b", "x:(N), b:bool(N) -> y:(N)", of_mask),
    "with several": Row("(x * 2, x * 1)", "x:(N) -> y:(N), z:(N)", of_two),
}
"""Functions of NumPy, PyTorch and JAX."""


FEW: Final = Profile("few", 4, 1.0)


def each(names: Iterable[str], fast: Collection[str]) -> list[Any]:
    """Names for pytest, of which all but the fast ones are slow."""
    return [pytest.param(name, marks=() if name in fast else pytest.mark.slow) for name in names]


def report_on_row(check: Callable[..., OperatorReport], name: str, *given: Any) -> OperatorReport:
    """What `check` finds of one function of a library."""
    row = ROWS[name]
    return check(row.expression, row.line, *given, contract=Contract(**row.contract), profile=FEW)


def assert_right(report: OperatorReport) -> None:
    """Nothing breaks, nothing accuses, and something passes."""
    assert (report.red_ids, report.broken_ids) == ([], []), repr(report)
    assert any(outcome.status is Status.PASSED for outcome in report.outcomes)
