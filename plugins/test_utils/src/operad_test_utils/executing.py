"""Running a symbol on given arrays, and comparing the results.

Source: python/mxnet/test_utils.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from operad import Context, NDArray, Symbol, current_context, nd
from operad.errors import ParamError, UnknownParameterError
from operad_test_utils.comparing import assert_almost_equal, plain
from operad_test_utils.tolerances import Tolerance

Array = np.ndarray[Any, Any]
Values = Sequence[Any] | Mapping[str, Any]


def simple_forward(sym: Symbol, ctx: Context | None = None, is_train: bool = False, **inputs: Any) -> Any:
    """The outputs of a symbol as arrays of NumPy: a list, or the one of one output.

    Args:
        sym: The symbol.
        ctx: Device; None: the default.
        is_train: Whether it runs as in training.
        inputs: Values of its arguments.
    """
    context = ctx or current_context()
    executor = sym.bind(context, {name: nd.array(value, context) for name, value in inputs.items()})
    outputs = [output.asnumpy() for output in executor.forward(is_train=is_train)]
    return outputs[0] if len(outputs) == 1 else outputs


def check_symbolic_forward(
    sym: Symbol,
    location: Values,
    expected: Values,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    aux_states: Values | None = None,
    ctx: Context | None = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> list[NDArray]:
    """Compare the outputs of a symbol with what is expected; returns them.

    Args:
        sym: The symbol.
        location: Values of all arguments, in order or by name.
        expected: The outputs, in order or by name.
        rtol: As for `assert_almost_equal`, and so is `atol`.
        aux_states: Auxiliary states, in order or by name.
        ctx: Device; None: the default.
        equal_nan: Whether NaN equals NaN.
        dtype: Element type of arguments and states; "asnumpy": that of each value.

    Raises:
        AssertionError: They differ; the message names the output and the position.
        UnknownParameterError: Names are not those of the symbol.
    """
    context = ctx or current_context()
    executor = sym.bind(
        context,
        arrays_of(sym.list_arguments(), location, context, dtype, "location"),
        aux_states=states_of(sym, aux_states, context, dtype),
    )
    outputs = executor.forward(is_train=False)
    names = sym.list_outputs()
    wanted = _named("expected", names, expected)
    for name, output in zip(names, outputs, strict=True):
        if name in wanted:
            called = (f"FORWARD_{name}", f"EXPECTED_{name}")
            assert_almost_equal(output, wanted[name], rtol, atol, called, equal_nan)
    return outputs


def check_symbolic_backward(
    sym: Symbol,
    location: Values,
    out_grads: Values | None,
    expected: Values,
    rtol: Tolerance = None,
    atol: Tolerance = None,
    aux_states: Values | None = None,
    grad_req: Any = "write",
    ctx: Context | None = None,
    grad_stypes: Any = None,
    equal_nan: bool = False,
    dtype: Any = np.float32,
) -> dict[str, NDArray]:
    """Compare the gradients of a symbol with what is expected; returns the computed ones.

    Gradients are written over random numbers, or added to them where `grad_req` says so.

    Args:
        sym: The symbol.
        location: Values of all arguments, in order or by name.
        out_grads: Gradients of the outputs, in order or by name; None: the outputs are losses.
        expected: Gradients of arguments, in order or by name; those that are left out are not compared.
        rtol: As for `assert_almost_equal`, and so is `atol`.
        aux_states: Auxiliary states, in order or by name.
        grad_req: "write", "add" or "null"; or one for each argument, in order or by name.
        ctx: Device; None: the default.
        grad_stypes: Storage types of gradients; they have no effect, since arrays are dense.
        equal_nan: Whether NaN equals NaN.
        dtype: Element type of arguments and states; "asnumpy": that of each value.

    Raises:
        AssertionError: They differ; the message names the argument and the position.
        UnknownParameterError: Names are not those of the symbol.
    """
    context, names = ctx or current_context(), sym.list_arguments()
    arguments = arrays_of(names, location, context, dtype, "location")
    wanted = _named("expected", names, expected)
    before = {name: nd.array(np.random.normal(size=arguments[name].shape), context, arguments[name].dtype)
              for name in wanted}  # fmt: skip
    requests = _named("grad_req", names, [grad_req] * len(names) if isinstance(grad_req, str) else grad_req)
    executor = sym.bind(
        context,
        arguments,
        {name: array.copy() for name, array in before.items()},
        {name: requests.get(name, "null") if name in wanted else "null" for name in names},
        states_of(sym, aux_states, context, dtype),
    )
    outputs = executor.forward(is_train=True)
    heads = None if out_grads is None else _named("out_grads", sym.list_outputs(), out_grads)
    executor.backward(
        None if heads is None else [
            nd.array(heads[name], context, output.dtype)
            for name, output in zip(sym.list_outputs(), outputs, strict=True)
        ]
    )  # fmt: skip
    grads = {name: executor.grad_dict[name] for name in wanted}
    found = {name: before[name] if grad is None else grad for name, grad in grads.items()}
    for name, value in wanted.items():
        request, old = requests.get(name, "null"), before[name].asnumpy()
        target = old if request == "null" else plain(value) + (old if request == "add" else 0)
        called = (f"BACKWARD_{name}", f"EXPECTED_{name}")
        assert_almost_equal(found[name], target, rtol, atol, called, equal_nan)
    return found


def check_speed(
    sym: Symbol,
    location: Mapping[str, Any] | None = None,
    ctx: Context | None = None,
    N: int = 20,  # noqa: N803 - MXNet's name
    grad_req: Any = None,
    typ: str = "whole",
    **kwargs: Any,
) -> float:
    """Seconds that one run of a symbol takes, the mean of several after one.

    Args:
        sym: The symbol.
        location: Values of its arguments; None: normal numbers, of the shapes in `kwargs`.
        ctx: Device; None: the default.
        N: Number of runs.
        grad_req: As in `simple_bind`; None: "write".
        typ: "whole", forward and backward, or "forward".
        kwargs: Shapes of arguments.

    Raises:
        ParamError: `typ` is neither.
    """
    if typ not in ("whole", "forward"):
        raise ParamError(f"check_speed: typ is {typ!r}, expected 'whole' or 'forward'")
    context = ctx or current_context()
    shapes = kwargs if location is None else {name: np.shape(value) for name, value in location.items()}
    executor = sym.simple_bind(context, grad_req=grad_req or "write", **shapes)
    for name, array in executor.arg_dict.items():
        array[...] = np.random.normal(size=array.shape) if location is None else location.get(name, 1.0)

    def run() -> None:
        outputs = executor.forward(is_train=typ == "whole")
        if typ == "whole":
            executor.backward(outputs)

    run()
    nd.waitall()
    begin = time.perf_counter()
    for _ in range(N):
        run()
    nd.waitall()
    return (time.perf_counter() - begin) / N


def same_symbol_structure(sym1: Symbol, sym2: Symbol) -> bool:
    """Return whether two symbols have the same operators in the same positions of their graphs."""
    one, other = (
        [(node["op"], node["inputs"]) for node in json.loads(sym.tojson())["nodes"]] for sym in (sym1, sym2)
    )
    return one == other


def arrays_of(
    names: Sequence[str], values: Values, ctx: Context, dtype: Any, what: str
) -> dict[str, NDArray]:
    """An array for every name.

    Raises:
        UnknownParameterError: A name has no value, or a value no name.
    """
    given = _named(what, names, values)
    if set(given) != set(names):
        raise UnknownParameterError(f"{what} has values for {sorted(given)}, expected them for {list(names)}")
    made = {name: plain(given[name]) for name in names}
    return {
        name: nd.array(value, ctx, value.dtype if dtype == "asnumpy" else dtype)
        for name, value in made.items()
    }


def states_of(sym: Symbol, values: Values | None, ctx: Context, dtype: Any) -> dict[str, NDArray] | None:
    """The auxiliary states of a symbol; None where none are given."""
    if values is None:
        return None
    return arrays_of(sym.list_auxiliary_states(), values, ctx, dtype, "aux_states")


def _named(what: str, names: Sequence[str], values: Values) -> dict[str, Any]:
    if isinstance(values, Mapping):
        unknown = [name for name in values if name not in names]
        if unknown:
            raise UnknownParameterError(f"{what} names {unknown[0]!r}, expected some of {list(names)}")
        return dict(values)
    if len(values) > len(names):
        raise UnknownParameterError(
            f"{what} has {len(values)} values, expected one for each of {list(names)}"
        )
    return dict(zip(names, values, strict=False))
