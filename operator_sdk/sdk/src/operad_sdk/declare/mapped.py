"""Declaring a mapper as an operator: `from_mapper`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, final

from operad.operator import Param, ScalarForm
from operad_sdk.contract import NO_DECLARATIONS, Contract
from operad_sdk.declare.decorators import BINARY, UNARY, from_function
from operad_sdk.declare.property import OperatorProperty
from operad_sdk.declare.scalar import Scalar
from operad_sdk.errors import DeclarationError
from operad_sdk.mapper.builder import Builder
from operad_sdk.mapper.core import Mapper
from operad_sdk.mapper.slope import slope_form

Slope = Literal["auto"] | Mapper | Sequence[Mapper] | None


@final
class MappedFunction:
    """A mapper in the place of an operator's function.

    Attributes:
        mapper: Its inputs are the arrays, then the operator's parameters in declared order.
        names: What it takes, as the operator calls it; the last is the target.
    """

    __slots__ = ("mapper", "names")

    def __init__(self, mapper: Mapper, names: Sequence[str]) -> None:
        self.mapper = mapper
        self.names = tuple(names)

    def __call__(self, *values: Any) -> None:
        """Fill the last of `values`."""
        self.mapper.map(*values[:-1], out=values[-1])


def from_mapper(
    mapper: Mapper,
    *,
    name: str | None = None,
    scalar: Scalar | None = None,
    params: Mapping[str, Param] | None = None,
    slope: Slope = "auto",
    integers_as: str | None = None,
    contract: Contract | None = None,
) -> type[OperatorProperty]:
    """Declare a mapper as an operator.

    Args:
        mapper: Its inputs are one or two arrays, then the scalar or the parameters in order.
        name: MXNet's name of the operator; the mapper's if left out.
        scalar: The number that the operator is called with as `scalar=`, as MXNet's operators are.
        params: Operator parameters by name, instead of a scalar; callers write the names.
        slope: `"auto"` differentiates the mapper; or the slope as a mapper of the same inputs, one
            for each array; None: no gradient flows.
        integers_as: The type in which integers are computed, to be rounded towards zero; None: there
            is no operator of integers.
        contract: Declarations for the contract checks.

    Raises:
        DeclarationError: The inputs are not arrays followed by the parameters, or a written slope
            has other inputs.
    """
    operator = name or mapper.__name__
    own_names = [scalar.name] if scalar else list(params or {})
    form = mapper.form
    count = len(form.inputs) - len(own_names)
    if list(form.inputs[count:]) != own_names or count not in (1, 2) or (scalar and params):
        raise DeclarationError(
            f"from_mapper: operator {operator!r} from {mapper!r} with parameters ({', '.join(own_names)}): "
            "expected one or two arrays, then exactly those parameters, a scalar or others but not both"
        )
    arguments = ("data",) if count == 1 else ("lhs", "rhs")
    public = [*arguments, *(["scalar"] if scalar else own_names)]
    made = from_function(
        operator,
        UNARY if count == 1 else BINARY,
        MappedFunction(mapper, [*public, "output"]),
        scalar=scalar,
        params=dict(params or {}),
        accepts="floating" if integers_as is None else "number",
        integers_as=integers_as,
        inplace=[f"{argument} -> output" for argument in arguments],
        doc=mapper.__doc__ or "",
        contract=contract or NO_DECLARATIONS,
    )
    for argument, one in zip(arguments, _slopes(operator, mapper, count, slope), strict=False):
        function, reads = _gradient(one, public, count, argument)
        made.gradient(argument, inplace=reads)(function)
    return made


def _slopes(operator: str, mapper: Mapper, count: int, slope: Slope) -> list[ScalarForm]:
    if slope is None:
        return []
    if slope == "auto":
        return [_shortest_slope(mapper.form, wrt, count) for wrt in range(count)]
    written = [slope] if isinstance(slope, Mapper) else list(slope)
    if [each.form.inputs for each in written] != [mapper.form.inputs] * count:
        raise DeclarationError(
            f"from_mapper: operator {operator!r} has slopes {written!r}, expected {count}, "
            f"each of the inputs {', '.join(mapper.form.inputs)}"
        )
    return [each.form for each in written]


def _shortest_slope(form: ScalarForm, wrt: int, count: int) -> ScalarForm:
    """Slope computed from the output alone if possible, else from the inputs alone."""
    with_result = slope_form(form, wrt, result_name="output")
    arrays = {"output", *form.inputs[:count]} & set(with_result.inputs_read)
    return with_result if arrays == {"output"} else slope_form(form, wrt)


def _gradient(
    slope: ScalarForm, inputs: Sequence[str], arrays: int, argument: str
) -> tuple[MappedFunction, list[str]]:
    """`output_grad * slope` as one mapper of the arrays it reads and all parameters, and those arrays."""
    public = [*inputs, *slope.inputs[len(inputs) :]]
    params = inputs[arrays:]
    is_read = [own in slope.inputs_read for own in slope.inputs]
    kept = [name for name, flag in zip(public, is_read, strict=True) if flag and name not in params]
    reads = ["output_grad", *kept]
    builder = Builder(f"{slope.name}_gradient", [*reads, *params])
    positions = {name: position for position, name in enumerate(builder.inputs)}
    unread = builder.constant(0)
    value = builder.inline(slope, [positions.get(name, unread) for name in public])
    is_zero = builder.number(value) == 0
    result = value if is_zero else builder.apply("multiply", positions["output_grad"], value)
    function = MappedFunction(Mapper(builder.finish(result)), [*reads, *params, f"{argument}_grad"])
    return function, reads
