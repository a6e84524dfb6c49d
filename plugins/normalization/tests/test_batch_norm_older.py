"""`BatchNorm_v1` and `_contrib_SyncBatchNorm` beside `BatchNorm`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_sdk import ParamError

OPTIONS: dict[str, dict[str, Any]] = {"BatchNorm_v1": {}, "_contrib_SyncBatchNorm": {"key": "bn"}}
DATA = np.random.default_rng(0).normal(2, 3, (4, 3, 2, 2)).astype("float32")


def trained(name: str, is_train: bool = True, **options: Any) -> list[np.ndarray]:
    """Outputs, states and gradients."""
    x, gamma, beta = (od.nd.array(v) for v in (DATA, [1.0, 2.0, 0.5], [0.0, 1.0, -1.0]))
    states = [od.nd.array([0.5, 1.0, 2.0]), od.nd.array([1.0, 2.0, 3.0])]
    for array in (x, gamma, beta):
        array.attach_grad()
    with od.autograd.record(train_mode=is_train):
        outputs = getattr(od.nd, name)(
            x, gamma, beta, *states, fix_gamma=False, output_mean_var=True, **options
        )
    outputs[0].backward(od.nd.array(np.random.default_rng(1).normal(size=DATA.shape)))
    return [a.asnumpy() for a in (*outputs, *states, x.grad, gamma.grad, beta.grad)]


@pytest.mark.parametrize("is_train", [True, False])
@pytest.mark.parametrize("name", OPTIONS)
def test_all_but_the_variance_is_that_of_batch_norm(name: str, is_train: bool) -> None:
    found, expected = trained(name, is_train, **OPTIONS[name]), trained("BatchNorm", is_train)
    variance = DATA.var(axis=(0, 2, 3)) if is_train else [1.0, 2.0, 3.0]
    np.testing.assert_allclose(found.pop(2), variance, rtol=1e-5)
    np.testing.assert_allclose(expected.pop(2), 1 / np.sqrt(np.asarray(variance) + 1e-3), rtol=1e-5)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_a_batch_of_several_devices_is_refused() -> None:
    with pytest.raises(ParamError, match="ndev is 2, but statistics of several devices are not put together"):
        od.registry.get("_contrib_SyncBatchNorm")(ndev=2, key="bn")
