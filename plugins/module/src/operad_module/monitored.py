"""Running node by node, and showing a callback what each computes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, final

import operad
from operad import NDArray
from operad.executor import Executor
from operad.graph import Composite, Entry, OpNode, Variable
from operad.program import Binding, codes, segments

MonitorCallback = Callable[[str, NDArray], object]
_WITH_DATA: Final = frozenset({
    "Custom", "Dropout", "GridGenerator", "L2Normalization", "LRN", "LeakyReLU", "MakeLoss",
    "Pad", "Pooling", "SequenceLast", "SequenceMask", "SequenceReverse", "SliceChannel", "SwapAxis", "col2im",
    "depth_to_space", "diag", "im2col", "log_softmax", "moments", "repeat", "reverse", "softmax",
    "space_to_depth", "squeeze", "tile", "_contrib_BilinearResize2D", "_contrib_MultiBoxPrior",
    "_contrib_index_array", "_contrib_quadratic", "_image_normalize", "_image_to_tensor",
    "_ravel_multi_index", "_split_v2", "_unravel_index",
})  # fmt: skip
"""Operators whose only input MXNet's monitors call `data`; that of all others is `input0` there."""


@final
class ArrayName(str):
    """Name of an array, for monitors: text that can be decoded, since in MXNet it is bytes."""

    __slots__ = ()

    def decode(self, *_: str) -> str:
        """The name."""
        return str(self)


def set_monitor_callback(self: Executor, callback: MonitorCallback | None, monitor_all: bool = False) -> None:
    """Call `callback(name, array)` for every node's outputs, as each is computed.

    Nodes then run one by one. The array is valid until the callback returns.

    Args:
        callback: What to call; None to stop.
        monitor_all: Report the inputs of every node as well: `fc1_data`, and variables also under
            their own names.
    """
    self.monitor = None if callback is None else partial(_run, callback, monitor_all)


class _Show(NamedTuple):
    """Callback for arrays, whose names are those of the graph that is bound."""

    callback: MonitorCallback
    named: Callable[[str], str]

    def __call__(self, name: str, array: NDArray) -> None:
        self.callback(ArrayName(self.named(name)), array)


def _run(
    callback: MonitorCallback,
    monitor_all: bool,
    binding: Binding,
    node_ids: Sequence[int],
    is_train: bool,
    started: Collection[Any],
    variables: Mapping[str, NDArray],
) -> None:
    """Run nodes one by one, and call `callback(name, array)` for what each writes.

    Args:
        monitor_all: Whether to show the inputs of every node as well.
        started: As `segments` takes it.
        variables: Arguments and states by name, also those that no node reads any more.
    """
    program, graph = binding.program, binding.program.numbered
    show = _Show(callback, program.named)
    # Of backward's nodes some compute again what forward's have shown.
    earlier = range(min(node_ids, default=0))
    before = {e.name for node_id in earlier for e in _shown(binding, node_id, passed_over=True)}
    shown = before.union(entry.name for node_id in node_ids for entry in _shown(binding, node_id))
    for segment in segments(binding, codes(program, node_ids, by_node=True), started):
        (node_id,) = segment.node_ids
        node = graph.nodes[node_id]
        assert isinstance(node, OpNode)
        if isinstance(node.op, Composite):
            inputs = [_array(binding, graph.entry_id(entry)) for entry in node.inputs]
            # Members may have an argument that the composite does not read: a label, in prediction.
            named = [e for member in node.op.members for e in member.inputs if isinstance(e.node, Variable)]
            names = {entry: program.named(entry.name) for entry in named}
            values = {entry: variables[name] for entry, name in names.items() if name in variables}
            values |= node.op.member_values(inputs)
            for each in node.op.passed_over:
                beside = [entry for entry in each.entries if entry in values and entry.name not in shown]
                if beside:
                    shown.update(entry.name for entry in beside)
                    _show(each, beside, values, show, monitor_all)
            # Shown before the node runs, which may overwrite inputs.
            for member in node.op.members:
                news = [e for e in member.entries if e in values and e.name not in before]
                _show(member, news, values, show, monitor_all)
            segment.push(is_train)
            continue
        if monitor_all:
            read = {entry: _array(binding, graph.entry_id(entry)) for _, entry in _named_inputs(node)}
            _show_inputs(node, read, show)
        segment.push(is_train)
        written = {
            graph.entries[n]: _array(binding, n)
            for n in program.call(node_id).outs
            if n is not None and graph.entries[n].name not in before
        }
        _show_outputs(node, written, show)


def _shown(binding: Binding, node_id: int, *, passed_over: bool = False) -> Sequence[Entry]:
    """Entries that are shown when a node runs; of nodes that it passes over, too, if that is asked."""
    graph = binding.program.numbered
    node = graph.nodes[node_id]
    if not isinstance(node, OpNode):
        return []
    if isinstance(node.op, Composite):
        nodes = (*node.op.members, *(node.op.passed_over if passed_over else ()))
        return [entry for each in nodes for entry in each.entries]
    return [graph.entries[number] for number in binding.program.call(node_id).outs if number is not None]


def _name(entry: Entry) -> str:
    """Name of an entry in the graph that the user built."""
    op = entry.node.op if isinstance(entry.node, OpNode) else None
    return (op.member_outputs[entry.index] if isinstance(op, Composite) else entry).name


def _show(
    node: OpNode,
    outputs: Sequence[Entry],
    values: Mapping[Entry, NDArray],
    show: _Show,
    monitor_all: bool,
) -> None:
    """Show what a node reads and gives for which another one stands."""
    if monitor_all:
        _show_inputs(node, values, show)
    _show_outputs(node, {entry: values[entry] for entry in outputs}, show)


def _show_inputs(node: OpNode, values: Mapping[Entry, NDArray], show: _Show) -> None:
    for name, entry in _named_inputs(node):
        if entry in values:
            show(name, values[entry])


def _show_outputs(node: OpNode, outputs: Mapping[Entry, NDArray], show: _Show) -> None:
    for entry, array in outputs.items():
        show(entry.name, array)
    operad.registry.hooks().operator_run(
        name=show.named(node.name), operator=(node.companion or node).op.name, outputs=[*outputs.values()]
    )


def _array(binding: Binding, entry: int) -> NDArray:
    bound = binding.array_of(entry)
    if bound is None:
        return NDArray(binding.chunk(entry), binding.data_of([entry])[0], binding.program.spec(entry))
    assert isinstance(bound, NDArray)
    return bound


def _named_inputs(node: OpNode) -> list[tuple[str, Entry]]:
    """Names of the inputs of a node for a monitor, as MXNet has them.

    A variable is shown under its own name, and under that of the node's argument, which may be the same.
    """
    if node.companion is not None:
        read = [*node.inputs[: node.num_read], *node.of_sums(node.inputs)]
        return [(_name(entry), entry) for entry in read]
    arguments = [*node.op.list_arguments(), *node.op.list_auxiliary_states()]
    if arguments == ["data"] and node.op.name not in _WITH_DATA:
        arguments = ["input0"]
    return [
        (name, entry)
        for argument, entry in zip(arguments, node.inputs, strict=False)  # behind these stand sums
        for name in ([_name(entry)] * isinstance(entry.node, Variable) + [f"{node.name}_{argument}"])
    ]
