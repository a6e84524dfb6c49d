"""Stage: memory of the device while a program goes on, and when it ends."""

from __future__ import annotations

import gc
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

import operad as od
from operad import autograd, storage
from operad.context import Context

_STEPS: Final = 40


def _held(ctx: Context) -> tuple[int, int]:
    """Bytes that arrays use, and bytes taken from the device in all, when nothing is pending."""
    gc.collect()
    od.nd.waitall()
    stats = storage.get().stats(ctx)
    return stats.in_use_bytes, stats.in_use_bytes + stats.pooled_bytes


def _network() -> Callable[[], object]:
    """A step of a bound network."""
    net = od.sym.FullyConnected(od.sym.var("data"), num_hidden=64, name="fc1")
    net = od.sym.SoftmaxOutput(od.sym.FullyConnected(net.tanh(), num_hidden=10, name="fc2"), name="softmax")
    executor = net.simple_bind(od.gpu(0), data=(32, 64))

    def step() -> None:
        executor.forward(is_train=True, data=np.ones((32, 64), np.float32))
        executor.backward()
        for name, grad in executor.grad_dict.items():
            if grad is not None:
                od.nd.sgd_update(executor.arg_dict[name], grad, lr=0.01, out=executor.arg_dict[name])

    return step


def _recorded() -> Callable[[], object]:
    """A step of recorded calls."""
    w = od.nd.ones((64, 64), ctx=od.gpu(0)) * 0.01
    w.attach_grad()

    def step() -> None:
        x = od.nd.array(np.ones((32, 64), np.float32), ctx=od.gpu(0))
        with autograd.record():
            loss = od.nd.tanh(od.nd.dot(x, w)).sum()
        loss.backward()
        od.nd.sgd_update(w, w.grad, lr=0.01, out=w)

    return step


def _failing() -> Callable[[], object]:
    """An operation that fails, and whose arrays are dropped."""

    def step() -> None:
        x = od.nd.ones((1000, 10), ctx=od.gpu(0))
        try:
            od.nd.dot(x, x).asnumpy()
        except od.OperadError:
            return
        raise AssertionError("nothing was refused")

    return step


GROWTH: Final[Mapping[str, Callable[[], Callable[[], object]]]] = {
    "steps of a bound network": _network, "steps of recorded calls": _recorded, "calls that fail": _failing,
}  # fmt: skip


def names() -> list[str]:
    """Growth of repeated steps, then what goes back."""
    return [*GROWTH, "arrays go back to the pool", "the pool goes back to the device", "page-locked memory"]


def run(name: str) -> Mapping[str, object]:
    """Compare memory before and after."""
    if name in GROWTH:
        return _grows(GROWTH[name]())
    return {
        "arrays go back to the pool": _to_pool, "the pool goes back to the device": _to_device,
        "page-locked memory": _page_locked,
    }[name]()  # fmt: skip


def _grows(step: Callable[[], object]) -> Mapping[str, object]:
    for _ in range(_STEPS // 4):
        step()
    before = _held(od.gpu(0))
    for _ in range(_STEPS):
        step()
    after = _held(od.gpu(0))
    assert after[0] <= before[0], f"{after[0] - before[0]} bytes more in use after {_STEPS} steps"
    assert after[1] <= 2 * before[1] + (1 << 20), f"{before[1]} bytes of the device became {after[1]}"
    return {"bytes in use": after[0], "bytes of the device": after[1]}


def _to_pool() -> Mapping[str, object]:
    before, _ = _held(od.gpu(0))
    arrays = [od.nd.ones((1 << 18,), ctx=od.gpu(0)) * n for n in range(8)]
    during, _ = _held(od.gpu(0))
    assert during >= before + 8 * (1 << 20)
    arrays.clear()
    after, whole = _held(od.gpu(0))
    assert after == before, f"{after - before} bytes are still in use"
    assert whole > before, "nothing was pooled"
    return {"bytes in use": during, "bytes pooled": whole - after}


def _to_device() -> Mapping[str, object]:
    array: Any = od.nd.ones((1 << 20,), ctx=od.gpu(0))
    array.wait_to_read()
    del array
    _held(od.gpu(0))
    od.nd.release_idle_memory(od.gpu(0))
    used, whole = _held(od.gpu(0))
    assert whole == used, f"{whole - used} bytes stayed in the pool"
    pool = od.gpu(0).xp.get_default_memory_pool()
    if not hasattr(pool, "used_bytes"):  # the stand-in has none
        return {}
    assert pool.free_bytes() == 0, f"{pool.free_bytes()} bytes stayed in CuPy's pool"
    return {"bytes of CuPy's pool in use": pool.used_bytes(), "bytes of operad": used}


def _page_locked() -> Mapping[str, object]:
    host = od.nd.array(np.arange(1 << 16), ctx=od.cpu_pinned())
    back = host.as_in_context(od.gpu(0)).copyto(od.cpu_pinned())
    assert back.context is od.cpu_pinned()
    np.testing.assert_array_equal(back.asnumpy(), np.arange(1 << 16))
    return {}
