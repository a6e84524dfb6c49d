"""Reading MXNet 1.x's `-symbol.json` text; `write_json` tells what it holds.

A node keeps all its attributes as the file has them; those that the operator declares are its
parameters too. So parameters of MXNet that mean nothing here survive a round trip.

Older spellings are read as well: `attr` and `param` for `attrs`, inputs and heads without version,
`backward_source_id`, attributes such as `lr_mult` without underscores or as `weight_lr_mult` on the
operator, files from before 0.9, which leave auxiliary states out, and the axis of `argmax` from before 0.9.5.
Operators that MXNet's own passes insert are read as what they compute. Operators' former names (`_Plus`,
`Softmax`) are the plugins' matter.

Source: src/nnvm/legacy_json_util.cc.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, final

import operad
from operad.errors import ArgumentError, FormatError, OperadError, ParamError
from operad.files import parse_json
from operad.graph import KNOWN_ATTRIBUTES, Entry, Graph, Node, OpNode, Variable, hidden_key
from operad.operator import MOST_TENSORS, OperatorProperty, check_argument_counts
from operad_serialization.fields import field, read_attrs, short

Lookup = Callable[[str], type[OperatorProperty]]

_UNCHECKED_COUNT: Final = 1024
"""Most names of inputs that an operator may make before they are compared with the file."""

_LISTED: Final = 20
"""Most names of inputs that a message lists."""

_DEEPEST: Final = 16
"""Most loops and branches that may stand inside each other; each takes some frames of the interpreter."""


def from_json(text: str | bytes, lookup: Lookup | None = None, source: str = "the symbol file") -> Graph:
    """The graph that `to_json` or MXNet 1.x wrote.

    What a file asks for is compared with what it holds before anything is made of it: a node has no
    more arguments than inputs, and all outputs together stay in proportion to the text.

    Args:
        lookup: From an operator's name to its property class; None: those installed.
        source: What messages call the text.

    Raises:
        FormatError: The text is no such file; the message names the node.
        OperatorNotFoundError: An operator is not installed (or another of `lookup`'s errors).
    """
    document = _parsed(text, source)
    limit = _Limit(MOST_TENSORS + len(text))
    return _read_graph(document, lookup or operad.registry.get, source, limit, _version(document), 0)


def _read_graph(document: Any, lookup: Lookup, source: str, limit: _Limit, version: int, depth: int) -> Graph:
    """The graph of a file, or one inside `depth` others."""
    records = field(document, "nodes", list, source)
    reader = _Reader(lookup, source, limit, version, depth)
    for index, record in enumerate(records):
        reader.read_node(index, record)
    reader.check_tables(document)
    heads = field(document, "heads", list, source)
    if not heads:
        raise FormatError(f"{source}: 'heads' is empty, expected at least one output")
    return Graph([reader.entry(head, f"heads of {source}") for head in heads])


def _parsed(text: str | bytes, source: str) -> Any:
    if not isinstance(text, (str, bytes)):
        raise ArgumentError(f"{source}: got {type(text).__name__}, expected text")
    return parse_json(text, source)


@final
class _Limit:
    """Number of outputs that the rest of a file may have, subgraphs included."""

    def __init__(self, most_outputs: int) -> None:
        self._left = most_outputs

    def take(self, node: Node, where: str) -> None:
        """Count the outputs of a node.

        Raises:
            FormatError: They are too many.
        """
        self._left -= node.num_outputs
        if self._left < 0:
            raise FormatError(f"{where} has {node.num_outputs} outputs, out of proportion to the file")


@final
class _Reader:
    """The nodes read so far."""

    def __init__(self, lookup: Lookup, source: str, limit: _Limit, version: int, depth: int) -> None:
        self._lookup = lookup
        self._source = source
        self._limit = limit
        self._version = version
        self._depth = depth
        self._nodes: list[Node] = []
        self._num_outputs: list[int] = []

    def read_node(self, index: int, record: Any) -> None:
        where = f"node {index} of {self._source}"
        name = field(record, "name", str, where)
        where = f"node {name!r} of {self._source}"
        op_name = field(record, "op", str, where)
        if record.get("backward_source_id", -1) != -1:
            raise FormatError(f"{where} is a backward node; expected a graph without gradients")
        inputs = [self.entry(item, where) for item in field(record, "inputs", list, where)]
        attrs = read_attrs(record, where)
        if self._version < _ONE_AXIS and op_name in _FLATTENING and attrs.get("axis") == "-1":
            del attrs["axis"]
        control_deps = field(record, "control_deps", list, where) if "control_deps" in record else []
        node: Node
        if op_name == "null":
            node = Variable(name, inputs, _mirrored(attrs))
        else:
            subgraphs = field(record, "subgraphs", list, where) if "subgraphs" in record else []
            node = self._operator_node(op_name, name, inputs, attrs, subgraphs)
        node.control_deps = [self._node(item, where) for item in control_deps]
        self._add(node, where)

    def check_tables(self, document: Mapping[str, Any]) -> None:
        """Refuse tables that contradict the nodes; they are not needed to read, and may be missing.

        How many outputs an operator has differs between MXNet's versions, so of the row pointers only
        the form is checked.
        """
        if "arg_nodes" in document:
            where = f"arg_nodes of {self._source}"
            for number in field(document, "arg_nodes", list, self._source):
                if not isinstance(self._node(number, where), Variable):
                    raise FormatError(f"{where}: node {number} is an operator, expected a variable")
        if "node_row_ptr" in document:
            rows = field(document, "node_row_ptr", list, self._source)
            is_rising = all(type(row) is int for row in rows) and rows == sorted(set(rows))
            if not is_rising or rows[:1] != [0] or len(rows) != len(self._nodes) + 1:
                raise FormatError(
                    f"node_row_ptr of {self._source}: expected {len(self._nodes) + 1} rising integers "
                    f"from 0, one more than there are nodes; got {len(rows)} values"
                )

    def entry(self, item: Any, where: str) -> Entry:
        """An input or head: [node, output] or [node, output, version]."""
        if (
            not isinstance(item, list)
            or len(item) not in {2, 3}
            or not all(type(part) is int for part in item)
        ):
            raise FormatError(f"{where}: {short(item)} is no entry, expected [node, output, version]")
        node, num_outputs = self._node(item[0], where), self._num_outputs[item[0]]
        if not 0 <= item[1] < num_outputs:
            raise FormatError(
                f"{where}: {node.name!r} has {num_outputs} output(s), no number {short(item[1])}"
            )
        return Entry(node, item[1])

    def _add(self, node: Node, where: str) -> None:
        self._limit.take(node, where)
        self._nodes.append(node)
        self._num_outputs.append(node.num_outputs)

    def _node(self, number: Any, where: str) -> Node:
        if type(number) is not int or not 0 <= number < len(self._nodes):
            raise FormatError(
                f"{where}: refers to node {short(number)}, expected one of the {len(self._nodes)} before it"
            )
        return self._nodes[number]

    def _operator_node(
        self, op_name: str, name: str, inputs: list[Entry], attrs: dict[str, str], subgraphs: list[Any]
    ) -> OpNode:
        where = f"node {name!r} of {self._source}"
        try:
            prop = self._lookup(_INSERTED.get(op_name, op_name))
        except OperadError as error:
            error.add_note(f"asked for by {where}")
            raise
        graphs = self._subgraphs(subgraphs, prop, where)
        declared = prop.params
        takes_more = prop.takes_more_params
        try:
            params = {
                k: v for k, v in attrs.items() if k in declared or (takes_more and not k.startswith("__"))
            }
            op = _made(prop, params, len(inputs), graphs)
            arguments, states = op.list_arguments(), op.list_auxiliary_states()
        except ParamError as error:
            raise FormatError(f"{where}: {error}") from error
        except Exception as error:
            # The operator trusted its parameters, and these came from a file.
            raise FormatError(f"{where}: {op_name} cannot be made of its attributes: {error}") from error
        if len(inputs) == len(arguments):  # as files of MXNet 0.8 and before have it
            inputs = inputs + [Entry(Variable(f"{name}_{state}")) for state in states]
        elif len(inputs) != len(arguments) + len(states):
            expected = ", ".join([*arguments, *states][:_LISTED])
            more = ", ..." if len(arguments) + len(states) > _LISTED else ""
            raise FormatError(f"{where}: {op_name} has {len(inputs)} input(s), expected {expected}{more}")
        elif (positions := op.input_positions()) is not None:
            inputs = [inputs[position] for position in positions]
        return OpNode(op, name, inputs, _hand_down(_mirrored(attrs, declared), arguments, inputs))

    def _subgraphs(self, documents: list[Any], prop: type[OperatorProperty], where: str) -> list[Graph]:
        """The graphs that an operator runs."""
        if len(documents) != prop.num_subgraphs:
            raise FormatError(
                f"{where}: {prop.name} has {len(documents)} subgraphs, expected {prop.num_subgraphs}"
            )
        if documents and self._depth == _DEEPEST:
            raise FormatError(f"{where}: {prop.name} stands inside {_DEEPEST} others, expected fewer")
        how = (self._limit, self._version, self._depth + 1)
        return [
            _read_graph(document, self._lookup, f"subgraph {number} of {where}", *how)
            for number, document in enumerate(documents)
        ]


def _made(
    prop: type[OperatorProperty], params: dict[str, str], num_inputs: int, graphs: list[Graph]
) -> OperatorProperty:
    """The operator, once it is sure that it does not ask for more inputs than the node has.

    Raises:
        ParamError: It does, or a parameter does not fit.
    """
    given: dict[str, Any] = {**params, "subgraphs": graphs} if graphs else {**params}
    op = prop(**given)
    key = prop.key_var_num_args
    if key is not None and getattr(op, key) > num_inputs:
        raise ParamError(
            f"{prop.name}: parameter {key!r} is {getattr(op, key)}, but the node has {num_inputs} input(s)"
        )
    check_argument_counts(op, max(num_inputs, _UNCHECKED_COUNT))
    return op


_ONE_AXIS: Final = 905
_FLATTENING: Final = ("argmax", "argmin")
"""Operators whose axis of -1 meant all elements before MXNet 0.9.5, and has meant the last axis since."""

_FIRST_VERSION: Final = 800
"""Version of files that do not name theirs."""


def _version(document: Any) -> int:
    """MXNet's version that wrote the file: 905 for 0.9.5."""
    attrs = document.get("attrs") if isinstance(document, dict) else None
    told = attrs.get("mxnet_version") if isinstance(attrs, dict) else None
    if isinstance(told, list) and len(told) == 2 and type(told[1]) is int:
        return told[1]
    return _FIRST_VERSION


_INSERTED: Final = {"_cross_device_copy": "_copy", "_CrossDeviceCopy": "_copy"}
"""Operators that compute what the ones inserted by passes do."""


def _mirrored(attrs: Mapping[str, str], params: Collection[str] = ()) -> dict[str, str]:
    """Known attributes under their present names: `lr_mult` is `__lr_mult__`, unless it is a parameter."""
    return {key if key in params else hidden_key(key): value for key, value in attrs.items()}


def _hand_down(attrs: dict[str, str], arguments: Sequence[str], inputs: Sequence[Entry]) -> dict[str, str]:
    """Give an operator's `weight_lr_mult` to its variable `weight`, where such attributes live now."""
    kept = dict(attrs)
    for key in attrs:
        for mirrored in KNOWN_ATTRIBUTES:
            argument = key.removesuffix(f"_{mirrored}")
            if argument == key or argument not in arguments:
                continue
            variable = inputs[arguments.index(argument)].node
            if isinstance(variable, Variable):
                variable.attrs[hidden_key(mirrored)] = kept.pop(key)
    return kept
