"""Every operator called with what it cannot take: wrong ranks, types, sizes, numbers and texts.

Run as a program: `python -m tests.reliability.refusals`. Prints one JSON object for each call that ended
otherwise than by a result or an `OperadError`, and last the number of calls. Address space and the time
for one operator are limited, so an allocation of what a number claims is an error here too.
"""

from __future__ import annotations

import itertools
import json
import resource
import signal
import sys
import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np

import operad as od
from operad import registry
from operad.cli.samples import sample_property, sample_shapes
from operad.operator import OperatorProperty

MOST_ADDRESS_SPACE_BYTES = 8 << 30
MOST_SECONDS_PER_OPERATOR = 120

VALUES: tuple[Any, ...] = (
    -1, 0, 1, 7, 10**6, 10**9, 10**18, 1 << 80, -(10**9), 0.5, 1e300, float("nan"), float("inf"),
    -float("inf"), "text", "", "-1", "(1,", "1e400", "\ud800", None, True, (), (0,), (-1,), (0.5,), ("a",),
    (1, 2, 3, 4, 5, 6, 7), (10**9,) * 4, (1 << 62, 1 << 62), [[1]], {}, object(), np.int64(-3),
    np.array([1, 2]), b"x", 1 + 2j,
)  # fmt: skip
SHAPES = ((), (0,), (1,), (3,), (2, 0), (2, 3), (1, 1, 1), (2, 3, 4, 5), (1, 2, 1, 2, 1, 2))
TYPES = ("float16", "float64", "int8", "uint8", "int32", "int64", "bool")


def calls(op: type[OperatorProperty]) -> Iterator[tuple[str, list[Any], dict[str, Any]]]:
    """Calls of one operator, each with what is wrong about it, its arrays and its parameters."""
    prop = sample_property(op, {})
    params = {name: getattr(prop, name) for name in op.params}
    names = prop.list_inputs()
    shapes = sample_shapes(prop) or [(2, 3)] * len(prop.list_arguments())
    try:
        states = prop.infer_shape(shapes)[2]
    except od.OperadError:  # nothing fitting was found, so that every call is a wrong one
        states = [(2, 3)] * len(prop.list_auxiliary_states())
    by_name = dict(zip(prop.list_arguments(), shapes, strict=True))
    by_name.update(zip(prop.list_auxiliary_states(), states, strict=True))
    # a state may have any shape
    usual = [by_name[name] if by_name[name] is not None else (2, 3) for name in names]
    for name, value in itertools.product(op.params, VALUES):
        yield f"{name}={value!r}", [_array(shape) for shape in usual], {**params, name: value}
    for place, shape in itertools.product(range(len(names)), SHAPES):
        changed = [*usual[:place], shape, *usual[place + 1 :]]
        yield f"{names[place]} of shape {shape}", [_array(shape) for shape in changed], params
    for shape in SHAPES:
        yield f"all of shape {shape}", [_array(shape) for _ in names], params
    for place, dtype in itertools.product(range(len(names)), TYPES):
        arrays = [_array(shape, dtype if i == place else "float32") for i, shape in enumerate(usual)]
        yield f"{names[place]} of {dtype}", arrays, params
    for dtype in TYPES:
        yield f"all of {dtype}", [_array(shape, dtype) for shape in usual], params
    for value in (np.nan, np.inf, -1e30, 1e38):
        yield f"all {value}", [od.nd.array(np.full(shape, value)) for shape in usual], params
    yield "no arrays", [], params
    yield "one array too many", [_array(shape) for shape in [*usual, (2, 3)]], params
    yield "an unknown parameter", [_array(shape) for shape in usual], {**params, "no_such_parameter": 1}
    for thing in (None, 1.5, "text", np.ones(3), [], object(), od.sym.var("x")):
        yield f"{type(thing).__name__} for an array", [thing, *[_array(shape) for shape in usual[1:]]], params
    yield "out=5", [_array(shape) for shape in usual], {**params, "out": 5}
    yield "out of another shape", [_array(shape) for shape in usual], {**params, "out": _array((5, 7, 2))}
    yield "ctx='cpu'", [_array(shape) for shape in usual], {**params, "ctx": "cpu"}


def _array(shape: Any, dtype: str = "float32") -> od.NDArray:
    values = np.linspace(0.1, 0.9, int(np.prod(shape))).reshape(shape) * (1 if dtype[:5] == "float" else 5)
    return od.nd.array(values, dtype=dtype)


def problems(name: str) -> Iterator[dict[str, str] | None]:
    """One item per call of the operator called `name`: None, or what it raised that is no OperadError."""
    op = registry.get(name)
    function = getattr(od.nd, name)
    for what, arrays, params in calls(op):
        try:
            result = function(*arrays, **params)
            for output in result if isinstance(result, list) else [result]:
                output.asnumpy()
            od.nd.waitall()
        except od.OperadError:
            yield None
        except Exception as error:  # noqa: BLE001 - what this looks for
            place = traceback.extract_tb(error.__traceback__)[-1]
            yield {
                "operator": name,
                "call": what,
                "raised": f"{type(error).__name__}: {error}"[:200],
                "at": f"{place.filename}:{place.lineno}",
            }
        else:
            yield None


def _too_long(*_: object) -> None:
    raise TimeoutError(f"one operator took more than {MOST_SECONDS_PER_OPERATOR} s")


def main(names: list[str]) -> None:
    """Call the operators with these names; all of them if there are none."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_ADDRESS_SPACE_BYTES, MOST_ADDRESS_SPACE_BYTES))
    signal.signal(signal.SIGALRM, _too_long)
    count = 0
    for name in names or registry.list_operators(aliases=False):
        op = registry.get(name)
        if op.takes_more_params or op.num_subgraphs:  # it is whatever a program makes
            continue
        signal.alarm(MOST_SECONDS_PER_OPERATOR)
        for problem in problems(name):
            count += 1
            if problem is not None:
                print(json.dumps(problem), flush=True)
        signal.alarm(0)
    print(count)


if __name__ == "__main__":
    main(sys.argv[1:])
