from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import operad as od
from operad.errors import FormatError
from operad_kvstore_ray.envelope import (
    CONNECTION_BYTES,
    RAY_BYTES,
    opened,
    opened_answer,
    sealed,
    sealed_answer,
    whole,
)

CALL = (1, "a life", 7, ({"w": 3, 5: 1}, 0, 0.5), "values", ("w", 5))


def packet(num_elements: int, dtype: str = "float32", threshold: float | None = None) -> Any:
    sized = [od.kvstore.Sized(key, num_elements, np.dtype(dtype)) for key in ("w", 5)]
    (bucket,) = od.kvstore.plan_buckets(sized)
    payload = np.arange(2 * num_elements).astype(np.uint32 if threshold else dtype)
    return od.kvstore.Packet(bucket, payload, threshold, 2, {"w": 3, 5: 1})


def assert_equal(message: Any, expected: Any) -> None:
    assert message[0] == expected[0]
    for one, other in zip(message[1], expected[1], strict=True):
        assert type(one) is od.kvstore.Packet
        assert one._replace(payload=None) == other._replace(payload=None)
        assert one.payload.dtype == other.payload.dtype
        assert one.payload.tobytes() == other.payload.tobytes()


@pytest.mark.parametrize(("dtype", "threshold"), [("float16", None), ("int32", None), ("float32", 0.5)])
def test_short_pushes_travel_as_bytes_and_come_as_they_were(dtype: str, threshold: float | None) -> None:
    message = "push", [packet(3, dtype, threshold), packet(4, dtype, threshold)]
    travelled = sealed(*CALL, message=message)
    assert type(travelled) is list
    *call, came = opened(whole(travelled))
    assert tuple(call) == CALL
    assert_equal(came, message)


@pytest.mark.parametrize("message", [(), ("barrier", 4), ("note", -1), ("enter",)])
def test_questions_without_arrays_travel_as_bytes(message: Any) -> None:
    travelled = sealed(*CALL, message=message)
    assert type(travelled) is list
    assert opened(whole(travelled)) == (*CALL, message)


def test_long_pushes_and_what_is_more_than_numbers_and_text_travel_as_they_are() -> None:
    long = "push", [packet(RAY_BYTES // 8), packet(1)]
    configured = "optimizer", ("declared", b"...")
    for message, is_plain in ((long, True), (configured, True), (("barrier", 4), False)):
        travelled = sealed(*CALL, message=message, is_plain=is_plain)
        assert travelled == opened(whole(travelled)) == (*CALL, message)


def test_what_is_short_for_a_connection_may_be_long_for_ray() -> None:
    message = "push", [packet(RAY_BYTES // 8 + 1)]
    assert type(sealed(*CALL, message=message)) is tuple
    assert type(sealed(*CALL, message=message, most=CONNECTION_BYTES)) is list


def test_answers_come_as_they_were() -> None:
    values = {"w": np.ones((2, 3), np.float16), 5: np.zeros((0,), np.float32)}
    seen, durable, came = opened_answer(whole(sealed_answer(4, 3, values)))
    assert (seen, durable, list(came)) == (4, 3, ["w", 5])
    assert all((came[key] == values[key]).all() and came[key].dtype == values[key].dtype for key in values)
    assert opened_answer(whole(sealed_answer(4, 3, None))) == (4, 3, None)
    assert opened_answer((4, 3, ["a reference"])) == (4, 3, ["a reference"])


def test_bytes_that_are_no_message_are_refused_by_what_they_should_be() -> None:
    with pytest.raises(FormatError, match="a worker's message is no picture"):
        opened(b"cos\nsystem\n(S'true'\ntR.")
