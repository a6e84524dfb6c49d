"""Methods of executors that training loops call: other shapes, and parameters from elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from operad import NDArray, nd
from operad.boundary import shortened
from operad.errors import BindError, UnknownParameterError, suggestion
from operad.executor import Executor, compiled, part_of, set_values
from operad.imperative import ArraySpec
from operad.operator import known_shape


@shortened
def copy_params_from(
    self: Executor,
    arg_params: Mapping[str, NDArray],
    aux_params: Mapping[str, NDArray] | None = None,
    allow_extra_params: bool = False,
) -> None:
    """Copy values into arguments and auxiliary states by name.

    Raises:
        UnknownParameterError: A name is unknown and `allow_extra_params` is False; a ValueError, too.
        BindError: A value has another shape.
    """
    for kind, given, own in (
        ("argument", arg_params, self.arg_dict),
        ("auxiliary state", aux_params or {}, self.aux_dict),
    ):
        for name, value in given.items():
            if name in own:
                set_values(f"copy_params_from: {name!r}", own[name], value)
            elif not allow_extra_params:
                raise UnknownParameterError(
                    f"copy_params_from: unknown {kind} {name!r}; expected {', '.join(own)}, "
                    "or pass allow_extra_params=True"
                )


@shortened
def reshape(
    self: Executor, partial_shaping: bool = False, allow_up_sizing: bool = False, **shapes: Any
) -> Executor:
    """An executor of the same graph for other input shapes, sharing memory with this one.

    Its outputs lie in this one's where they fit, and its nodes are monitored by the same callback.

    Args:
        partial_shaping: Allow arguments not named in `shapes` to change their shape too.
        allow_up_sizing: Allow new memory for arrays that grow; the others stay shared.
        shapes: New shapes by argument name.
    Raises:
        BindError: An array would have to change that may not.
    """
    for name in shapes:
        if name not in self.arg_dict:
            raise BindError(f"reshape: unknown argument {name!r}; {suggestion(name, self.arg_dict)}")
    given = {name: known_shape(shape) for name, shape in shapes.items()}
    types = {name: array.dtype for name, array in {**self.arg_dict, **self.aux_dict}.items()}
    program = compiled(self.graph, self.ctx, self.grad_req, given, types, self.group2ctx)
    how = (program.specs, given, partial_shaping, allow_up_sizing)
    made = Executor(
        self.graph,
        self.ctx,
        program,
        _refitted(self.arg_dict, *how),
        _refitted(self.grad_dict, *how),
        self.grad_req,
        _refitted(self.aux_dict, *how),
        self.group2ctx,
        self.pool,
        self.outputs,
    )
    made.monitor = self.monitor
    return made


def _refitted(
    arrays: Mapping[str, Any],
    specs: Mapping[str, ArraySpec],
    named: Collection[str],
    partial_shaping: bool,
    allow_up_sizing: bool,
) -> dict[str, Any]:
    """Arrays with the shapes of `specs`, in their old memory where it suffices; None stays None.

    Args:
        named: Arguments that may change their shape.
        partial_shaping: Whether the others may as well.
        allow_up_sizing: Whether an array may grow into new memory.
    """
    made: dict[str, Any] = {}
    for name, array in arrays.items():
        made[name] = None if array is None else part_of(array, specs[name].shape)
        if array is None or made[name] is array:
            continue
        change = f"from {array.shape} to {specs[name].shape}"
        if name not in named and not partial_shaping:
            raise BindError(f"reshape: {name!r} would change {change}; name it, or pass partial_shaping=True")
        if made[name] is None:
            if not allow_up_sizing:
                raise BindError(f"reshape: {name!r} would grow {change}; pass allow_up_sizing=True")
            made[name] = nd.empty(specs[name].shape, array.context, array.dtype)._set(0)
    return made
