"""Stage: programs whose operations begin late on their streams give what they give on the CPU.

On a device every operation's kernels stand behind one that spins for a drawn time, up to a millisecond.
The stand-in computes nothing before it is waited for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import pytest

import operad as od
from operad import autograd
from operad.engine.stream import Stream
from tests.devices.device import is_stand_in, second

SPIN: Final = """
extern "C" __global__ void spin(long long cycles) {
    long long start = clock64();
    while (clock64() - start < cycles) {}
}
"""
_MOST_CYCLES: Final = 2_000_000  # a millisecond or so


@contextmanager
def delayed(seed: int) -> Iterator[None]:
    """Each operation on a device begins late meanwhile."""
    if is_stand_in():  # it is always late
        yield
        return
    cupy = od.gpu(0).xp
    spin, drawn = cupy.RawKernel(SPIN, "spin"), random.Random(seed)
    called = Stream._call

    def late(self: Stream, block: Any, run_ctx: Any) -> BaseException | None:
        spin(
            (1,), (1,), (np.int64(drawn.randrange(_MOST_CYCLES)),)
        )  # on the current stream, which is the worker's
        return called(self, block, run_ctx)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stream, "_call", late)
        yield
        od.nd.waitall()


def copies(here: od.Context, there: od.Context) -> list[Any]:
    """Values go to the device, are changed and come back, again and again."""
    x = od.nd.array(np.arange(1000) % 7, ctx=od.cpu())
    for step in range(20):
        y = x.as_in_context(here) * 0.5 + step
        x = (y.as_in_context(there) - 1).as_in_context(od.cpu())
    return [x]


def memory(here: od.Context, there: od.Context) -> list[Any]:
    """Memory that is given back while kernels still use it goes to arrays that are written at once."""
    kept = []
    for step in range(30):
        x = od.nd.ones((500,), ctx=here) * step
        y = x + 1
        del x
        z = od.nd.zeros((500,), ctx=here if step % 3 else there)
        z[:250] = 7
        kept += [y, z]
    return kept


def views(here: od.Context, there: od.Context) -> list[Any]:
    """Parts of one array are written and read alternately."""
    x = od.nd.array(np.arange(60).reshape(6, 10), ctx=here)
    other = od.nd.ones((10,), ctx=there)
    for step in range(24):
        x[step % 6] = x[(step + 1) % 6] * 0.5 + step
        x[:, step % 10] += 1
        other[:] = x[step % 6].as_in_context(there) + other
    return [x, other]


def training(here: od.Context, there: od.Context) -> list[Any]:
    """Steps of a network, whose gradients and updates depend on everything before them."""
    rng = np.random.default_rng(3)
    x, w, v = (
        od.nd.array(rng.normal(size=shape).astype("float32"), ctx=ctx)
        for shape, ctx in (((16, 8), here), ((12, 8), here), ((3, 12), there))
    )
    w.attach_grad()
    v.attach_grad()
    for _ in range(8):
        with autograd.record():
            hidden = od.nd.tanh(od.nd.FullyConnected(x, w, num_hidden=12, no_bias=True)).as_in_context(there)
            loss = od.nd.square(od.nd.FullyConnected(hidden, v, num_hidden=3, no_bias=True)).mean()
        loss.backward()
        for one in (w, v):
            od.nd.sgd_update(one, one.grad, lr=0.1, out=one)
    return [w, v]


def drawn_program(here: od.Context, there: od.Context) -> list[Any]:
    """Operations on arrays that a seed draws: sums, copies, parts, new arrays in place of old ones."""
    drawn = random.Random(11)
    contexts = [here, there, od.cpu()]
    arrays = [od.nd.array(np.full((4, 50), n + 1.0), ctx=contexts[n % 3]) for n in range(6)]
    for _ in range(150):
        i, j, k = (drawn.randrange(6) for _ in range(3))
        kind, row = drawn.randrange(5), drawn.randrange(4)
        ctx = arrays[i].context
        if kind == 0:
            arrays[i] = (arrays[j].as_in_context(ctx) + arrays[k].as_in_context(ctx)) * 0.5
        elif kind == 1:
            arrays[i][row] = arrays[j][(row + 1) % 4].as_in_context(ctx)
        elif kind == 2:
            arrays[i] *= 0.5
        elif kind == 3 and i != j:
            arrays[j].copyto(arrays[i])
        else:
            arrays[i] = od.nd.ones((4, 50), ctx=drawn.choice(contexts)) * row
    return arrays


def draws(here: od.Context, there: od.Context) -> list[Any]:
    """Random numbers, which are those of the undelayed program."""
    od.random.seed(5)
    return [od.nd.random.uniform(shape=(100,), ctx=here) for _ in range(10)]


PROGRAMS: Final[Mapping[str, Callable[..., list[Any]]]] = {
    made.__name__: made for made in (copies, memory, views, training, drawn_program, draws)
}


def names() -> list[str]:
    """The programs."""
    return [*PROGRAMS]


def run(name: str) -> Mapping[str, object]:
    """Compare a program's values, delayed five times, with the CPU's; draws with those of no delay."""
    program = PROGRAMS[name]
    here, there = od.gpu(0), second()
    where = (here, there) if program is draws else (od.cpu(), od.cpu())
    expected = [array.asnumpy() for array in program(*where)]
    for seed in range(5):
        with delayed(seed):
            found = [array.asnumpy() for array in program(here, there)]
        for value, right in zip(found, expected, strict=True):
            np.testing.assert_allclose(value, right, rtol=1e-5, atol=1e-6)
    return {}
