"""Gradients of what was recorded.

A program records much the same graph in every iteration, so the graph's gradient pass runs once for each
structure (see `program`), and later iterations only replay its result on new arrays.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from operad.autograd.function import FunctionCall
from operad.autograd.program import BackwardProgram, backward_program
from operad.autograd.walk import gradients_by_node, with_zero_grad
from operad.boundary import boundary, shortened
from operad.errors import ArgumentError, GradientError
from operad.graph import REQUESTS
from operad.imperative import (
    Access,
    Array,
    Marked,
    Provenance,
    Scope,
    TapeEntry,
    TapeNode,
    copy_into,
    execute,
    overlap_check,
    refuse_traced,
    tape_of,
    unrecorded,
)


@boundary
def mark_variables(
    variables: Array | Sequence[Array],
    gradients: Array | Sequence[Array],
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
    refuse_traced("gradients are attached to arrays", "do it outside")
    arrays = [variables] if isinstance(variables, Array) else list(variables)
    buffers = [gradients] if isinstance(gradients, Array) else list(gradients)
    reqs = [grad_reqs] * len(arrays) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(arrays) == len(buffers) == len(reqs):
        raise ArgumentError(
            f"mark_variables: {len(arrays)} variables, {len(buffers)} gradients and {len(reqs)} grad_reqs"
        )
    uses: list[Access] = []
    for i, (array, buffer, req) in enumerate(zip(arrays, buffers, reqs, strict=True)):
        _check_array(f"mark_variables: variable {i}", array)
        if req not in REQUESTS:
            raise ArgumentError(f"mark_variables: grad_req is {req!r}, expected one of {', '.join(REQUESTS)}")
        _check_like("mark_variables: the gradient", buffer, array)
        uses.append(Access(f"variable {i}", array, "read"))
        if req != "null":
            uses.append(Access(f"the gradient of variable {i}", buffer, req))
    if found := overlap_check(uses):
        raise ArgumentError(
            f"mark_variables: {found[0]} shares memory with {found[1]}; a gradient would overwrite "
            "a variable or another gradient, so give each an array of its own"
        )
    for array, buffer, req in zip(arrays, buffers, reqs, strict=True):
        array._autograd = (Marked(buffer, req), 0)


@shortened
def backward(
    heads: Array | Sequence[Array],
    head_grads: Array | Sequence[Array | None] | None = None,
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
    node, index = entries[0] if len(entries) == 1 else (None, 0)
    call = node if isinstance(node, TapeNode) else None
    # One tuple, replaced whole, so that threads agree on what they see.
    last = call.plan.last_tape if call else None
    if call and last and last[:2] == (index, call.inputs):
        nodes, marked, program = [*last[2], call], *last[2:]
    else:
        nodes, program = tape_of(entries), None
        marked = [node for node in nodes if isinstance(node, Marked) and node.req != "null"]
    found = _run(nodes, entries, grads, [(x, 0) for x in marked], marked, retain_graph, train_mode, program)
    if call and last is not None and found and not found.plans and len(nodes) == len(marked) + 1:
        call.plan.last_tape = (index, call.inputs, marked, found)


@shortened
def grad(
    heads: Array | Sequence[Array],
    variables: Array | Sequence[Array],
    head_grads: Array | Sequence[Array | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> list[Array]:
    """The gradients of `heads` with respect to `variables`, as new arrays.

    Args:
        heads: The arrays to differentiate; several are summed.
        variables: Recorded arrays, marked or computed.
        head_grads: Gradient of each head; None: ones.
        retain_graph: Keep what was recorded; None: if `create_graph`.
        create_graph: Record the computation of the gradients, so that they can be differentiated. The head
            gradients that are recorded are differentiated as well.
        train_mode: Whether backward runs in training mode.
    Returns:
        A list with one array for each variable, also where `variables` is a single array.
    Raises:
        ArgumentError: `variables` is empty, or what it holds is no array.
        GradientError: As `backward`, for a variable that was not recorded, and with `create_graph` for an
            operator whose gradient cannot be differentiated.
    Source: autograd.grad, python/mxnet/autograd.py.
    """
    arrays = [variables] if isinstance(variables, Array) else list(variables)
    if not arrays:
        raise ArgumentError("grad: variables is empty, expected at least one array")
    for i, array in enumerate(arrays):
        _check_array(f"grad: variable {i}", array)
        if array._autograd is None:
            raise _no_gradient(f"grad: variable {i}", array)
    entries, grads = _heads(heads, head_grads)
    wanted = [x._autograd for x in arrays]
    nodes = tape_of([*entries, *wanted])
    retain_graph = create_graph if retain_graph is None else retain_graph
    if create_graph:
        _refuse_freed(nodes)
        with Scope(recording=True, training=train_mode):
            made = gradients_by_node(nodes, entries, grads, wanted, train_mode)
        if not retain_graph:
            _free(nodes)
        return [with_zero_grad(x, g) for x, g in zip(arrays, made, strict=True)]
    results = [Marked(x._new(x._spec), "write") for x in arrays]
    _run(nodes, entries, grads, wanted, results, retain_graph, train_mode)
    return [buffer.grad for buffer in results]


def _run(
    nodes: Sequence[TapeNode | Marked],
    heads: Sequence[TapeEntry],
    head_grads: Sequence[Array],
    wanted: Sequence[TapeEntry],
    buffers: Sequence[Marked],
    retain_graph: bool,
    train_mode: bool,
    program: BackwardProgram | None = None,
) -> BackwardProgram | None:
    """Compute gradients; returns their program, or the given one."""
    _refuse_freed(nodes)
    if wanted:
        results = _results_apart(nodes, head_grads, buffers)
        if not program and any(x.__class__ is TapeNode and x.plan.__class__ is FunctionCall for x in nodes):
            with unrecorded():
                found = gradients_by_node(nodes, heads, head_grads, wanted, train_mode)
            results = [
                x._new(x._spec)._set(0) if g is None else g for x, g in zip(results, found, strict=True)
            ]
        else:
            program = program or backward_program(nodes, heads, wanted, [one.req for one in buffers])
            program.run(nodes, head_grads, results, train_mode)
        for result, buffer in zip(results, buffers, strict=True):
            buffer.is_fresh = True
            if result is not buffer.grad:
                _accumulate_grad(result, buffer.grad, buffer.req)
    if not retain_graph:
        _free(nodes)
    return program


def _accumulate_grad(value: Array, target: Array, request: str) -> None:
    """Put a gradient into an array."""
    if request == "add":
        args, const = (target._data, value._data), (value._chunk.var,)
        execute(_add_into, args, target.ctx, const, (target._chunk.var,), "_grad_add", reads_mutable=True)
    else:
        copy_into(target, value)


def _add_into(target: Any, value: Any) -> None:
    target += value


def _refuse_freed(nodes: Sequence[TapeNode | Marked]) -> None:
    """Raise GradientError if what a gradient reads is there no more."""
    for node in nodes:
        if node.__class__ is TapeNode and node.saved is None:
            raise GradientError(
                f"backward of {node.plan.name}: what was recorded has been freed by an earlier backward; "
                "pass retain_graph=True there"
            )


def _free(nodes: Sequence[TapeNode | Marked]) -> None:
    for node in nodes:
        if node.__class__ is TapeNode:
            node.saved = None


def _results_apart(
    nodes: Sequence[TapeNode | Marked], head_grads: Sequence[Array], buffers: Sequence[Marked]
) -> list[Array]:
    """Return the buffers to put the gradients into, or others where in their memory something is read.

    A buffer may be, or share memory with, a head gradient or an array that was recorded; written while
    the backward pass still reads that one, it would make later gradients wrong.
    """
    results = [buffer.grad for buffer in buffers]
    written = {id(array._chunk) for array in results}
    if len(written) < len(results):
        found = overlap_check(
            Access(f"gradient {i}", buffer.grad, buffer.req) for i, buffer in enumerate(buffers)
        )
        if found:
            raise GradientError(
                f"backward: {found[0]} shares memory with {found[1]}, so one would overwrite the other; "
                "mark each variable with a gradient of its own"
            )
    calls = [node for node in nodes if node.__class__ is TapeNode]
    read = {id(array._chunk) for node in calls for array in node.saved or ()}
    read.update([id(grad._chunk) for grad in head_grads])
    if written.isdisjoint(read):
        return results
    return [x._new(x._spec)._set(0) if id(x._chunk) in read else x for x in results]


def _heads(
    heads: Array | Sequence[Array], head_grads: Array | Sequence[Array | None] | None
) -> tuple[list[TapeEntry], list[Array]]:
    refuse_traced("gradients are computed", "differentiate the compiled function outside")
    arrays = [heads] if isinstance(heads, Array) else list(heads)
    grads: list[Array | None] = [None] * len(arrays)
    if head_grads is not None:
        grads = [head_grads] if isinstance(head_grads, Array) else list(head_grads)
    if len(grads) != len(arrays):
        raise ArgumentError(f"backward: {len(grads)} head_grads for {len(arrays)} heads")
    entries = []
    for i, (array, given) in enumerate(zip(arrays, grads, strict=True)):
        _check_array(f"backward: head {i}", array)
        if array._autograd is None:
            raise _no_gradient(f"backward: head {i}", array)
        if given is not None:
            _check_like(f"backward: head_grads[{i}]", given, array)
        entries.append(array._autograd)
    return entries, [x._new(x._spec)._set(1) if g is None else g for x, g in zip(arrays, grads, strict=True)]


def _no_gradient(what: str, array: Array) -> GradientError:
    """The error for an array that is not on the tape, by how it came to be."""
    if array._has_provenance(Provenance.MADE):
        why = (
            "it was made, not computed; call attach_grad() on it, and compute from it under autograd.record()"
        )
    elif array._has_provenance(Provenance.UNTRACKED):
        why = "no array it was computed from has a gradient; call attach_grad() on them before record()"
    else:
        why = (
            "it was computed outside autograd.record() (or under pause(), or by detach()); compute it inside"
        )
    return GradientError(f"{what} was not recorded: {why}")


def _check_array(what: str, given: object) -> None:
    if not isinstance(given, Array):
        raise ArgumentError(f"{what} is {type(given).__name__}, expected an NDArray")


def _check_like(what: str, given: Any, array: Array) -> None:
    _check_array(what, given)
    if given._spec is not array._spec:
        raise ArgumentError(f"{what} is {given._spec}, expected {array._spec}")
