"""Graphs as MXNet 1.x's `-symbol.json` text, both ways.

A file lists nodes in topological order. Variables have the operator `null`; auxiliary states are
variables at the end of a node's inputs. Operator parameters and the user's attributes share one
mapping: what the operator declares is a parameter, everything else is kept as an attribute, so that
parameters of MXNet which mean nothing here (`cudnn_tune`, `workspace`) survive a round trip.

An input is (node, output, version). Versions count how often operators have updated a variable;
they are written as MXNet writes them, and not needed to read.

Older spellings are read as well: `attr` and `param` for `attrs`, inputs and heads without version,
`backward_source_id`, attributes such as `lr_mult` without underscores or as `weight_lr_mult` on the
operator, operators' former names (`_Plus`, `_MulScalar`, `Softmax`), and files from before 0.9, which
leave auxiliary states out.

Source: nnvm/src/pass/saveload_json.cc and src/nnvm/legacy_json_util.cc; former names: `add_alias` in
src/operator/tensor/elemwise_binary_*.cc and src/operator/softmax_output.cc.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar, final

from operad import registry
from operad.errors import FormatError, GraphError, OperadError, OperatorNotFoundError, ParamError
from operad.graph.ir import BackwardNode, Entry, Graph, Node, OpNode, Variable
from operad.graph.primitives import PRIMITIVES
from operad.operator import OperatorProperty

T = TypeVar("T")

MXNET_VERSION: Final = 10901
"""Written into files: they are MXNet 1.9.1's."""

_MIRRORED_KEYS: Final = ("ctx_group", "lr_mult", "wd_mult", "force_mirroring", "mirror_stage")


def to_json(graph: Graph) -> str:
    """The graph as text that MXNet 1.x and `from_json` read.

    Parameters that have their default value are left out.

    Raises:
        GraphError: The graph has backward nodes, which files cannot carry.
    """
    ids = {node: index for index, node in enumerate(graph.nodes)}
    versions: Counter[Node] = Counter()
    rows = [0]
    for node in graph.nodes:
        rows.append(rows[-1] + node.num_outputs)
    document = {
        "nodes": [_node_record(node, ids, versions) for node in graph.nodes],
        "arg_nodes": [ids[node] for node in graph.nodes if isinstance(node, Variable)],
        "node_row_ptr": rows,
        "heads": [[ids[node], index, 0] for node, index in graph.outputs],
        "attrs": {"mxnet_version": ["int", MXNET_VERSION]},
    }
    import json  # noqa: PLC0415 - lazy: 2 ms that import need not pay

    return json.dumps(document, indent=2)


def _node_record(node: Node, ids: Mapping[Node, int], versions: Counter[Node]) -> dict[str, Any]:
    if isinstance(node, BackwardNode):
        raise GraphError(f"cannot write {node.name!r} to a file: it is a gradient; save the graph without it")
    if isinstance(node, OpNode):
        versions.update(entry.node for entry in node.aux)
    record: dict[str, Any] = {
        "op": node.op.name if isinstance(node, OpNode) else "null",
        "name": node.name,
        "attrs": {**node.attrs, **(_given_params(node.op) if isinstance(node, OpNode) else {})},
        "inputs": [[ids[other], index, versions[other]] for other, index in node.inputs],
    }
    if not record["attrs"]:
        del record["attrs"]
    if node.control_deps:
        record["control_deps"] = [ids[other] for other in node.control_deps]
    return record


def _given_params(op: OperatorProperty) -> dict[str, str]:
    declared = type(op).params
    return {
        name: text for name, text in op.get_params().items() if getattr(op, name) != declared[name].default
    }


def from_json(text: str, lookup: Callable[[str], type[OperatorProperty]] = registry.get) -> Graph:
    """The graph that `to_json` or MXNet 1.x wrote.

    Args:
        lookup: From an operator's name to its property class.

    Raises:
        FormatError: The text is no such file; the message names the node.
        OperatorNotFoundError: An operator is not installed (or another of `lookup`'s errors).
    """
    import json  # noqa: PLC0415 - lazy, as above

    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"symbol file: this is not JSON: {error}") from error
    records = _field(document, "nodes", list, "symbol file")
    reader = _Reader(lookup)
    for index, record in enumerate(records):
        reader.read_node(index, record)
    heads = _field(document, "heads", list, "symbol file")
    return Graph([reader.entry(head, "heads of the symbol file") for head in heads])


@final
class _Reader:
    """The nodes read so far."""

    def __init__(self, lookup: Callable[[str], type[OperatorProperty]]) -> None:
        self._lookup = lookup
        self._nodes: list[Node] = []

    def read_node(self, index: int, record: Any) -> None:
        where = f"node {index} of the symbol file"
        name = _field(record, "name", str, where)
        where = f"node {name!r} of the symbol file"
        op_name = _field(record, "op", str, where)
        if record.get("backward_source_id", -1) != -1:
            raise FormatError(f"{where} is a backward node; expected a graph without gradients")
        if record.get("subgraphs"):
            raise FormatError(f"{where} ({op_name!r}) has subgraphs, which are not supported")
        inputs = [self.entry(item, where) for item in _field(record, "inputs", list, where)]
        attrs = _read_attrs(record, where)
        node: Node
        if op_name == "null":
            node = Variable(name, inputs, _mirrored(attrs))
        else:
            node = self._operator_node(op_name, name, inputs, attrs)
        node.control_deps = [self._node(item, where) for item in record.get("control_deps", [])]
        self._nodes.append(node)

    def entry(self, item: Any, where: str) -> Entry:
        """An input or head: [node, output] or [node, output, version]."""
        if (
            not isinstance(item, list)
            or len(item) not in {2, 3}
            or not all(type(part) is int for part in item)
        ):
            raise FormatError(f"{where}: {item!r} is no entry, expected [node, output, version]")
        node = self._node(item[0], where)
        if not 0 <= item[1] < node.num_outputs:
            raise FormatError(f"{where}: {node.name!r} has {node.num_outputs} output(s), no number {item[1]}")
        return Entry(node, item[1])

    def _node(self, number: Any, where: str) -> Node:
        if type(number) is not int or not 0 <= number < len(self._nodes):
            raise FormatError(
                f"{where}: refers to node {number!r}, expected one of the {len(self._nodes)} before it"
            )
        return self._nodes[number]

    def _operator(self, name: str) -> type[OperatorProperty]:
        try:
            return self._lookup(name)
        except OperatorNotFoundError:
            present = _present_name(name)
            if present == name:
                raise
            return self._lookup(present)

    def _operator_node(self, op_name: str, name: str, inputs: list[Entry], attrs: dict[str, str]) -> OpNode:
        where = f"node {name!r} of the symbol file"
        try:
            prop = PRIMITIVES[op_name] if op_name in PRIMITIVES else self._operator(op_name)
        except OperadError as error:
            error.add_note(f"asked for by {where}")
            raise
        declared = prop.params
        try:
            op = prop(**{key: value for key, value in attrs.items() if key in declared})
        except ParamError as error:
            raise FormatError(f"{where}: {error}") from error
        arguments, states = op.list_arguments(), op.list_auxiliary_states()
        if len(inputs) == len(arguments):
            inputs = inputs + [Entry(Variable(f"{name}_{state}")) for state in states]
        if len(inputs) != len(arguments) + len(states):
            expected = ", ".join([*arguments, *states])
            raise FormatError(f"{where}: {op_name} has {len(inputs)} input(s), expected {expected}")
        own = {key: value for key, value in attrs.items() if key not in declared}
        return OpNode(op, name, inputs, _mirrored(_hand_down(own, arguments, inputs)))


_PRESENT_NAMES: Final = {
    "_plus": "elemwise_add", "_add": "elemwise_add", "_minus": "elemwise_sub", "_sub": "elemwise_sub",
    "_mul": "elemwise_mul", "_div": "elemwise_div", "Softmax": "SoftmaxOutput",
}  # fmt: skip


def _present_name(name: str) -> str:
    """The name of an operator that older files call `name`: `_RMinusScalar` is `_rminus_scalar`."""
    if name.startswith("_"):
        name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return _PRESENT_NAMES.get(name, name)


def _read_attrs(record: Mapping[str, Any], where: str) -> dict[str, str]:
    attrs: dict[str, str] = {}
    for key in ("param", "attr", "attrs"):
        if key in record:
            found = _field(record, key, dict, where)
            attrs.update(
                (name, value if isinstance(value, str) else str(value)) for name, value in found.items()
            )
    return attrs


def _mirrored(attrs: Mapping[str, str]) -> dict[str, str]:
    """Known attributes under their present names: `lr_mult` is `__lr_mult__`."""
    return {f"__{key}__" if key in _MIRRORED_KEYS else key: value for key, value in attrs.items()}


def _hand_down(attrs: dict[str, str], arguments: Sequence[str], inputs: Sequence[Entry]) -> dict[str, str]:
    """Give an operator's `weight_lr_mult` to its variable `weight`, where such attributes live now."""
    kept = dict(attrs)
    for key in attrs:
        for mirrored in _MIRRORED_KEYS:
            argument = key.removesuffix(f"_{mirrored}")
            if argument == key or argument not in arguments:
                continue
            variable = inputs[arguments.index(argument)].node
            if isinstance(variable, Variable):
                variable.attrs[f"__{mirrored}__"] = kept.pop(key)
    return kept


def _field(record: Any, key: str, kind: type[T], where: str) -> T:
    if not isinstance(record, dict):
        raise FormatError(f"{where} is {type(record).__name__}, expected an object")
    if key not in record:
        raise FormatError(f"{where} has no {key!r}")
    value = record[key]
    if not isinstance(value, kind):
        raise FormatError(f"{where}: {key!r} is {type(value).__name__}, expected {kind.__name__}")
    return value
