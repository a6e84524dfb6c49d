"""Methods that only MXNet's programs call."""

from __future__ import annotations

import numpy as np
import pytest

import operad as mx
from operad.errors import GradientError, GraphError, UnsupportedError


def test_parts_are_assigned_by_begin_end_and_step() -> None:
    x = mx.nd.zeros((2, 4))
    assert x.slice_assign(mx.nd.ones((1, 2)), (0, 0), (1, 4), (None, 2)) is x
    assert x.slice_assign_scalar(5, (1, None), (2, None), ()) is x
    assert x.asnumpy().tolist() == [[1, 0, 1, 0], [5, 5, 5, 5]]


def test_arrays_are_dense_and_can_be_told_so() -> None:
    x = mx.nd.ones(2)
    y = x.tostype("default")
    y[:] = 3
    assert (x.tolist(), y.tolist(), x.as_nd_ndarray() is x) == ([1, 1], [3, 3], True)
    for call in (
        lambda: x.tostype("csr"), lambda: x.attach_grad(stype="row_sparse"),
        lambda: mx.nd.zeros((2,), stype="csr"), lambda: mx.sym.var("x", stype="csr"),
    ):  # fmt: skip
        with pytest.raises(UnsupportedError, match="dense"):
            call()


def test_arrays_and_symbols_split() -> None:
    x = mx.nd.array([[1, 2], [3, 4]])
    parts, symbols = x.split_v2(2), mx.sym.var("x").split_v2((1,), axis=1)
    assert [part.tolist() for part in parts] == [[[1, 2]], [[3, 4]]]
    assert [part.tolist() for part in symbols.eval(x=x)] == [[[1], [3]], [[2], [4]]]


def test_capsules_carry_arrays_to_others_and_back() -> None:
    x = mx.nd.array([1, 2])
    for capsule in (x.to_dlpack_for_read(), mx.nd.to_dlpack_for_write(x)):
        mx.nd.from_dlpack(capsule)[:] = 7
        assert x.tolist() == [7, 7]
        x[:] = 1


def test_an_executor_shows_the_graph_it_runs() -> None:
    y = mx.sym.var("x") * 2 + 1
    shown = y.simple_bind(mx.cpu(), x=(2,)).get_optimized_symbol()
    assert (shown.list_arguments(), len(shown)) == (["x"], 1)
    assert shown.eval(x=mx.nd.array([1, 2]))[0].tolist() == [3, 5]


def test_what_was_recorded_is_a_symbol() -> None:
    x, w = mx.nd.array([1, 2]), mx.nd.array([3, 4])
    x.attach_grad()
    with mx.autograd.record():
        y = mx.nd.tanh(x * w + 1)
    symbol = mx.autograd.get_symbol(y)
    assert symbol.list_arguments() == ["var0", "var1"]
    loaded = mx.sym.load_json(symbol.tojson())
    np.testing.assert_allclose(loaded.eval(var0=x, var1=w)[0].asnumpy(), y.asnumpy())
    with pytest.raises(GradientError, match="was not recorded"):
        mx.autograd.get_symbol(mx.nd.ones(1))


@pytest.mark.parametrize(
    ("call", "next_step"),
    [
        (lambda x: x.optimize_for("MKLDNN"), "no back end 'MKLDNN'; installed passes run whenever"),
        (lambda x: x.get_backend_symbol("TensorRT"), "no back end 'TensorRT'"),
        (lambda x: x.list_attr(recursive=True), r"attr_dict\(\)"),
        (lambda _: mx.nd.imdecode(b""), "image.imdecode"),
        (lambda _: mx.libinfo.find_include_path(), "operad_sdk"),
    ],
)
def test_what_cannot_be_meant_names_the_next_step(call, next_step: str) -> None:
    with pytest.raises(UnsupportedError, match=next_step):
        call(mx.sym.var("x"))


def test_idle_memory_goes_back_and_arrays_stay() -> None:
    x = mx.nd.ones(1000)
    mx.cpu().empty_cache()
    assert x.sum().asscalar() == 1000


def test_the_current_manager_and_scope_are_attributes_of_their_classes() -> None:
    with mx.name.Prefix("net_"), mx.AttrScope(lr_mult="2"), mx.AttrScope(group="a"):
        assert mx.name.NameManager.current.get(None, "fc") == "net_fc0"
        found = mx.AttrScope.current.get({"mine": "1"})
        assert found == {"__lr_mult__": "2", "group": "a", "mine": "1"}
    assert mx.attribute.AttrScope.current.get(None) == {}


@pytest.mark.usefixtures("operators")
def test_children_are_the_direct_inputs() -> None:
    net = mx.sym.tanh(mx.sym.Dense(mx.sym.var("data"), num_hidden=3, name="fc1"), name="act")
    assert net.get_children().list_outputs() == ["fc1_output"]
    assert net.get_children().get_children().list_outputs() == ["data", "fc1_weight", "fc1_bias"]
    assert mx.sym.var("x").get_children() is None


@pytest.mark.usefixtures("operators")
def test_types_that_do_not_follow_are_none() -> None:
    both = mx.sym.Group([mx.sym.tanh(mx.sym.var("x")), mx.sym.tanh(mx.sym.var("y"))])
    assert both.infer_type_partial(x="float64") == (["float64", None], ["float64", None], [])


def test_attributes_of_one_node_mirror_known_ones() -> None:
    found = mx.sym.var("x", wd_mult=0.5, __color__="red").list_attr()
    assert found == {"__wd_mult__": "0.5", "wd_mult": "0.5", "__color__": "red"}


@pytest.mark.usefixtures("operators")
def test_attributes_are_set_as_they_are_given() -> None:
    x = mx.sym.var("x")
    x._set_attr(__color__="red", lr_mult="2")
    assert (x.attr("__color__"), x.attr("lr_mult")) == ("red", "2")
    with pytest.raises(GraphError, match="call it '__color__'"):
        mx.sym.tanh(x)._set_attr(color="red")
    with pytest.raises(GraphError, match="expected a string"):
        x._set_attr(__color__=3)
