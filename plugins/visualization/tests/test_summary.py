"""The table of a network."""

from __future__ import annotations

from typing import Any

import pytest

import operad as od
from operad.errors import ArgumentError, ShapeError

SHAPE = {"data": (2, 3, 8, 8)}


def branched() -> Any:
    data = od.sym.var("data")
    conv = od.sym.Convolution(data, kernel=(3, 3), pad=(1, 1), num_filter=8, name="conv1", no_bias=True)
    relu = od.sym.Activation(od.sym.BatchNorm(conv, name="bn1"), act_type="relu", name="relu1")
    conv = od.sym.Convolution(relu, kernel=(3, 3), pad=(1, 1), num_filter=8, name="conv2")
    both = od.sym.elemwise_add(conv, relu, name="plus")
    pool = od.sym.Pooling(both, kernel=(2, 2), stride=(2, 2), pool_type="max", name="pool")
    joined = od.sym.Flatten(od.sym.Concat(pool, pool, name="cat"), name="flat")
    return od.sym.SoftmaxOutput(od.sym.FullyConnected(joined, num_hidden=10, name="fc1"), name="softmax")


def rows(table: str) -> dict[str, tuple[str, ...]]:
    """The fields of each layer's first line, by its name; what is empty is left out."""
    lines = [line.split() for line in table.splitlines() if "(" in line and "Layer" not in line]
    return {first.partition("(")[0]: tuple(others) for first, *others in lines}


def test_the_table_is_that_of_mxnet(capsys: Any) -> None:
    """Lines that MXNet 1.9.1 printed once for this network, without spaces at their ends."""
    od.viz.print_summary(branched(), shape=SHAPE)
    lines = capsys.readouterr().out.splitlines()
    gap = " " * 88
    assert lines[:2] == ["_" * 120, f"{'Layer (type)':52}{'Output Shape':24}{'Param #':12}Previous Layer"]
    assert lines[5] == f"{'conv1(Convolution)':52}{'8x8x8':24}{'216':12}data"
    assert lines[7] == f"{'bn1(BatchNorm)':52}{'8x8x8':24}{'16':12}conv1"
    assert lines[13:15] == [f"{'plus(elemwise_add)':52}{'8x8x8':24}{'0':12}conv2", f"{gap}relu1"]
    assert lines[18:20] == [f"{'cat(Concat)':52}{'16x4x4':24}{'0':12}pool", f"{gap}pool"]
    assert lines[-4:] == [
        f"{'softmax(SoftmaxOutput)':52}{'10':24}{'0':12}fc1", "=" * 120, "Total params: 3386", "_" * 120
    ]  # fmt: skip


def test_the_total_is_what_an_executor_learns() -> None:
    net = branched()
    arrays = net.simple_bind(od.cpu(), **SHAPE).arg_dict
    learned = sum(array.size for name, array in arrays.items() if name not in ("data", "softmax_label"))
    assert f"Total params: {learned}\n" in net.summary(**SHAPE)


def test_a_shared_weight_is_counted_once() -> None:
    weight = od.sym.var("shared")
    first = od.sym.FullyConnected(od.sym.var("data"), weight, no_bias=True, num_hidden=4, name="a")
    second = od.sym.FullyConnected(first, weight, no_bias=True, num_hidden=4, name="b")
    table = second.summary(data=(2, 4))
    assert rows(table)["a"] == ("4", "16", "data")
    assert rows(table)["b"] == ("4", "0", "a")
    assert "Total params: 16\n" in table


def test_every_operator_with_weights_is_counted() -> None:
    embedded = od.sym.Embedding(od.sym.var("ids"), input_dim=20, output_dim=4, name="emb")
    leaky = od.sym.LeakyReLU(embedded, act_type="prelu", name="leaky")
    table = od.sym.RNN(leaky, state_size=3, num_layers=1, mode="gru", name="rnn").summary(ids=(5, 2))
    gates = 3 * (3 * (4 + 3) + 2 * 3)  # the first state is none of them
    assert [rows(table)[name][1] for name in ("emb", "leaky", "rnn")] == ["80", "2", str(gates)]


def test_several_inputs_have_a_line_each() -> None:
    left, right = od.sym.var("left"), od.sym.var("right")
    table = od.sym.dot(left, right, name="dot").summary(left=(2, 3), right=(3, 4))
    assert list(rows(table)) == ["left", "right", "dot"]
    assert "Total params: 0\n" in table


def test_without_shapes_there_are_layers_alone() -> None:
    table = branched().summary()
    assert rows(table)["conv2"] == ("0", "relu1")
    assert rows(table)["data"] == ("0",)


def test_fields_are_cut_where_their_column_ends() -> None:
    lines = branched().summary(40, (0.25, 0.5, 0.75, 1), **SHAPE).splitlines()
    assert lines[5] == f"{'conv1(Conv':10}{'8x8x8':10}{'216':10}data"
    assert branched().summary(40, (10, 20, 30, 40), **SHAPE).splitlines()[5] == lines[5]


def test_what_is_no_network_is_refused() -> None:
    with pytest.raises(ArgumentError, match="print_summary: got int, expected a Symbol"):
        od.viz.print_summary(3)
    with pytest.raises(ShapeError, match=r"the shapes of data, .* do not follow"):
        od.viz.print_summary(branched(), shape={"softmax_label": (2,)})
    with pytest.raises(ArgumentError, match="expected 4 that rise"):
        od.viz.print_summary(branched(), positions=[0.5, 0.4, 0.8, 1.0])
