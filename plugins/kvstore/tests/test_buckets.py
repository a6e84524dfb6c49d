from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import operad as od
from operad.errors import ParamError
from operad_kvstore.buckets import POOLED_BYTES, packed_now

kv: Any = od.kvstore
MEGA = 1 << 20


def sized(key: Any, num_elements: int, dtype: str = "float32", priority: int = 0) -> Any:
    return kv.Sized(key, num_elements, np.dtype(dtype), priority)


def test_small_arrays_share_a_bucket_in_order_of_priority() -> None:
    (bucket,) = kv.plan_buckets([sized("a", 3), sized("b", 2, priority=1), sized("c", 1)])
    assert bucket.num_elements == 6
    assert bucket.pieces == (("b", 2, 0), ("a", 3, 2), ("c", 1, 5))


def test_a_bucket_is_closed_at_four_megabytes() -> None:
    buckets = kv.plan_buckets([sized(key, MEGA // 2) for key in range(5)])
    assert [[piece.key for piece in bucket.pieces] for bucket in buckets] == [[0, 1], [2, 3], [4]]


def test_element_types_have_buckets_of_their_own() -> None:
    buckets = kv.plan_buckets([sized("a", 3), sized("b", 2, "float16"), sized("c", 1)])
    assert [(bucket.dtype, bucket.num_elements) for bucket in buckets] == [("float32", 4), ("float16", 2)]


@given(st.lists(st.tuples(st.integers(0, 9 * MEGA), st.integers(-2, 2)), max_size=8))
def test_buckets_hold_every_array_once_and_whole_and_close_at_four_megabytes(
    sizes: list[tuple[int, int]],
) -> None:
    buckets = kv.plan_buckets(
        [sized(key, size, priority=priority) for key, (size, priority) in enumerate(sizes)]
    )
    held: dict[Any, int] = {}
    for bucket in buckets:
        offset = 0
        for piece in bucket.pieces:
            assert 4 * offset < 4 * MEGA
            assert piece.span == slice(offset, offset + piece.num_elements)
            assert piece.key not in held
            held[piece.key] = piece.num_elements
            offset += piece.num_elements
        assert offset == bucket.num_elements
    assert sorted(held.items()) == [(key, size) for key, (size, _) in enumerate(sizes)]


def test_packed_arrays_are_unpacked_as_they_were() -> None:
    arrays = {"a": od.nd.array([[1, 2], [3, 4]]), "b": od.nd.array([5])}
    plan = [sized(key, array.size) for key, array in arrays.items()]
    (bucket,) = kv.plan_buckets(plan)
    flat = od.nd.zeros(bucket.num_elements)
    kv.pack(bucket, arrays, flat)
    assert flat.asnumpy().tolist() == [1, 2, 3, 4, 5]
    targets = {"a": od.nd.zeros((2, 2)), "b": od.nd.zeros(1)}
    kv.unpack(bucket, flat * 10, targets)
    assert targets["a"].asnumpy().tolist() == [[10, 20], [30, 40]]
    assert targets["b"].asnumpy().tolist() == [50]


def test_what_is_packed_now_is_what_is_packed_later() -> None:
    waiting = od.nd.ones((2, 2)) * 3
    arrays = {"a": waiting, "empty": od.nd.zeros((0, 3)), "b": waiting[1:], "scalar": od.nd.zeros(())}
    (bucket,) = kv.plan_buckets([sized(key, array.size) for key, array in arrays.items()])
    now, later = packed_now(bucket, arrays), od.nd.empty(bucket.num_elements)
    kv.pack(bucket, arrays, later)
    assert now.tolist() == later.asnumpy().tolist() == [3, 3, 3, 3, 3, 3, 0]


def test_what_is_packed_now_is_memory_of_its_own_whether_short_or_long() -> None:
    for length in (3, POOLED_BYTES):
        array = od.nd.ones(length)
        (bucket,) = kv.plan_buckets([sized("a", length)])
        packed_now(bucket, {"a": array})[:] = 2
        assert (array.asnumpy() == 1).all()


def test_only_large_arrays_are_cut_into_shards() -> None:
    assert kv.cut_into_shards(1_000_000, 3) == [slice(0, 1_000_000)]
    assert kv.cut_into_shards(3_000_000, 2) == [slice(0, 1_500_000), slice(1_500_000, 3_000_000)]
    with pytest.raises(ParamError, match="num_shards is 0"):
        kv.cut_into_shards(5, 0)
