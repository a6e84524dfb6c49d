"""Declaring operators: `@operator` for a class or a function, `@unary` and `@binary` for a function."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, Literal, TypedDict, Unpack

import numpy as np

from operad.dtypes import DType
from operad.operator import OperatorProperty as CoreProperty
from operad.operator import Param
from operad.resource import ResourceRequest
from operad_sdk.contract import Contract
from operad_sdk.declare.function import names_of
from operad_sdk.declare.names import WORDS
from operad_sdk.declare.parameters import params_of
from operad_sdk.declare.property import OperatorProperty
from operad_sdk.declare.scalar import Scalar
from operad_sdk.element_types import Accepts
from operad_sdk.errors import DeclarationError
from operad_sdk.shapes import parse

UNARY: Final = "data:(...) -> output:(...)"
BINARY: Final = "lhs:(...), rhs:(...) -> output:(...)"
BROADCAST: Final = "lhs:(*A), rhs:(*B) -> output:(*broadcast(A, B))"


class Options(TypedDict, total=False):
    """Options of an operator beside its name and its function.

    Each is the attribute of `OperatorProperty` of that name. `scalar` is the number that the operator is
    called with as `scalar=`, and then its only parameter; `params` are parameters that the function's
    signature does not declare; `doc` is the docstring of a function that has none; `base` is the class
    that the operator extends, for methods that a family shares.
    """

    scalar: Scalar | None
    params: Mapping[str, Param]
    functions: Mapping[str, Callable[..., Any]]
    accepts: Accepts | Mapping[str, Accepts]
    compute_dtype: str | None
    integers_as: str | None
    is_flat_for_integers: bool
    promote: Callable[[Any, DType], DType]
    scalar_beyond: Literal["wrap", "keep"]
    inplace: str | Sequence[str]
    element_cost: float
    by_numpy: bool
    linear_in: Sequence[str]
    resource: ResourceRequest | Sequence[ResourceRequest]
    device: str
    contract: Contract
    doc: str
    base: type[OperatorProperty]


def operator(name: str, spec: str | None = None, **options: Unpack[Options]) -> Callable[[Any], Any]:
    """Declare a class or a function as the operator `name`, MXNet 1.x's name.

    Args:
        name: MXNet 1.x's name of the operator.
        spec: The shape line, for a function; a class has it as an attribute.
        options: See `Options`.
    Raises:
        DeclarationError: It says nothing about shapes, or nothing that computes.
    """

    def declare(declared: Any) -> Any:
        if not isinstance(declared, type):
            if spec is None:
                raise DeclarationError(
                    f"operator {name!r} is a function without a shape line; give it a spec"
                )
            return from_function(name, spec, declared, **options)
        if spec is not None or options:
            said = ", ".join(["spec"] * (spec is not None) + [*options])
            raise DeclarationError(
                f"operator {name!r} is a class, and its decorator says {said}; say it in the class"
            )
        made: Any = declared
        if not issubclass(declared, OperatorProperty):
            own = ("__doc__", "__module__", "__qualname__")
            members = {key: getattr(declared, key) for key in own if hasattr(declared, key)}
            made = type(declared.__name__, (declared, OperatorProperty), members)
        made.rename(name)
        if made.spec is None and made.infer_shape is OperatorProperty.infer_shape:
            raise DeclarationError(f"operator {name!r} has neither a spec nor infer_shape; give it a spec")
        if not made.kernels and made.create_operator is CoreProperty.create_operator:
            raise DeclarationError(f"operator {name!r} computes nothing; give it a function forward(...)")
        return made

    return declare


def unary(
    name: str, spec: str = UNARY, **options: Unpack[Options]
) -> Callable[[Any], type[OperatorProperty]]:
    """Declare a function of one array, which MXNet calls `data`, as an operator.

    The function may call the array, and the scalar, what it likes; other names are as in MXNet.
    """
    return lambda function: from_function(name, spec, function, **options)


def binary(
    name: str, spec: str = BINARY, **options: Unpack[Options]
) -> Callable[[Any], type[OperatorProperty]]:
    """Declare a function of two arrays, which MXNet calls `lhs` and `rhs`; else as `unary`.

    With `spec=BROADCAST` their shapes broadcast, and gradients are summed back.
    """
    return lambda function: from_function(name, spec, function, **options)


def from_function(name: str, spec: str, function: Any, **options: Unpack[Options]) -> type[OperatorProperty]:
    """The property class of an operator whose forward pass is one function.

    Args:
        function: Takes the arguments of `spec`, then parameters; a ufunc takes arguments, the scalar if
            there is one, and the output.
    Raises:
        DeclarationError: An option is unknown, or the signature does not go with the shape line.
    """
    given: dict[str, Any] = dict(options)
    for option in given:
        _check_option(name, option)
    scalar: Scalar | None = given.pop("scalar", None)
    params: dict[str, Param] = dict(given.pop("params", {}))
    base: type[OperatorProperty] = given.pop("base", OperatorProperty)
    doc = given.pop("doc", None) or getattr(function, "__doc__", None) or ""
    line = parse(spec)
    tensors = [item.name for item in line.inputs]
    outputs = [item.name for item in line.outputs]
    aliases: dict[str, str] = {}
    if scalar is not None:
        params["scalar"] = scalar.as_param()
        aliases[scalar.name] = "scalar"
    if not isinstance(function, np.ufunc) and not hasattr(function, "names"):
        own = [word for word in names_of(function, f"operator {name!r}") if word not in WORDS]
        if len(own) < len(tensors):
            raise DeclarationError(
                f"operator {name!r} takes {len(own)} values, expected its {len(tensors)} arrays first: "
                f"{', '.join(tensors)}"
            )
        aliases |= {mine: theirs for mine, theirs in zip(own, tensors, strict=False) if mine != theirs}
        taken = {*tensors, *aliases, *outputs, *params}
        rest = [word for word in own[len(tensors) :] if word not in taken]
        params |= params_of(function, f"operator {name!r}", rest)
    body: dict[str, Any] = {
        "__doc__": doc,
        "__module__": getattr(function, "__module__", __name__),
        "name": name,
        "spec": spec,
        "aliases": {
            mine + end: theirs + end
            for mine, theirs in aliases.items()
            for end in ("", "_grad")
            if mine != theirs
        },
        "forward": staticmethod(function),
        **params,
        **given,
    }
    if scalar is not None and set(params) != {"scalar"}:
        raise DeclarationError(f"operator {name!r} has a scalar and parameters; expected one or the other")
    return type(name, (base,), body)


def _check_option(name: str, option: str) -> None:
    known = Options.__annotations__
    if option not in known:
        close = difflib.get_close_matches(option, known, n=1)
        advice = f"did you mean {close[0]!r}?" if close else f"expected {', '.join(known)}"
        raise DeclarationError(f"operator {name!r} has no option {option!r}; {advice}")
