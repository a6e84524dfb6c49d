"""Symbol files that are damaged or hostile: what is refused, that it is named, and at what cost."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.tests.graph import networks
from core.tests.memory import peak_bytes
from operad.errors import FormatError, GraphError, OperadError
from operad.graph import Graph, infer_shapes, infer_types
from operad.operator import MOST_TENSORS, OperatorProperty, param
from operad_serialization.write_json import to_json
from plugins.serialization.tests.test_read_json import MXNET_FILE, OLD_FILE, load

MOST_MEMORY_BYTES = 8 << 20
"""Far above what the networks here need, far below what one number in a file could ask for."""


class Counted(OperatorProperty):
    """Counts tensors without saying so, as a plugin's operator may."""

    inputs: int = param(int, 1, ge=1)
    outputs: int = param(int, 1, ge=1)
    lengths: tuple[int, ...] = param("shape", (1,))

    def list_arguments(self):
        return [f"arg{i}" for i in range(self.inputs)]

    def list_outputs(self):
        return [f"output{i}" for i in range(self.outputs)]

    def list_auxiliary_states(self):
        return [f"state{i}" for i in range(self.lengths[0] - 1)]

    def infer_shape(self, in_shapes):
        return (
            list(in_shapes),
            in_shapes[:1] * self.outputs,
            in_shapes[:1] * len(self.list_auxiliary_states()),
        )


class Declared(Counted):
    key_var_num_args = "inputs"


COUNTED = {"counted": Counted, "declared": Declared}


def one_node(op, attrs, inputs=1):
    """A file of variables and one operator that reads them."""
    nodes = [{"op": "null", "name": f"x{i}", "inputs": []} for i in range(inputs)]
    nodes.append({"op": op, "name": "n", "attrs": attrs, "inputs": [[i, 0, 0] for i in range(inputs)]})
    return {"nodes": nodes, "heads": [[inputs, 0, 0]]}


def refused(text, message, error=FormatError):
    """Load `text`, which must fail without taking memory."""

    def act():
        with pytest.raises(error, match=message):
            load(text, **COUNTED)

    act()  # what is imported on first use is not the file's
    assert peak_bytes(act) < MOST_MEMORY_BYTES


@pytest.mark.parametrize("op", ["counted", "declared"])
@pytest.mark.parametrize("count", ["2000", "60000", "1000000000", "9" * 30])
def test_a_count_of_inputs_is_compared_with_the_nodes_inputs(op, count):
    key = "inputs"
    refused(json.dumps(one_node(op, {key: count})), f"node 'n'.*'{key}' is {count}")


def test_a_small_count_that_no_operator_declares_is_compared_as_well():
    refused(json.dumps(one_node("counted", {"inputs": "3"})), "node 'n'.*has 1 input")


@pytest.mark.parametrize("attrs", [{"outputs": "1000000000"}, {"lengths": "(1000000000,)"}])
def test_counts_of_outputs_and_states_are_bounded(attrs):
    refused(json.dumps(one_node("counted", attrs)), f"counts tensors, expected at most {MOST_TENSORS}")


def test_the_outputs_of_all_nodes_together_are_in_proportion_to_the_file():
    document = one_node("counted", {"outputs": "60000"})
    document["nodes"] += [{**document["nodes"][1], "name": f"n{i}"} for i in range(100)]
    refused(json.dumps(document), "node 'n0'.*has 60000 outputs, out of proportion to the file")


def test_as_many_outputs_as_the_file_refers_to_are_read():
    document = one_node("counted", {"outputs": "3000"})
    document["heads"] = [[1, index, 0] for index in range(3000)]
    assert len(load(json.dumps(document), **COUNTED).outputs) == 3000


def test_a_huge_shape_is_only_a_number_until_arrays_are_made():
    document = json.loads(MXNET_FILE)
    document["nodes"][0]["attrs"] = {"__shape__": "(1000000000, 1000000000)"}
    document["nodes"][2]["attrs"]["hidden"] = "1000000000000"
    text = json.dumps(document)
    load(text)
    assert peak_bytes(lambda: load(text)) < MOST_MEMORY_BYTES


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.walk
@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["nodes"], 5, "'nodes' is int, expected list"),
        (["nodes", 2], 5, "node 2 of the symbol file is int"),
        (["nodes", 2], None, "node 2 of the symbol file is NoneType"),
        (["nodes", 2, "name"], 5, "node 2 of the symbol file: 'name' is int"),
        (["nodes", 2, "op"], None, "node 'fc' of the symbol file: 'op' is NoneType"),
        (["nodes", 2, "inputs"], 3, "node 'fc' of the symbol file: 'inputs' is int"),
        (["nodes", 2, "attrs"], [], "node 'fc' of the symbol file: 'attrs' is list"),
        (["nodes", 2, "attrs", "hidden"], [4], "node 'fc'.*attribute 'hidden' is list, expected text"),
        (["nodes", 2, "attrs", "hidden"], nested(50), "node 'fc'.*attribute 'hidden' is list"),
        (["nodes", 2, "attrs", "hidden"], "9" * 5000, "node 'fc'.*parameter 'hidden'"),
        (["nodes", 2, "control_deps"], 5, "node 'fc' of the symbol file: 'control_deps' is int"),
        (["nodes", 2, "control_deps"], None, "node 'fc' of the symbol file: 'control_deps' is NoneType"),
        (["nodes", 2, "control_deps"], [[0]], r"node 'fc' of the symbol file: refers to node \[0\]"),
        (["nodes", 2, "control_deps"], [2], "node 'fc' of the symbol file: refers to node 2"),
        (["nodes", 2, "inputs", 0], [True, 0, 0], r"node 'fc'.*\[True, 0, 0\] is no entry"),
        (["nodes", 2, "inputs", 0], ["0", 0, 0], r"node 'fc'.*\['0', 0, 0\] is no entry"),
        (["nodes", 2, "inputs", 0], [0.0, 0, 0], r"node 'fc'.*\[0.0, 0, 0\] is no entry"),
        (["nodes", 2, "inputs", 0], [10**4000, 0, 0], r"node 'fc'.*refers to node 10{59}\.\.\.,"),
        (["nodes", 2, "inputs", 0], [0, -1, 0], r"'data' has 1 output\(s\), no number -1"),
        (["nodes", 2, "inputs", 0], nested(50), "node 'fc'.*a nested list is no entry"),
        (["heads"], [], "'heads' is empty"),
        (["heads", 0], [-1, 0, 0], "heads of the symbol file: refers to node -1"),
        (["heads", 0], [99, 0, 0], "heads of the symbol file: refers to node 99"),
        (["arg_nodes"], [0, 2], "arg_nodes of the symbol file: node 2 is an operator"),
        (["arg_nodes"], [99], "arg_nodes of the symbol file: refers to node 99"),
        (["arg_nodes"], 3, "'arg_nodes' is int, expected list"),
        (["node_row_ptr"], [0, 1], "node_row_ptr of the symbol file: expected 8 rising integers"),
        (["node_row_ptr"], [0, 1, 2, 3, 3, 5, 8, 9], "node_row_ptr.*rising"),
        (["node_row_ptr"], [0, "1", [], {}, 4, 5, 8, 9], "node_row_ptr.*rising"),
    ],
)
def test_what_stands_in_a_wrong_place_is_refused_and_the_place_named(path, value, message):
    document = json.loads(MXNET_FILE)
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    refused(json.dumps(document), message)


def test_a_parameter_that_is_written_as_a_number_is_read():
    assert load(MXNET_FILE.replace('"4"', "4")).op_nodes[0].op.hidden == 4


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_constants_that_json_does_not_have_are_refused(constant):
    refused(MXNET_FILE.replace('"4"', constant), f"this is not JSON: {constant} is not a JSON value")


@pytest.mark.parametrize("text", [b"\xff\xfe\x80", "[" * 100_000, '{"nodes": ' + "[" * 100_000, "9" * 5000])
def test_text_that_python_cannot_read_is_refused(text):
    refused(text, "symbol file: this is not JSON")


def test_two_variables_of_one_name_are_refused_when_they_are_listed():
    graph = load(MXNET_FILE.replace('"name": "fc_w"', '"name": "data"'))
    with pytest.raises(GraphError, match="two variables are called 'data'"):
        graph.list_arguments()


JUNK = st.sampled_from([
    None, True, 0, -1, 1, 2, 10**9, 10**400, 1.5, float("nan"), float("inf"), "", "x", "-1", "1000000000",
    "1e999", "nan", "None", "(1000000000, 1000000000)", "(" * 200, "9" * 5000, "\u00b2", "\ud800", "a\0b",
    [], {}, [0], [[]], [0, 0, 0], {"x": "1"}, nested(60), "null", "tanh", "counted", "declared",
])  # fmt: skip
KEYS = st.sampled_from([
    "op", "name", "attrs", "attr", "param", "inputs", "control_deps", "subgraphs", "num_args", "hidden",
    "__shape__", "__dtype__", "ctx_group",
])  # fmt: skip


@st.composite
def damaged(draw):
    """The text of a valid file with a few values replaced, left out, added, or its bytes changed."""
    document = json.loads(
        draw(
            st.sampled_from([MXNET_FILE, OLD_FILE, json.dumps(one_node("declared", {"inputs": "2"}, 2))])
            | networks.networks().map(lambda network: to_json(Graph(network.outputs)))
        )
    )
    for _ in range(draw(st.integers(1, 3))):
        _damage(draw, document)
    text = bytearray(json.dumps(document).encode())
    if draw(st.integers(0, 3)) == 0:
        position = draw(st.integers(0, len(text) - 1))
        text[position : position + draw(st.integers(0, 9))] = draw(st.binary(max_size=4))
    return bytes(text)


def _damage(draw, document):
    place = document
    while True:
        if not isinstance(place, (dict, list)) or not place:
            return
        key = draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
        if not isinstance(place[key], (dict, list)) or not place[key] or draw(st.integers(0, 5)) == 0:
            break
        place = place[key]
    action = draw(st.sampled_from(["replace", "replace", "replace", "delete", "add"]))
    if action == "delete":
        del place[key]
    elif action == "add" and isinstance(place, dict):
        place[draw(KEYS)] = copy.deepcopy(draw(JUNK))
    elif action == "add":
        place.append(copy.deepcopy(place[key]))
    else:
        place[key] = copy.deepcopy(draw(JUNK))


@given(damaged())
def test_of_a_damaged_file_only_errors_of_ours_come_out_and_memory_stays_small(text):
    def act():
        try:
            graph = load(text, **COUNTED)
            infer_shapes(graph, {})
            infer_types(graph, {})
            graph.list_outputs()
            to_json(graph)
        except OperadError:
            pass

    assert peak_bytes(act) < MOST_MEMORY_BYTES
