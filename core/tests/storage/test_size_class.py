"""Size classes: what rounding may and may not do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from operad.storage import ALIGNMENT_BYTES, class_bytes

sizes = st.one_of(
    st.integers(1, 1 << 10),
    st.integers(1 << 10, 32 << 20),
    st.integers(32 << 20, 1 << 40),
    st.integers(0, 40).flatmap(lambda bits: st.integers(-1, 1).map(lambda off: max((1 << bits) + off, 1))),
)


@given(sizes)
def test_a_block_is_large_enough_and_whole_cache_lines(size_bytes: int) -> None:
    assert class_bytes(size_bytes) >= size_bytes
    assert class_bytes(size_bytes) % ALIGNMENT_BYTES == 0


@given(sizes)
def test_waste_is_less_than_a_line_or_an_eighth_or_a_page(size_bytes: int) -> None:
    waste = class_bytes(size_bytes) - size_bytes
    if size_bytes <= 1 << 10:
        assert waste < 64
    elif size_bytes <= 32 << 20:
        assert waste * 8 < size_bytes
    else:
        assert waste < 4096


@given(sizes)
def test_a_block_serves_its_own_size(size_bytes: int) -> None:
    assert class_bytes(class_bytes(size_bytes)) == class_bytes(size_bytes)


@given(sizes, sizes)
def test_larger_requests_never_get_smaller_blocks(first: int, second: int) -> None:
    low, high = sorted((first, second))
    assert class_bytes(low) <= class_bytes(high)


def test_an_empty_request_gets_the_smallest_block() -> None:
    assert class_bytes(0) == class_bytes(1) == ALIGNMENT_BYTES


@pytest.mark.parametrize("low_bytes", [1 << 10, 1 << 15, 1 << 20, 16 << 20])
def test_each_doubling_has_eight_classes(low_bytes: int) -> None:
    step = low_bytes // 16
    found = {class_bytes(size) for size in range(low_bytes + 1, 2 * low_bytes + 1, step)}
    assert len(found) == 8
