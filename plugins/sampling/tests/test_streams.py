"""Which numbers come: seeds, engines, threads, symbols."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import operad as od

LARGE = (3, 1 << 17)  # several parts

CALLS: dict[str, Callable[[], Any]] = {
    "numbers": lambda: od.nd._random_normal(shape=LARGE),
    "like": lambda: od.nd._random_gamma_like(od.nd.zeros((50, 3)), alpha=2.0),
    "arrays": lambda: od.nd._sample_poisson(od.nd.array([1, 20]), shape=(50,)),
    "whole": lambda: od.nd._random_randint(low=0, high=1000, shape=LARGE),
    "classes": lambda: od.nd._sample_multinomial(od.nd.array([[0.5, 0.25, 0.25]] * 3), shape=50),
    "rows": lambda: od.nd._shuffle(od.nd.arange(100)),
    "unique": lambda: od.nd._sample_unique_zipfian(range_max=100, shape=(3, 5))[0],
}
every = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def thrice(call: Callable[[], Any]) -> list[Any]:
    return [call().asnumpy() for _ in range(3)]


@every
def test_a_seed_repeats_the_stream_and_the_stream_goes_on(call: Callable[[], Any]) -> None:
    od.random.seed(5)
    first = thrice(call)
    assert not np.array_equal(first[0], first[1])
    od.random.seed(5)
    np.testing.assert_array_equal(thrice(call), first)
    od.random.seed(6)
    assert not np.array_equal(thrice(call)[0], first[0])


@every
def test_seeding_one_device_seeds_it_and_no_other(call: Callable[[], Any]) -> None:
    od.random.seed(5)
    first = thrice(call)
    od.random.seed(5, ctx=od.cpu(0))
    np.testing.assert_array_equal(thrice(call), first)
    od.random.seed(5)
    od.random.seed(9, ctx=od.cpu(1))
    np.testing.assert_array_equal(thrice(call), first)


def test_devices_have_streams_of_their_own() -> None:
    od.random.seed(5)
    one, other = (od.nd.random.normal(shape=5, ctx=od.cpu(number)).asnumpy() for number in (0, 1))
    assert not np.array_equal(one, other)


def test_a_symbol_draws_what_a_call_draws() -> None:
    executor = od.sym.random.normal(2, 3, shape=(4, 5)).simple_bind(od.cpu())
    od.random.seed(5)
    symbolic = [executor.forward()[0].asnumpy() for _ in range(3)]
    od.random.seed(5)
    np.testing.assert_array_equal(symbolic, thrice(lambda: od.nd.random.normal(2, 3, shape=(4, 5))))


def test_predictions_and_training_draw_alike() -> None:
    od.random.seed(5)
    first = od.nd.random.uniform(shape=4).asnumpy()
    od.random.seed(5)
    with od.autograd.record():
        np.testing.assert_array_equal(od.nd.random.uniform(shape=4).asnumpy(), first)


PROGRAM = f"""
import hashlib
import operad as od
od.random.seed(5)
made = [od.random.normal(shape={LARGE}), od.random.randint(0, 9, shape={LARGE})]
made += [od.nd.shuffle(made[0]), od.random.poisson(3, shape={LARGE})]
print(hashlib.sha256(b"".join(array.asnumpy().tobytes() for array in made)).hexdigest())
"""


def test_any_engine_and_number_of_threads_draw_the_same() -> None:
    """In processes of their own, because the number of threads is fixed when the engine starts."""
    digests = set()
    for setting in ({"ENGINE": "naive"}, {"NUM_THREADS": "1"}, {"NUM_THREADS": "4"}):
        environment = os.environ | {f"OPERAD_{name}": value for name, value in setting.items()}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], env=environment, capture_output=True, check=True
        )
        digests.add(done.stdout)
    assert len(digests) == 1
