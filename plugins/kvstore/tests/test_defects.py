"""What MXNet 1.9.1 got wrong, for the stores of one process.

That a round counts workers, and that the death of one ends the wait of all, are rules for stores that have
a transport.
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

import operad as od
from operad.errors import ArgumentError, OperatorNotFoundError, ShapeError


@pytest.fixture(params=["local", "device"])
def store(request: pytest.FixtureRequest) -> Any:
    made = od.kv.create(request.param)
    made.init("w", od.nd.array([1, 1]))
    return made


def pulled(store: Any) -> list[float]:
    out = od.nd.zeros(2)
    store.pull("w", out=out)
    values: list[float] = out.asnumpy().tolist()
    return values


def test_a_pull_leaves_the_array_that_was_pushed_alone(store: Any) -> None:
    pushed = od.nd.array([5, 5])
    store.set_updater(lambda key, gradient, weight: weight.__isub__(gradient))
    store.push("w", pushed)
    assert pulled(store) == [-4, -4]
    assert pushed.asnumpy().tolist() == [5, 5]


def test_the_store_keeps_no_reference_to_a_pushed_array(store: Any) -> None:
    pushed = od.nd.array([5, 5])
    store.push("w", pushed)
    pushed[:] = 9
    assert pulled(store) == [5, 5]


def test_the_store_keeps_no_reference_to_the_array_of_init(store: Any) -> None:
    first = od.nd.array([3, 3])
    store.init("other", first)
    first[:] = 9
    out = od.nd.zeros(2)
    store.pull("other", out=out)
    assert out.asnumpy().tolist() == [3, 3]


def test_an_updater_that_keeps_or_writes_its_gradient_does_not_have_the_callers_array(store: Any) -> None:
    kept: list[Any] = []

    def update(key: str, gradient: Any, weight: Any) -> None:
        kept.append(gradient)
        gradient *= 2

    pushed = od.nd.array([5, 5])
    store.set_updater(update)
    store.push("w", pushed)
    assert pushed.asnumpy().tolist() == [5, 5]
    pushed[:] = 0
    assert kept[0].asnumpy().tolist() == [10, 10]


@pytest.mark.parametrize("call", ["push", "pull", "pushpull"])
def test_an_array_of_another_shape_is_refused(store: Any, call: str) -> None:
    with pytest.raises(ShapeError, match=rf"{call}: key 'w' has shape \(2,\), got an array of shape \(3,\)"):
        getattr(store, call)("w", od.nd.zeros(3))
    assert pulled(store) == [1, 1]


def test_push_raises_what_the_updater_raises(store: Any) -> None:
    class BrokenError(Exception):
        pass

    def update(key: str, gradient: Any, weight: Any) -> None:
        raise BrokenError("on purpose")

    store.set_updater(update)
    with pytest.raises(BrokenError, match="on purpose"):
        store.push("w", od.nd.zeros(2))
    assert pulled(store) == [1, 1]


def test_an_unknown_type_is_an_error_that_lists_those_there_are() -> None:
    with pytest.raises(OperatorNotFoundError, match=r"kvstore 'locl'.*'local'"):
        od.kv.create("locl")
    with pytest.raises(OperatorNotFoundError, match=r"installed: .*device, .*local, local_allreduce_cpu"):
        od.kv.create("quantum")
    with pytest.raises(ArgumentError, match="expected a string such as 'local'"):
        od.kv.create(3)


@pytest.mark.parametrize(("key", "kind"), [("w", str), (7, int)])
def test_an_updater_gets_the_key_as_the_user_gave_it(key: Any, kind: type) -> None:
    seen: list[Any] = []
    store = od.kv.create()
    store.set_updater(lambda key, gradient, weight: seen.append(key))
    store.init(key, od.nd.zeros(2))
    store.push(key, od.nd.zeros(2))
    assert seen == [key]
    assert type(seen[0]) is kind


def test_the_environment_variable_port_means_nothing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import operad as od; print(od.kv.create().num_workers)"],
        env={"PORT": "no number", "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "1\n", "")
