from __future__ import annotations

import numpy as np
import pytest

import operad as od
from operad_loops.pooling import LOOPS
from operad_sdk.loops import has_numba


@pytest.mark.skipif(not has_numba(), reason="needs numba: pip install operad-loops")
@pytest.mark.parametrize("shape", [(2, 3, 8, 6), (1, 2, 7, 9), (64, 16, 16, 16)])
def test_maxima_of_pairs_give_the_same_bits(shape: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    data = rng.integers(0, 5, shape).astype("float32")  # ties
    data[0, 0, 3, 4], data[0, 1, :2, :2] = np.nan, -np.inf
    head = od.nd.array(rng.normal(size=(*shape[:2], shape[2] // 2, shape[3] // 2)))
    found = []
    for size in (1 << 30, 0):
        monkeypatch.setattr(LOOPS, "from_size", size)
        od.registry.refresh()  # plans know the kernels that were chosen
        bound = od.sym.Pooling(od.sym.var("data"), kernel=(2, 2), stride=(2, 2), pool_type="max").simple_bind(
            data=shape
        )
        chosen = {row.part: row.kernel for row in bound.why().rows}
        assert ("by_loop" in chosen["forward"], "by_loop" in chosen["data_grad"]) == (size == 0, size == 0)
        bound.forward(is_train=True, data=od.nd.array(data))
        bound.backward(head)
        found.append((bound.outputs[0].asnumpy(), bound.grad_dict["data"].asnumpy()))
    for first, second in zip(*found, strict=True):
        np.testing.assert_array_equal(first, second)
