"""Operators that are one function: `@unary`, `@binary`, `from_ufunc`.

The declaration is read off the functions. The first parameter (two for a binary operator) is the
array; MXNet knows it as `data` (`lhs` and `rhs`) whatever the function calls it. The others are
operator parameters. A gradient's parameter names are its backward dependency: `ograd`, `out_value`,
the arrays by the function's or MXNet's name, and operator parameters. In any function `out` is an
array to write into, and `op_ctx` is the `OpContext`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import update_wrapper
from typing import Final, TypedDict, Unpack

import numpy as np

from operad.operator import Param, SimpleOp
from operad_sdk.contract import Contract
from operad_sdk.declare.scalar import Scalar
from operad_sdk.element_types import Accepts, ResultType, type_rule
from operad_sdk.errors import DeclarationError
from operad_sdk.signature import OP_CTX, Signature, arranged, check_names, params_of, read_signature
from operad_sdk.simple_function import Function, Names, Resources, SimpleFunction, as_tuple

UNARY: Final = ("data",)
BINARY: Final = ("lhs", "rhs")


class Options(TypedDict, total=False):
    """What `unary` and `binary` take beside the name.

    Attributes:
        scalar: The number that the operator is called with as `scalar=`; it is the only parameter.
        inplace: The arrays that the output may overwrite.
        shape: The output's shape from the arrays' shapes, and parameters by name; left out: the
            arrays' own. `SimpleFunction.shape` is the same as a decorator.
        accepts: Element types accepted: any, number, integer, floating.
        dtype: Element type of the output, or a function of the arrays' type; left out: the same.
        resource: Resources the function needs, as `op_ctx.requested`.
        cost: Rough number of scalar operations an element.
        contract: Declarations for the contract checks.
    """

    scalar: Scalar | None
    inplace: Names
    shape: Function | None
    accepts: Accepts
    dtype: ResultType
    resource: Resources
    cost: float
    contract: Contract | None


def unary(name: str, **options: Unpack[Options]) -> Callable[[Function], SimpleFunction]:
    """Declare an operator of one array, which MXNet calls `data`.

    Args:
        name: MXNet 1.x's name of the operator.
        options: See `Options`.
    Raises:
        DeclarationError: The signature and the options contradict each other.
    """
    return _declarer(name, UNARY, **options)


def binary(name: str, **options: Unpack[Options]) -> Callable[[Function], SimpleFunction]:
    """Declare an operator of two arrays, which MXNet calls `lhs` and `rhs`; else as `unary`."""
    return _declarer(name, BINARY, **options)


def from_ufunc(
    ufunc: np.ufunc,
    *,
    name: str | None = None,
    scalar: Scalar | None = None,
    reverse: bool = False,
    gradient: Function | Mapping[str, Function] | None = None,
    gradient_inplace: Names = (),
    accepts: Accepts = "any",
    dtype: ResultType = None,
    cost: float = 1.0,
    doc: str = "",
    contract: Contract | None = None,
) -> SimpleFunction:
    """Declare a NumPy ufunc as an operator; the executor then calls the ufunc itself.

    Args:
        ufunc: Of one or two inputs and one output.
        name: MXNet's name; the ufunc's if left out.
        scalar: Makes a ufunc of two inputs an operator of `data` and `scalar`.
        reverse: With `scalar`: the scalar is the ufunc's first input.
        gradient: The gradient's function; for two operands one for each, by operand.
        gradient_inplace: Which of the arrays read the gradient may overwrite.
        accepts: Element types accepted; `dtype` and `cost` are as in `Options`.
        doc: What the operator computes.
        contract: Declarations for the contract checks.
    Raises:
        DeclarationError: The ufunc has another number of inputs or outputs.
    """
    operands = ufunc.nin - (scalar is not None)
    if ufunc.nout != 1 or operands not in (1, 2) or (reverse and scalar is None):
        raise DeclarationError(
            f"from_ufunc: {ufunc.__name__} has {ufunc.nin} inputs and {ufunc.nout} outputs; "
            "expected one output and one or two inputs, and one more for scalar="
        )
    arguments = UNARY if operands == 1 else BINARY
    operator = name or ufunc.__name__
    simple = SimpleOp(
        operator,
        arguments,
        _reversed(ufunc) if reverse else ufunc,
        takes_out=True,
        params={"scalar": scalar.as_param()} if scalar else {},
        inplace=arguments,
        type_function=type_rule(operator, accepts, dtype),
        cost=cost,
        doc=doc or f"`numpy.{ufunc.__name__}` of every element.",
    )
    declared = SimpleFunction(simple, {scalar.name: "scalar"} if scalar else {}, contract)
    if isinstance(gradient, Mapping):
        for argument, function in gradient.items():
            declared.gradient(argument, inplace=_read_by(function, gradient_inplace))(function)
    elif gradient is not None:
        declared.gradient(inplace=gradient_inplace)(gradient)
    return declared


def _declarer(
    name: str,
    arguments: Sequence[str],
    *,
    scalar: Scalar | None = None,
    inplace: Names = (),
    shape: Function | None = None,
    accepts: Accepts = "any",
    dtype: ResultType = None,
    resource: Resources = (),
    cost: float = 1.0,
    contract: Contract | None = None,
) -> Callable[[Function], SimpleFunction]:
    def declare(function: Function) -> SimpleFunction:
        signature = read_signature(function, f"operator {name!r}")
        public_names, params = _read_declaration(function, signature, arguments, scalar)
        overwritten = [public_names.get(argument, argument) for argument in as_tuple(inplace)]
        check_names(f"inplace of operator {name!r}", overwritten, arguments)
        context = [OP_CTX] if signature.takes_context else []
        order = [*context, *arguments, *params]
        simple = SimpleOp(
            name,
            arguments,
            arranged(function, signature, order, lambda own: public_names.get(own, own)),
            takes_out=signature.takes_out,
            takes_context=signature.takes_context,
            params=params,
            inplace=overwritten,
            type_function=type_rule(name, accepts, dtype),
            forward_resource=as_tuple(resource),
            cost=cost,
            doc=function.__doc__ or "",
        )
        declared = SimpleFunction(simple, public_names, contract)
        if shape is not None:
            declared.shape(shape)
        update_wrapper(declared, function)
        return declared

    return declare


def _read_declaration(
    function: Function, signature: Signature, arguments: Sequence[str], scalar: Scalar | None
) -> tuple[dict[str, str], dict[str, Param]]:
    """MXNet's name for each of the author's where they differ, and the parameters declared."""
    own = [name for name in signature.names if name != OP_CTX]
    arrays, rest = own[: len(arguments)], own[len(arguments) :]
    if len(arrays) < len(arguments):
        raise DeclarationError(f"{signature.what} takes {len(arrays)} arrays, expected {len(arguments)}")
    public_names = {mine: theirs for mine, theirs in zip(arrays, arguments, strict=True) if mine != theirs}
    if scalar is None:
        return public_names, params_of(function, signature, rest)
    if rest != [scalar.name]:
        raise DeclarationError(
            f"{signature.what} takes {', '.join(rest) or 'no parameter'} after the arrays, expected "
            f"{scalar.name} alone, the scalar; an operator has a scalar or parameters, not both"
        )
    if scalar.name != "scalar":
        public_names[scalar.name] = "scalar"
    return public_names, {"scalar": scalar.as_param()}


def _reversed(ufunc: np.ufunc) -> Function:
    return lambda data, scalar, out: ufunc(scalar, data, out=out)


def _read_by(function: Function, names: Names) -> list[str]:
    reads = read_signature(function, "gradient").names
    return [name for name in as_tuple(names) if name in reads]
