"""`sym.contrib.foreach`, `while_loop` and `cond`.

Source: python/mxnet/symbol/contrib.py. Differs: a symbol may be given twice, among `data` or among states.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from operad import Symbol, sym
from operad.errors import ArgumentError
from operad.graph import Entry, OpNode
from operad.operator import OperatorProperty
from operad.symbol.name import NameManager
from operad_control_flow.cond import Cond
from operad_control_flow.cutting import Cut, Traced
from operad_control_flow.foreach import Foreach
from operad_control_flow.nested import filled, flat
from operad_control_flow.while_loop import WhileLoop

Nested = Any
"""A symbol, or lists of symbols, of lists, and so on."""


def foreach(
    body: Callable[..., Any], data: Nested, init_states: Nested, name: str = "foreach"
) -> tuple[Nested, Nested]:
    """Run `out, states = body(slice, states)` for each slice along the first axis of `data`.

    `body` is called once, with symbols, when the graph is built; what it reads of symbols outside, weights
    and others, gets gradients as well.

    Args:
        body: Makes the symbols of a step; its outputs may be nested lists.
        data: Symbols of arrays of one length.
        init_states: The states of the first step.
        name: What the symbols inside are marked with.

    Returns:
        The outputs of all steps, stacked along a new first axis, and the last states, nested as `body` gives
        them.

    Raises:
        ArgumentError: `body` gives other states than it is given, or leaves one, or `data`, unused.
    """
    what = f"foreach {name!r}"
    datas, states = flat(what, "data", data), flat(what, "init_states", init_states)
    if not datas:
        raise ArgumentError(f"{what}: there is no data to go over")
    count = len(datas)
    traced = Traced(
        name,
        [*datas, *states],
        lambda inside: body(filled(data, inside[:count]), filled(init_states, inside[count:])),
    )
    outputs, new_states = _pair(f"{what}: body", traced.result)
    out_symbols = flat(what, "outputs of body", outputs)
    cut = traced.cut([*out_symbols, *_new_states(what, "body", new_states, states)])
    read = _all_read(what, "body", cut, [*datas, *states])
    outer = {number: which for number, which in enumerate(cut.inputs) if isinstance(which, Entry)}
    found = _node(
        Foreach,
        [cut],
        [*_entries(datas), *_entries(states), *outer.values()],
        num_outputs=len(out_symbols) + len(states),
        num_out_data=len(out_symbols),
        in_data_locs=read[:count],
        in_state_locs=read[count:],
        remain_locs=list(outer),
    )
    return filled(outputs, found[: len(out_symbols)]), filled(init_states, found[len(out_symbols) :])


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
    name: str = "while_loop",
) -> tuple[Nested, Nested]:
    """Run `out, loop_vars = func(*loop_vars)` while `cond(*loop_vars)` is true.

    Both are called once, with symbols, when the graph is built.

    Args:
        cond: Makes the symbol of one element that says whether there is another step.
        func: Makes the symbols of a step; its outputs may be nested lists, or None.
        loop_vars: A symbol or a list of symbols.
        max_iterations: The most steps there may be.
        name: What the symbols inside are marked with.

    Returns:
        The outputs of all steps, stacked along a new first axis of length `max_iterations` with 0 where no
        step wrote, and the last `loop_vars`.

    Raises:
        ArgumentError: `max_iterations` is missing, or `func` gives other `loop_vars` than it is given, or
            leaves one unused.
    """
    what = f"while_loop {name!r}"
    if max_iterations is None:
        raise ArgumentError(f"{what}: max_iterations is missing; the outputs are made as long as that")
    variables = flat(what, "loop_vars", loop_vars)
    if not variables:
        raise ArgumentError(f"{what}: there are no loop_vars, so nothing changes from step to step")
    condition = Traced(f"{name}_cond", variables, lambda inside: cond(*_spread(loop_vars, inside)))
    step = Traced(f"{name}_func", variables, lambda inside: func(*_spread(loop_vars, inside)))
    outputs, new_variables = _pair(f"{what}: func", step.result)
    outputs = [] if outputs is None else outputs
    out_symbols = flat(what, "outputs of func", outputs)
    cuts = [
        condition.cut([_one(what, "cond", condition.result)]),
        step.cut([*out_symbols, *_new_states(what, "func", new_variables, variables)]),
    ]
    inputs, positions = _joined(cuts, _entries(variables), is_shared=False)
    found = _node(
        WhileLoop,
        cuts,
        inputs,
        num_outputs=len(out_symbols) + len(variables),
        num_out_data=len(out_symbols),
        max_iterations=max_iterations,
        cond_input_locs=positions[0],
        func_input_locs=positions[1],
        func_var_locs=_all_read(what, "func", cuts[1], variables),
    )
    return filled(outputs, found[: len(out_symbols)]), filled(loop_vars, found[len(out_symbols) :])


def cond(pred: Any, then_func: Callable[[], Any], else_func: Callable[[], Any], name: str = "cond") -> Nested:
    """`then_func()` where `pred`, a symbol of one element, is true, else `else_func()`.

    Both are called once when the graph is built, and one of them is computed.

    Args:
        name: What the symbols inside are marked with.

    Returns:
        What both functions give alike: a symbol, or nested lists of symbols.

    Raises:
        ArgumentError: They give different numbers of symbols.
    """
    what = f"cond {name!r}"
    condition = Traced(f"{name}_pred", [], lambda _: _one(what, "pred", pred))
    branches = [
        Traced(f"{name}_then", [], lambda _: then_func()),
        Traced(f"{name}_else", [], lambda _: else_func()),
    ]
    outputs = [flat(what, "what a branch gives", branch.result) for branch in branches]
    if len(outputs[0]) != len(outputs[1]):
        raise ArgumentError(
            f"{what}: then_func gives {len(outputs[0])} symbols and else_func {len(outputs[1])}, expected "
            f"as many"
        )
    cuts = [condition.cut([condition.result])]
    cuts += [branch.cut(symbols) for branch, symbols in zip(branches, outputs, strict=True)]
    inputs, positions = _joined(cuts, [], is_shared=True)
    found = _node(
        Cond,
        cuts,
        inputs,
        num_outputs=len(outputs[0]),
        cond_input_locs=positions[0],
        then_input_locs=positions[1],
        else_input_locs=positions[2],
    )
    return filled(branches[0].result, found)


def _pair(what: str, made: Any) -> tuple[Any, Any]:
    if not isinstance(made, (tuple, list)) or len(made) != 2:
        raise ArgumentError(f"{what} gave {made!r}, expected two: outputs, and states of the next step")
    first, second = made
    return first, second


def _one(what: str, kind: str, made: Any) -> Symbol:
    if not isinstance(made, Symbol) or len(made) != 1:
        raise ArgumentError(f"{what}: {kind} is {made!r}, expected a symbol of one output")
    return made


def _new_states(what: str, function: str, made: Any, states: Sequence[Symbol]) -> list[Symbol]:
    found = [] if made is None else flat(what, f"states of {function}", made)
    if len(found) != len(states):
        raise ArgumentError(f"{what}: {function} gave {len(found)} states, expected {len(states)}")
    return found


def _spread(loop_vars: Nested, symbols: Sequence[Symbol]) -> Sequence[Nested]:
    """Arguments of a call with what stands for `loop_vars`."""
    found = filled(loop_vars, symbols)
    return [found] if isinstance(found, Symbol) else found


def _all_read(what: str, function: str, cut: Cut, symbols: Sequence[Symbol]) -> list[int]:
    """The number of the input that stands for each symbol.

    Raises:
        ArgumentError: None does.
    """
    number_of = {which: number for number, which in enumerate(cut.inputs)}
    if unread := [str(symbol.name) for i, symbol in enumerate(symbols) if i not in number_of]:
        raise ArgumentError(
            f"{what}: {function} does not use what stands for {', '.join(unread)}; leave it out, and read "
            f"from "
            "outside what is the same in all steps"
        )
    return [number_of[i] for i in range(len(symbols))]


def _joined(
    cuts: Sequence[Cut], own: Sequence[Entry], is_shared: bool
) -> tuple[list[Entry], list[list[int]]]:
    """The inputs of a node over several graphs, and for each graph which of them its inputs are.

    Args:
        own: What the arguments of the functions are in the first step.
        is_shared: Whether what several graphs read from outside is one input.
    """
    places: dict[Any, int] = {}
    inputs: list[Entry] = []
    positions: list[list[int]] = []
    for cut in cuts:
        positions.append([])
        for which in cut.inputs:
            key = (cut, which) if isinstance(which, Entry) and not is_shared else which
            if key not in places:
                places[key] = len(inputs)
                inputs.append(which if isinstance(which, Entry) else own[which])
            positions[-1].append(places[key])
    return inputs, positions


def _entries(symbols: Sequence[Symbol]) -> list[Entry]:
    return [entry for symbol in symbols for entry in symbol.entries]


def _node(
    op: type[OperatorProperty], cuts: Sequence[Cut], inputs: Sequence[Entry], **params: Any
) -> list[Symbol]:
    """The outputs of a new node; its parameters are written as MXNet does."""
    params["num_args"] = len(inputs) + len(cuts)
    prop = op(subgraphs=[cut.graph for cut in cuts], **params)
    attrs = {key: str(value) for key, value in sorted(params.items())}
    name = NameManager.current.get(None, prop.name)
    node = OpNode(prop, name, inputs, sym.AttrScope.current.get(attrs))
    return [Symbol([entry]) for entry in node.entries]
