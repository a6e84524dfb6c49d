"""Schemas of PyTorch, which need no PyTorch."""

from __future__ import annotations

import pytest

from operad import registry
from operad.errors import UnsupportedError
from operad.operator import OperatorProperty, param
from operad_export.package import jax_line, torch_line
from operad_export.signature import OperatorSignature
from operad_export.torch_schema import schema, visible_returns


class Everything(OperatorProperty):
    """Parameters of every type, with a required one behind others."""

    count = param(int, 2)
    rate = param(float, 1e-5)
    flag = param(bool, False)
    mode = param(str, 'a"b', choices=('a"b', "c"))
    kind = param("dtype", "float32")
    shape = param("shape", (1, 2))
    rates = param("floats", (0.5,))
    begin = param("indices")
    end = param("indices", ())
    most = param(int, None)
    ctx = param(str, "")

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []


class Clashes(OperatorProperty):
    is_train = param(bool, False)

    def infer_shape(self, in_shapes):
        return list(in_shapes), list(in_shapes), []


class Changes(OperatorProperty):
    """A state, and an output that only callers of the operator's own gradient see."""

    def list_auxiliary_states(self):
        return ["mean", "var"]

    def list_outputs(self):
        return ["output", "hidden"]

    @property
    def num_visible_outputs(self):
        return 1

    def infer_shape(self, in_shapes):
        return list(in_shapes), [in_shapes[0]] * 2, [in_shapes[0]] * 2


def test_parameters_have_pytorchs_types_and_their_defaults():
    signature = OperatorSignature(Everything)
    assert schema(signature, mutates=True, returns=visible_returns(signature)) == (
        '(Tensor data, *, int count=2, float rate=1e-05, bool flag=False, str mode="a\\"b", '
        'str kind="float32", '
        "int[] shape=[1, 2], float[] rates=[0.5], int?[] begin, int?[]? end=None, int? most=None, "
        "bool is_train=False) -> Tensor"
    )


def test_states_are_marked_as_changed_in_the_public_function_alone():
    signature = OperatorSignature(Changes)
    public = schema(signature, mutates=True, returns=visible_returns(signature))
    assert public == "(Tensor data, Tensor(b!) mean, Tensor(c!) var, *, bool is_train=False) -> Tensor"
    inner = schema(signature, mutates=False, returns="Tensor[]")
    assert inner == "(Tensor data, Tensor mean, Tensor var, *, bool is_train=False) -> Tensor[]"


def test_a_parameter_of_a_taken_name_is_refused():
    with pytest.raises(UnsupportedError, match="Clashes: 'is_train' would be two arguments"):
        schema(OperatorSignature(Clashes), mutates=True, returns="Tensor")


LINES = {
    "LRN": "(Tensor data, *, float alpha=0.0001, float beta=0.75, float knorm=2.0, int nsize, "
    "bool is_train=False) -> Tensor",
    "FullyConnected": "(Tensor data, Tensor weight, Tensor? bias=None, *, int num_hidden, "
    "bool no_bias=False, bool flatten=True, bool is_train=False) -> Tensor",
    "Concat": "(Tensor[] data, *, int dim=1, bool is_train=False) -> Tensor",
    "Dropout": '(Tensor data, *, float p=0.5, str mode="training", int[] axes=[], bool? cudnn_off=False, '
    "bool is_train=False, int? seed=None) -> Tensor",
}


@pytest.mark.parametrize("name", LINES)
def test_lines_of_operators(name):
    if registry.find(name) is None:
        pytest.skip(f"{name} is not installed")
    assert torch_line(name) == f"operad::{name}{LINES[name]}"


def test_functions_of_jax_take_a_key_where_they_draw():
    if registry.find("Dropout") is None:
        pytest.skip("Dropout is not installed")
    line = jax_line("Dropout")
    assert line.startswith("Dropout(data, *, p=0.5, mode='training'")
    assert line.endswith("is_train=False, key)")


@pytest.mark.more
@pytest.mark.walk
@pytest.mark.parametrize("name", registry.list_operators(aliases=False))
def test_every_installed_operator_has_a_line_or_is_refused_with_its_reason(name):
    op = registry.get(name)
    if op.is_stateful or op.num_subgraphs:
        with pytest.raises(UnsupportedError, match="cannot be exported"):
            torch_line(name)
    else:
        assert torch_line(name).startswith(f"operad::{name}(")
