"""Binding: from a graph and arrays, or shapes, to an executor."""

from __future__ import annotations

from collections.abc import Collection, Mapping, MutableMapping, Sequence
from typing import Any

from operad.device import Context
from operad.dtypes import DType
from operad.errors import BindError
from operad.executor.arrays import buffered, check_apart, lent, taken_or_new
from operad.executor.compiling import compiled
from operad.executor.executor import Executor
from operad.graph import REQUESTS, Graph
from operad.ndarray import NDArray
from operad.op import PartialShape

Arrays = Sequence[Any] | Mapping[str, Any]
GradReq = str | Sequence[str] | Mapping[str, str]


def bind(
    graph: Graph,
    ctx: Context,
    args: Arrays,
    args_grad: Arrays | None = None,
    grad_req: GradReq = "write",
    aux_states: Arrays | None = None,
    group2ctx: Mapping[str, Context] | None = None,
    shared_exec: Executor | None = None,
) -> Executor:
    """An executor over the caller's arrays.

    Args:
        graph: What to run.
        ctx: Where nodes without a context group run.
        args: Every argument, as a list in `list_arguments` order or by name.
        args_grad: Where gradients go, likewise; arguments without an array get none.
        grad_req: `write`, `add` or `null`, for all, as a list, or by name.
        aux_states: Every auxiliary state, as a list or by name.
        group2ctx: Contexts of the groups that `__ctx_group__` attributes name.
        shared_exec: An executor whose internal memory may be used too, if the two never run at once
            on behalf of each other's results.

    Names that the graph does not have are ignored, as in MXNet: a set of parameters may serve several graphs.

    Raises:
        BindError: An array is missing or does not fit, or a gradient would overwrite another array of the
            binding.
        ShapeError: The arrays' shapes contradict each other.
    """
    names, states = graph.list_arguments(), graph.list_auxiliary_states()
    arrays = _arrays("args", args, names, all_needed=True)
    grads = _arrays("args_grad", {} if args_grad is None else args_grad, names, all_needed=False)
    aux = _arrays("aux_states", {} if aux_states is None else aux_states, states, all_needed=True)
    req = _requests(grad_req, names)
    for name in names:
        grad = grads.get(name)
        if grad is None:
            req[name] = "null"
        elif req[name] != "null" and (grad.shape != arrays[name].shape or grad.dtype != arrays[name].dtype):
            raise BindError(
                f"bind: gradient of {name!r} is {grad.dtype.name}{grad.shape}, expected "
                f"{arrays[name].dtype.name}{arrays[name].shape}"
            )
    grad_dict = {name: grads.get(name) if req[name] != "null" else None for name in names}
    everything = {**arrays, **aux}
    check_apart(grad_dict, req, everything)
    shapes = {name: array.shape for name, array in everything.items()}
    types = {name: array.dtype for name, array in everything.items()}
    program = compiled(graph, ctx, req, shapes, types, group2ctx or {})
    pool = None if shared_exec is None else shared_exec.pool
    return Executor(graph, ctx, program, arrays, grad_dict, req, aux, group2ctx or {}, pool)


def simple_bind(
    graph: Graph,
    ctx: Context,
    shapes: Mapping[str, PartialShape],
    types: Mapping[str, DType],
    grad_req: GradReq = "write",
    group2ctx: Mapping[str, Context] | None = None,
    shared_exec: Executor | None = None,
    shared_arg_names: Collection[str] | None = None,
    shared_buffer: MutableMapping[str, NDArray] | None = None,
) -> Executor:
    """An executor over new arrays, filled with zeros, or over arrays that other executors have.

    Args:
        graph: What to run.
        ctx: Where nodes without a context group run.
        shapes: Shapes by argument name, enough for the rest to follow.
        types: Element types by argument name; float32 where nothing else follows.
        grad_req: `write`, `add` or `null`, for all, as a list, or by name.
        group2ctx: Contexts of the groups that `__ctx_group__` attributes name.
        shared_exec: An executor whose memory may be used too: its arguments, gradients and states
            of equal name, shape and type are taken over, and its internal memory is shared.
        shared_arg_names: The arguments that are taken over from it, with their gradients, and no others. They
            mean nothing without it.
        shared_buffer: Arrays by name for arguments that are not taken over, and for their gradients, as
            `grad of weight`. What is there is used from its beginning, with the values it has; what is not,
            or is too small, is made and put there for the next executor.
    Raises:
        ShapeError: Shapes contradict each other or do not follow from those given.
        BindError: What would be shared does not fit.
    """
    names = graph.list_arguments()
    req = _requests(grad_req, names)
    _check_names("type_dict", types, [*names, *graph.list_auxiliary_states()])
    program = compiled(graph, ctx, req, shapes, types, group2ctx or {})
    specs = program.specs
    arg_dict, grad_dict, aux_dict, pool = {}, {}, {}, None
    if shared_exec is not None:
        arg_dict, grad_dict, aux_dict = shared_exec.arg_dict, shared_exec.grad_dict, shared_exec.aux_dict
        pool = shared_exec.pool
    _check_names("shared_arg_names", dict.fromkeys(shared_arg_names or ()), names)

    def array_of(name: str, key: str, taken: Mapping[str, NDArray | None], what: str) -> NDArray:
        if shared_exec is not None and shared_arg_names is not None and name in shared_arg_names:
            return lent(name, specs[name], taken, what)
        if shared_buffer is not None:
            return buffered(key, specs[name], shared_buffer)
        return taken_or_new({} if shared_arg_names is not None else taken, name, specs[name])

    args = {name: array_of(name, name, arg_dict, "argument") for name in names}
    grads = {
        name: None if req[name] == "null" else array_of(name, f"grad of {name}", grad_dict, "gradient of")
        for name in names
    }
    aux = {name: taken_or_new(aux_dict, name, specs[name]) for name in graph.list_auxiliary_states()}
    return Executor(graph, ctx, program, args, grads, req, aux, group2ctx or {}, pool)


def _arrays(what: str, given: Any, names: Sequence[str], all_needed: bool) -> dict[str, Any]:
    if isinstance(given, NDArray):
        raise BindError(f"bind: {what} is one array, expected a list or a mapping of them")
    found = _by_name(what, given, names, "arrays")
    for name, array in found.items():
        if array is not None and not isinstance(array, NDArray):
            raise BindError(f"bind: {what} of {name!r} is {type(array).__name__}, expected an NDArray")
    missing = [name for name in names if found.get(name) is None]
    if missing and all_needed:
        raise BindError(f"bind: {what} lacks {missing[0]!r}; it needs {', '.join(names)}")
    return found


def _by_name(what: str, given: Any, names: Sequence[str], kind: str) -> dict[str, Any]:
    """A mapping, or a list in the order of the names, as a mapping without further names."""
    if isinstance(given, Mapping):
        return {name: given[name] for name in names if name in given}
    if len(given) != len(names):
        raise BindError(f"bind: {what} has {len(given)} {kind}, expected {len(names)}: {', '.join(names)}")
    return dict(zip(names, given, strict=True))


def _check_names(what: str, given: Mapping[str, Any], names: Sequence[str]) -> None:
    unknown = [name for name in given if name not in names]
    if unknown:
        raise BindError(f"bind: {what} names {unknown[0]!r}, expected {', '.join(names) or 'none'}")


def _requests(grad_req: GradReq, names: Sequence[str]) -> dict[str, str]:
    requests = dict.fromkeys(names, grad_req if isinstance(grad_req, str) else "null")
    if not isinstance(grad_req, str):
        requests |= _by_name("grad_req", grad_req, names, "entries")
    for name, request in requests.items():
        if request not in REQUESTS:
            raise BindError(
                f"bind: grad_req of {name!r} is {request!r}, expected one of {', '.join(REQUESTS)}"
            )
    return requests
