from __future__ import annotations

from typing import Any

import pytest
from operad.gluon import nn

from operad import gluon, nd


class Net(gluon.Block):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        with self.name_scope():
            self.first = nn.Dense(3, activation="relu")
            self.second = nn.HybridSequential()
            self.second.add(nn.Dense(2))

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x))


def test_names_nest_by_scopes_and_number_by_classes() -> None:
    net = Net(prefix="net_")
    assert (net.name, net.prefix, net.second.prefix) == ("net", "net_", "net_hybridsequential0_")
    assert list(net.collect_params()) == [
        "net_dense0_weight", "net_dense0_bias", "net_dense1_weight", "net_dense1_bias",
    ]  # fmt: skip
    with net.name_scope():
        assert nn.Dense(1).prefix == "net_dense2_"
    assert nn.Dense(1, prefix="").collect_params().keys() == {"weight", "bias"}


def test_parameters_are_selected_by_the_beginning_of_their_names() -> None:
    net = Net(prefix="net_")
    assert list(net.collect_params(".*dense0|.*nothing")) == ["net_dense0_weight", "net_dense0_bias"]
    assert list(net.collect_params("dense")) == []


def test_blocks_share_parameters() -> None:
    first = nn.Dense(2, in_units=2)
    second = nn.Dense(2, in_units=2, params=first.params)
    first.initialize()
    assert second.weight is first.weight
    assert (second(nd.ones((1, 2))) == first(nd.ones((1, 2)))).asnumpy().all()


def test_hooks_run_around_each_pass_until_they_are_detached() -> None:
    net, seen = nn.Dense(1, in_units=1), list[Any]()
    net.initialize()
    before = net.register_forward_pre_hook(lambda block, inputs: seen.append(("before", len(inputs))))
    after = net.register_forward_hook(lambda block, inputs, outputs: seen.append(("after", outputs.shape)))
    net(nd.ones((2, 1)))
    before.detach()
    net.hybridize()
    net(nd.ones((2, 1)))
    with after:
        net(nd.ones((2, 1)))
    net(nd.ones((2, 1)))
    assert seen == [("before", 1), *[("after", (2, 1))] * 3]
    with pytest.raises(AssertionError, match="has a hook already"):
        before.attach({}, print)


def test_apply_goes_through_children_first() -> None:
    seen: list[str] = []
    net = Net()
    assert net.apply(lambda block: seen.append(type(block).__name__)) is net
    assert seen == ["Activation", "Dense", "Dense", "HybridSequential", "Net"]


def test_attributes_keep_their_kind() -> None:
    net = Net()
    with pytest.raises(TypeError, match=r"Changing attribute type for first from .*Dense'> to <class 'int'>"):
        net.first = 3
    net.weight = net.params.get("weight", shape=(1,))
    with pytest.raises(AssertionError, match="Overriding Parameter attribute weight"):
        net.weight = gluon.Parameter("other")
    net.first = nn.Dense(4, in_units=3)
    assert net.first in net._children.values()


def test_blocks_in_lists_are_no_children_and_are_warned_of() -> None:
    net = Net()
    net.layers = [nn.Dense(1)]
    with pytest.warns(UserWarning, match='"Net.layers" is an unregistered container with Blocks'):
        net.collect_params()
    net.register_child(net.layers[0])
    assert len(net.collect_params()) == 6


def test_a_block_shows_its_children() -> None:
    assert repr(Net()) == (
        "Net(\n  (first): Dense(None -> 3, Activation(relu))\n  (second): HybridSequential(\n"
        "    (0): Dense(None -> 2, linear)\n  )\n)"
    )


def test_types_of_all_children_are_cast() -> None:
    net = Net()
    net.initialize()
    net.cast("float64")
    assert net(nd.ones((1, 2), dtype="float64")).dtype == "float64"


def test_a_block_without_forward_is_refused() -> None:
    with pytest.raises(NotImplementedError, match="Block defines no forward"):
        gluon.Block()(1)
