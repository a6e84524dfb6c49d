"""Symbol files that are read: MXNet 1.x's structure, older spellings, and files that are wrong."""

from __future__ import annotations

import json

import pytest

from core.tests.graph.operators import OPERATORS, Tanh
from operad.errors import FormatError, OperatorNotFoundError
from operad_serialization.read_json import from_json
from operad_serialization.write_json import to_json

# As MXNet 1.9.1 lays it out, with an attribute of each kind and a parameter that means nothing here.
MXNET_FILE = """{
  "nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {
      "op": "null",
      "name": "fc_w",
      "attrs": {"__lr_mult__": "2.0", "__shape__": "(0, 5)"},
      "inputs": []
    },
    {
      "op": "dense",
      "name": "fc",
      "attrs": {"__ctx_group__": "stage1", "hidden": "4", "workspace": "1024"},
      "inputs": [[0, 0, 0], [1, 0, 0]]
    },
    {"op": "null", "name": "bn_mean", "inputs": []},
    {"op": "centre", "name": "bn", "inputs": [[2, 0, 0], [3, 0, 1]]},
    {"op": "split", "name": "parts", "inputs": [[4, 0, 0]]},
    {"op": "tanh", "name": "act", "inputs": [[5, 1, 0]]}
  ],
  "arg_nodes": [0, 1, 3],
  "node_row_ptr": [0, 1, 2, 3, 4, 5, 8, 9],
  "heads": [[6, 0, 0], [5, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10901]}
}"""

# The same network as MXNet 0.8 wrote it: no auxiliary states, no versions, two attribute mappings.
OLD_FILE = """{
  "nodes": [
    {"op": "null", "param": {}, "name": "data", "inputs": [], "backward_source_id": -1},
    {"op": "null", "param": {}, "name": "fc_w", "inputs": [], "backward_source_id": -1},
    {
      "op": "dense",
      "param": {"hidden": "4"},
      "name": "fc",
      "inputs": [[0, 0], [1, 0]],
      "backward_source_id": -1,
      "attr": {"ctx_group": "stage1", "w_lr_mult": "2.0"}
    },
    {"op": "centre", "param": {}, "name": "bn", "inputs": [[2, 0]], "backward_source_id": -1}
  ],
  "arg_nodes": [0, 1],
  "heads": [[3, 0]]
}"""


def load(text, **more):
    def lookup(name):
        try:
            return {**OPERATORS, **more}[name]
        except KeyError:
            raise OperatorNotFoundError(f"no installed plugin provides operator {name!r}") from None

    return from_json(text, lookup)


def test_a_file_of_mxnet_is_read_in_full():
    graph = load(MXNET_FILE)
    assert graph.list_arguments() == ["data", "fc_w"]
    assert graph.list_auxiliary_states() == ["bn_mean"]
    assert graph.list_outputs() == ["act_output", "parts_sin"]
    weight, fc = graph.nodes[1], graph.nodes[2]
    assert weight.attrs == {"__lr_mult__": "2.0", "__shape__": "(0, 5)"}
    assert fc.op.hidden == 4
    assert fc.attrs == {"__ctx_group__": "stage1", "hidden": "4", "workspace": "1024"}


def test_a_file_of_mxnet_is_written_back_identically():
    assert json.loads(to_json(load(MXNET_FILE))) == json.loads(MXNET_FILE)


@pytest.mark.parametrize("said", ['"hidden": "4", "bias": "True"', '"z": "1", "hidden": "4"'])
def test_attributes_are_written_back_as_the_file_had_them(said):
    text = MXNET_FILE.replace('"hidden": "4"', said)
    assert said in to_json(load(text)).replace(",\n       ", ",")


def test_every_spelling_of_an_operator_is_written_back_as_its_present_name():
    text = to_json(load(MXNET_FILE.replace('"tanh"', '"hyperbolic"'), hyperbolic=Tanh))
    assert json.loads(text)["nodes"][-1]["op"] == "tanh"


def test_an_older_file_is_brought_up_to_date():
    graph = load(OLD_FILE)
    assert graph.list_arguments() == ["data", "fc_w"]
    assert graph.list_auxiliary_states() == ["bn_mean"]
    assert graph.nodes[2].attrs == {"hidden": "4", "__ctx_group__": "stage1"}
    assert graph.nodes[1].attrs == {"__lr_mult__": "2.0"}


@pytest.mark.parametrize(
    ("version", "axis"), [("", None), ('"int", 904', None), ('"int", 905', "-1"), ('"int", 10901', "-1")]
)
def test_an_axis_of_minus_one_meant_all_elements_before_version_0_9_5(version, axis):
    text = MXNET_FILE.replace('"tanh", ', '"argmax", "attrs": {"axis": "-1"}, ')
    graph = load(text.replace('"int", 10901', version), argmax=Tanh)
    assert graph.op_nodes[-1].attrs.get("axis") == axis


@pytest.mark.parametrize(
    ("inserted", "computed"),
    [("_cross_device_copy", "_copy"), ("_CrossDeviceCopy", "_copy")],
)
def test_an_operator_that_passes_insert_is_read_as_what_it_computes(inserted, computed):
    text = MXNET_FILE.replace('"tanh"', f'"{inserted}"')
    assert load(text, **{computed: Tanh}).op_nodes[-1].op.name == "tanh"


def test_an_unknown_operator_is_the_lookups_error_with_the_node_noted():
    with pytest.raises(OperatorNotFoundError, match="'dens'") as caught:
        load(MXNET_FILE.replace('"dense"', '"dens"'))
    assert caught.value.__notes__ == ["asked for by node 'fc' of the symbol file"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"heads"', "heads", "this is not JSON"),
        ('"nodes"', '"knots"', "symbol file has no 'nodes'"),
        ('"heads"', '"tails"', "symbol file has no 'heads'"),
        ("[[6, 0, 0]", "[[7, 0, 0]", "heads of the symbol file: refers to node 7"),
        ("[[0, 0, 0], [1, 0, 0]]", "[[0, 0, 0]]", r"node 'fc'.*has 1 input\(s\), expected x, w"),
        (
            "[[0, 0, 0], [1, 0, 0]]",
            "[[0, 0, 0], [2, 0, 0]]",
            "node 'fc' of the symbol file: refers to node 2",
        ),
        (
            "[[0, 0, 0], [1, 0, 0]]",
            "[[0, 0, 0], [-1, 0, 0]]",
            "node 'fc' of the symbol file: refers to node -1",
        ),
        ("[[0, 0, 0], [1, 0, 0]]", "[[0, 0, 0], [1, 1, 0]]", r"'fc_w' has 1 output\(s\), no number 1"),
        ("[[0, 0, 0], [1, 0, 0]]", '"none"', "node 'fc' of the symbol file: 'inputs' is str, expected list"),
        ("[[0, 0, 0], [1, 0, 0]]", "[0, 1]", "node 'fc' of the symbol file: 0 is no entry"),
        ('"hidden": "4"', '"hidden": "0"', "node 'fc'.*parameter 'hidden' is '0', expected int >= 1"),
        ('"hidden": "4", ', "", "node 'fc'.*parameter 'hidden' is missing"),
        ('"name": "bn"', '"label": "bn"', "node 4 of the symbol file has no 'name'"),
        ('"op": "centre", ', "", "node 'bn' of the symbol file has no 'op'"),
        ('"op": "centre"', '"op": "centre", "backward_source_id": 2', "node 'bn'.*is a backward node"),
        (
            '"op": "centre"',
            '"op": "centre", "subgraphs": [{}]',
            "node 'bn'.*centre has 1 subgraphs, expected 0",
        ),
    ],
)
def test_a_malformed_file_is_refused_and_the_place_named(old, new, message):
    assert old in MXNET_FILE
    with pytest.raises(FormatError, match=message):
        load(MXNET_FILE.replace(old, new))


@pytest.mark.parametrize("text", ["", "[]", "3", "{}", "null", "[" * 100_000])
def test_what_is_no_symbol_file_at_all_is_refused(text):
    with pytest.raises(FormatError, match="symbol file"):
        load(text)
