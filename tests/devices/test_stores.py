"""A store and iterators with arrays on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od

pytestmark = pytest.mark.usefixtures("gpu")


@pytest.fixture
def gradients() -> list[Any]:
    return [od.nd.array([0.25, -2.0], ctx=ctx) for ctx in (od.gpu(), od.cpu())]


@pytest.mark.parametrize("name", ["local", "device"])
def test_values_of_a_device_and_of_the_host_are_summed(name: str, gradients: list[Any]) -> None:
    store = od.kv.create(name)
    store.set_optimizer(od.optimizer.SGD(learning_rate=1.0))
    store.init("w", od.nd.zeros(2, ctx=od.gpu()))
    outs = [od.nd.zeros(2, ctx=ctx) for ctx in (od.gpu(), od.cpu())]
    store.pushpull("w", gradients, out=outs)
    assert [out.asnumpy().tolist() for out in outs] == [[-0.5, 4.0]] * 2


def test_gradients_are_compressed_where_they_are(gradients: list[Any]) -> None:
    store, out = od.kv.create("device"), od.nd.zeros(2)
    store.set_gradient_compression({"type": "2bit", "threshold": 0.5})
    store.init("w", od.nd.zeros(2, ctx=od.gpu()))
    for expected in ([0.0, -1.0], [1.0, -1.0]):
        store.push("w", gradients)
        store.pull("w", out=out)
        assert out.asnumpy().tolist() == expected


def test_batches_of_arrays_are_made_on_their_device() -> None:
    rows = od.nd.array([[1, 2], [3, 4], [5, 6]], ctx=od.gpu())
    batch = list(od.io.NDArrayIter(rows, np.arange(3), batch_size=2))[1]
    assert (batch.data[0].context, batch.label[0].context) == (od.gpu(), od.cpu())
    assert batch.data[0].asnumpy().tolist() == [[5, 6], [1, 2]]
