"""Programs of a user on a device: arrays, copies, graphs over several devices, random numbers, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import operad as od
from tests.devices.device import second

pytestmark = pytest.mark.usefixtures("gpu")

SECOND_DERIVATIVES: dict[str, tuple[Any, list[tuple[int, ...]]]] = {
    "Convolution": (
        lambda x, w, b: od.nd.Convolution(x, w, b, kernel=(2, 2), num_filter=2),
        [(2, 2, 4, 3), (2, 2, 2, 2), (2,)],
    ),
    "Deconvolution": (
        lambda x, w: od.nd.Deconvolution(x, w, kernel=(2, 2), num_filter=2),
        [(2, 2, 3, 3), (2, 2, 2, 2)],
    ),
    "BatchNorm": (
        lambda x, g, b: od.nd.BatchNorm(
            x, g, b, od.nd.zeros((3,), ctx=x.context), od.nd.ones((3,), ctx=x.context), fix_gamma=False
        ),
        [(4, 3, 2), (3,), (3,)],
    ),
    "LayerNorm": (od.nd.LayerNorm, [(4, 5), (5,), (5,)]),
    "L2Normalization": (od.nd.L2Normalization, [(3, 4)]),
    "LRN": (lambda x: od.nd.LRN(x, nsize=3), [(2, 4, 3)]),
    "fft": (od.nd._contrib_fft, [(2, 4)]),
}
"""Operators whose gradients read what forward left, or are linear, and shapes of their arguments."""


def values(shape: tuple[int, ...], salt: int = 0) -> Any:
    return np.random.default_rng(salt).normal(size=shape).astype(np.float32)


def network() -> Any:
    data = od.sym.var("data")
    with od.AttrScope(ctx_group="first"):
        hidden = od.sym.Activation(od.sym.FullyConnected(data, num_hidden=4, name="fc1"), act_type="relu")
    with od.AttrScope(ctx_group="second"):
        return od.sym.SoftmaxOutput(od.sym.FullyConnected(hidden, num_hidden=3, name="fc2"), name="softmax")


def trained(ctx: Any, group2ctx: Any = None) -> dict[str, Any]:
    """The weights after a few steps."""
    executor = network().simple_bind(ctx, data=(5, 6), softmax_label=(5,), group2ctx=group2ctx)
    for salt, (name, array) in enumerate(sorted(executor.arg_dict.items())):
        array[:] = values(array.shape, salt) if name != "softmax_label" else np.arange(5) % 3
    for _ in range(3):
        executor.forward(is_train=True)
        executor.backward()
        for name, grad in executor.grad_dict.items():
            if name not in ("data", "softmax_label"):
                od.nd.sgd_update(executor.arg_dict[name], grad, out=executor.arg_dict[name], lr=0.1)
    return {name: array.asnumpy() for name, array in executor.arg_dict.items()}


@pytest.mark.parametrize(
    ("ctx", "groups"),
    [
        ("gpu(0)", {}),
        ("gpu(1)", {}),
        ("gpu(0)", {"first": "gpu(0)", "second": "gpu(1)"}),
        ("cpu(0)", {"first": "gpu(1)", "second": "cpu(0)"}),
    ],
)
def test_a_network_learns_on_devices_what_it_learns_on_the_host(ctx: str, groups: dict[str, str]) -> None:
    named = {"gpu(0)": od.gpu(0), "gpu(1)": second(), "cpu(0)": od.cpu()}
    found = trained(named[ctx], {group: named[where] for group, where in groups.items()} or None)
    for name, expected in trained(od.cpu()).items():
        np.testing.assert_allclose(found[name], expected, rtol=1e-5, atol=1e-6)


def test_arrays_are_made_read_and_written_on_the_device_they_name() -> None:
    expected = values((3, 4))
    array = od.nd.array(expected, ctx=second())
    array[1] = 7
    array[:, 2] = array[:, 0] + 1
    array[2, 1:3] = np.float32([1, 2])
    expected[1], expected[:, 2] = 7, np.where(np.arange(3) == 1, 7, expected[:, 0]) + 1
    expected[2, 1:3] = [1, 2]
    assert array.asnumpy().tolist() == expected.tolist()
    assert array[od.nd.array([2, 0], ctx=second())].asnumpy().tolist() == expected[[2, 0]].tolist()
    assert (array * 2 + array.T.T).context is second()


def test_page_locked_memory_holds_arrays_of_the_host() -> None:
    array = od.nd.array([1, 2], ctx=od.cpu_pinned())
    assert type(array._data) is np.ndarray
    assert array.as_in_context(od.gpu(0)).asnumpy().tolist() == [1, 2]


def test_copies_go_between_devices_and_cast() -> None:
    source = od.nd.array([1.5, -2.5], ctx=od.gpu(0))
    target = od.nd.zeros((2,), ctx=second(), dtype="int32")
    source.copyto(target)
    assert target.asnumpy().tolist() == [1, -2]
    assert target.as_in_context(od.cpu()).asnumpy().tolist() == [1, -2]
    assert source.copyto(second()).astype("float64").context is second()


def test_copies_to_and_from_a_device_have_streams_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    pushed = []
    push = od.engine.Engine.push_sync

    def noted(engine: od.engine.Engine, fn: Any, *args: Any, **options: Any) -> None:
        if options["name"] == "_copyto":
            pushed.append(args[3].value)
        push(engine, fn, *args, **options)

    monkeypatch.setattr(od.engine.Engine, "push_sync", noted)
    array = od.nd.ones((2,)).as_in_context(od.gpu(0))
    array.copy().as_in_context(od.cpu()).wait_to_read()
    assert pushed == ["copy_to_device", "normal", "copy_from_device"]


def test_random_numbers_of_a_device_follow_its_seed() -> None:
    def drawn() -> Any:
        od.random.seed(3)
        return od.nd.Dropout(od.nd.ones((64,), ctx=od.gpu(0)), mode="always").asnumpy()

    assert drawn().tolist() == drawn().tolist()


def test_arrays_of_a_device_are_saved_and_loaded(tmp_path: Path) -> None:
    path = str(tmp_path / "weights.params")
    od.nd.save(path, {"w": od.nd.array([1, 2], ctx=od.gpu(0))})
    loaded = od.nd.load(path)["w"]
    assert loaded.asnumpy().tolist() == [1, 2]


def test_debug_mode_poisons_and_checks_memory_of_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    from operad import config
    from operad.storage import Storage

    monkeypatch.setenv("OPERAD_DEBUG", "1")
    config.reload()
    storage = Storage()
    handle = storage.alloc(64, od.gpu(0))
    assert np.isnan(handle.array((16,), np.dtype("float32")).get()).all()
    storage.free(handle)
    storage.alloc(64, od.gpu(0))
    monkeypatch.undo()
    config.reload()


def test_gradients_of_gradients_are_those_of_the_host(gpu):
    rng = np.random.default_rng(7)
    values, weights = rng.normal(size=(4, 6)).astype("float32"), rng.normal(size=(3, 6)).astype("float32")

    def penalty(ctx):
        x, w = od.nd.array(values, ctx=ctx), od.nd.array(weights, ctx=ctx)
        x.attach_grad()
        w.attach_grad()
        with od.autograd.record():
            y = od.nd.tanh(od.nd.FullyConnected(x, w, num_hidden=3, no_bias=True))
            y = od.nd.softmax(y)[1:3]
            (slope,) = od.autograd.grad([y], [x], create_graph=True)
            loss = od.nd.sum(od.nd.square(slope)) + od.nd.sum(y)
        loss.backward()
        return slope.asnumpy(), x.grad.asnumpy(), w.grad.asnumpy()

    for found, expected in zip(penalty(od.gpu(0)), penalty(od.cpu()), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("name", SECOND_DERIVATIVES)
def test_second_derivatives_are_those_of_the_host(gpu, name):
    call, shapes = SECOND_DERIVATIVES[name]

    def second_gradients(ctx):
        arrays = [od.nd.array(values(shape, salt), ctx=ctx) for salt, shape in enumerate(shapes)]
        for array in arrays:
            array.attach_grad()
        with od.autograd.record():
            slopes = od.autograd.grad(od.nd.square(call(*arrays)), arrays, create_graph=True)
            loss = sum(od.nd.sum(od.nd.square(slope)) for slope in slopes)
        loss.backward()
        return [array.grad.asnumpy() for array in arrays]

    for found, expected in zip(second_gradients(od.gpu(0)), second_gradients(od.cpu()), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())
