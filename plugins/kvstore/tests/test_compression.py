from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import operad as od
from operad.errors import ArgumentError, DTypeError, ParamError, ShapeError

TwoBit: Any = od.kvstore.TwoBit
GRADIENT = [0.3, 0.6, -0.7, 2.0]


def device(threshold: float = 0.5) -> Any:
    store = od.kv.create("device")
    store.set_gradient_compression({"type": "2bit", "threshold": threshold})
    return store


def test_every_device_sends_its_threshold_and_keeps_the_rest() -> None:
    store, gradient, out = device(), od.nd.array(GRADIENT), od.nd.zeros(4)
    store.init(0, out)
    found = []
    for values in [[gradient, gradient]] * 3 + [[gradient]]:
        store.push(0, values)
        store.pull(0, out=out)
        found.append(out.asnumpy().tolist())
    # What MXNet 1.9.1 gives.
    assert found == [[0, 1, -1, 1], [1, 1, -1, 1], [0, 1, -1, 1], [0.5, 0.5, -0.5, 0.5]]


def test_residuals_are_of_one_key() -> None:
    store, out = device(1.0), od.nd.zeros(1)
    store.init(["a", "b"], [out, out])
    store.push("a", od.nd.array([0.75]))
    store.push("b", od.nd.array([0.75]))
    store.pull("b", out=out)
    assert out.asscalar() == 0


def test_compressed_pushes_wait_for_nothing() -> None:
    import threading

    store, gradient, out, gate = device(), od.nd.array(GRADIENT), od.nd.zeros(4), threading.Event()
    store.init(0, out)
    od.engine.get().push_sync(lambda _: gate.wait(), od.cpu(), mutable_vars=[gradient._chunk.var])
    store.pushpull(0, gradient, out=out)
    gate.set()
    assert out.asnumpy().tolist() == [0, 0.5, -0.5, 0.5]


def test_compression_takes_float32_only() -> None:
    store = device()
    store.init(0, od.nd.zeros(2))
    with pytest.raises(
        DTypeError, match="key 0 got an array of float64; 2-bit compression takes float32 only"
    ):
        store.push(0, od.nd.zeros(2, dtype="float64"))
    store.pull(0, out=od.nd.zeros(2, dtype="float64"))


def test_a_local_store_does_not_compress() -> None:
    with pytest.raises(ArgumentError, match="'local' does not compress"):
        od.kv.create("local").set_gradient_compression({"type": "2bit", "threshold": 0.5})


@pytest.mark.parametrize(
    ("params", "error", "message"),
    [
        ({"type": "1bit"}, ParamError, "type is '1bit', expected '2bit'"),
        ({"type": "2bit", "threshold": 0}, ParamError, "threshold is 0.*, expected a positive number"),
        ({"type": "2bit", "threshold": -1}, ParamError, "threshold is -1.*, expected a positive number"),
        ({"type": "2bit", "threshold": float("nan")}, ParamError, "expected a positive number"),
        (
            {"type": "2bit", "threshold": "much"},
            ParamError,
            "threshold is 'much', expected a positive number",
        ),
        ({"threshold": 1}, ArgumentError, "expected a dict such as"),
        ("2bit", ArgumentError, "got '2bit', expected a dict such as"),
        (
            {"type": "2bit", "treshold": 1},
            ArgumentError,
            "unknown parameter 'treshold'; there are type, threshold",
        ),
    ],
)
def test_other_compressions_are_refused(params: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        od.kv.create("device").set_gradient_compression(params)


def test_the_threshold_is_one_half_unless_given() -> None:
    assert TwoBit.from_params({"type": "2bit"}).threshold == 0.5


def test_words_have_the_first_value_in_the_highest_bits_of_the_first_byte() -> None:
    gradient = np.zeros(17, np.float32)
    gradient[[0, 1, 3, 4, 16]] = [1, -1, 1, -1, 1]
    words = TwoBit(1.0).encode(gradient, np.zeros(17, np.float32))
    # 11 10 00 11 | 10 00 00 00 | 0 | 0, then 11 and fifteen values that are not there
    assert words.tobytes() == bytes([0b11100011, 0b10000000, 0, 0, 0b11000000, 0, 0, 0])


floats = st.floats(-4, 4, width=32)


@given(st.lists(st.tuples(floats, floats), max_size=40), st.sampled_from([0.25, 0.5, 0.3, 1.0]))
def test_the_codec_and_the_operators_of_a_store_agree_to_the_bit(rows: Any, threshold: float) -> None:
    gradients = np.array(rows, np.float32).reshape(-1, 2).T
    codec, residual = TwoBit(threshold), np.zeros(len(rows), np.float32)
    on_device = od.nd.array(residual)
    for gradient in gradients:
        arrived = codec.decode(codec.encode(gradient, residual), len(rows))
        np.testing.assert_array_equal(codec.quantized(od.nd.array(gradient), on_device).asnumpy(), arrived)
    np.testing.assert_array_equal(on_device.asnumpy(), residual)


@given(st.lists(floats, max_size=40))
def test_what_arrives_and_the_residual_make_up_the_gradient(values: list[float]) -> None:
    gradient, residual = np.array(values, np.float32), np.zeros(len(values), np.float32)
    arrived = TwoBit(0.5).decode(TwoBit(0.5).encode(gradient, residual), len(values))
    assert set(arrived.tolist()) <= {-0.5, 0.0, 0.5}
    np.testing.assert_allclose(arrived + residual, gradient, atol=1e-6)


def test_arrays_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ShapeError, match=r"residual has shape \(2,\), expected \(3,\)"):
        TwoBit().encode(np.zeros(3, np.float32), np.zeros(2, np.float32))
    with pytest.raises(ShapeError, match=r"expected \(2,\) for 17 values"):
        TwoBit().decode(np.zeros(1, np.uint32), 17)


def test_a_store_goes_on_with_what_another_one_held_back() -> None:
    store, other, out = device(1.0), device(1.0), od.nd.zeros(1)
    for one in (store, other):
        one.init("a", out)
    store.push("a", [od.nd.array([0.75]), od.nd.array([0.5])])
    other.load_state_dict(store.state_dict())
    found = []
    for one in (store, other):
        one.push("a", [od.nd.array([0.25]), od.nd.array([0.25])])
        one.pull("a", out=out)
        found.append(out.asscalar())
    assert found == [1, 1]  # 0.75 + 0.25 arrives, 0.5 + 0.25 is held back
