"""Compiled loops and NumPy's compute the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import operad as od
from operad_normalization import segments
from operad_normalization.groups import Groups
from operad_sdk.vector import has_llvm

pytest.importorskip("numba", reason="compiled loops need numba")

RNG = np.random.default_rng(17)


def step(
    name: str, shape: tuple[int, ...], length: int, mean: float, train: bool, **params: Any
) -> list[Any]:
    """Output and gradients of a layer, in single precision, and the states of BatchNorm."""
    rng = np.random.default_rng(3)
    inputs = [mean + rng.normal(size=shape), rng.normal(size=length), rng.normal(size=length)]
    arrays = [od.nd.array(values) for values in inputs]
    states = [od.nd.array(rng.uniform(0.5, 2, length)) for _ in range(2 if name == "BatchNorm" else 0)]
    for array in arrays:
        array.attach_grad()
    with od.autograd.record(train_mode=train):
        output = getattr(od.nd, name)(*arrays, *states, **params)
    output.backward(od.nd.array(rng.normal(size=shape)), train_mode=train)
    return [found.asnumpy() for found in (output, *(array.grad for array in arrays), *states)]


@pytest.mark.parametrize("mean", [0.0, 100.0])
@pytest.mark.parametrize(
    ("name", "shape", "length", "params"),
    [
        ("BatchNorm", (6, 5, 90), 5, {"fix_gamma": False}),
        ("BatchNorm", (6, 5, 90), 5, {"fix_gamma": True}),
        ("BatchNorm", (5, 700), 5, {"fix_gamma": False, "axis": 0}),
        ("LayerNorm", (40, 70), 70, {}),
        ("GroupNorm", (5, 6, 90), 3, {"num_groups": 3}),
        ("InstanceNorm", (5, 6, 90), 6, {}),
    ],
)
@pytest.mark.parametrize("train", [True, False])
def test_both_kinds_of_loops_agree(
    monkeypatch: pytest.MonkeyPatch, name: str, shape: Any, length: int, params: Any, mean: float, train: bool
) -> None:
    taken: list[Any] = []
    choose: Callable[..., Any] = segments._segments

    def noted(*arguments: Any) -> Any:
        taken.append(choose(*arguments))
        return taken[-1]

    monkeypatch.setattr(segments, "_segments", noted)
    compiled = step(name, shape, length, mean, train, **params)
    is_by_form = name == "LayerNorm" and has_llvm()  # its outputs
    assert len(taken) == 2 - is_by_form
    assert None not in taken
    monkeypatch.setattr(segments, "_segments", lambda *_: None)
    for found, expected in zip(compiled, step(name, shape, length, mean, train, **params), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5 * max(1, np.abs(expected).max()))


@pytest.mark.parametrize(
    ("shape", "axes", "place", "expected"),
    [
        ((4, 3, 10, 2), (0, 2, 3), 1, (4, 3, 20)),  # channels
        ((3, 100), (1,), 0, (1, 3, 100)),  # BatchNorm of axis 0
        ((4, 3, 50), (2,), 2, (1, 12, 50)),  # LayerNorm
        ((4, 3, 10, 2), (2, 3), 1, (1, 12, 20)),  # InstanceNorm
        ((100, 3), (0,), 1, None),  # channels last: the elements of a group do not lie together
        ((100, 30), (0,), 0, None),  # LayerNorm of axis 0, likewise
        ((4, 3, 2), (2,), 1, None),  # segments too short to pay
    ],
)
def test_segments_are_found_where_groups_lie_in_memory(
    shape: Any, axes: Any, place: int, expected: Any
) -> None:
    found = Groups(shape, axes, place).segments
    assert (found and found.shape) == expected


def test_views_are_left_to_numpy() -> None:
    groups = Groups((64, 64), (1,), 1)
    data = RNG.normal(size=(64, 128))[:, ::2]
    assert segments._segments(groups, data) is None
    assert segments._segments(groups, np.ascontiguousarray(data)) is not None
