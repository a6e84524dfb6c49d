from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import ParamError, ShapeError
from operad_attention.heads import parts_of
from operad_check.testing import check_forward, gradient_check

PREFIX = "_contrib_interleaved_matmul_"
RNG = np.random.default_rng(0)
LENGTH, MEMORY, BATCH, HEADS, SIZE = 3, 4, 2, 3, 5


def property_of(name: str) -> Any:
    """The class of an operator."""
    return od.registry.get(f"{PREFIX}{name}")


def test_attention_of_a_sequence_to_itself_is_that_of_each_head_alone() -> None:
    data = RNG.normal(size=(LENGTH, BATCH, HEADS * 3 * SIZE))
    (scores,) = check_forward(property_of("selfatt_qk"), [data], heads=HEADS)
    (mixed,) = check_forward(property_of("selfatt_valatt"), [data, scores], heads=HEADS)
    for item in range(BATCH):
        for head in range(HEADS):
            start = head * 3 * SIZE
            query, key, value = np.split(data[:, item, start : start + 3 * SIZE], 3, axis=1)
            own = query @ key.T / np.sqrt(SIZE)
            np.testing.assert_allclose(scores[item * HEADS + head], own)
            np.testing.assert_allclose(mixed[:, item, head * SIZE : (head + 1) * SIZE], own @ value)


def test_attention_to_another_sequence_is_that_of_each_head_alone() -> None:
    queries = RNG.normal(size=(LENGTH, BATCH, HEADS * SIZE))
    memory = RNG.normal(size=(MEMORY, BATCH, HEADS * 2 * SIZE))
    (scores,) = check_forward(property_of("encdec_qk"), [queries, memory], heads=HEADS)
    (mixed,) = check_forward(property_of("encdec_valatt"), [memory, scores], heads=HEADS)
    for item in range(BATCH):
        for head in range(HEADS):
            query = queries[:, item, head * SIZE : (head + 1) * SIZE]
            start = head * 2 * SIZE
            key, value = np.split(memory[:, item, start : start + 2 * SIZE], 2, axis=1)
            own = query @ key.T / np.sqrt(SIZE)
            np.testing.assert_allclose(scores[item * HEADS + head], own)
            np.testing.assert_allclose(mixed[:, item, head * SIZE : (head + 1) * SIZE], own @ value)


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("selfatt_qk", [(3, 2, 24)]),
        ("selfatt_valatt", [(3, 2, 24), (4, 3, 3)]),
        ("encdec_qk", [(3, 2, 8), (4, 2, 16)]),
        ("encdec_valatt", [(4, 2, 16), (4, 3, 4)]),
    ],
)
def test_gradients(name: str, shapes: list[tuple[int, ...]]) -> None:
    gradient_check(property_of(name), [RNG.normal(size=shape) for shape in shapes], heads=2)


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_parts_are_views(parts: int) -> None:
    for array in (np.zeros((3, 2, 4 * parts * 5)), np.zeros((4 * parts * 5, 2, 3)).T):
        assert all(np.shares_memory(part, array) for part in parts_of(array, 4, parts))


def test_half_precision_is_summed_in_single() -> None:
    ones = np.ones((1, 1, 3 * 4096), np.float16)
    check_forward(property_of("selfatt_qk"), [ones], np.full((1, 1, 1), 64.0), heads=1)  # 4096 / sqrt(4096)


def test_features_that_heads_do_not_divide_are_refused() -> None:
    with pytest.raises(ShapeError, match="queries_keys_values"):
        check_forward(property_of("selfatt_qk"), [np.ones((3, 2, 7))], heads=2)


def test_there_is_at_least_one_head() -> None:
    with pytest.raises(ParamError, match="heads"):
        property_of("selfatt_qk")(heads=0)
