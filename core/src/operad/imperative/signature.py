"""Types and shapes that a plan is for, and those that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, final

from operad.device import Context
from operad.errors import OperadError, ShapeError
from operad.imperative.array_spec import ArraySpec, spec_of
from operad.op import OperatorProperty, Shape, is_known


@final
class Signature(NamedTuple):
    """Types and shapes that a plan is for.

    Attributes:
        ctx: Where it runs.
        is_train: Whether for a training run.
        in_specs: Specifications of arguments and auxiliary states.
        in_shapes: Shapes of the arguments.
        in_types: Element types of the arguments.
        num_args: How many of the inputs are arguments.
        num_inputs: How many inputs there are.
        num_visible: How many of the outputs a caller sees.
        order: Where each input stands in a call; None where nothing moves.
        inplace: Pairs of an argument and an output that may lie in the same place.
    """

    ctx: Context
    is_train: bool
    in_specs: tuple[ArraySpec, ...]
    in_shapes: list[Shape]
    in_types: list[Any]
    num_args: int
    num_inputs: int
    num_visible: int
    order: list[int] | None
    inplace: frozenset[tuple[int, int]]


def inferred(
    prop: OperatorProperty, specs: Sequence[ArraySpec], num_args: int, ctx: Context
) -> tuple[list[Any], tuple[ArraySpec, ...]]:
    """Element types of the arguments, and specifications of the outputs.

    Args:
        prop: The operator.
        specs: Specifications of arguments and auxiliary states.
        num_args: How many of them are arguments.
        ctx: Where it runs.

    Raises:
        ShapeError: Those of an output do not follow, or an auxiliary state has another shape.
    """
    try:
        _, out_shapes, aux_shapes = prop.infer_shape([spec.shape for spec in specs[:num_args]])
        in_types, out_types, _ = prop.infer_type([spec.dtype for spec in specs[:num_args]])
    except OperadError:
        raise
    except Exception as error:
        error.add_note(f"in the inference of {prop.name}: a fault of the operator, not of the call")
        raise
    for name, shape, dtype in zip(prop.list_outputs(), out_shapes, out_types, strict=True):
        if not is_known(shape) or dtype is None:
            raise ShapeError(
                f"{prop.name}: shape and type of {name} do not follow from the arguments, "
                f"got {shape} of {dtype}"
            )
    for name, shape, spec in zip(prop.list_auxiliary_states(), aux_shapes, specs[num_args:], strict=True):
        if shape is not None and shape != spec.shape:
            raise ShapeError(f"{prop.name}: {name} has shape {spec.shape}, expected {shape}")
    outs = tuple(spec_of(shape, dtype, ctx) for shape, dtype in zip(out_shapes, out_types, strict=True))
    return in_types, outs
