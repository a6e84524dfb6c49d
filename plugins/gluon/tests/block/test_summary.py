from __future__ import annotations

import pytest
from operad.gluon import nn

from operad import nd


def chain() -> nn.HybridSequential:
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        first = nn.Dense(3, in_units=3)
        net.add(first, nn.BatchNorm(in_channels=3), nn.Dense(3, in_units=3, params=first.params))
    net.initialize()
    return net


def test_rows_and_sums_are_those_of_mxnet(capsys: pytest.CaptureFixture[str]) -> None:
    chain().summary(nd.ones((2, 3)))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines if line.startswith("  ")] == [
        ["Layer", "(type)", "Output", "Shape", "Param", "#"],
        ["Input", "(2,", "3)", "0"],
        ["Dense-1", "(2,", "3)", "12"],
        ["BatchNorm-2", "(2,", "3)", "12"],
        ["Dense-3", "(2,", "3)", "12"],
        ["Total", "params:", "36"],
        ["Trainable", "params:", "30"],
        ["Non-trainable", "params:", "6"],
    ]
    assert lines[-3:-1] == [
        "Shared params in forward computation graph: 12",
        "Unique parameters in model: 24",
    ]
    assert {len(line) for line in lines if line.startswith(("-", "="))} == {80}


def test_hooks_are_gone_behind_it_also_after_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    net = chain()
    with pytest.raises(Exception, match="weight has shape"):
        net.summary(nd.ones((2, 4)))
    assert not net[0]._forward_hooks
    net.hybridize()
    with pytest.raises(AssertionError, match='"net_dense0" must not be hybridized'):
        net.summary(nd.ones((2, 3)))
    assert not capsys.readouterr().out
