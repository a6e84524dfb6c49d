"""Optimizers that say they are elementwise, which lets several servers share a weight."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad_optimizer.base import Optimizer

ELEMENTWISE: list[tuple[str, dict[str, Any]]] = [
    ("AdaDelta", {}),
    ("AdaGrad", {}),
    ("Adam", {}),
    ("Adamax", {}),
    ("DCASGD", {"momentum": 0.9}),
    ("FTML", {}),
    ("Ftrl", {}),
    ("NAG", {"momentum": 0.9}),
    ("RMSProp", {"centered": True}),
    ("RMSProp", {"clip_weights": 1.0}),
    ("SGD", {}),
    ("SGD", {"momentum": 0.9}),
    ("Signum", {"wd_lh": 0.01}),
    ("Test", {}),
    ("ccSGD", {"momentum": 0.9}),
]
SIZE = 1003  # whole vectors of a processor's registers do not make it up


def moved(name: str, options: dict[str, Any], dtype: str, edges: list[int]) -> Any:
    """A weight after three steps, moved in parts that are cut at edges."""
    draw = np.random.default_rng(5)
    weight, *gradients = draw.standard_normal((4, SIZE))
    found = []
    for start, stop in zip(edges, [*edges[1:], SIZE], strict=True):
        common = {"wd": 0.01, "rescale_grad": 0.5, "clip_gradient": 0.9, "multi_precision": True}
        update = od.optimizer.get_updater(od.optimizer.create(name, **common, **options))
        part = od.nd.array(weight[start:stop], dtype=dtype)
        for gradient in gradients:
            update("w", od.nd.array(gradient[start:stop], dtype=dtype), part)
        found.append(part.asnumpy())
    return np.concatenate(found)


@pytest.mark.parametrize(("name", "options"), ELEMENTWISE)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_a_weight_that_is_moved_in_parts_has_the_bits_of_one_that_is_moved_whole(
    name: str, options: dict[str, Any], dtype: str
) -> None:
    parts = moved(name, options, dtype, [0, 334, 669])
    np.testing.assert_array_equal(parts, moved(name, options, dtype, [0]))


def test_those_are_elementwise_of_which_that_is_proved() -> None:
    classes = set(Optimizer.opt_registry.values())
    own = {cls for cls in classes if cls.__module__.startswith("operad_optimizer.")}
    assert {cls.__name__ for cls in own if cls().is_elementwise} == {name for name, _ in ELEMENTWISE}


def test_an_optimizer_with_a_step_of_its_own_says_for_itself_whether_it_is_elementwise() -> None:
    class Normed(od.optimizer.SGD):
        def step(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            weight -= od.nd.broadcast_div(grad, od.nd.norm(grad))

    class Renamed(od.optimizer.SGD):
        pass

    class Halved(Normed):
        elementwise = True

        def step(self, index: Any, weight: Any, grad: Any, state: Any) -> None:
            weight -= 0.5 * grad

    assert [cls().is_elementwise for cls in (Normed, Renamed, Halved)] == [False, True, True]
