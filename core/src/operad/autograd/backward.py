"""Gradients of what was recorded.

A program records much the same graph at every step, so the graph's gradient pass runs once for each
structure (see `schedule`), and later steps only replay its result on new arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

from operad.autograd.function import record_copy
from operad.autograd.record import FREED, GradBuffer, Info, Saved
from operad.autograd.schedule import deliver, schedule
from operad.errors import ArgumentError, GradientError
from operad.graph import Entry, Node, OpNode, Variable, topological_order
from operad.ndarray import NDArray, Use, clash, new_array, set_frontend

_REQUESTS = ("write", "add", "null")


def mark_variables(
    variables: NDArray | Sequence[NDArray],
    gradients: NDArray | Sequence[NDArray],
    grad_reqs: str | Sequence[str] = "write",
) -> None:
    """Attach gradient buffers, so that `backward` computes gradients of these arrays.

    Args:
        variables: The arrays.
        gradients: One buffer an array, of its shape, type and context.
        grad_reqs: `write`, `add` or `null`, for all or one an array.
    Raises:
        ArgumentError: A gradient would overwrite a variable or another gradient. Gradients that are all
            added to their buffers may share one.
    """
    arrays = [variables] if isinstance(variables, NDArray) else list(variables)
    buffers = [gradients] if isinstance(gradients, NDArray) else list(gradients)
    reqs = [grad_reqs] * len(arrays) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(arrays) == len(buffers) == len(reqs):
        raise ArgumentError(
            f"mark_variables: {len(arrays)} variables, {len(buffers)} gradients and {len(reqs)} grad_reqs"
        )
    uses: list[Use] = []
    for i, (array, buffer, req) in enumerate(zip(arrays, buffers, reqs, strict=True)):
        _check_array(f"mark_variables: variable {i}", array)
        if req not in _REQUESTS:
            raise ArgumentError(
                f"mark_variables: grad_req is {req!r}, expected one of {', '.join(_REQUESTS)}"
            )
        _check_like("mark_variables: the gradient", buffer, array)
        if array.dtype.kind != "f":
            raise GradientError(
                f"mark_variables: an array of {array.dtype.name} has no gradient; cast it first"
            )
        uses.append(Use(f"variable {i}", array, "read"))
        if req != "null":
            uses.append(Use(f"the gradient of variable {i}", buffer, req))
    if found := clash(uses):
        raise ArgumentError(
            f"mark_variables: {found[0]} shares memory with {found[1]}; a gradient would overwrite "
            "a variable or another gradient, so give each an array of its own"
        )
    for array, buffer, req in zip(arrays, buffers, reqs, strict=True):
        node = Variable("variable")
        node.saved = GradBuffer(buffer, req)
        array._autograd = Info(Entry(node), node.saved)


def backward(
    heads: NDArray | Sequence[NDArray],
    head_grads: NDArray | Sequence[NDArray | None] | None = None,
    retain_graph: bool = False,
    train_mode: bool = True,
) -> None:
    """Compute the gradients of `heads` with respect to every marked variable they depend on.

    Args:
        heads: The arrays to differentiate; several are summed.
        head_grads: Gradient of each head; None: ones.
        retain_graph: Keep what was recorded, for another backward.
        train_mode: Whether backward runs in training mode.
    Raises:
        GradientError: A head was not recorded, or what it needs was freed or overwritten.
    """
    entries, grads = _heads(heads, head_grads)
    nodes = topological_order(entries)
    marked = [node for node in nodes if isinstance(node.saved, GradBuffer) and node.saved.req != "null"]
    _run(
        nodes, entries, grads, [Entry(n) for n in marked], [n.saved for n in marked], retain_graph, train_mode
    )


def grad(
    heads: NDArray | Sequence[NDArray],
    variables: NDArray | Sequence[NDArray],
    head_grads: NDArray | Sequence[NDArray | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> Any:
    """The gradients of `heads` with respect to `variables`, as new arrays.

    Args:
        heads: The arrays to differentiate; several are summed.
        variables: Recorded arrays, marked or computed.
        head_grads: Gradient of each head; None: ones.
        retain_graph: Keep what was recorded.
        create_graph: Must be False: gradients of gradients are not supported.
        train_mode: Whether backward runs in training mode.
    Returns:
        One array, or a list if `variables` is a list.
    Raises:
        GradientError: As `backward`, and for a variable that was not recorded.
    """
    if create_graph:
        raise GradientError("grad: create_graph=True (gradients of gradients) is not supported")
    arrays = [variables] if isinstance(variables, NDArray) else list(variables)
    for i, array in enumerate(arrays):
        _check_array(f"grad: variable {i}", array)
        if array._autograd is None:
            raise GradientError(
                f"grad: variable {i} was not recorded; call attach_grad() on it before record()"
            )
    entries, grads = _heads(heads, head_grads)
    results = [GradBuffer(new_array(x._spec), "write") for x in arrays]
    wanted = [x._autograd.entry for x in arrays]
    nodes = topological_order([*entries, *wanted])
    _run(nodes, entries, grads, wanted, results, bool(retain_graph), train_mode)
    found = [buffer.array for buffer in results]
    return found[0] if isinstance(variables, NDArray) else found


def _run(
    nodes: Sequence[Node],
    heads: Sequence[Entry],
    head_grads: Sequence[NDArray],
    wanted: Sequence[Entry],
    buffers: Sequence[GradBuffer],
    retain_graph: bool,
    train_mode: bool,
) -> None:
    for node in nodes:
        if node.saved is FREED:
            raise GradientError(
                f"backward of {node.name}: what was recorded has been freed by an earlier backward; "
                "pass retain_graph=True there"
            )
    plan = schedule(nodes, heads, wanted, [buffer.req for buffer in buffers], train_mode)
    results = _results_apart(nodes, head_grads, buffers)
    plan.run(nodes, head_grads, results)
    for result, buffer in zip(results, buffers, strict=True):
        if result is not buffer.array:
            deliver(result, buffer.array, buffer.req)
    if not retain_graph:
        for node in nodes:
            if isinstance(node, OpNode):
                node.saved = FREED


def _results_apart(
    nodes: Sequence[Node], head_grads: Sequence[NDArray], buffers: Sequence[GradBuffer]
) -> list[NDArray]:
    """Where to put the gradients: into the buffers, or beside those in whose memory something is read.

    A buffer may be, or share memory with, a head gradient or an array that was recorded; written while
    the backward pass still reads that one, it would make later gradients wrong.
    """
    results = [buffer.array for buffer in buffers]
    written = {id(array._chunk) for array in results}
    if len(written) < len(results):
        found = clash(Use(f"gradient {i}", buffer.array, buffer.req) for i, buffer in enumerate(buffers))
        if found:
            raise GradientError(
                f"backward: {found[0]} shares memory with {found[1]}, so one would overwrite the other; "
                "mark each variable with a gradient of its own"
            )
    read = {id(grad._chunk) for grad in head_grads}
    for node in nodes:
        if isinstance(node.saved, Saved):
            read.update([id(array._chunk) for array in node.saved.arrays.values()])
    if written.isdisjoint(read):
        return results
    return [_filled_like(x, 0) if id(x._chunk) in read else x for x in results]


def _heads(
    heads: NDArray | Sequence[NDArray], head_grads: NDArray | Sequence[NDArray | None] | None
) -> tuple[list[Entry], list[NDArray]]:
    arrays = [heads] if isinstance(heads, NDArray) else list(heads)
    grads: list[NDArray | None] = [None] * len(arrays)
    if head_grads is not None:
        grads = [head_grads] if isinstance(head_grads, NDArray) else list(head_grads)
    if len(grads) != len(arrays):
        raise ArgumentError(f"backward: {len(grads)} head_grads for {len(arrays)} heads")
    entries = []
    for i, (array, given) in enumerate(zip(arrays, grads, strict=True)):
        _check_array(f"backward: head {i}", array)
        if array._autograd is None:
            raise GradientError(
                f"backward: head {i} was not recorded; compute it under autograd.record(), by operators "
                "that have gradients, from arrays that attach_grad() was called on"
            )
        if given is not None:
            _check_like(f"backward: head_grads[{i}]", given, array)
        entries.append(array._autograd.entry)
    return entries, [_ones(x) if g is None else g for x, g in zip(arrays, grads, strict=True)]


def _check_array(what: str, given: object) -> None:
    if not isinstance(given, NDArray):
        raise ArgumentError(f"{what} is {type(given).__name__}, expected an NDArray")


def _check_like(what: str, given: Any, array: NDArray) -> None:
    _check_array(what, given)
    if given._spec is not array._spec:
        raise ArgumentError(f"{what} is {given._spec}, expected {array._spec}")


def _ones(array: NDArray) -> NDArray:
    return _filled_like(array, 1)


def _filled_like(array: NDArray, value: float) -> NDArray:
    made = new_array(array._spec)
    made._data[...] = value  # fresh, so nothing is pending on it
    return made


@final
class _Frontend:
    """What `NDArray.attach_grad` and `NDArray.backward` call."""

    mark_variables = staticmethod(mark_variables)
    backward = staticmethod(backward)
    record_copy = staticmethod(record_copy)


set_frontend(_Frontend())
