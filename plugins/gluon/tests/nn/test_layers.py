"""What the recorded facts of layers do not hold: layouts, errors and chains."""

from __future__ import annotations

import inspect
from typing import Any

import pytest
from operad.gluon import nn

import operad as od
from operad import nd


def test_axes_of_weights_follow_the_layout() -> None:
    assert nn.Conv2D(6, (2, 3), groups=2, in_channels=4, layout="NHWC").weight.shape == (6, 2, 3, 2)
    assert nn.Conv2DTranspose(6, (2, 3), groups=2, in_channels=4, layout="NHWC").weight.shape == (4, 2, 3, 3)
    assert nn.Conv1D(6, 2, in_channels=4, layout="NWC").weight.shape == (6, 2, 4)


def test_signatures_show_the_defaults_of_their_axes() -> None:
    found = {
        name: {p.name: p.default for p in inspect.signature(getattr(nn, name)).parameters.values()}
        for name in ("Conv1D", "Conv3DTranspose", "MaxPool2D", "GlobalAvgPool3D")
    }
    assert (found["Conv1D"]["strides"], found["Conv1D"]["layout"]) == (1, "NCW")
    assert found["Conv3DTranspose"]["output_padding"] == (0, 0, 0)
    assert (found["MaxPool2D"]["pool_size"], found["MaxPool2D"]["layout"]) == ((2, 2), "NCHW")
    assert found["GlobalAvgPool3D"]["layout"] == "NCDHW"


def test_statistics_of_half_precision_are_single() -> None:
    layer = nn.BatchNorm(in_channels=2)
    layer.cast("float16")
    assert {str(param.dtype) for param in layer.collect_params().values()} == {"float32"}


def test_chains_are_cut_and_walked() -> None:
    net = nn.HybridSequential()
    net.add(nn.Dense(1), nn.Dense(2), nn.Dense(3))
    assert len(net) == 3
    assert [one._units for one in net] == [1, 2, 3]
    assert net[1:].__class__ is nn.HybridSequential
    assert [one._units for one in net[1:]] == [2, 3]
    assert net[-1]._units == 3


def test_a_chain_that_could_be_compiled_as_one_says_so() -> None:
    net = nn.Sequential()
    net.add(nn.Dense(1))
    with pytest.warns(UserWarning, match="Consider using HybridSequential"):
        net.hybridize()
    assert net[0]._active


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda: nn.Conv2D(1, 3, layout="CHWN"), AssertionError, "expected 'NCHW' or 'NHWC'"),
        (lambda: nn.Conv2D(1, (3,)), AssertionError, "kernel_size is .* expected a number or 2 of them"),
        (lambda: nn.MaxPool1D((1, 2)), AssertionError, "pool_size"),
        (lambda: nn.AvgPool3D(layout="N"), AssertionError, "expected 'NCDHW' or 'NDHWC'"),
        (lambda: nn.ReflectionPad2D((1, 2)), AssertionError, "expected a number, or 8"),
        (lambda: nn.LeakyReLU(-1), ValueError, "expected a slope of at least 0"),
        (lambda: nn.Lambda("no_such"), ValueError, "no_such is not found in ndarray"),
        (lambda: nn.HybridLambda(3), ValueError, "Unrecognized function"),
    ],
)
def test_what_a_layer_cannot_be_is_refused(call: Any, error: type, text: str) -> None:
    with pytest.raises(error, match=text):
        call()


def test_lambdas_take_names_and_functions() -> None:
    x = nd.array([-1, 2])
    for layer in (nn.Lambda("relu"), nn.HybridLambda("relu"), nn.Lambda(od.nd.relu)):
        assert layer(x).asnumpy().tolist() == [0, 2]
        assert "relu" in repr(layer)
