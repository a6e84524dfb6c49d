"""Operators that are one mapper: `from_mapper`.

The forward value and each gradient become one mapper call that writes into the array the executor
hands it. A gradient reads no more than its formula needs: where the slope can be told from the
output (tanh, exp, sqrt), the input need not be kept; where it is constant, neither is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, final

from operad.operator import OGRAD, OUT, Gradient, Param, SimpleOp
from operad_sdk.contract import Contract
from operad_sdk.element_types import type_rule
from operad_sdk.errors import DeclarationError
from operad_sdk.mapper.core import Mapper
from operad_sdk.mapper.ir import Builder, Program
from operad_sdk.mapper.slope import slope_program
from operad_sdk.declare.scalar import Scalar
from operad_sdk.simple import BINARY, UNARY
from operad_sdk.simple_function import SimpleFunction

Slope = Literal["auto"] | Mapper | Sequence[Mapper] | None
_ARITHMETIC: Final = frozenset(("add", "subtract", "multiply", "negative", "abs", "select"))


@final
class MappedFunction:
    """A mapper in the place of an operator's function; graph passes find the mapper here.

    Attributes:
        mapper: Its inputs are the arrays, then the operator's parameters in declared order.
    """

    __slots__ = ("mapper",)

    def __init__(self, mapper: Mapper) -> None:
        self.mapper = mapper

    def __call__(self, *values: Any, out: Any = None) -> Any:
        """The mapper over arrays and parameters."""
        return self.mapper.map(*values, out=out)


def from_mapper(
    mapper: Mapper,
    *,
    name: str | None = None,
    scalar: Scalar | None = None,
    params: Mapping[str, Param] | None = None,
    slope: Slope = "auto",
    contract: Contract | None = None,
) -> SimpleFunction:
    """Declare a mapper as an operator.

    Args:
        mapper: Its inputs are one or two arrays, then the scalar or the parameters in order.
        name: MXNet's name of the operator; the mapper's if left out.
        scalar: The number that the operator is called with as `scalar=`.
        params: Operator parameters by name, instead of a scalar.
        slope: `"auto"` differentiates the mapper; or the slope as a mapper of the same inputs, one
            for each array; None: no gradient flows.
        contract: Declarations for the contract checks.

    Raises:
        DeclarationError: The inputs are not arrays followed by the parameters, or a written slope
            has other inputs.
    """
    operator = name or mapper.__name__
    own_names = [scalar.name] if scalar else list(params or {})
    program = mapper.program
    count = len(program.inputs) - len(own_names)
    if list(program.inputs[count:]) != own_names or count not in (1, 2) or (scalar and params):
        raise DeclarationError(
            f"from_mapper: operator {operator!r} from {mapper!r} with parameters ({', '.join(own_names)}): "
            "expected one or two arrays, then exactly those parameters, a scalar or others but not both"
        )
    arguments = UNARY if count == 1 else BINARY
    declared = {"scalar": scalar.as_param()} if scalar else dict(params or {})
    simple = SimpleOp(
        operator,
        arguments,
        MappedFunction(mapper),
        takes_out=True,
        gradients=_gradients(operator, mapper, arguments, len(own_names), slope),
        params=declared,
        inplace=arguments,
        type_function=type_rule(operator, "floating", None),
        cost=_cost(program),
        doc=mapper.__doc__ or "",
    )
    theirs = [*arguments, *declared]
    public = {mine: public for mine, public in zip(program.inputs, theirs, strict=True) if mine != public}
    return SimpleFunction(simple, public, contract)


def _gradients(
    operator: str, mapper: Mapper, arguments: Sequence[str], params: int, slope: Slope
) -> list[Gradient | None]:
    if slope is None:
        return [None] * len(arguments)
    if slope == "auto":
        slopes = [_shortest_slope(mapper.program, wrt, len(arguments)) for wrt in range(len(arguments))]
    else:
        written = [slope] if isinstance(slope, Mapper) else list(slope)
        if [each.program.inputs for each in written] != [mapper.program.inputs] * len(arguments):
            raise DeclarationError(
                f"from_mapper: operator {operator!r} has slopes {written!r}, expected {len(arguments)}, "
                f"each of the inputs {', '.join(mapper.program.inputs)}"
            )
        slopes = [each.program for each in written]
    return [_gradient(each, arguments, params) for each in slopes]


def _shortest_slope(program: Program, wrt: int, count: int) -> Program:
    """The slope from the output alone where that is possible, else from the inputs alone."""
    with_result = slope_program(program, wrt, result_name=OUT)
    arrays = {OUT, *program.inputs[:count]} & set(with_result.inputs_read)
    return with_result if arrays == {OUT} else slope_program(program, wrt)


def _gradient(slope: Program, arguments: Sequence[str], params: int) -> Gradient:
    """`ograd * slope` as one mapper of the arrays it reads, then all parameters."""
    arrays = len(arguments)
    public = [*arguments, *slope.inputs[arrays:]]
    param_names = public[arrays : arrays + params]
    is_read = [own in slope.inputs_read for own in slope.inputs]
    kept = [name for name, flag in zip(public, is_read, strict=True) if flag and name not in param_names]
    reads = [OGRAD, *kept]
    builder = Builder(f"{slope.name}_ograd", [*reads, *param_names])
    positions = {name: position for position, name in enumerate(builder.inputs)}
    unread = builder.constant(0)
    value = builder.inline(slope, [positions.get(name, unread) for name in public])
    result = value if builder.number(value) == 0 else builder.apply("multiply", positions[OGRAD], value)
    return Gradient(MappedFunction(Mapper(builder.finish(result))), reads, takes_out=True, inplace=reads)


def _cost(program: Program) -> float:
    """Rough number of scalar operations an element: a mathematical function counts as ten."""
    steps = [step for step in program.instructions if step.op not in ("input", "constant")]
    cheap = [step for step in steps if step.kind == "bool" or step.op in _ARITHMETIC]
    return float(max(1, len(cheap) + 10 * (len(steps) - len(cheap))))
